"""The words of a corpus that several tokenizers cut most differently.

>>> from bpe_core.counting.words import WordTable
>>> from bpe_core.recipe import Recipe
>>> from bpe_core.reference import train
>>> words, recipe = WordTable.from_counts({"low": 5, "lower": 2}), Recipe.preset("gpt2")
>>> early, late = (CutWords.of(words, recipe, train(words, recipe.with_changes(merges=n))) for n in (1, 3))
>>> for found in differing_words([early, late], [1, 3]):
...     print(found.word, found.count, found.places, found.cut_by_each)
b'low' 5 1 ((2,), ())
b'lower' 2 2 ((2, 3, 4), (4,))
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from bpe_core.insight.cut_words import CutWords
from bpe_core.records import dataclass
from bpe_core.token_texts import shown

LISTED = 200


@dataclass(frozen=True)
class DifferingWord:
    """A word, and how much it matters."""

    word: bytes
    count: int  # how often it occurs
    places: int  # inside of it where some cut and some do not
    cut_by_each: tuple[tuple[int, ...], ...]  # where each cuts it, in bytes

    @property
    def weight(self) -> int:
        """In how many places of the corpus this word makes them differ."""
        return self.count * self.places

    def shown_as_cut(self, by: int, bar: str = "|") -> str:
        """With a bar wherever that one cuts it.

        >>> DifferingWord(b" low", 1, 1, ((2,), ())).shown_as_cut(0)
        '␣l|ow'
        """
        ends = (0, *self.cut_by_each[by], len(self.word))
        return bar.join(shown(self.word[start:stop]) for start, stop in pairwise(ends))


def differing_words(cut_by_each: Sequence[CutWords], at: Sequence[int], most: int = LISTED) -> list[DifferingWord]:
    """Those of the same table in which they differ in most places of the corpus; of equals the word met first."""
    words = cut_by_each[0].words
    if not len(words):
        return []
    cuts = np.array([cut.cuts(step) for cut, step in zip(cut_by_each, at, strict=True)])
    differs = cuts.any(axis=0) & ~cuts.all(axis=0)
    places = np.add.reduceat(differs, words.starts[:-1], dtype=np.int64)
    order = np.argsort(-places * words.counts, kind="stable")[:most]
    found: list[DifferingWord] = []
    for index in order[places[order] > 0].tolist():
        inside = cuts[:, words.starts[index] : words.starts[index + 1]]
        own = tuple(tuple(np.flatnonzero(one).tolist()) for one in inside)
        found.append(DifferingWord(words.word(index), int(words.counts[index]), int(places[index]), own))
    return found
