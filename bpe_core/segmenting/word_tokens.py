"""The tokens of a text that is split word by word: the tokens of each different word, and the offsets of all words.

This module is for methods that split each word separately and not by the ranks of boundaries. Such a method has a
`WordCutter`, a function that splits a word. The result of the function says for which steps the tokens are valid. So
only the words whose tokens change are split again for another step. If many words change, a background task splits them
in advance.

    >>> def by_letters(word: bytes, at: int) -> WordCut:
    ...     '''Single letters, and from step 3 on whole words.'''
    ...     return WordCut([7], [len(word)], 3, 10) if at >= 3 else WordCut(list(word), range(1, len(word) + 1), 0, 3)
    >>> def all_by_letters(words: Sequence[bytes], at: int) -> WordCuts:
    ...     return WordCuts.of([by_letters(word, at) for word in words])
    >>> low = WordTokens(b"a low", Words.of([b"a", b"low"], [0, 2], np.arange(6)), all_by_letters)
    >>> [low.tokens(at).spans().tolist() for at in (2, 3)]
    [[[0, 1, 97], [2, 3, 108], [3, 4, 111], [4, 5, 119]], [[0, 1, 7], [2, 5, 7]]]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import NOTHING
from bpe_core.segmenting.boundaries import GLUED_WHILE_PENDING, changed_range
from bpe_core.segmenting.segmentation import NO_TOKEN, Ahead, Segmentation, Tokens
from bpe_core.support.arrays import Bools, Int64s, repeat
from bpe_core.support.progress import CancelCheck, while_wanted

CUT_AT_ONCE = 100  # different words; a background task splits more
LONGEST_AT_ONCE = 1_000  # bytes of a word that is split at once; longer words are rare and slow
ALWAYS = 2**62  # the number `until` of a word that no step changes
IN_A_PIECE = 100  # words that are split between two checks for cancellation


class WordCut(NamedTuple):
    """The tokens of one word, and the steps for which they are valid. A token may cover no byte."""

    ids: Sequence[int]
    ends: Sequence[int]  # the end of each token, in bytes of the normalized word
    since: int  # the first number of steps with these tokens
    until: int  # the next number of steps with perhaps other tokens


class WordCuts(NamedTuple):
    """The tokens of several words, stored in columns, and the steps for which these tokens are valid."""

    ids: Int64s
    ends: Int64s
    counts: Int64s  # number of tokens of each word
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


WordCutter = Callable[[bytes, int], WordCut]  # takes a word and a number of steps
WordsCutter = Callable[[Sequence[bytes], int], WordCuts]
Key = bytes | int  # a word, or the id of a special token, which counts as a word of one byte


def different_cuts(word: bytes, cut_word: WordCutter, steps: int) -> Iterator[tuple[int, list[int]]]:
    """Yield each number of steps at which the tokens of a word change, together with the new tokens."""
    at = 0
    before = None
    while at <= steps:
        cut = cut_word(word, at)
        ids = list(cut.ids)
        if ids != before:
            yield at, ids
        at = cut.until
        before = ids


class PrecomputedTokens(NamedTuple):
    """The tokens of some words after `at` steps. A background task has computed them in advance."""

    at: int
    which: Int64s
    word_cuts: WordCuts


class Cuts:
    """The tokens of each distinct word in a text, after the number of steps that was last requested."""

    def __init__(self, keys: list[Key], cut_words: WordsCutter) -> None:
        self._keys = keys
        self._cut_words = cut_words
        self._is_special = np.fromiter((isinstance(key, int) for key in keys), np.bool_, len(keys))
        self._since = np.zeros(len(keys), np.int64)
        self._until = np.zeros(len(keys), np.int64)  # no tokens are computed yet
        self.first = np.zeros(len(keys), np.int64)  # the index of each word's first token
        self.counts = np.zeros(len(keys), np.int64)
        self.ids = self.ends = np.zeros(0, np.int64)
        self._ahead: PrecomputedTokens | None = None

    def _changed(self, at: int) -> tuple[Int64s, Int64s]:
        """Return the indices of the entries whose stored tokens may be wrong after `at` steps.

        There are two arrays: one for special tokens, and one for words.
        """
        changed = (self._since > at) | (self._until <= at)
        return np.flatnonzero(changed & self._is_special), np.flatnonzero(changed & ~self._is_special)

    def ahead_of(self, at: int) -> Ahead | None:
        """Return a function that splits the words that change at step `at`. Another thread can run it.

        Return None if there are only a few short words, or if the words are split already.
        """
        _, which = self._changed(at)
        if self._is_ready_ahead(at, which):
            return None
        words = self._words_of(which)
        if len(words) <= CUT_AT_ONCE and max(map(len, words), default=0) <= LONGEST_AT_ONCE:
            return None
        parts = [words[start : start + IN_A_PIECE] for start in range(0, len(words), IN_A_PIECE)]

        def cut_all(cancelled: CancelCheck) -> None:
            word_cuts = [self._cut_words(part, at) for part in while_wanted(parts, cancelled, every=1)]
            self._ahead = PrecomputedTokens(at, which, WordCuts(*map(np.concatenate, zip(*word_cuts, strict=True))))

        return cut_all

    def _is_ready_ahead(self, at: int, which: Int64s) -> bool:
        ahead = self._ahead
        return ahead is not None and ahead.at == at and np.array_equal(ahead.which, which)

    def _words_of(self, which: Int64s) -> list[bytes]:
        return [key for i in which.tolist() if isinstance(key := self._keys[i], bytes)]

    def travel(self, at: int) -> None:
        specials, words = self._changed(at)
        keys = self._keys
        ahead = self._ahead
        if len(specials):
            self._take(specials, WordCuts.of([WordCut((int(keys[i]),), (1,), 0, ALWAYS) for i in specials.tolist()]))
        if ahead is not None and self._is_ready_ahead(at, words):
            self._take(words, ahead.word_cuts)
        elif len(words):
            self._take(words, self._cut_words(self._words_of(words), at))
        if len(self.ids) > 2 * self.counts.sum() + 1_000:
            self._remove_old_tokens()

    def _take(self, changed: Int64s, word_cuts: WordCuts) -> None:
        self._since[changed] = word_cuts.since
        self._until[changed] = word_cuts.until
        self.counts[changed] = word_cuts.counts
        self.first[changed] = len(self.ids) + np.cumsum(word_cuts.counts) - word_cuts.counts
        self.ids, self.ends = np.concatenate((self.ids, word_cuts.ids)), np.concatenate((self.ends, word_cuts.ends))

    def for_keys(self, keys: list[Key], cut_words: WordsCutter) -> Cuts:
        """Return the tokens of the words in another list, `keys`.

        If a word is in both lists, its tokens are copied instead of being recomputed.
        """
        index = {key: i for i, key in enumerate(self._keys)}
        old = np.array([index.get(key, NOTHING) for key in keys], np.int64)
        cuts = Cuts(keys, cut_words)
        known = old != NOTHING
        for mine, theirs in zip(self._columns(), cuts._columns(), strict=True):
            theirs[known] = mine[old[known]]
        cuts.ids = self.ids
        cuts.ends = self.ends
        return cuts

    def _columns(self) -> tuple[Int64s, ...]:
        return self._since, self._until, self.first, self.counts

    def _remove_old_tokens(self) -> None:
        places = ascending_rows(self.first, self.counts)
        self.ids = self.ids[places]
        self.ends = self.ends[places]
        self.first = np.cumsum(self.counts) - self.counts


def ascending_rows(first: Int64s, counts: Int64s) -> Int64s:
    """Return rows of ascending numbers, concatenated. Row i has `counts[i]` numbers, which ascend from `first[i]`.

    >>> ascending_rows(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = np.cumsum(counts) - counts
    rows: Int64s = np.arange(counts.sum()) + repeat(first - before, counts)
    return rows


@dataclass(frozen=True, eq=False)
class Words:
    """The words of a text in order.

    The object holds the offset in the original text for each byte of a word, and for the end of the word.
    """

    keys: list[Key]  # the different words
    which: Int64s  # for each word of the text, the index of its key
    origins: Int64s  # the offsets of all words, end to end
    first: Int64s  # the index of each word's first offset in `origins`, and the end
    touched: Bools  # whether an edit has changed the word since it was split

    @classmethod
    def of(cls, words: Sequence[Key], starts: Sequence[int], origins: Int64s) -> Words:
        """Make words from their offsets in a normalized text.

        `origins` gives, for each byte of this text, the offset in the original text from which the byte comes.
        """
        index: dict[Key, int] = {}
        which = np.fromiter((index.setdefault(word, len(index)) for word in words), np.int64, len(words))
        lengths = np.array([_length(key) + 1 for key in index], np.int64)[which]
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        places = ascending_rows(np.array(starts, np.int64), lengths)
        return cls(list(index), which, origins[places], first, np.zeros(len(words), np.bool_))

    @classmethod
    def joined(cls, parts: Sequence[Words]) -> Words:
        index: dict[Key, int] = {}
        columns: list[list[npt.NDArray[Any]]] = [[np.zeros(0, kind)] for kind in (np.int64, np.int64, np.int64, bool)]
        for part in parts:
            known = np.zeros(len(part.keys), np.int64)
            known[part.which] = 1
            used = np.flatnonzero(known)
            known[used] = [index.setdefault(part.keys[i], len(index)) for i in used.tolist()]
            own = (known[part.which], part.origins[part.first[0] : part.first[-1]], np.diff(part.first), part.touched)
            for column, values in zip(columns, own, strict=True):
                column.append(values)
        which, origins, lengths, touched = map(np.concatenate, columns)
        return cls(list(index), which, origins, np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths))), touched)

    def __len__(self) -> int:
        return len(self.which)

    @property
    def starts(self) -> Int64s:
        return self.origins[self.first[:-1]]

    @property
    def stops(self) -> Int64s:
        return self.origins[self.first[1:] - 1]

    def first_behind(self, place: int) -> int:
        """Return the index of the first word that ends after the offset `place`.

        A word without bytes belongs to the word after it.
        """
        return min(int(np.searchsorted(self.stops, place, side="right")), int(np.searchsorted(self.starts, place)))

    def part(self, start: int, stop: int) -> Words:
        return replace(
            self, which=self.which[start:stop], first=self.first[start : stop + 1], touched=self.touched[start:stop]
        )

    def only(self, which: Bools) -> list[Words]:
        return [self.part(i, i + 1) for i in np.flatnonzero(which).tolist()]


