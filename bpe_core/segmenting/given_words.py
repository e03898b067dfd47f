"""A text whose words are given: laid end to end, to be cut into tokens word by word.

It takes the place of what a pattern finds, so every method cuts the words of a table as it cuts any text.

>>> found = GivenWords(Recipe.preset("gpt2"), b"isn't", np.array([0, 2, 5]))
>>> list(found.placed_words(found.text))  # which the pattern would have cut into isn and 't
[(b'is', 0), (b"n't", 2)]
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from bpe_core.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting, Offsets, Part


class GivenWords(Cutting):
    """Cuts one text only: the words, one behind the other, as they are."""

    finds_words = False
    keeps_all = True

    def __init__(self, recipe: Recipe, data: bytes, starts: Offsets) -> None:
        super().__init__(recipe)
        self.text = data.decode()
        self.data = np.frombuffer(data, np.uint8)
        self.starts = starts  # one more than there are words: the end

    def normalized_parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[tuple[str, str | None]]:
        yield text, None

    def parts(self, text: str, allowed: tuple[str, ...]) -> Iterator[Part]:
        yield Part(text, None, np.arange(len(self.data) + 1))

    def words(self, text: str) -> Iterator[str]:
        return (word.decode() for word, _ in self.placed_words(text))

    def placed_words(self, text: str) -> Iterator[tuple[bytes, int]]:
        data, places = self.data.tobytes(), self.starts.tolist()
        return ((data[start:stop], start) for start, stop in pairwise(places))

    def cuts(self, text: str) -> npt.NDArray[np.int32]:
        return self.starts.astype(np.int32)
