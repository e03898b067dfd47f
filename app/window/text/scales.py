"""Scales that tokens may be coloured by, in place of what they are: how old they are, or how rare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from bpe_core.segmenting.segmentation import NO_TOKEN, Tokens

COLOURS = 6
UNCOLOURED = -1
_LEVELS = COLOURS - 1

Int8s = npt.NDArray[np.int8]


class Scale(Protocol):
    """Gives each token one of the colours, from pale to strong."""

    @property
    def tip(self) -> str:
        """What the colours mean, in one sentence."""

    @property
    def fields(self) -> list[str]:
        """What is written on the field of each colour that there is."""

    def colours_of(self, tokens: Tokens) -> Int8s:
        """The colour of each of these tokens."""


def colour_on(scale: Scale, token: int) -> int:
    """The colour of one token."""
    return int(scale.colours_of(Tokens(np.arange(2), np.array([token])))[0])


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
    tip = "A token has the colour of the step that made it: the stronger, the later"

    @property
    def firsts(self) -> tuple[int, ...]:
        """The step with which each colour but the first begins: early steps differ more than late ones."""
        return tuple(max(1, round(self.steps ** (level / _LEVELS))) for level in range(_LEVELS))

    @property
    def fields(self) -> list[str]:
        return ["at first", *(f"from {first:,}" for first in self.firsts)] if self.steps else ["there at first"]

    def colours_of(self, tokens: Tokens) -> Int8s:
        steps = tokens.ids - self.at_first + 1
        steps[(steps < 0) | (steps > self.steps)] = 0
        colours = np.searchsorted(np.array(self.firsts), steps, side="right").astype(np.int8)
        colours[tokens.ids == NO_TOKEN] = UNCOLOURED
        return colours


@dataclass(frozen=True, eq=False)
class Rarity:
    """Of a run by how often each token stood in its corpus, 0 where nobody knows.

    >>> rarity = Rarity(np.array([1_000_000, 0, 40_000, 900, 3]))
    >>> rarity.leasts
    (100000, 10000, 1000, 100, 10)
    >>> rarity.colours_of(Tokens(np.arange(7), np.array([0, 1, 2, 3, 4, 9]))).tolist()
    [0, -1, 1, 3, 5, -1]
    """

    counts: npt.NDArray[np.int64]  # by id
    tip = "A token has the colour of how often it stood in the corpus when it was made: the stronger, the rarer"

    @property
    def leasts(self) -> tuple[int, ...]:
        """How often a token stood there at least to have each colour but the last: a tenth matters, not ten fewer."""
        most = int(self.counts.max(initial=0))
        return tuple(round(most ** (1 - level / COLOURS)) for level in range(1, COLOURS))

    @property
    def fields(self) -> list[str]:
        if not self.counts.any():
            return ["how often is not known"]
        return [*(f"≥{least:,}" for least in self.leasts), f"<{self.leasts[-1]:,}"]

    def colours_of(self, tokens: Tokens) -> Int8s:
        known = (tokens.ids >= 0) & (tokens.ids < len(self.counts))
        counts = np.zeros(len(tokens.ids), np.int64)
        counts[known] = self.counts[tokens.ids[known]]
        colours = np.searchsorted(-np.array(self.leasts), -counts).astype(np.int8)
        colours[counts == 0] = UNCOLOURED
        return colours
