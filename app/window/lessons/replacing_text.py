"""Merging as it must not be done, by replacing text: to show in a lesson what comes of it."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from app.window.lessons.bench import Bench


def words_by_replacing_text(bench: Bench, steps: int) -> list[str]:
    """The words, spaced, after merging so.

    Each word is a text of pieces with blanks between them, and the text `a t` is replaced by
    `at` wherever it is found: also at the end of a longer piece, where no pair a+t stands.

    >>> from bpe_core import Recipe
    >>> words_by_replacing_text(Bench.of_words({"ha": 6, "hat": 1, "at": 4}, Recipe.preset("words")), 2)
    ['ha', 'hat', 'at']
    """
    symbols = [word.texts for word in bench.words_at(0)]
    spaced = [" ".join(pieces) for pieces in symbols]
    weights = [count for _, count in bench.words]
    for _ in range(steps):
        counts: Counter[tuple[str, str]] = Counter()
        for word, weight in zip(spaced, weights, strict=True):
            for pair in pairwise(word.split()):
                counts[pair] += weight
        left, right = max(counts, key=lambda pair: counts[pair])
        spaced = [word.replace(f"{left} {right}", left + right) for word in spaced]
    return spaced
