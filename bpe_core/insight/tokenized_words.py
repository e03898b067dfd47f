"""The distinct words of a corpus, split into tokens by any tokenizer after any number of its steps.

The words were counted by the recipe of one tokenizer. A tokenizer with this recipe splits each word into tokens
directly. Any other tokenizer treats the word as a text: it normalizes the word and may split it into several words. So
several tokenizers can be compared word by word on the same corpus.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.methods.kit.method import Method
from bpe_core.recipes.parts import SplittingChoices
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting, GivenWords
from bpe_core.segmenting.segmentation import NO_TOKEN, Segmentation, Segmenter, Tokens
from bpe_core.segmenting.text_encoder import WordEncoder
from bpe_core.support.arrays import Bools, Int64s
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted


@dataclass(frozen=True, eq=False)
class TokenizedWords:
    words: WordTable
    history: History
    segmenter: Segmenter
    segmentation: Segmentation  # of all words, end to end
    _parts: _WordParts
    _lock: threading.Lock = field(default_factory=threading.Lock)  # some methods cache the last step

    @classmethod
    def of(
        cls, words: WordTable, counted_by: Recipe, history: History, *, cancelled: CancelCheck = never_cancelled
    ) -> Self:
        """Split each word into tokens by a history, and return the result.

        `counted_by` is the recipe that counted the words. It may differ from the recipe of the history.
        """
        recipe = history.recipe
        splits_equally = _splits_equally(recipe, counted_by)
        parts = _as_they_are(words) if splits_equally else _split_anew(words, Cutting(recipe), cancelled)
        given = GivenWords(recipe, parts.text, parts.starts)
        segmenter = Method.of(recipe).cutter(history, given)
        return cls(words, history, segmenter, segmenter.segmentation(given.text, (), cancelled), parts)

    def _tokens(self, at: int) -> Tokens:
        with self._lock:
            return self.segmentation.tokens(at)

    def counts(self, at: int) -> Int64s:
        ids, words = self.tokens_in_words(at)
        counts = np.zeros(self.history.index_count, np.int64)
        np.add.at(counts, ids, self.words.counts[words])
        return counts

    def words_with(self, token: int, at: int) -> list[tuple[bytes, int]]:
        """Return the words that contain a token after `at` steps, the largest count first.

        The count of a word says how often the token occurs in all occurrences of this word.
        """
        ids, words = self.tokens_in_words(at)
        rows, times = np.unique(words[ids == token], return_counts=True)
        counts = times * self.words.counts[rows]
        order = np.argsort(-counts, kind="stable")
        listed = zip(rows[order].tolist(), counts[order].tolist(), strict=True)
        return [(self.words.word(word), count) for word, count in listed]

    def tokens_in_words(self, at: int) -> tuple[Int64s, Int64s]:
        """Return the indices of all tokens after `at` steps, and for each token the index of its word."""
        tokens = self._tokens(at)
        ids = tokens.ids
        starts = tokens.edges[:-1]
        stops = tokens.edges[1:]
        known = ids != NO_TOKEN
        if not known.all():
            ids = ids[known]
            starts = starts[known]
            stops = stops[known]
        first = np.searchsorted(starts, self._parts.starts)  # the first token of each part; there are fewer parts
        part = np.repeat(np.arange(len(first)), np.diff(first, append=len(starts)))
        is_empty = starts == stops
        if self.history.recipe.marker != "prefix" and is_empty.any():
            part -= is_empty & (starts == self._parts.starts[part])  # a marker without bytes belongs to the word before
        return ids, self._parts.of_word[part]

    def by_word(self, at: int) -> tuple[Int64s, Int64s]:
        """Return the ids of all tokens after `at` steps, and the index at which each word's tokens begin.

        The last entry of the indices is the number of all tokens.
        """
        ids, words = self.tokens_in_words(at)
        counts = np.bincount(words, minlength=len(self.words))
        return ids, np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))

    def starts_inside_words(self, at: int) -> Bools:
        """Return a mask of the bytes of all words.

        A byte is marked if a token begins at this byte inside a word. The first byte of a word is not marked. Bytes
        without a token belong to the token after them.
        """
        tokens = self._tokens(at)
        covers = (tokens.edges[1:] > tokens.edges[:-1]) & (tokens.ids != NO_TOKEN)
        mask = np.zeros(len(self.words.text) + 1, np.bool_)
        mask[self._parts.stops[tokens.edges[1:][covers] - 1]] = True
        mask[self.words.starts] = False
        return mask[:-1]


def tokens_by_word(
    words: WordTable, counted_by: Recipe, history: History, at: int, *, cancelled: CancelCheck = never_cancelled
) -> tuple[Int64s, Int64s]:
    """Return the ids of all tokens after `at` steps, and the index at which each word's tokens begin.

    The result is the same as that of `TokenizedWords.by_word`. This function is faster if only one value of `at` is
    needed.
    """
    recipe = history.recipe
    if _splits_equally(recipe, counted_by):
        given = GivenWords(recipe, words.text.tobytes(), words.starts)
        segmenter = Method.of(recipe).cutter(history, given)
        tokens = None
        if isinstance(segmenter, WordEncoder):
            tokens = segmenter.ids_of_given(given, at, cancelled)
        if tokens is not None:
            return tokens[0].astype(np.int64), tokens[1]
    return TokenizedWords.of(words, counted_by, history, cancelled=cancelled).by_word(at)


def _splits_equally(recipe: Recipe, counted_by: Recipe) -> bool:
    return set(recipe.differing(counted_by, SplittingChoices)) <= {"special_tokens"}


@dataclass(frozen=True, eq=False)
class _WordParts:
    text: bytes
    starts: Int64s  # offset of each part, and the end
    of_word: Int64s  # the word of each part
    stops: Int64s  # for each byte of the text, the end of its origin in the table's text


def _as_they_are(words: WordTable) -> _WordParts:
    return _WordParts(words.text.tobytes(), words.starts, np.arange(len(words)), np.arange(1, len(words.text) + 1))


def _split_anew(words: WordTable, cutting: Cutting, cancelled: CancelCheck) -> _WordParts:
    pieces: list[bytes] = []
    of_word: list[int] = []
    stops: list[Int64s] = [np.zeros(0, np.int64)]
    begins = words.starts.tolist()
    for index, (word, _) in enumerate(while_wanted(words, cancelled)):
        for part in cutting.parts(word.decode(), cutting.allowed(())):
            for raw, start in cutting.placed_words(part.text):
                pieces.append(raw)
                of_word.append(index)
                stops.append(part.origins[start + 1 : start + len(raw) + 1] + begins[index])
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(piece) for piece in pieces], dtype=np.int64)])
    return _WordParts(b"".join(pieces), starts, np.array(of_word, np.int64), np.concatenate(stops))


def tokenizer_with_words(known: Sequence[tuple[WordTable | None, Recipe]]) -> int | None:
    """Return the index of the tokenizer whose counted words are used to measure all tokenizers.

    `known` holds the counted words of each tokenizer, if it has any, and its recipe. The first tokenizer that has
    counted words and keeps all spaces is chosen. If there is none, the first tokenizer that has counted words is
    chosen. Return None if no tokenizer has them.
    """
    having = [place for place, (words, _) in enumerate(known) if words is not None]
    return next((place for place in having if Cutting(known[place][1]).keeps_all), having[0] if having else None)
