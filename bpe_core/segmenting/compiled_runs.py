"""The compiled encoders for runs of words, and for words whose tokens may be dropped.

First, the words of a text are encoded. If a word becomes one token, the number of this token gets the flag WHOLE. Then
the runs of words are encoded, and only tokens with this flag can be joined to each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, partial

import numpy as np

from bpe_core.history.dropped import replacements_by_step
from bpe_core.history.history import NOTHING, History
from bpe_core.history.meeting import inner_neighbours
from bpe_core.kernels import NEVER, PATTERN_CUT
from bpe_core.kernels import encode as kernel
from bpe_core.kernels.change_text import TextChanges
from bpe_core.kernels.follow import WHOLE, StepTable, follow_runs
from bpe_core.kernels.merge_word import LIMIT, MergeTable
from bpe_core.kernels.runs import cut_runs, find_borders
from bpe_core.kernels.scan import REGISTERS, machine_of, scan_pieces
from bpe_core.kernels.stored_tables import named_table
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.boundaries import PlacedSymbols
from bpe_core.segmenting.compiled_encoder import CompiledEncoder, Edges, check_length, joining_table, room_for
from bpe_core.segmenting.compiled_ranks import CompiledRanks
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.word_runs import NO_WORD, WITHIN, WordRuns, as_steps, stages_of
from bpe_core.support.arrays import Bools, Bytes, Int32s, Int64s

# A function that cuts words, given end to end with their starts, after a number of merges; returns all tokens.
Cut = Callable[[Bytes, Int32s, int], Int32s]

_PADDING = 8  # bytes after a text that the scanner may read
_ENDS_OF_BLANKS = [code.encode()[-1] for code in map(chr, range(0x3001)) if code.isspace()]  # the last bytes of blanks


def _table_up_to(table: MergeTable, at: int) -> MergeTable:
    number = table.number.copy()
    number[LIMIT] = at
    return table._replace(number=number)


class StepKernel:
    """The tables of some steps of a history, and a kernel that applies only these steps to tokens.

    All other steps must already have been applied to the tokens.
    """

    def __init__(self, history: History, chosen: Bools, mark: int = 0) -> None:
        """Make the tables with which the chosen steps are applied. `chosen` is a mask of the steps of `history`.

        If the flag `mark` is given, such as WHOLE, the steps apply only to tokens whose numbers have this flag.
        """
        table, self._steps = step_tables(history, chosen, mark)
        self._up_to = lru_cache(maxsize=2)(partial(_table_up_to, table))

    def of(self, ids: Int32s, borders: Int64s, at: int) -> tuple[Int32s, Int64s]:
        """Apply the chosen steps with an index below `at` to rows of tokens.

        Each row reaches from one index in `borders` to the next. Return the new tokens, and the new borders of the
        rows.
        """
        borders = borders.astype(np.int64)
        room, _ = room_for(int(np.diff(borders).max(initial=0)), 0, kernel.FOLLOWED)
        follow_runs(self._up_to(at), self._steps, room, ids, borders)
        return ids[: borders[-1]], borders


class _EncoderOfTexts(CompiledEncoder):
    """The base class of encoders for runs of words. A subclass defines `ids_of_texts`, which all other methods call."""

    gives_ids_at_once = False

    @cached_property
    def joining(self) -> None:
        return None  # a run never reaches into the next text, but its tokens are joined across words

    def ids(self, text: str, at: int) -> Int32s:
        data = np.frombuffer(text.encode(), np.uint8)
        return self.ids_of_texts(data, np.array([0, len(data)]), at)[0]

    def ids_of_short(self, text: str, at: int, changes: TextChanges) -> None:
        return None  # runs need several calls

    def ids_of_texts_in_words(self, data: Bytes, starts: Int32s, edges: Int64s, at: int) -> tuple[Int32s, Int64s]:
        ids, free_at = self.ids_of_texts(data, starts.astype(np.int64), at)
        return ids, free_at[np.searchsorted(starts, edges)]


class RunEncoder(_EncoderOfTexts):
    """An encoder of runs of words. It applies the steps within words first, and then the steps across words."""

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history.first(0), cutting)
        is_within = stages_of(history) == WITHIN
        inside = Recipe(pattern=METHODS[history.recipe.method].pattern_inside(history.recipe))
        self._words = _WholeWordEncoder(history, inside, Cutting(inside), is_within)
        self._across = StepKernel(history, ~is_within, WHOLE)

    def ids_of_texts(self, data: Bytes, edges: Edges, at: int, room: Int32s | None = None) -> tuple[Int32s, Int64s]:
        ids, free_at = self._across.of(*self._words.ids_of_texts(data, edges, at, room), at)
        return _without_mark(ids), free_at


class CompiledRuns(RunEncoder):
    """An encoder of runs for histories that never drop a token. It can also compute the ranks of boundaries."""

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history, cutting)
        runs = WordRuns(history)
        self._across_words = _RanksAcross(runs)
        self._ranks_within = CompiledEncoder(runs.within, Cutting(runs.inside))

    def byte_ranks(self, text: str) -> Int32s:
        ranks = super().byte_ranks(text)  # all ranks are NEVER, except where runs begin
        data = np.frombuffer(text.encode(), np.uint8)
        return self._across_words.put(data, ranks, self._ranks_within.byte_ranks(text))

    def symbols(self, text: str) -> PlacedSymbols:
        places = np.arange(len(text.encode()), dtype=np.int64)
        symbols = np.frombuffer(text.encode(), np.uint8).astype(np.int32)
        return PlacedSymbols(symbols, self.byte_ranks(text), places, places + 1)


class _WholeWordEncoder(CompiledEncoder):
    """An encoder that applies the chosen steps within words, and marks each word that becomes one token."""

    def __init__(self, history: History, recipe: Recipe, cutting: Cutting, chosen: Bools) -> None:
        super().__init__(History.from_pairs(recipe, history.alphabet, []), cutting, kind=kernel.FOLLOWED)
        self._table, self._step_table = step_tables(history, chosen)


class WordStepEncoder(_WholeWordEncoder):
    """An encoder that applies all steps of a history within words."""

    gives_ids_at_once = False

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history, history.recipe, cutting, np.ones(len(history), np.bool_))

    def ids(self, text: str, at: int) -> Int32s:
        return _without_mark(super().ids(text, at))

    def ids_of_short(self, text: str, at: int, changes: TextChanges) -> Int32s | None:
        ids = super().ids_of_short(text, at, changes)
        return None if ids is None else _without_mark(ids)

    def ids_of_texts_in_words(self, data: Bytes, starts: Int32s, edges: Int64s, at: int) -> tuple[Int32s, Int64s]:
        ids, free_at = super().ids_of_texts_in_words(data, starts, edges, at)
        return _without_mark(ids), free_at

    def ids_of_texts(self, data: Bytes, edges: Edges, at: int, room: Int32s | None = None) -> tuple[Int32s, Int64s]:
        ids, free_at = super().ids_of_texts(data, edges, at, room)
        return _without_mark(ids), free_at


def _without_mark(ids: Int32s) -> Int32s:
    return np.bitwise_and(ids, ~np.int32(WHOLE), out=ids)


def step_tables(history: History, chosen: Bools, mark: int = 0) -> tuple[MergeTable, StepTable]:
    """Return the kernels' tables of the chosen steps. `mark` is a flag that is added to the numbers of all tokens."""
    is_join = history.columns.right != NOTHING
    left, right, made = (column + mark for column in (history.columns.left, history.columns.right, history.indices))
    before, behind = (symbols.astype(np.int64) + mark for symbols in inner_neighbours(history, chosen))
    joins = np.flatnonzero(chosen & is_join)
    drops = np.flatnonzero(chosen & ~is_join)
    of_joins = [column.astype(np.int32) for column in (left[joins], right[joins], joins, made[joins])]
    table = joining_table(len(history.alphabet), np.unique(before << 32 | behind), *of_joins)
    parts, lengths = (replacements_by_step(history), history.token_lengths()) if len(drops) else ({}, np.zeros(0))
    count = np.zeros(len(history) + 1, np.int32)
    count[drops + 1] = [len(parts[row]) for row in drops.tolist()]
    steps = StepTable(
        left=left.astype(np.int32),
        right=np.where(is_join, right, NOTHING).astype(np.int32),
        made=made.astype(np.int32),
        further=_next_steps(left.astype(np.int64) << 32 | right.astype(np.int64) & 0xFFFFFFFF, chosen),
        drops=np.full(history.first_special if len(drops) else 0, NEVER, np.int32),
        parts=np.array([id for row in drops.tolist() for id in parts[row]], np.int32),
        first_part=np.cumsum(count, dtype=np.int32),
        lengths=np.minimum(lengths, NEVER).astype(np.int32),
    )
    steps.drops[left[drops][::-1]] = drops[::-1]
    return table, steps


