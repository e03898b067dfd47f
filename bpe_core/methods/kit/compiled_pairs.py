"""The learner that runs the compiled kernels of byte-pair encoding.

It creates the kernels' arrays and enlarges them when necessary. Before the first merge, each thread counts the pairs of
base symbols in its own range of cells, which ends after a word. A cell is one element of the array that holds the
symbols of all words. At first each thread numbers the pairs that it finds. Later the pairs get new numbers, which are
the same for all threads. A pair that occurs at very many positions is merged by two threads.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.errors import TooLarge
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import COUNT_ALONE, NOTHING, Columns, EndReason, History, Reasons
from bpe_core.kernels import learn as kernel
from bpe_core.kernels import learn_in_halves as in_halves
from bpe_core.kernels import learn_queue
from bpe_core.kernels import learn_state as names
from bpe_core.kernels.learn_join import place
from bpe_core.methods.kit.characters import lacks_of
from bpe_core.methods.kit.layout import FEWER_CELLS, Layout, lay_out
from bpe_core.methods.kit.learner import EVERY_LENGTH, Candidate
from bpe_core.recipes.interventions import forced_at
from bpe_core.recipes.recipe import Recipe
from bpe_core.recipes.ties import TIE_RULES
from bpe_core.support.arrays import Bools, Records, enlarge
from bpe_core.support.limits import check_room
from bpe_core.support.threads import available_threads, run_in_threads

CELLS_A_THREAD = 1 << 20  # fewer cells take less time than starting a thread
LEARNING = "Learning"
GROWTH = 4  # arrays that grow slowly become a fourth larger

_SMALL_ALPHABET = 1024  # symbols; an alphabet up to this size has a table slot for every pair


class _Stretch(NamedTuple):
    first: int
    stop: int
    numbers: npt.NDArray[np.int32]  # the pairs' numbers in the table of all threads
    times: npt.NDArray[np.int32]


class BasePairs:
    """The pairs of base symbols with their counts. The class can also record the positions at which the pairs occur."""

    def __init__(self, state: names.State, room: int, threads: int | None) -> None:
        borders = list(pairwise(_borders(state, threads)))
        tables = run_in_threads(partial(_counted, state, room), borders)
        self.state = whole = _with_room(tables[0], sum(int(table.run[0]["pairs"]) for table in tables))
        self.are_divided = len(tables) > 1
        self._stretches = []
        for ends, table in zip(borders, tables, strict=True):
            pairs = table.pairs[: table.run[0]["pairs"]]
            numbers = np.arange(len(pairs), dtype=np.int32)
            times = pairs["times"].copy()
            if table is not tables[0]:
                names.add_base_pairs(whole, pairs, numbers)
            self._stretches.append(_Stretch(*ends, numbers, times))

    def place(self, state: names.State) -> None:
        """Record the positions of pairs in the arena, the array that holds the positions of all pairs.

        A range of the arena is reserved for each pair that is frequent enough. The positions of all other pairs are not
        recorded.
        """
        pairs = state.pairs[: state.run[0]["pairs"]]
        free = pairs["first"].copy()
        tasks = []
        for first, stop, numbers, times in self._stretches:
            fills = free[numbers]
            free[numbers] += times
            numbers[pairs["times"][numbers] == 0] = names.NO_PAIR
            tasks.append((state.cells, state.arena, numbers, fills, np.int64(first), np.int64(stop)))
        run_in_threads(lambda task: names.place_base_pairs(*task), tasks)


def _borders(state: names.State, threads: int | None) -> list[int]:
    """Divide the cells into one range for each thread.

    Return the first cell of each range, and the end of the last range. Each returned cell holds a separator between two
    words.
    """
    end = len(state.cells) - 1
    threads = threads or max(1, min(available_threads(), end // CELLS_A_THREAD))
    starts = state.words["start"]
    inner = starts[np.searchsorted(starts, [end * i // threads for i in range(1, threads)])]
    return [0, *sorted({*inner[inner < end].tolist()} - {0}), end]


def _counted(state: names.State, room: int, ends: tuple[int, int]) -> names.State:
    run = state.run.copy()
    run["counted"] = ends[0]
    run["pairs"] = 1
    pairs = np.empty(room, names.PAIR)
    pairs[names.NO_PAIR] = 0
    table = _with_enough_slots(state._replace(pairs=pairs, base_slots=np.empty(0, np.int32), run=run))
    while not names.count_base_pairs(table, np.int64(ends[1])):
        table = _with_room(table, room_after(len(table.pairs)))
    return table


def _with_room(table: names.State, pairs: int) -> names.State:
    if len(table.pairs) < pairs:
        table.pairs.resize(pairs, refcheck=False)  # in place; no other array shares this memory
    return _with_enough_slots(table)


def _with_enough_slots(table: names.State) -> names.State:
    """Return the kernels' arrays, with the hash table of pairs enlarged so that all pairs of base symbols fit.

    The table needs at least twice as many slots as there are pairs, or one slot for each possible pair.
    """
    base = int(table.run[0]["base"])
    pairs = len(table.pairs)
    slots = len(table.base_slots)
    if slots >= 2 * pairs or slots == base**2:
        return table
    room = base**2 if base <= _SMALL_ALPHABET else 1 << (2 * pairs).bit_length()
    table = table._replace(base_slots=np.zeros(room, np.int32))
    names.fill_slots(table)
    return table


def room_after(room: int) -> int:
    """Return the number of pairs that the arrays can hold after they are enlarged.

    `room` is the number of pairs that they can hold now. Raise TooLarge if there would be too many pairs, or if
    there is not enough memory.
    """
    more = room + max(room // GROWTH, 64)
    if more > names.PAIR_BITS:
        raise TooLarge(f"The words hold more than {names.PAIR_BITS:,} different pairs. {FEWER_CELLS}")
    check_room((more - room) * (names.PAIR.itemsize + 2 * np.dtype(np.int32).itemsize), LEARNING, FEWER_CELLS)
    return more


WIDE = 20_000  # places; fewer take less time than starting a thread


class Halves:
    """A helper that merges a pair on two threads. Each thread handles half of the pair's positions."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._sides = np.empty(0, np.int32)
        self._groups = np.empty(0, names.GROUP)

    def merge(self, state: names.State, columns: Columns) -> int:
        """Merge the best pair with two threads, each for one half of its positions. Return the number of positions."""
        first, middle, stop = map(np.int64, in_halves.begin_wide(state, columns))
        first_born = state.run[0]["pairs"]
        other = self._second(state, int(middle - first))
        begun = self._pool.submit(in_halves.join_half, other, middle, stop)
        joined = in_halves.join_half(state, first, middle)
        joined_by_other = begun.result()
        in_halves.replace_pairs_in_halves(state, other, np.int64(joined + joined_by_other))
        placing = self._pool.submit(in_halves.place_second, other, np.int64(joined_by_other), first_born)
        place(state, np.int64(joined), first_born)
        placing.result()
        in_halves.end_wide(state, columns, first_born)
        return int(stop - first)

    def _second(self, state: names.State, first_joints: int) -> names.State:
        """Return the kernels' arrays for the second thread. Some of them are buffers that only this thread uses.

        The array `joints` records the joined occurrences. The first thread fills its first `first_joints` rows, and the
        second thread fills the rows after them.
        """
        if len(self._sides) < len(state.sides):
            self._sides = np.zeros(len(state.sides), np.int32)
        if len(self._groups) < len(state.groups):
            self._groups = np.empty(len(state.groups), names.GROUP)
        run = state.run.copy()
        run["tokens_left"] = 0
        joints = state.joints[first_joints:]
        return state._replace(sides=self._sides, groups=self._groups, joints=joints, run=run)


