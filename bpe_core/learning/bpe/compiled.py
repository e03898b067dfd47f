"""Learning with the compiled kernel: makes its arrays, and makes room when it asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet
from bpe_core.counting.words import WordTable
from bpe_core.history.history import COUNT_ALONE, NOTHING, Columns, EndReason, History, Reasons
from bpe_core.interventions import forced_at
from bpe_core.kernels import learn as kernel
from bpe_core.kernels import learn_arena, learn_queue, learn_start
from bpe_core.kernels import learn_state as names
from bpe_core.learning.bpe.base_pairs import FEWER_CELLS, GROWTH, LEARNING, BasePairs, room_after
from bpe_core.learning.bpe.halves import WIDE, Halves
from bpe_core.learning.bpe.plain import EVERY_LENGTH
from bpe_core.learning.layout import Layout, lay_out
from bpe_core.learning.protocol import Candidate
from bpe_core.learning.ties import TIE_RULES
from bpe_core.limits import check_room
from bpe_core.recipe import Recipe

_ENDS: dict[int, EndReason] = {names.GOING: "", names.OUT_OF_PAIRS: "no pairs", names.TOO_RARE: "too rare"}
# Entries of the first arena; with room for all births of a run it need not be tidied, which takes long.
_ROOMY = 60_000_000
_NEVER = 2**62  # places that no pair stands at


class CompiledLearner:
    """Owns the arrays of one run; `learn` fills rows of the columns it is given."""

    scores = gone_through = None

    def __init__(
        self,
        words: WordTable,
        alphabet: Alphabet,
        recipe: Recipe,
        forced: History | None,
        *,
        room: int = 1 << 16,  # for pairs at first; more is made when it is needed
        threads: int | None = None,  # else as many as there are, if there is enough to do
    ) -> None:
        layout = lay_out(words, alphabet, recipe)
        self.tokens_at_start = layout.tokens
        self._begin(layout, words)
        base_pairs = BasePairs(_begin(layout, words, alphabet, recipe, forced), room, threads)
        self._state, self._halves = base_pairs.state, Halves()
        if base_pairs.are_divided:
            self._state.number[names.WIDE] = 1 if threads else WIDE
        learn_start.number_slices(self._state)
        self._make_room_for_merges()
        base_pairs.place(self._state)
        self._queue()
        kernel.forbid_due(self._state)
        self.has_candidates = bool(self._state.number[names.PAIRS] > 1)

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        """Learn up to the row `stop_at`, but not much longer than `work` units (some ten nanoseconds each)."""
        self._make_room_for_tokens(stop_at)
        number = self._state.number
        while True:
            self._learn(columns, np.int64(stop_at), np.int64(work))
            status = int(number[names.STATUS])
            if status in _ENDS:
                return _ENDS[status]
            if status == names.IS_WIDE:
                work = int(number[names.WORK_LEFT]) - self._halves.merge(self._state, columns)
            elif status == names.NEEDS_PAIRS:
                self._grow_pairs()
            elif status == names.NEEDS_ARENA:
                self.tidy_arena()
            else:
                self._grow_text()

    @property
    def reasons(self) -> Reasons:
        return COUNT_ALONE

    @property
    def learned(self) -> int:
        return int(self._state.number[names.MERGES])

    def candidates(self, wanted: int) -> list[Candidate]:
        wanted = min(wanted, len(self._state.pairs))
        found, cells = np.empty(wanted, np.int64), np.empty(wanted, np.int64)
        total = self._leading(np.int64(wanted), found, cells)
        pairs = self._state.pairs[found[:total]]
        columns = (pairs["left"], pairs["right"], pairs["count"])
        return [Candidate(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]

    # How pairs are chosen, which is all in which other methods differ.

    def _begin(self, layout: Layout, words: WordTable) -> None:
        """For what must be known before the pairs of base symbols are counted."""

    def _queue(self) -> None:
        learn_start.queue_base_pairs(self._state)

    def _learn(self, columns: Columns, stop_at: np.int64, work: np.int64) -> None:
        kernel.learn(self._state, columns, stop_at, work)

    def _leading(self, wanted: np.int64, found: names.Int64s, cells: names.Int64s) -> int:
        return int(learn_queue.leading_pairs(self._state, wanted, found, cells))

    # Room for what is learned.

    def _make_room_for_tokens(self, merges: int) -> None:
        state, tokens = self._state, int(self._state.number[names.BASE]) + merges + 1
        if len(state.token_lengths) >= tokens:
            return
        self._state = state._replace(
            token_lengths=grown(state.token_lengths, tokens),
            born_first=grown(state.born_first, tokens + 1),
            text_starts=grown(state.text_starts, tokens + 1),
            groups=np.empty(2 * tokens + 2, names.GROUP),
        )

    def _make_room_for_merges(self) -> None:
        """What is of no use before the base pairs are counted."""
        used, pairs = int(self._state.number[names.ARENA]), len(self._state.pairs)
        room = used + max(used // GROWTH, min(2 * used, _ROOMY - used)) + 1
        times = self._state.pairs["times"][1 : self._state.number[names.PAIRS]]
        self._state = self._state._replace(
            arena=np.empty(room, np.int32),
            joints=np.empty(int(times.max(initial=0)), names.JOINT),  # no pair is born that stands more often
            sides=np.zeros(2 * pairs, np.int32),
            heap=np.empty(pairs, names.HEAP_ENTRY),
        )

    def _grow_pairs(self) -> None:
        room = room_after(len(self._state.pairs))
        self._state.pairs.resize(room, refcheck=False)  # in place where the system can move pages; nobody keeps a view
        self._state.sides.resize(2 * room, refcheck=False)
        if room > len(self._state.heap):
            heap = grown(self._state.heap[: self._state.number[names.HEAP]], 2 * room)
            self._state = self._state._replace(heap=heap)

    def tidy_arena(self) -> None:
        """Make room by leaving out what no longer stands; a larger arena only where that is not enough."""
        learn_arena.tidy_arena(self._state)
        arena, (used, wanted) = self._state.arena, self._state.number[[names.ARENA, names.WANTED]].tolist()
        room = used + max(wanted, used // GROWTH)
        if len(arena) < room:
            check_room(room * arena.itemsize, LEARNING, FEWER_CELLS)
            self._state = self._state._replace(arena=grown(arena[:used], room))
        elif len(arena) > used + max(wanted, used // 2):
            arena.resize(used + max(wanted, used // 2), refcheck=False)

    def _grow_text(self) -> None:
        self._state = self._state._replace(text=grown(self._state.text, 2 * len(self._state.text)))


def _begin(layout: Layout, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: History | None) -> names.State:
    """The arrays before the first pair is counted."""
    size, cells = len(alphabet), len(layout.symbols)
    text = b"".join(symbol.text for symbol in alphabet.symbols)
    text_starts = np.zeros(size + 1, np.int64)
    np.cumsum([len(symbol.text) for symbol in alphabet.symbols], out=text_starts[1:])
    given = _given(recipe, forced)
    number = _numbers(recipe, forced, len(given))
    number[names.BASE] = size
    number[names.TOKENS_LEFT] = layout.tokens
    number[names.TEXT] = len(text)
    number[names.UNWRITTEN] = len(alphabet.continuing)
    order = np.arange(size, dtype=np.int64)
    byte_places = TIE_RULES[recipe.ties].byte_places
    order[: len(byte_places)] = byte_places
    word_records = np.zeros(len(words) + 1, names.WORD)
    word_records["start"] = layout.starts
    word_records["count"][:-1] = words.counts
    return names.State(
        cells=layout.symbols,
        words=word_records,
        word_hints=_hints(layout.starts, cells),
        token_lengths=np.ones(size, np.int32),
        born_first=np.zeros(size + 1, np.int64),
        base_order=order,
        text=grown(np.frombuffer(text, np.uint8), 2 * len(text) + 1),
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
        forbidden=_forbidden(recipe),
        number=number,
    )


def _given(recipe: Recipe, forced: History | None) -> npt.NDArray[np.int32]:
    """What is joined at each step up to the last that is not chosen, NOTHING where it is."""
    steps, known = forced_at(recipe.interventions), 0 if forced is None else len(forced)
    given = np.full((max(known, *steps) if steps else known, 2), NOTHING, np.int32)
    for step, pair in steps.items():
        given[step - 1] = pair
    if forced is not None:
        given[:known] = np.stack([forced.columns.left, forced.columns.right], axis=1)
    return given


def _forbidden(recipe: Recipe) -> npt.NDArray[np.int64]:
    rows = [(one.step - 1, *one.pair) for one in recipe.interventions if one.act == "forbid"]
    return np.array(rows, np.int64).reshape(-1)


def _numbers(recipe: Recipe, forced: History | None, given: int) -> npt.NDArray[np.int64]:
    number = np.zeros(names.NUMBERS, np.int64)
    number[names.LEVEL] = names.LEVELS
    number[names.WIDE] = _NEVER
    number[names.MIN_FREQUENCY] = number[names.FORCED_FREQUENCY] = recipe.min_frequency
    number[names.MAX_LENGTH] = number[names.FORCED_LENGTH] = recipe.max_token_length or EVERY_LENGTH
    number[names.TIES] = getattr(learn_queue, TIE_RULES[recipe.ties].kernel)
    if given:
        counts = (
            [1] if forced is None or given > len(forced) else [recipe.min_frequency, int(forced.columns.count.min())]
        )
        number[names.FORCED] = given
        number[names.FORCED_FREQUENCY] = max(1, min(counts))
        number[names.FORCED_LENGTH] = EVERY_LENGTH
    return number


def _hints(starts: npt.NDArray[np.int64], cells: int) -> npt.NDArray[np.int32]:
    """For every sixteenth cell the word that covers it: the last that starts there or before."""
    spacing = 1 << names.HINT_SHIFT
    first_told = (starts[:-1] + (spacing - 1)) >> names.HINT_SHIFT  # the hint that is the first to know a word
    begun = np.bincount(first_told, minlength=(cells + 2 * spacing - 1) >> names.HINT_SHIFT)
    return np.maximum(np.cumsum(begun) - 1, 0).astype(np.int32)


def grown(array: npt.NDArray[Any], room: int) -> npt.NDArray[Any]:
    """The same numbers with room behind them."""
    grown = np.empty(room, array.dtype)
    grown[: len(array)] = array
    return grown