def _next_steps(keys: Int64s, chosen: Bools) -> Int32s:
    """Find, for each chosen step, the next chosen step with the same key.

    Return an array with an item for each step: the index of this next step, or NEVER if there is none. Steps that are
    not chosen also get NEVER.
    """
    later = np.full(len(keys), NEVER, np.int32)
    rows = np.flatnonzero(chosen)
    rows = rows[np.argsort(keys[rows], kind="stable")]
    again = keys[rows[1:]] == keys[rows[:-1]]
    later[rows[:-1][again]] = rows[1:][again]
    return later


class TokensOfRuns:
    """An encoder of runs of words. It uses only merges that never cross the borders of words.

    If two bytes are not neighbours in any token, no merge can join across the boundary between them. So a run is
    divided there, and each part is encoded separately. Most parts are already in a cache.
    """

    def __init__(self, history: History, cut: Cut) -> None:
        """Store `cut`, a function that encodes words. Find all pairs of bytes that are neighbours inside a token."""
        byte = np.array([text[0] for text in history.alphabet.decoded])
        before, behind = inner_neighbours(history)
        self._cut = cut
        self._meets = np.zeros((256, 256), np.uint8)
        self._meets[byte[before], byte[behind]] = 1
        self._lengths = np.minimum(history.token_lengths(), NEVER).astype(np.int32)

    def of(self, data: Bytes, runs: Int32s, at: int) -> tuple[Int32s, Int64s]:
        """Encode runs of words that lie one after another.

        Return all tokens, and the offset of each run's first token.
        """
        cuts = np.empty(len(data) + 2, np.int32)
        borders = np.empty(len(runs), np.int64)
        ids = self._cut(data, cuts[: cut_runs(data, runs, self._meets.reshape(-1), cuts)], at)
        find_borders(ids, self._lengths, runs, borders)
        return ids, borders