ENDS: dict[int, EndReason] = {names.GOING: "", names.OUT_OF_PAIRS: "no pairs", names.TOO_RARE: "too rare"}
# Entries of the first arena: enough room for most runs, as tidying the arena takes long.
_ROOMY = 60_000_000
_NEVER = 2**62  # more places than any pair has


class CompiledLearner:
    """A learner that owns the arrays of one run. Its method `learn` writes the steps into the columns of a history."""

    scores = gone_through = None
    _scores: Any = ()  # the scores that order the pairs, if counts do not
    _reasons: Any = ()  # columns for the other reasons of steps

    def __init__(
        self,
        words: WordTable,
        alphabet: Alphabet,
        recipe: Recipe,
        forced: History | None,
        *,
        room: int = 1 << 16,  # pairs that fit in at first, or fewer if the words cannot hold as many
        threads: int | None = None,  # by default all cores, if there is enough work
        layout: Layout | None = None,  # words as tokens longer than base symbols, which the alphabet then holds
        counts_apart: bool = False,  # whether a count says how many tokens a merge makes
    ) -> None:
        layout = layout or lay_out(words, alphabet, recipe)
        self.tokens_at_start = layout.tokens
        self._begin(layout, words, alphabet)
        state = state_of(layout, words, alphabet, recipe, forced)
        state.run["without_overlaps"] = counts_apart
        base_pairs = BasePairs(state, min(room, _most_pairs(layout)), threads)
        self._state = base_pairs.state
        self._halves = Halves()
        if base_pairs.are_divided:
            self._state.run[0]["wide"] = 1 if threads else WIDE
        names.number_slices(self._state)
        self._make_room_for_merges()
        base_pairs.place(self._state)
        self._limit()
        self._begin_order()
        kernel.queue_base_pairs(self._state, self._scores)
        kernel.remove_forbidden(self._state)
        self.has_candidates = bool(self._state.run[0]["pairs"] > 1)

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        """Learn steps up to the row `stop_at` of the columns, but do at most about `work` units of work.

        A unit takes about ten nanoseconds at most. If the run ends, return the reason why it ends. Otherwise return an
        empty string.
        """
        self._make_room_for_tokens(stop_at)
        run = self._state.run[0]
        while True:
            kernel.learn(self._state, self._scores, columns, self._reasons, np.int64(stop_at), np.int64(work))
            status = int(run["status"])
            if status in ENDS:
                return ENDS[status]
            if status == names.IS_WIDE:
                work = int(run["work_left"]) - self._halves.merge(self._state, columns)
            elif status == names.NEEDS_PAIRS:
                self._grow_pairs()
            elif status == names.NEEDS_ARENA:
                self.tidy_arena()
            else:
                self._state = self._state._replace(text=enlarge(self._state.text, 2 * len(self._state.text)))

    @property
    def reasons(self) -> Reasons:
        return COUNT_ALONE

    @property
    def learned(self) -> int:
        return int(self._state.run[0]["merges"])

    def candidates(self, wanted: int) -> list[Candidate]:
        wanted = min(wanted, len(self._state.pairs))
        rows = np.empty(wanted, np.int64)
        total = kernel.leading_pairs(self._state, self._scores, np.int64(wanted), rows)
        pairs = self._state.pairs[rows[:total]]
        return [Candidate(*row) for row in pairs[["left", "right", "count"]].tolist()]

    def are_whole(self) -> Bools:
        return are_whole(self._state)

    def _begin(self, layout: Layout, words: WordTable, alphabet: Alphabet) -> None:
        """Prepare the data that a subclass needs to sort the pairs.

        This method is called before the pairs of base symbols are counted.
        """

    def _limit(self) -> None:
        """Mark the pairs that must never be joined. This is called before the first step.

        A subclass with such pairs overrides this method.
        """

    def _begin_order(self) -> None:
        """Prepare the order of the pairs.

        A subclass that sorts the pairs by scores instead of counts computes `_scores` here.
        """

    # Room for new tokens, merges and pairs.

    def _make_room_for_tokens(self, merges: int) -> None:
        state = self._state
        tokens = int(self._state.run[0]["base"]) + merges + 1
        if len(state.token_lengths) >= tokens:
            return
        self._state = state._replace(
            token_lengths=enlarge(state.token_lengths, tokens),
            spans=enlarge(state.spans, tokens),
            lacks=enlarge(state.lacks, tokens),
            born_first=enlarge(state.born_first, tokens + 1),
            text_starts=enlarge(state.text_starts, tokens + 1),
            groups=np.empty(2 * tokens + 2, names.GROUP),
        )

    def _make_room_for_merges(self) -> None:
        used = int(self._state.run[0]["arena"])
        pairs = len(self._state.pairs)
        room = used + max(used // GROWTH, min(2 * used, _ROOMY - used)) + 1
        times = self._state.pairs["times"][1 : self._state.run[0]["pairs"]]
        self._state = self._state._replace(
            arena=np.empty(room, np.int32),
            joints=np.empty(int(times.max(initial=0)), names.JOINT),  # no new pair occurs more often
            sides=np.zeros(2 * pairs, np.int32),
            heap=np.empty(pairs, names.HEAP_ENTRY),
        )

    def _grow_pairs(self) -> None:
        room = room_after(len(self._state.pairs))
        self._state.pairs.resize(room, refcheck=False)  # in place; no other array shares this memory
        self._state.sides.resize(2 * room, refcheck=False)
        if room > len(self._state.heap):
            heap = enlarge(self._state.heap[: self._state.run[0]["heap"]], 2 * room)
            self._state = self._state._replace(heap=heap)

    def tidy_arena(self) -> None:
        """Remove the recorded positions at which a pair no longer occurs.

        If too little memory is free afterwards, make the arena larger. If too much is free, make it smaller.
        """
        names.tidy_arena(self._state)
        arena = self._state.arena
        (used, wanted) = self._state.run[["arena", "wanted"]].tolist()[0]
        room = used + max(wanted, used // GROWTH)
        if len(arena) < room:
            check_room(room * arena.itemsize, LEARNING, FEWER_CELLS)
            self._state = self._state._replace(arena=enlarge(arena[:used], room))
        elif len(arena) > used + max(wanted, used // 2):
            arena.resize(used + max(wanted, used // 2), refcheck=False)


def _most_pairs(layout: Layout) -> int:
    """Return how many pairs a run can create at most, unless the method drops tokens.

    Before the first merge there is at most one pair for each cell. Each occurrence that a merge joins removes one
    token, and creates at most two pairs. One more item stands for no pair.
    """
    return 3 * len(layout.symbols) + 1


def are_whole(state: names.State) -> Bools:
    """Return a mask of the words that consist of one token.

    Each base symbol has a cell. If a token covers several cells, its last cell holds the number of these cells, as a
    negative number.
    """
    lengths = np.diff(state.words["start"]) - 1
    whole: Bools = (lengths == 1) | (state.cells[state.words["start"][1:] - 2] == -lengths)
    return whole


def state_of(
    layout: Layout, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None
) -> names.State:
    size = len(alphabet)
    cells = len(layout.symbols)
    text = b"".join(symbol.text for symbol in alphabet.symbols)
    text_starts = np.zeros(size + 1, np.int64)
    np.cumsum([len(symbol.text) for symbol in alphabet.symbols], out=text_starts[1:])
    given = _forced_pairs(recipe, forced)
    forbidden = [
        (intervention.step - 1, intervention.left, intervention.right)
        for intervention in recipe.interventions
        if intervention.act == "forbid"
    ]
    run = _run(recipe, forced, len(given))
    run["base"] = size
    run["tokens_left"] = layout.tokens
    run["text"] = len(text)
    run["whole_characters"] = recipe.keeps_characters
    run["unwritten"] = len(alphabet.continuing)
    order = np.arange(size, dtype=np.int64)
    byte_places = TIE_RULES[recipe.ties].byte_places
    order[: len(byte_places)] = byte_places
    if byte_places:
        text = text.translate(bytes(byte_places))  # for rules that compare texts
    word_records = np.zeros(len(words) + 1, names.WORD)
    word_records["start"] = layout.starts
    word_records["count"][:-1] = words.counts
    return names.State(
        cells=layout.symbols,
        words=word_records,
        word_hints=_hints(layout.starts, cells),
        token_lengths=np.ones(size, np.int32),
        spans=np.zeros(size, np.int32),
        lacks=np.array(lacks_of([intervention.text for intervention in alphabet.symbols]), np.int32),
        born_first=np.zeros(size + 1, np.int64),
        base_order=order,
        text=enlarge(np.frombuffer(text, np.uint8), 2 * len(text) + 1),
        text_starts=text_starts,
        base_slots=np.empty(0, np.int32),
        pairs=np.empty(0, names.PAIR),
        sides=np.empty(0, np.int32),
        arena=np.empty(0, np.int32),
        heap=np.empty(0, names.HEAP_ENTRY),
        waiting=np.zeros(names.LEVELS, np.int32),
        groups=np.empty(2 * size + 2, names.GROUP),
        joints=np.empty(0, names.JOINT),
        forced_left=given[:, 0].copy(),
        forced_right=given[:, 1].copy(),
        forbidden=np.array(forbidden, np.int64).reshape(-1),
        run=run,
    )


def _forced_pairs(recipe: Recipe, forced: History | None) -> npt.NDArray[np.int32]:
    """Return a row for each step up to the last forced step.

    A row holds the pair that the step must join. If the step may choose its pair, the row holds NOTHING.
    """
    steps = forced_at(recipe.interventions)
    known = 0 if forced is None else len(forced)
    given = np.full((max(known, *steps) if steps else known, 2), NOTHING, np.int32)
    for step, pair in steps.items():
        given[step - 1] = pair
    if forced is not None:
        given[:known] = np.stack([forced.columns.left, forced.columns.right], axis=1)
    return given


def _run(recipe: Recipe, forced: History | None, given: int) -> Records:
    run = np.zeros(1, names.RUN)
    run["level"] = names.LEVELS
    run["wide"] = _NEVER
    run["twin"] = -1
    run["min_frequency"] = run["forced_frequency"] = recipe.min_frequency
    run["max_length"] = recipe.max_token_length or EVERY_LENGTH
    run["ties"] = getattr(learn_queue, TIE_RULES[recipe.ties].kernel)
    if given:
        counts = (
            [1] if forced is None or given > len(forced) else [recipe.min_frequency, int(forced.columns.count.min())]
        )
        run["forced"] = given
        run["forced_frequency"] = max(1, min(counts))
    return run


def _hints(starts: npt.NDArray[np.int64], cells: int) -> npt.NDArray[np.int32]:
    """Return the index of a word for every sixteenth cell: the last word that starts at this cell or before it.

    A cell is an element of the array that holds the base symbols of all words. `starts` has the first cell of each
    word.
    """
    spacing = 1 << names.HINT_SHIFT
    first_hint = (starts[:-1] + (spacing - 1)) >> names.HINT_SHIFT  # the first hint at or after the start of each word
    begun = np.bincount(first_hint, minlength=(cells + 2 * spacing - 1) >> names.HINT_SHIFT)
    return np.maximum(np.cumsum(begun) - 1, 0).astype(np.int32)
