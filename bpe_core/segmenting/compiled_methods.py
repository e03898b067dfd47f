"""The compiled encoders that split words by the best paths or by the priorities of pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import accumulate
from typing import NamedTuple, get_args

import numpy as np

from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import DROPPED, NOTHING, Scores
from bpe_core.history.history import History
from bpe_core.kernels import encode as kernel
from bpe_core.kernels.change_text import TextChanges
from bpe_core.kernels.merge_word import MergeBuffer
from bpe_core.kernels.pieces import (
    CONTINUING,
    FALLBACK,
    LONGEST,
    MARKER,
    STARTING,
    SUMS,
    TWIN,
    UNKNOWN,
    PieceTable,
    cut_words,
)
from bpe_core.recipes.parts import Sums
from bpe_core.segmenting.by_priority import JoinedWords, join_unknown
from bpe_core.segmenting.compiled_encoder import CompiledEncoder, Edges, joining_table, piece_table, room_for
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.merging import NEVER
from bpe_core.segmenting.text_pairs import joinable_pairs
from bpe_core.segmenting.word_tokens import ALWAYS, WordCuts
from bpe_core.support.arrays import Bytes, Float64s, Int32s, Int64s

WORDS_AT_ONCE = 1 << 14  # words that are split in about 10 ms


class PiecesOverTime(NamedTuple):
    """The tokens that exist after each step.

    The tokens of a word can change only if a step adds a token, drops a token of the word, or sets new scores.
    """

    since: Sequence[int]  # the steps after which every word may be split differently; the first is 0
    pieces: Callable[[int], PieceTable]  # makes the table after a number of steps; the caller updates it then
    gone: Int32s | None  # for each token, the step that drops it; None if tokens are added


# --- The best path by scores ----------------------------------------------------------------


class CompiledPaths(CompiledEncoder):
    def __init__(self, history: History, cutting: Cutting, scores: Scores) -> None:
        pieces = _scored_table(history)
        numbers_at = lru_cache(maxsize=1)(partial(_numbers, scores))
        super().__init__(history, cutting, pieces, numbers_at, kernel.PATHS)
        self._scores = scores
        self._numbers_at = numbers_at
        self._gone_at = _gone_at(history)
        self._steps = len(history)

    def cut_words(self, words: Sequence[bytes], at: int) -> WordCuts:
        pieces = self._pieces._replace(scores=self._numbers_at(at))
        room, _ = room_for(max(map(len, words), default=0), 0, kernel.PATHS)
        parts = [
            self._cut_some(words[start : start + WORDS_AT_ONCE], at, pieces, room)
            for start in range(0, len(words), WORDS_AT_ONCE)
        ]
        return WordCuts(*map(np.concatenate, zip(*parts, strict=True)))

    def _cut_some(self, words: Sequence[bytes], at: int, pieces: PieceTable, room: MergeBuffer) -> WordCuts:
        starts = np.fromiter(accumulate(map(len, words), initial=0), np.int64, len(words) + 1)
        most = int(starts[-1]) + len(words)  # each token covers at least a byte, except the marker
        ids = np.empty(most, np.int32)
        ends = np.empty(most, np.int32)
        counts = np.empty(len(words), np.int64)
        data = np.frombuffer(bytearray().join([*words, bytes(4)]), np.uint8)
        free = int(cut_words(pieces, room, data, starts, ids, ends, counts))
        first = np.cumsum(counts) - counts
        until = np.minimum(np.minimum.reduceat(self._gone_at[ids[:free]], first), self._scores.until(at))
        if self._scores.waiting and at < self._steps:  # added tokens may be in any word
            until = np.full(len(words), at + 1)
        since = np.full(len(words), at)
        return WordCuts(ids[:free].astype(np.int64), ends[:free].astype(np.int64), counts, since, until)


def paths_over_time(history: History, scores: Scores) -> PiecesOverTime:
    table = _scored_table(history)
    later = [since + 1 for since in scores.since[1:]]
    gone = np.minimum(_gone_at(history), NEVER).astype(np.int32)
    return PiecesOverTime([0, *later], lambda at: table._replace(scores=_numbers(scores, at)), gone)


def _gone_at(history: History) -> Int64s:
    steps: Int64s = np.full(history.index_count, ALWAYS)
    drops = history.columns.right == NOTHING
    steps[history.columns.left[drops]] = np.flatnonzero(drops) + 1
    return steps


def _numbers(scores: Scores, at: int) -> Float64s:
    return np.append(DROPPED, scores.at(at)).astype(np.float64)


def _scored_table(history: History) -> PieceTable:
    alphabet = history.alphabet
    twin = history.unknown_twin
    marker = history.recipe.marker_text
    sums = history.recipe.sums
    return alphabet.kept(("scored", marker, sums, twin), lambda: _made_table(alphabet, marker, sums, twin))


def _made_table(alphabet: Alphabet, marker_text: str, sums: Sums, twin: int | None) -> PieceTable:
    marker = marker_text.encode()
    first_seed = len(alphabet) - alphabet.seed_count
    ids = [id for id, symbol in enumerate(alphabet.but_seeds) if symbol.kind == "character"]
    texts = [alphabet.texts[id] for id in ids] + alphabet.texts[first_seed:]
    ids += range(first_seed, len(alphabet))
    roots = np.full(len(ids), CONTINUING, np.int32)
    if marker:
        for place, (id, text) in enumerate(zip(ids, texts, strict=True)):
            if id >= first_seed and text.startswith(marker):
                texts[place] = text[len(marker) :]
                roots[place] = STARTING
    pieces = piece_table(texts, roots, ids, np.zeros(len(ids), np.int32))
    pieces.number[SUMS] = get_args(Sums).index(sums)
    pieces.number[LONGEST] = max(map(len, texts), default=0)
    known = {UNKNOWN: alphabet.unknown_id, MARKER: alphabet.marker_id, FALLBACK: alphabet.first_fallback_id}
    for entry, number in (known | {TWIN: twin}).items():
        pieces.number[entry] = -1 if number is None else number
    return pieces


# --- A table of priorities ------------------------------------------------------------------


class CompiledPriorities(CompiledEncoder):
    def __init__(self, words: JoinedWords, cutting: Cutting) -> None:
        history = words.history
        joining = words.joining
        pieces = _pieces_of(words)
        super().__init__(history, cutting, pieces, kind=kernel.JOINED)
        self._table = joining_table(len(history.alphabet), words.meeting_pairs(), *_rows(words))
        number = self._alphabet.number
        unknown = history.alphabet.unknown_id
        if joining.left_out:  # the unknown token is left out, too, or there is none
            number[kernel.LEFT_OUT] = number[kernel.UNKNOWN]
            for symbols in (self._alphabet.symbol_of, self._alphabet.last_symbol_of):
                symbols[np.isin(symbols, joining.left_out)] = number[kernel.LEFT_OUT]
        number[kernel.JOINS_UNKNOWN] = unknown if joining.joins_unknown and unknown is not None else kernel.NOTHING
        number[kernel.FINDS_FIRST] = len(joining.found_first)
        self._parts = _Parts(words) if joining.hidden else None
        self.gives_ids_at_once = self._parts is None

    def ids(self, text: str, at: int) -> Int32s:
        return self._shown(super().ids(text, at))

    def ids_of_short(self, text: str, at: int, changes: TextChanges) -> Int32s | None:
        ids = super().ids_of_short(text, at, changes)
        return None if ids is None else self._shown(ids)

    def ids_of_texts_in_words(self, data: Bytes, starts: Int32s, edges: Int64s, at: int) -> tuple[Int32s, Int64s]:
        ids, free_at = super().ids_of_texts_in_words(data, starts, edges, at)
        return (ids, free_at) if self._parts is None else self._parts.of(ids, free_at)

    def ids_of_texts(self, data: Bytes, edges: Edges, at: int, room: Int32s | None = None) -> tuple[Int32s, Int64s]:
        ids, free_at = super().ids_of_texts(data, edges, at, room)
        return (ids, free_at) if self._parts is None else self._parts.of(ids, free_at)

    def _shown(self, ids: Int32s) -> Int32s:
        return ids if self._parts is None else self._parts.of(ids, np.array([0, len(ids)]))[0]


class _Parts:
    """A mapping from hidden tokens to the visible tokens that replace them."""

    def __init__(self, words: JoinedWords) -> None:
        history = words.history
        joining = words.joining
        hidden = frozenset(joining.hidden)
        base = len(history.alphabet)
        parts_of: list[list[int]] = [[id] for id in range(base)]
        for id, (left, right) in enumerate(history.pairs(), base):
            parts_of.append(parts_of[left] + parts_of[right] if id in hidden else [id])
        if words.unknown_alone:
            parts_of = [[part for id in parts for part in words.unknown_alone.get(id, [id])] for parts in parts_of]
        self._counts = np.array(list(map(len, parts_of)))
        self._first = np.cumsum(self._counts) - self._counts
        self._all = np.array([id for parts in parts_of for id in parts], np.int32)
        joins = joining.joins_unknown and words.unknown_alone
        self._joined = history.alphabet.unknown_id if joins else None

    def of(self, ids: Int32s, edges: Int64s) -> tuple[Int32s, Int64s]:
        """Replace the hidden tokens in `ids` by the visible tokens that they are made of.

        Return the new ids, and the offset of each text in these ids.
        """
        counts = self._counts[ids]
        before = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        starts = np.repeat(self._first[ids] - before[:-1], counts)
        shown: Int32s = self._all[starts + np.arange(len(starts))]
        edges = before[edges]
        return (shown, edges) if self._joined is None else join_unknown(shown, edges, self._joined)


def _rows(words: JoinedWords) -> list[Int32s]:
    """Return all pairs that can be joined, in four columns: the left token, the right token, the priority, and the
    token that the pair becomes.
    """
    pairs = words.joining.pairs
    if pairs is not None:
        columns = [pairs.left, pairs.right, np.arange(len(pairs.left)), pairs.token]
        return [column.astype(np.int32) for column in columns]
    known = words.by_text
    left, right, whole = joinable_pairs(known.texts)
    ids = np.flatnonzero(~words.alone)
    ids = ids[np.argsort(known.text_of[ids], kind="stable")]
    counts = np.bincount(known.text_of[ids], minlength=len(known.priority))
    first = np.cumsum(counts) - counts
    times = np.where(known.priority[whole] < NEVER, counts[left] * counts[right], 0)
    row = np.repeat(np.arange(len(left)), times)  # one row for each pair of ids with these texts
    turn = np.arange(len(row)) - np.repeat(np.cumsum(times) - times, times)
    left = left[row]
    right = right[row]
    whole = whole[row]
    columns = [
        ids[first[left] + turn // counts[right]],
        ids[first[right] + turn % counts[right]],
        known.priority[whole],
        known.token[whole],
    ]
    return [column.astype(np.int32) for column in columns]


def _pieces_of(words: JoinedWords) -> PieceTable:
    """Return a tree of tokens: the words that always become one token, and the tokens that are searched for inside
    words."""
    whole = words.whole if words.joining.whole_words else {}
    first = words.first_ids
    ids = np.array([*whole.values(), *first.values()], np.int32)
    births = np.maximum(0, ids - len(words.history.alphabet) + 1).astype(np.int32)
    roots = np.repeat(np.array([STARTING, CONTINUING], np.int32), [len(whole), len(first)])
    return piece_table([*whole, *first], roots, ids, births)
