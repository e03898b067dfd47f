"""Texts cut word by word: how each different word is cut, and where the words of a text stand.

For methods that cut every word by itself, by whatever rule, and not by the ranks of boundaries. Such a method brings
one function, a `WordCutter`; a cut says how long it holds, so that travelling through the history looks only at
the words that change.

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

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.records import dataclass
from bpe_core.repeating import repeated
from bpe_core.segmenting.boundaries import GLUED_WHILE_PENDING, shifted_hull
from bpe_core.segmenting.cutting import Cutting, Part, ids_looked_for, utf8
from bpe_core.segmenting.segmentation import NO_TOKEN, Ahead, Int32s, Int64s, Tokens
from bpe_core.segmenting.text_encoder import worth_kernels
from bpe_core.segmenting.word_cuts import Cuts, Key, WordCut, WordCuts, WordCutter, WordsCutter, in_rows
from bpe_core.text.stand_ins import raw_bytes

if TYPE_CHECKING:
    from bpe_core.segmenting.compiled_encoder import CompiledEncoder
    from bpe_core.segmenting.given_words import GivenWords
    from bpe_core.segmenting.in_time import InTime
    from bpe_core.segmenting.laid_words import Laid

REMEMBERED_WORDS = 1 << 16

Bools = npt.NDArray[np.bool_]


class WordSegmenter:
    """A `Segmenter` for a method that cuts word by word."""

    is_in_time = False  # whether kernels cut words step after step as this does

    def __init__(self, history: History, cutting: Cutting, cut: WordCutter) -> None:
        self._cutting = cutting
        self._cut = cut
        self._special_id = ids_looked_for(history)
        self._remembered: dict[bytes, WordCut] = {}

    def ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        if not allowed and not self._cutting.gives_words and not self._cutting.recipe.normalizes:
            return self.ids_of_part(text, at)
        utf8(text)  # so that what cannot be encoded is told by its place in the text as it was given
        found = [np.zeros(0, np.int32)]
        if self._cutting.gives_words:
            return self._ids_of_words(text, at, allowed)
        for part, special in self._cutting.normalized_parts(text, allowed):
            found.append(self.ids_of_part(part, at) if special is None else np.array([self._special_id[special]]))
        return np.concatenate(found, dtype=np.int32)

    def _ids_of_words(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        """Where the parts of a text are words already."""
        if worth_kernels(len(text)):
            return self._ids_of_laid(text, at, allowed)
        ids: list[int] = []
        ids_of: dict[str, Sequence[int]] = {}
        for word, special in self._cutting.normalized_parts(text, allowed):
            known = (self._special_id[special],) if special else ids_of.get(word)
            if known is None:
                known = ids_of[word] = self.cut(raw_bytes(word), at).ids
            ids += known
        return np.array(ids, np.int32)

    def _ids_of_laid(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        """The same, each different word of a stretch but once."""
        found = [np.zeros(0, np.int32)]
        for laid, special in self._cutting.laid_parts(text, allowed):
            found.append(np.array([self._special_id[special or ""]]) if laid is None else self.ids_of_laid(laid, at))
        return np.concatenate(found, dtype=np.int32)

    def ids_of_laid(self, laid: Laid, at: int) -> Int32s:
        """The tokens of words that lie end to end."""
        ids: list[int] = []
        ids_of: dict[bytes, Sequence[int]] = {}
        for word in laid.words():
            known = ids_of.get(word)
            if known is None:
                known = ids_of[word] = self.cut(word, at).ids
            ids += known
        return np.array(ids, np.int32)

    def ids_of_part(self, text: str, at: int) -> Int32s:
        """The tokens of a normalized text without special tokens."""
        utf8(text)
        ids: list[int] = []
        ids_of: dict[str, Sequence[int]] = {}  # of this text's words
        for word in self._cutting.words(text):
            known = ids_of.get(word)
            if known is None:
                known = ids_of[word] = self.cut(raw_bytes(word), at).ids
            ids += known
        return np.array(ids, np.int32)

    def ids_of_given(
        self, given: GivenWords, at: int, cancelled: CancelCheck = never_cancelled
    ) -> tuple[Int32s, Int64s] | None:
        """The tokens of the words it was made for, after so many steps, and where those of each begin, and the end.

        None where they are too few for kernels, or there are no such: then whoever asks takes a segmentation.
        """
        compiled = self._compiled(len(given.data))
        return None if compiled is None else compiled.ids_of_given(given.data, given.starts, at, cancelled)

    def in_time(self) -> InTime | None:
        """What kernels need to cut words step after step, where they can."""
        return None

    def _compiled(self, size: int) -> CompiledEncoder | None:
        """The kernels that cut as this does, if there are any and so many bytes are worth them."""
        return None

    def segmentation(self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled) -> WordTokens:
        data = utf8(text)
        parts = [self._words_of(part, cancelled) for part in self._cutting.parts(text, allowed)]
        return WordTokens(data, Words.joined(parts), self.cut_words)

    def cut(self, word: bytes, at: int) -> WordCut:
        known = self._remembered.get(word)
        if known is None or not known.since <= at < known.until:
            if len(self._remembered) >= REMEMBERED_WORDS:
                self._remembered = {}
            known = self._remembered[word] = self._cut(word, at)
        return known

    def cut_words(self, words: Sequence[bytes], at: int) -> WordCuts:
        return WordCuts.of([self.cut(word, at) for word in words])

    def _words_of(self, part: Part, cancelled: CancelCheck) -> Words:
        if part.special is not None:
            return Words.of([self._special_id[part.special]], [0], part.origins[[0, -1]])
        words, starts = list[bytes](), list[int]()
        for word, start in while_wanted(self._cutting.placed_words(part.text), cancelled):
            words.append(word)
            starts.append(start)
        return Words.of(words, starts, part.origins)


@dataclass(frozen=True, eq=False)
class Words:
    """Words in their order, each with the places of its bytes, and of its end, in the text as it was given."""

    keys: list[Key]  # different ones
    which: Int64s  # for each word of the text its key
    origins: Int64s  # those of one word behind those of the other
    first: Int64s  # for each word the first of its origins, and the end of the last one's
    touched: Bools  # which were changed by an edit since they were cut

    @classmethod
    def of(cls, words: Sequence[Key], starts: Sequence[int], origins: Int64s) -> Words:
        """Words by where they start in a text that was normalized, with the origins of its bytes."""
        index: dict[Key, int] = {}
        which = np.fromiter((index.setdefault(word, len(index)) for word in words), np.int64, len(words))
        lengths = np.array([_length(key) + 1 for key in index], np.int64)[which]
        first = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
        places = in_rows(np.array(starts, np.int64), lengths)
        return cls(list(index), which, origins[places], first, np.zeros(len(words), np.bool_))

    @classmethod
    def joined(cls, parts: Sequence[Words]) -> Words:
        """The words of one part of a text after those of the other."""
        index: dict[Key, int] = {}
        columns: list[list[npt.NDArray[Any]]] = [[np.zeros(0, kind)] for kind in (np.int64, np.int64, np.int64, bool)]
        for part in parts:
            known = np.zeros(len(part.keys), np.int64)
            known[part.which] = 1
            used = np.flatnonzero(known)
            known[used] = [index.setdefault(part.keys[i], len(index)) for i in used.tolist()]
            own = (known[part.which], part.own_origins, np.diff(part.first), part.touched)
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

    @property
    def own_origins(self) -> Int64s:
        return self.origins[self.first[0] : self.first[-1]]

    def first_behind(self, place: int) -> int:
        """The first word of which something stands behind a place; one without bytes belongs to what follows it."""
        return min(int(np.searchsorted(self.stops, place, side="right")), int(np.searchsorted(self.starts, place)))

    def part(self, start: int, stop: int) -> Words:
        """The words of these indices."""
        return replace(
            self,
            which=self.which[start:stop],
            first=self.first[start : stop + 1],
            touched=self.touched[start:stop],
        )

    def only(self, which: Bools) -> list[Words]:
        """Those words, each by itself."""
        return [self.part(i, i + 1) for i in np.flatnonzero(which).tolist()]


class _Placed(NamedTuple):
    """Tokens with their places, those that cover no byte too; what is no token stands among them as NO_TOKEN."""

    tokens: Tokens
    goes_left: Bools  # whether the word of each began before it
    covering: Tokens  # without those that cover no byte


class WordTokens:
    """One text with its tokens after every step: the `Segmentation` of a method that cuts word by word.

    An edit moves what stands behind it. Until the answer comes, a few new bytes are shown as part of the token before
    them, so that typing does not flicker; of many, and of what they part, nothing is shown.
    """

    def __init__(self, data: bytes, words: Words, cut_words: WordsCutter) -> None:
        self.data = data
        self.pending: tuple[int, int] | None = None
        self._words = words
        self._cut_words = cut_words
        self._cuts = Cuts(words.keys, cut_words)
        self._found: tuple[int, _Placed] | None = None  # at the step last asked for

    # -- changes ---------------------------------------------------------------------------

    def splice(self, start: int, removed: int, added: bytes) -> None:
        words, stop = self._words, start + removed
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
        self.pending = shifted_hull(self.pending, start, removed, len(added))

    def put(self, start: int, answer: Self) -> None:
        words, stop = self._words, start + len(answer.data)
        low = words.first_behind(start)
        high = max(low, int(np.searchsorted(words.starts, stop)))
        new = replace(answer._words, origins=answer._words.origins + start)
        self._cut_words = answer._cut_words  # which remembers what was asked about it
        if self.pending and start <= self.pending[0] and self.pending[1] <= stop:
            self.pending = None
        self._take([words.part(0, low), new, words.part(high, len(words))])

    def _take(self, parts: list[Words]) -> None:
        self._words = Words.joined(parts)
        self._cuts = self._cuts.for_keys(self._words.keys, self._cut_words)
        self._found = None

    # -- tokens ----------------------------------------------------------------------------

    def tokens(self, at: int) -> Tokens:
        return self._placed(at).tokens

    def tokens_between(self, start: int, stop: int, at: int) -> Tokens:
        if start >= stop:
            return Tokens(np.array([start], np.int64), np.empty(0, np.int64))
        tokens = self._placed(at).covering
        first = int(np.searchsorted(tokens.edges, start, side="right")) - 1
        end = int(np.searchsorted(tokens.edges, stop))
        return Tokens(tokens.edges[first : end + 1], tokens.ids[first:end])

    def with_empty(self, tokens: Tokens, at: int, *, of_neighbours: bool = False) -> Tokens:
        placed = self._placed(at)
        start, stop = int(tokens.edges[0]), int(tokens.edges[-1])
        starts, stops = placed.tokens.edges[:-1], placed.tokens.edges[1:]
        low, high = int(np.searchsorted(starts, start)), int(np.searchsorted(stops, stop, side="right"))
        chosen = np.arange(low, high)
        if not of_neighbours:
            are_empty, goes_left = (stops == starts)[low:high], placed.goes_left[low:high]
            of_others = ((starts[low:high] == start) & goes_left) | ((stops[low:high] == stop) & ~goes_left)
            chosen = chosen[~(are_empty & of_others)]
        return Tokens(np.append(starts[chosen], np.int64(stop)), placed.tokens.ids[chosen])

    def ahead_of(self, at: int) -> Ahead | None:
        return self._cuts.ahead_of(at)

    def edges(self, at: int) -> Int64s:
        return self.tokens(at).edges

    def count(self, at: int) -> int:
        return int(np.count_nonzero(self.tokens(at).ids != NO_TOKEN))

    @property
    def is_in_blocks(self) -> bool:
        return False

    def count_words(self) -> int:
        return len(self._words)

    def largest_id(self, at: int) -> int:
        return int(self.tokens(at).ids.max(initial=0))

    def _placed(self, at: int) -> _Placed:
        if self._found is None or self._found[0] != at:
            self._found = at, self._place(at)
        return self._found[1]

    def _place(self, at: int) -> _Placed:
        """All tokens of all words, and between them what belongs to none."""
        words, cuts = self._words, self._cuts
        cuts.travel(at)
        counts = cuts.counts[words.which]
        place = in_rows(cuts.first[words.which], counts)
        begins = np.zeros(len(place), np.bool_)
        begins[(np.cumsum(counts) - counts)[counts > 0]] = True
        ends, of_word = cuts.ends[place], repeated(words.first[:-1], counts)
        starts = words.origins[of_word + np.where(begins, 0, np.concatenate((ends[:1], ends[:-1])))]
        stops, ids = words.origins[of_word + ends], cuts.ids[place]
        goes_left = starts > repeated(words.starts, counts)
        kept = (stops > starts) | ~repeated(words.touched, counts)
        tokens, goes_left = _with_gaps(starts[kept], stops[kept], ids[kept], goes_left[kept], len(self.data))
        if self.pending:
            waits = (tokens.edges[:-1] >= self.pending[0]) & (tokens.edges[1:] <= self.pending[1])
            tokens.ids[waits] = NO_TOKEN
        covers = tokens.edges[1:] > tokens.edges[:-1]
        covering = Tokens(np.append(tokens.edges[:-1][covers], tokens.edges[-1]), tokens.ids[covers])
        return _Placed(tokens, goes_left, covering)


def _length(key: Key) -> int:
    return 1 if isinstance(key, int) else len(key)


def _with_gaps(starts: Int64s, stops: Int64s, ids: Int64s, goes_left: Bools, length: int) -> tuple[Tokens, Bools]:
    """Tokens with NO_TOKEN wherever bytes of the text stand between two of them."""
    before = np.concatenate((np.zeros(1, np.int64), stops))
    behind = np.append(starts, np.int64(length))
    gaps = np.flatnonzero(behind > before)
    edges = np.append(np.insert(starts, gaps, before[gaps]), np.int64(length))
    return Tokens(edges, np.insert(ids, gaps, NO_TOKEN)), np.insert(goes_left, gaps, False)
