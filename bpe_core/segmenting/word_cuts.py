"""How single words are cut, of all different words of a text at once: what `word_tokens` puts in its places.

A cut says how long it holds, so that travelling through the history looks only at the words that change. Where they
are many, they are cut aside before anybody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from bpe_core.history.history import NOTHING
from bpe_core.progress import CancelCheck, while_wanted
from bpe_core.repeating import repeated
from bpe_core.segmenting.segmentation import Ahead, Int64s

CUT_AT_ONCE = 100  # different words: more are cut aside
LONGEST_AT_ONCE = 1_000  # bytes of a word that is cut at once; only what was made to be slow takes longer words
ALWAYS = 2**62  # the end of a cut that no step changes
IN_A_PIECE = 100  # words that are cut between two questions whether anybody still wants to know


class WordCut(NamedTuple):
    """How one word is cut. A token may cover none of its bytes."""

    ids: Sequence[int]
    ends: Sequence[int]  # where each token ends, in bytes of the word as it was normalized
    since: int  # the first step after which it is cut so
    until: int  # the first one after that from which on it may be cut otherwise


class WordCuts(NamedTuple):
    """How many words are cut: the same of each, the tokens of one behind those of the other."""

    ids: Int64s
    ends: Int64s
    counts: Int64s  # of the tokens of each word
    since: Int64s
    until: Int64s

    @classmethod
    def of(cls, cuts: Sequence[WordCut]) -> WordCuts:
        return cls(
            np.array([id for cut in cuts for id in cut.ids], np.int64),
            np.array([end for cut in cuts for end in cut.ends], np.int64),
            np.array([len(cut.ids) for cut in cuts], np.int64),
            np.array([cut.since for cut in cuts], np.int64),
            np.array([cut.until for cut in cuts], np.int64),
        )


WordCutter = Callable[[bytes, int], WordCut]  # of a word and a number of steps
WordsCutter = Callable[[Sequence[bytes], int], WordCuts]
Key = bytes | int  # a word, or the id of a special token, which counts as a word of one byte


def different_cuts(word: bytes, cut_word: WordCutter, steps: int) -> Iterator[tuple[int, list[int]]]:
    """The tokens of a word through a history of so many steps: after each number of steps at which they are others."""
    at, before = 0, None
    while at <= steps:
        cut = cut_word(word, at)
        ids = list(cut.ids)
        if ids != before:
            yield at, ids
        at, before = cut.until, ids


class FoundAhead(NamedTuple):
    """How words are cut after so many steps, found before anybody asks."""

    at: int
    which: Int64s
    found: WordCuts


class Cuts:
    """How the different words of a text are cut at the step last asked for."""

    def __init__(self, keys: list[Key], cut_words: WordsCutter) -> None:
        self._keys, self._cut_words = keys, cut_words
        self._is_special = np.fromiter((isinstance(key, int) for key in keys), np.bool_, len(keys))
        self._since = np.zeros(len(keys), np.int64)
        self._until = np.zeros(len(keys), np.int64)  # so nothing is known yet
        self.first = np.zeros(len(keys), np.int64)  # where its tokens stand
        self.counts = np.zeros(len(keys), np.int64)
        self.ids = self.ends = np.zeros(0, np.int64)
        self._ahead: FoundAhead | None = None

    def _changed(self, at: int) -> tuple[Int64s, Int64s]:
        """What is cut otherwise after so many steps, or may be: special tokens, and words."""
        changed = (self._since > at) | (self._until <= at)
        return np.flatnonzero(changed & self._is_special), np.flatnonzero(changed & ~self._is_special)

    def ahead_of(self, at: int) -> Ahead | None:
        """Cutting those words, where they are many or one is long, for `travel` to take; unless that was done."""
        _, which = self._changed(at)
        if self._is_found(at, which):
            return None
        words = self._words_of(which)
        if len(words) <= CUT_AT_ONCE and max(map(len, words), default=0) <= LONGEST_AT_ONCE:
            return None
        parts = [words[start : start + IN_A_PIECE] for start in range(0, len(words), IN_A_PIECE)]

        def cut_all(cancelled: CancelCheck) -> None:
            found = [self._cut_words(part, at) for part in while_wanted(parts, cancelled, every=1)]
            self._ahead = FoundAhead(at, which, WordCuts(*map(np.concatenate, zip(*found, strict=True))))

        return cut_all

    def _is_found(self, at: int, which: Int64s) -> bool:
        ahead = self._ahead
        return ahead is not None and ahead.at == at and np.array_equal(ahead.which, which)

    def _words_of(self, which: Int64s) -> list[bytes]:
        return [key for i in which.tolist() if isinstance(key := self._keys[i], bytes)]

    def travel(self, at: int) -> None:
        """Cut anew what is cut otherwise after so many steps."""
        specials, words = self._changed(at)
        keys, ahead = self._keys, self._ahead
        if len(specials):
            self._take(specials, WordCuts.of([WordCut((int(keys[i]),), (1,), 0, ALWAYS) for i in specials.tolist()]))
        if ahead is not None and self._is_found(at, words):
            self._take(words, ahead.found)
        elif len(words):
            self._take(words, self._cut_words(self._words_of(words), at))
        if len(self.ids) > 2 * self.counts.sum() + 1_000:
            self._leave_out_what_is_old()

    def _take(self, changed: Int64s, found: WordCuts) -> None:
        self._since[changed], self._until[changed] = found.since, found.until
        self.counts[changed] = found.counts
        self.first[changed] = len(self.ids) + np.cumsum(found.counts) - found.counts
        self.ids, self.ends = np.concatenate((self.ids, found.ids)), np.concatenate((self.ends, found.ends))

    def for_keys(self, keys: list[Key], cut_words: WordsCutter) -> Cuts:
        """The same for other words, with what is known of them."""
        index = {key: i for i, key in enumerate(self._keys)}
        old = np.array([index.get(key, NOTHING) for key in keys], np.int64)
        cuts = Cuts(keys, cut_words)
        known = old != NOTHING
        for mine, theirs in zip(self._columns(), cuts._columns(), strict=True):
            theirs[known] = mine[old[known]]
        cuts.ids, cuts.ends = self.ids, self.ends
        return cuts

    def _columns(self) -> tuple[Int64s, ...]:
        return self._since, self._until, self.first, self.counts

    def _leave_out_what_is_old(self) -> None:
        places = in_rows(self.first, self.counts)
        self.ids, self.ends = self.ids[places], self.ends[places]
        self.first = np.cumsum(self.counts) - self.counts


def in_rows(first: Int64s, counts: Int64s) -> Int64s:
    """Of each row the first number and those that follow it, one row behind the other.

    >>> in_rows(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(counts) - counts
    rows: Int64s = np.arange(counts.sum()) + repeated(first - before, counts)
    return rows