class CompiledSuperwords(_EncoderOfTexts):
    """An encoder of superwords. It applies the merges within words first, then the merges across words."""

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history, cutting)
        self._first = first_across(history)
        first = history.first(self._first)
        self._within = TokensOfRuns(first, CompiledEncoder(first, cutting).ids_of_words)
        self._across = StepKernel(history, np.arange(len(history)) >= self._first)

    def ids_of_texts(self, data: Bytes, edges: Edges, at: int, room: Int32s | None = None) -> tuple[Int32s, Int64s]:
        check_length(data)
        assert isinstance(edges, np.ndarray)
        cuts = np.empty(len(data) + 4, np.int32)
        cuts = cuts[: scan_pieces(self._machine, data, edges.astype(np.int32), np.zeros(REGISTERS, np.int64), cuts)]
        ids, borders = self._within.of(data, cuts, min(at, self._first))
        if at > self._first:
            ids, borders = self._across.of(ids, borders, at)
        return ids, borders[np.searchsorted(cuts, edges)]


def first_across(history: History) -> int:
    """Return the index of the first merge that joins a space to a character before the space.

    Merges within words never do this, so the first stage of learning ends before this merge.
    """
    byte = np.array([text[0] for text in history.alphabet.decoded])
    before, behind = (byte[symbols] for symbols in inner_neighbours(history))
    merges = np.flatnonzero((behind == ord(" ")) & ~np.isin(before, _ENDS_OF_BLANKS))
    return int(merges[0]) if len(merges) else len(history)


class _RanksAcross:
    """A calculator of the ranks of boundaries in runs.

    It computes the ranks between words. The caller gives the ranks within words.
    """

    def __init__(self, runs: WordRuns) -> None:
        self._runs = runs
        self._supermerges = CompiledRanks(runs.across)

    def put(self, symbols: Bytes | Int32s, ranks: Int32s, within: Int32s) -> Int32s:
        """Write the rank of each boundary in a text into the array `ranks`, and return this array.

        `within` has the ranks of the boundaries inside words, and PATTERN_CUT for each boundary between words. Before
        the call, `ranks` must hold PATTERN_CUT where a run of words begins.
        """
        runs = self._runs
        starts = np.flatnonzero(within == PATTERN_CUT)
        if not len(starts):
            return ranks
        is_inside = within != PATTERN_CUT
        begins = ranks[starts] == PATTERN_CUT
        inside = as_steps(within, runs.rows_within)
        ranks[is_inside] = inside[is_inside]
        last = np.maximum.reduceat(np.where(is_inside, inside, -1), starts)
        tokens = np.where(last < 0, symbols[starts], runs.base + last.astype(np.int64))
        words = np.where(last == NEVER, NO_WORD, tokens)
        joins = runs.with_supermerges(words, begins, self._supermerges.of)
        ranks[starts[~begins]] = joins[~begins]
        return ranks


class RanksOfRuns:
    def __init__(self, history: History) -> None:
        runs = WordRuns(history)
        self._within = CompiledRanks(runs.within)
        self._across = _RanksAcross(runs)
        self._machine = machine_of(named_table(runs.inside.pattern))

    def of(self, symbols: Int32s) -> Int32s:
        """Return the step that removes the boundary before each element of `symbols`.

        `symbols` holds the symbols of many runs, with a negative number between two runs.
        """
        is_known = symbols >= 0
        begins = is_known & ~np.concatenate((np.zeros(1, np.bool_), is_known[:-1]))
        starts = np.append(np.flatnonzero(begins[is_known]), np.count_nonzero(is_known)).astype(np.int32)
        data = np.concatenate((symbols[is_known].astype(np.uint8), np.zeros(_PADDING, np.uint8)))
        cuts = np.empty(len(data) + 4, np.int32)
        cuts = cuts[: scan_pieces(self._machine, data, starts, np.zeros(REGISTERS, np.int64), cuts)][:-1]
        cells = np.arange(len(data) - _PADDING) + np.searchsorted(cuts, np.arange(len(data) - _PADDING), side="right")
        laid = np.full(len(cells) + len(cuts) + 1, NO_WORD, np.int32)
        laid[cells] = symbols[is_known]
        known_ranks = np.where(begins[is_known], np.int32(PATTERN_CUT), np.int32(NEVER))
        ranks = np.full(len(symbols), PATTERN_CUT, np.int32)
        ranks[is_known] = self._across.put(symbols[is_known], known_ranks, self._within.of(laid)[cells])
        return ranks
