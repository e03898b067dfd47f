"""Texts with absurdly long words, which patterns make of languages without blanks, and the patterns that do better."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe_core.counting.count_words import count_unmixed
from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, CorpusError, RecipeError
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import CancelCheck, never_cancelled
from bpe_core.text.corpus import Corpus
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.reading.utf8 import whole_characters

LONG_WORD = 64  # bytes; hardly any word of a language with blanks is as long
LONG_SHARE = 0.2  # of the bytes in long words, before a person is warned
SAMPLE = 200_000  # bytes of a file that other patterns are tried on


@dataclass(frozen=True)
class LongWords:
    file: str  # empty where the text was changed before it was split, and so is not found again
    better: tuple[str, ...]  # by how well they do


def share_of(table: WordTable) -> float:
    """Of all bytes, those in long words.

    >>> share_of(WordTable.from_counts({"low": 10, "x" * 70: 1}))
    0.7
    """
    weights = np.diff(table.starts) * table.counts
    return float(weights[np.diff(table.starts) > LONG_WORD].sum() / max(1, int(weights.sum())))


def find_long_words(
    corpus: Corpus, table: WordTable, recipe: Recipe, cancelled: CancelCheck = never_cancelled
) -> LongWords:
    """Look for the file of the long word that most bytes are in, and try every named pattern on it.

    >>> recipe = Recipe.preset("english")
    >>> corpus = Corpus.from_texts(["朝、パン屋さんが、" * 20])
    >>> find_long_words(corpus, count_unmixed(corpus, recipe), recipe).better[:2]
    ('gpt2', 'cl100k')
    """
    lengths = np.diff(table.starts)
    heaviest = table.word(int(np.where(lengths > LONG_WORD, lengths * table.counts, 0).argmax()))
    for chunk in corpus.chunks():
        if cancelled():
            raise Cancelled("Cancelled.")
        data = bytes(chunk.data)
        place = data.find(heaviest)
        if place >= 0:
            sample = data[place : place + SAMPLE]  # it begins with a word, and so with a character
            text = sample[: whole_characters(sample)].decode()
            return LongWords(corpus.sources[chunk.source].name, _better(text, recipe))
    return LongWords("", ())


def _better(text: str, recipe: Recipe) -> tuple[str, ...]:
    corpus = Corpus.from_texts([text])
    now = share_of(count_unmixed(corpus, recipe))
    shares: dict[str, float] = {}
    for pattern in NAMED_PATTERNS:
        try:
            other = recipe.with_changes(pattern=pattern, custom_pattern="")
            shares[pattern] = share_of(count_unmixed(corpus, other))
        except (RecipeError, CorpusError):
            continue  # what the method does not allow is no advice
    better = [name for name, share in shares.items() if name != recipe.pattern and share < min(LONG_SHARE, now / 2)]
    return tuple(sorted(better, key=lambda name: round(shares[name], 2)))