class _PlacedTokens(NamedTuple):
    """Tokens with their offsets. Some tokens cover no byte. Bytes without a token have NO_TOKEN."""

    tokens: Tokens
    goes_left: Bools  # whether its word began before it
    covering: Tokens  # the tokens that cover bytes


class WordTokens(Segmentation):
    """A text with its tokens after every step.

    It is the `Segmentation` of a method that splits word by word. An edit moves the words after it. New bytes
    have no tokens of their own until they are split. A few new bytes are shown as part of the token before them,
    so that the colours do not flicker during typing. If there are many new bytes, they are shown without a token,
    and so are the words that they divide.
    """

    def __init__(self, data: bytes, words: Words, cut_words: WordsCutter) -> None:
        self.data = data
        self.pending: tuple[int, int] | None = None
        self._words = words
        self._cut_words = cut_words
        self._cuts = Cuts(words.keys, cut_words)
        self._latest: tuple[int, _PlacedTokens] | None = None  # the tokens after the step that was requested last

    # -- changes ---------------------------------------------------------------------------

    def splice(self, start: int, removed: int, added: bytes) -> None:
        words = self._words
        stop = start + removed
        glues = len(added) <= GLUED_WHILE_PENDING
        low = int(np.searchsorted(words.stops, start)) if glues else words.first_behind(start)
        high = max(low, int(np.searchsorted(words.starts, stop, side="right" if glues else "left")))
        origins = np.maximum(words.origins + len(added) - removed, start + len(added))
        moved = replace(words, origins=np.where(words.origins < start, words.origins, origins))
        parts = [words.part(0, low)]
        if glues:
            touched = replace(moved, touched=np.ones(len(words), np.bool_)).part(low, high)
            parts += touched.only(touched.stops > touched.starts)
        self._take([*parts, moved.part(high, len(words))])
        self.data = b"".join((self.data[:start], added, self.data[stop:]))
        self.pending = changed_range(self.pending, start, removed, len(added))

    def put(self, start: int, answer: Self) -> None:
        words = self._words
        stop = start + len(answer.data)
        low = words.first_behind(start)
        high = max(low, int(np.searchsorted(words.starts, stop)))
        new = replace(answer._words, origins=answer._words.origins + start)
        self._cut_words = answer._cut_words  # the function of the answer has a cache of these words
        if self.pending and start <= self.pending[0] and self.pending[1] <= stop:
            self.pending = None
        self._take([words.part(0, low), new, words.part(high, len(words))])

    def _take(self, parts: list[Words]) -> None:
        self._words = Words.joined(parts)
        self._cuts = self._cuts.for_keys(self._words.keys, self._cut_words)
        self._latest = None

    # -- tokens ----------------------------------------------------------------------------

    def tokens(self, at: int) -> Tokens:
        return self._placed(at).tokens

    def tokens_between(self, start: int, stop: int, at: int) -> Tokens:
        return self._placed(at).covering.between(start, stop)

    def with_empty(self, tokens: Tokens, at: int, *, of_neighbours: bool = False) -> Tokens:
        placed = self._placed(at)
        start = int(tokens.edges[0])
        stop = int(tokens.edges[-1])
        starts = placed.tokens.edges[:-1]
        stops = placed.tokens.edges[1:]
        low = int(np.searchsorted(starts, start))
        high = int(np.searchsorted(stops, stop, side="right"))
        chosen = np.arange(low, high)
        if not of_neighbours:
            are_empty = (stops == starts)[low:high]
            goes_left = placed.goes_left[low:high]
            of_others = ((starts[low:high] == start) & goes_left) | ((stops[low:high] == stop) & ~goes_left)
            chosen = chosen[~(are_empty & of_others)]
        return Tokens(np.append(starts[chosen], np.int64(stop)), placed.tokens.ids[chosen])

    def ahead_of(self, at: int) -> Ahead | None:
        return self._cuts.ahead_of(at)

    def _placed(self, at: int) -> _PlacedTokens:
        if self._latest is None or self._latest[0] != at:
            self._latest = at, self._place(at)
        return self._latest[1]

    def _place(self, at: int) -> _PlacedTokens:
        """Return the tokens of all words after `at` steps, with NO_TOKEN for bytes between words."""
        words = self._words
        cuts = self._cuts
        cuts.travel(at)
        counts = cuts.counts[words.which]
        place = ascending_rows(cuts.first[words.which], counts)
        begins = np.zeros(len(place), np.bool_)
        begins[(np.cumsum(counts) - counts)[counts > 0]] = True
        ends = cuts.ends[place]
        of_word = repeat(words.first[:-1], counts)
        starts = words.origins[of_word + np.where(begins, 0, np.concatenate((ends[:1], ends[:-1])))]
        stops = words.origins[of_word + ends]
        ids = cuts.ids[place]
        goes_left = starts > repeat(words.starts, counts)
        kept = (stops > starts) | ~repeat(words.touched, counts)
        tokens, goes_left = _with_gaps(starts[kept], stops[kept], ids[kept], goes_left[kept], len(self.data))
        if self.pending:
            waits = (tokens.edges[:-1] >= self.pending[0]) & (tokens.edges[1:] <= self.pending[1])
            tokens.ids[waits] = NO_TOKEN
        covers = tokens.edges[1:] > tokens.edges[:-1]
        covering = Tokens(np.append(tokens.edges[:-1][covers], tokens.edges[-1]), tokens.ids[covers])
        return _PlacedTokens(tokens, goes_left, covering)


def _length(key: Key) -> int:
    return 1 if isinstance(key, int) else len(key)


def _with_gaps(starts: Int64s, stops: Int64s, ids: Int64s, goes_left: Bools, length: int) -> tuple[Tokens, Bools]:
    """Add a token NO_TOKEN wherever bytes of the text lie between two tokens.

    Return the tokens, and the mask `goes_left` extended by an element for each added token.
    """
    before = np.concatenate((np.zeros(1, np.int64), stops))
    behind = np.append(starts, np.int64(length))
    gaps = np.flatnonzero(behind > before)
    edges = np.append(np.insert(starts, gaps, before[gaps]), np.int64(length))
    return Tokens(edges, np.insert(ids, gaps, NO_TOKEN)), np.insert(goes_left, gaps, False)
