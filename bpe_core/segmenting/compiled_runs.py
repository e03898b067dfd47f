"""Runs of words with the compiled kernels: the words of a text first, then the stretches of whole words.

Words are cut by a table of priorities in which every token stands as a whole word, too, by a number with WHOLE: so the
tokens of a text tell which of them are words.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.token_texts import decoded
from bpe_core.kernels import encode as kernel
from bpe_core.kernels.change_text import TextChanges
from bpe_core.kernels.merge_word import MEETS, enter_pairs
from bpe_core.kernels.pieces import STARTING
from bpe_core.kernels.scan import REGISTERS, machine_of, scan_pieces
from bpe_core.segmenting.boundaries import PlacedSymbols
from bpe_core.segmenting.compiled_encoder import CompiledEncoder, merge_table, piece_table
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.merging import NEVER, PATTERN_CUT, compiled_ranks
from bpe_core.segmenting.word_runs import NO_WORD, WordRuns, as_steps
from bpe_core.support.arrays import Bytes, Int32s, Int64s
from bpe_core.text.scanner import table_for

WHOLE = 1 << 30  # added to a token that is a word
_PADDING = 8  # bytes behind a text that the scanner may read


class CompiledRuns(CompiledEncoder):
    """Itself it only finds the runs."""

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history.first(0), cutting)
        self._runs = runs = WordRuns(history)
        inside = Cutting(runs.inside)
        self._ranks_within = CompiledEncoder(runs.within, inside)
        self._words = _WholeWords(runs, inside)
        self._steps = len(history)

    def ids_of_texts(self, data: Bytes, edges: Int64s, at: int, room: Int32s | None = None) -> tuple[Int32s, Int64s]:
        runs = self._runs
        ids, free_at = self._words.ids_of_texts(data, edges, int(np.searchsorted(runs.rows_within, at)), room)
        is_whole = ids >= WHOLE
        tokens = runs.tokens_within[ids & ~WHOLE]
        begins = np.zeros(len(ids) + 1, np.bool_)
        begins[free_at] = True
        joins = runs.with_supermerges(np.where(is_whole, tokens, NO_WORD), begins[:-1])
        joined = joins < at
        starts = np.flatnonzero(~joined)
        if not len(starts):
            return tokens, free_at
        last = np.maximum.reduceat(np.where(joined, joins, -1), starts)
        found = np.where(last < 0, tokens[starts], runs.base + last)
        return found.astype(np.int32), np.searchsorted(starts, free_at)

    def ids(self, text: str, at: int) -> Int32s:
        data = np.frombuffer(text.encode(), np.uint8)
        return self.ids_of_texts(data, np.array([0, len(data)]), at)[0]

    def ids_of_short(self, text: str, at: int, changes: TextChanges) -> None:
        return None  # runs are not found by one call

    def ids_of_words(self, data: Bytes, starts: Int32s, at: int) -> Int32s:
        return self.ids_of_texts(data, starts.astype(np.int64), at)[0]

    def byte_ranks(self, text: str) -> Int32s:
        found = super().byte_ranks(text)  # NEVER but for where runs begin
        return _joined(self._runs, np.frombuffer(text.encode(), np.uint8), found, self._ranks_within.byte_ranks(text))

    def symbols(self, text: str) -> PlacedSymbols:
        places = np.arange(len(text.encode()), dtype=np.int64)
        symbols = np.frombuffer(text.encode(), np.uint8).astype(np.int32)
        return PlacedSymbols(symbols, self.byte_ranks(text), places, places + 1)


class _WholeWords(CompiledEncoder):
    def __init__(self, runs: WordRuns, cutting: Cutting) -> None:
        within = runs.within
        base, texts = len(within.alphabet), decoded(within)
        births = np.maximum(0, np.arange(len(texts)) - base + 1)
        pieces = piece_table(texts, [STARTING] * len(texts), [WHOLE + id for id in range(len(texts))], births.tolist())
        super().__init__(within, cutting, pieces, kind=kernel.JOINED)
        count = len(within)
        meeting = np.array(sorted({pair for text in texts for pair in pairwise(text)}), np.int32).reshape(-1, 2)
        nothing = np.zeros(count + len(meeting), np.int32)
        table = merge_table(base, nothing, nothing)
        self._table = table._replace(joined=np.zeros(len(table.keys), np.int32))
        meets = np.full(len(meeting), MEETS, np.int32)
        lefts, rights = np.ascontiguousarray(meeting.T)
        enter_pairs(self._table, lefts, rights, meets, nothing[: len(meeting)])
        left, right = (np.array(column, np.int32) for column in (within.columns.left, within.columns.right))
        rows = np.arange(count, dtype=np.int32)
        enter_pairs(self._table, left, right, rows, rows + np.int32(base))


def _joined(runs: WordRuns, symbols: Bytes | Int32s, found: Int32s, within: Int32s) -> Int32s:
    """Put the steps within words, and those that join words, where `found` says where runs begin."""
    starts = np.flatnonzero(within == PATTERN_CUT)
    if not len(starts):
        return found
    is_inside = within != PATTERN_CUT
    begins = found[starts] == PATTERN_CUT
    inside = as_steps(within, runs.rows_within)
    found[is_inside] = inside[is_inside]
    last = np.maximum.reduceat(np.where(is_inside, inside, -1), starts)
    tokens = np.where(last < 0, symbols[starts], runs.base + last.astype(np.int64))
    joins = runs.with_supermerges(np.where(last == NEVER, NO_WORD, tokens), begins)
    found[starts[~begins]] = joins[~begins]
    return found


def ranks_of_runs(symbols: Int32s, history: History) -> Int32s:
    """Return which step dissolves the boundary in front of each cell of runs that are laid out."""
    runs, is_known = WordRuns(history), symbols >= 0
    begins = is_known & ~np.concatenate((np.zeros(1, np.bool_), is_known[:-1]))
    starts = np.append(np.flatnonzero(begins[is_known]), np.count_nonzero(is_known)).astype(np.int32)
    table = table_for(runs.inside.pattern)
    assert table is not None  # all named patterns have one
    data = np.concatenate((symbols[is_known].astype(np.uint8), np.zeros(_PADDING, np.uint8)))
    cuts = np.empty(len(data) + 4, np.int32)
    cuts = cuts[: scan_pieces(machine_of(table), data, starts, np.zeros(REGISTERS, np.int64), cuts)][:-1]
    cells = np.arange(len(data) - _PADDING) + np.searchsorted(cuts, np.arange(len(data) - _PADDING), side="right")
    laid = np.full(len(cells) + len(cuts) + 1, NO_WORD, np.int32)
    laid[cells] = symbols[is_known]
    found = np.where(begins[is_known], np.int32(PATTERN_CUT), np.int32(NEVER))
    ranks = np.full(len(symbols), PATTERN_CUT, np.int32)
    ranks[is_known] = _joined(runs, symbols[is_known], found, compiled_ranks(laid, runs.within)[cells])
    return ranks
