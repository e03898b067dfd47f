"""How old tokens are: the second way to colour them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bpe_core.segmenting.segmentation import NO_TOKEN, Tokens

COLOURS = 6
UNCOLOURED = -1
_LEVELS = COLOURS - 1  # the first colour is for what was there before the first step


@dataclass(frozen=True)
class Ages:
    """Of a run with so many tokens at first, which has made so many others.

    >>> ages = Ages(256, 1024)
    >>> ages.colours_of(Tokens(np.arange(5), np.array([97, 256, 300, 1279]))).tolist()
    [0, 1, 3, 5]
    >>> ages.firsts
    (1, 4, 16, 64, 256)
    """

    at_first: int
    steps: int

    @property
    def firsts(self) -> tuple[int, ...]:
        """The step with which each colour but the first begins: early steps differ more than late ones."""
        return tuple(max(1, round(self.steps ** (level / _LEVELS))) for level in range(_LEVELS))

    def colour_of(self, token: int) -> int:
        return int(self.colours_of(Tokens(np.arange(2), np.array([token])))[0])

    def colours_of(self, tokens: Tokens) -> npt.NDArray[np.int8]:
        steps = tokens.ids - self.at_first + 1
        steps[(steps < 0) | (steps > self.steps)] = 0
        colours = np.searchsorted(np.array(self.firsts), steps, side="right").astype(np.int8)
        colours[tokens.ids == NO_TOKEN] = UNCOLOURED
        return colours
