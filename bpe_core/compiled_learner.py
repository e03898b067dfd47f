"""Learning with the compiled kernel: makes its arrays, and makes room when it asks."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet
from bpe_core.compiled import learn as kernel
from bpe_core.history import Columns, MergeHistory
from bpe_core.layout import lay_out
from bpe_core.learner import EVERY_LENGTH, PairCount, Stop, byte_order
from bpe_core.recipe import Recipe, Ties
from bpe_core.words import WordTable

_RULES: dict[Ties, int] = {
    "first-seen": kernel.BY_FIRST_SEEN,
    "lowest-ids": kernel.BY_IDS,
    "byte-alphabet": kernel.BY_IDS,
    "smallest-text": kernel.BY_SMALLEST_TEXT,
    "largest-text": kernel.BY_LARGEST_TEXT,
}
_STOPS = {kernel.GOING: Stop.GOING, kernel.OUT_OF_PAIRS: Stop.NO_PAIRS, kernel.TOO_RARE: Stop.TOO_RARE}
_LEAST_ROOM = 1 << 12

Number = TypeVar("Number", bound=np.generic)


class CompiledLearner:
    """Owns the arrays of one run; `learn` fills rows of the columns it is given."""

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, forced: MergeHistory | None) -> None:
        layout = lay_out(words, alphabet, recipe)
        self.tokens_at_start = layout.tokens
        self._state = _begin(layout.symbols, layout.starts, words.counts, alphabet, recipe, forced)
        self._state.number[kernel.TOKENS_LEFT] = layout.tokens
        while not kernel.build(self._state):
            self._start_over_with_more_pairs()
        self.has_pairs = bool(self._state.number[kernel.PAIRS])

    def learn(self, columns: Columns, stop_at: int, work: int) -> Stop:
        """Learn up to the row `stop_at`, but not much longer than `work` units (some ten nanoseconds each)."""
        self._make_room_for_tokens(stop_at)
        number = self._state.number
        while True:
            kernel.learn(self._state, columns, np.int64(stop_at), np.int64(work))
            if number[kernel.STATUS] != kernel.NEEDS_ROOM:
                return _STOPS[int(number[kernel.STATUS])]
            self._make_room_for_a_merge()

    @property
    def learned(self) -> int:
        return int(self._state.number[kernel.MERGES])

    def top_pairs(self, wanted: int) -> list[PairCount]:
        pairs, counts, cells = (np.empty(wanted, np.int64) for _ in range(3))
        found = kernel.leading_pairs(self._state, np.int64(wanted), pairs, counts, cells)
        keys = self._state.pair_keys[pairs[:found]]
        return [
            PairCount(left=key >> 32, right=key & 0xFFFFFFFF, count=count, first_position=cell)
            for key, count, cell in zip(keys.tolist(), counts.tolist(), cells.tolist(), strict=False)
        ]

    def _make_room_for_tokens(self, merges: int) -> None:
        state, tokens = self._state, int(self._state.number[kernel.BASE]) + merges + 1
        if len(state.token_lengths) >= tokens:
            return
        self._state = state._replace(
            token_lengths=_grown(state.token_lengths, tokens),
            id_order=_grown(state.id_order, tokens),
            text_starts=_grown(state.text_starts, tokens + 1),
            near=_grown(state.near, tokens * kernel.NEAR_WIDTH),
            touched_left=_grown(state.touched_left, tokens),
            touched_right=_grown(state.touched_right, tokens),
        )

    def _make_room_for_a_merge(self) -> None:
        """Twice the room wherever less than half is free; the kernel asks again if that was not enough."""
        state, number = self._state, self._state.number
        pairs = len(state.pair_keys)
        if 2 * number[kernel.PAIRS] > pairs or 2 * number[kernel.HEAP] > len(state.heap_counts):
            self._grow_pairs(2 * pairs)
        elif 2 * number[kernel.ARENA] > len(state.arena):
            self._state = state._replace(arena=_grown(state.arena, _half_more(state.arena)))
        elif 2 * number[kernel.TEXT] > len(state.text):
            self._state = state._replace(text=_grown(state.text, 2 * len(state.text)))
        else:  # one huge merge: everything grows
            self._grow_pairs(2 * pairs)
            self._state = self._state._replace(
                arena=_grown(state.arena, _half_more(state.arena)), text=_grown(state.text, 2 * len(state.text))
            )

    def _grow_pairs(self, room: int) -> None:
        state = self._state
        self._state = state._replace(
            pair_slots=np.zeros(2 * room, np.int32),
            pair_keys=_grown(state.pair_keys, room),
            pair_counts=_grown(state.pair_counts, room),
            pair_first=_grown(state.pair_first, room),
            pair_stop=_grown(state.pair_stop, room),
            heap_counts=_grown(state.heap_counts, room),
            heap_keys=_grown(state.heap_keys, room),
            heap_pairs=_grown(state.heap_pairs, room),
        )
        kernel.rehash(self._state)

    def _start_over_with_more_pairs(self) -> None:
        room = 4 * len(self._state.pair_keys)
        self._state.number[kernel.PAIRS] = 0
        self._grow_pairs(room)


def _begin(
    symbols: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    counts: npt.NDArray[np.int64],
    alphabet: Alphabet,
    recipe: Recipe,
    forced: MergeHistory | None,
) -> kernel.State:
    """The arrays before the first pair is counted."""
    size, cells = len(alphabet), len(symbols)
    pairs = 1 << max(12, min(cells, 1 << 16).bit_length())
    text = b"".join(symbol.text for symbol in alphabet.symbols)
    number = np.zeros(kernel.NUMBERS, np.int64)
    number[kernel.BASE] = size
    number[kernel.MIN_FREQUENCY] = _least_count(recipe, forced)
    number[kernel.MAX_LENGTH] = recipe.max_token_length or EVERY_LENGTH
    number[kernel.TIES] = _RULES[recipe.ties]
    number[kernel.TEXT] = len(text)
    number[kernel.FORCED] = 0 if forced is None else len(forced)
    text_starts = np.zeros(size + 1, np.int64)
    np.cumsum([len(symbol.text) for symbol in alphabet.symbols], out=text_starts[1:])
    order = np.arange(size, dtype=np.int64)
    if recipe.ties == "byte-alphabet":
        order[:256] = byte_order()
    return kernel.State(
        symbols=symbols,
        word_starts=starts,
        word_counts=np.ascontiguousarray(counts),
        word_hints=_hints(starts, cells),
        token_lengths=np.ones(size, np.int32),
        id_order=order,
        text=_grown(np.frombuffer(text, np.uint8), 2 * len(text) + _LEAST_ROOM),
        text_starts=text_starts,
        pair_slots=np.zeros(2 * pairs, np.int32),
        pair_keys=np.empty(pairs, np.uint64),
        pair_counts=np.empty(pairs, np.int64),
        pair_first=np.empty(pairs, np.int64),
        pair_stop=np.empty(pairs, np.int64),
        arena=np.empty(2 * cells + _LEAST_ROOM, np.int32),
        heap_counts=np.empty(pairs, np.int64),
        heap_keys=np.empty(pairs, np.int64),
        heap_pairs=np.empty(pairs, np.int32),
        near=np.zeros(size * kernel.NEAR_WIDTH, np.int64),
        touched_left=np.empty(size, np.int32),
        touched_right=np.empty(size, np.int32),
        forced_left=np.array([] if forced is None else forced.columns.left, np.int32),
        forced_right=np.array([] if forced is None else forced.columns.right, np.int32),
        number=number,
    )


def _least_count(recipe: Recipe, forced: MergeHistory | None) -> int:
    """Below this a pair is forgotten at birth; merges from elsewhere may need any pair."""
    return 1 if forced is not None and not forced.has_counts else recipe.min_frequency


def _hints(starts: npt.NDArray[np.int64], cells: int) -> npt.NDArray[np.int32]:
    every_sixteenth = np.arange(0, cells + 16, 16)
    hints = np.searchsorted(starts[:-1], every_sixteenth, side="right") - 1
    return np.maximum(hints, 0).astype(np.int32)


def _half_more(array: npt.NDArray[np.int32]) -> int:
    return len(array) + len(array) // 2 + _LEAST_ROOM


def _grown(array: npt.NDArray[Number], room: int) -> npt.NDArray[Number]:
    """The same numbers with zeros behind them."""
    grown = np.zeros(room, array.dtype)
    grown[: len(array)] = array
    return grown
