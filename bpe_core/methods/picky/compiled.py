"""The learner of PickyBPE that runs compiled kernels. It creates the kernels' arrays and enlarges them if necessary."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, TOKEN, Columns, EndReason, Reasons
from bpe_core.kernels import learn_dropping as kernel
from bpe_core.kernels import learn_state as names
from bpe_core.methods.kit.compiled_pairs import ENDS, GROWTH, LEARNING, are_whole, state_of
from bpe_core.methods.kit.layout import FEWER_CELLS, lay_out
from bpe_core.methods.kit.learner import Candidate, GoneThrough
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Bools, enlarge
from bpe_core.support.limits import check_room

_ENDS: dict[int, EndReason] = {**ENDS, kernel.IS_FULL: "vocabulary full"}
_BYTES_A_PAIR = names.PAIR.itemsize + names.HEAP_ENTRY.itemsize + 4 * np.dtype(np.int32).itemsize
_OF_TOKENS = ("places", "first", "left", "right", "in_use")


class CompiledDropping:
    """A learner that joins pairs and drops tokens until it has the wanted number of tokens.

    The number includes all learned tokens that are in use. It includes neither base symbols nor dropped tokens.
    """

    scores = None

    def __init__(self, words: WordTable, alphabet: Alphabet, recipe: Recipe, wanted: int) -> None:
        layout = lay_out(words, alphabet, recipe)
        base = len(alphabet)
        self._wanted = wanted
        tau = np.inf if recipe.tau is None else float(recipe.tau)
        self._choices = np.int64(base + wanted), tau, recipe.falls_into == "bytes"
        cells = len(layout.symbols)
        self.tokens_at_start = layout.tokens
        pairs = np.zeros(1, names.PAIR)
        pairs["next"] = kernel.LAST
        self._state = state_of(layout, words, alphabet, recipe, None)._replace(pairs=pairs)
        run = self._state.run[0]
        run["level"], run["pairs"], run["wanted"] = 0, 1, min(base**2, cells)  # no pair is queued
        of_tokens: dict[str, Any] = {name: np.zeros(base, np.int32) for name in _OF_TOKENS}
        self._tokens = kernel.Tokens(
            held=np.zeros(base, np.int64),
            **of_tokens,
            by_text=np.zeros(1, np.int32),
            next_of=np.zeros(cells, np.int32),
            before_of=np.zeros(cells, np.int32),
            parts=np.empty(int(np.diff(layout.starts).max(initial=1)), np.int32),
            made=np.empty(0, np.int32),
            number=np.array([base, base, kernel.NOT_MADE, kernel.NOT_MADE]),
        )
        self._tokens.in_use[:] = 1
        self._make_room_for_tokens()
        self._make_room_for_pairs()
        kernel.begin(self._state, self._tokens)
        self.has_candidates = bool(self._state.run[0]["pairs"] > 1)

    @property
    def learned(self) -> int:
        return int(self._state.run[0]["merges"])

    @property
    def reasons(self) -> Reasons:
        return {TOKEN: self._tokens.made[: self.learned]}

    @property
    def gone_through(self) -> GoneThrough:
        """Return the progress in tokens, because the number of steps is unknown in advance."""
        base = int(self._state.run[0]["base"])
        return GoneThrough(int(self._tokens.number[kernel.IN_USE]) - base, self._wanted, "tokens", "the vocabulary")

    def are_whole(self) -> Bools:
        return are_whole(self._state)

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return the tokens that must be dropped next. If there are none, return the most frequent pairs."""
        due = [token for token in self._tokens.number[[kernel.DUE, kernel.DUE_NEXT]].tolist() if token >= 0]
        if due:
            return [Candidate(token, NOTHING, int(self._tokens.held[token])) for token in due[:wanted]]
        run = self._state.run[0]
        pairs = self._state.pairs[1 : run["pairs"]]
        pairs = pairs[pairs["count"] >= max(1, run["min_frequency"])]
        if len(pairs) > wanted:
            least = np.partition(pairs["count"], -wanted)[-wanted] if wanted else pairs["count"].max() + 1
            pairs = pairs[pairs["count"] >= least]
        rows = pairs[["left", "right", "count"]].tolist()
        rows.sort(key=lambda row: (-row[2], self._text(row[0]), self._text(row[1]), row))
        return [Candidate(*row) for row in rows[:wanted]]

    def _text(self, token: int) -> bytes:
        first, stop = self._state.text_starts[token : token + 2]
        return self._state.text[first:stop].tobytes()

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        """Learn steps up to the row `stop_at` of the columns, but do at most about `work` units of work.

        A unit takes about ten nanoseconds at most. If the run ends, return the reason why it ends. Otherwise return an
        empty string.
        """
        if len(self._tokens.made) < stop_at:
            self._tokens = self._tokens._replace(made=enlarge(self._tokens.made, stop_at))
        while True:
            kernel.learn(self._state, self._tokens, columns, np.int64(stop_at), np.int64(work), *self._choices)
            status = int(self._state.run[0]["status"])
            if status in _ENDS:
                return _ENDS[status]
            if status == names.NEEDS_PAIRS:
                self._make_room_for_pairs()
            else:
                self._make_room_for_tokens()

    def _make_room_for_tokens(self) -> None:
        """Double the size of the arrays for tokens and for their texts."""
        state = self._state
        tokens = self._tokens
        room = 2 * len(tokens.left)
        self._state = state._replace(
            text=enlarge(state.text, 2 * len(state.text) + kernel.BEYOND),
            text_starts=enlarge(state.text_starts, room + 1),
            token_lengths=enlarge(state.token_lengths, room),
        )
        by_text = np.zeros(1 << (2 * room).bit_length(), np.int32)
        of_tokens = {name: with_zeros(getattr(tokens, name), room) for name in ("held", *_OF_TOKENS)}
        self._tokens = tokens._replace(**of_tokens, by_text=by_text)
        kernel.enter_texts(self._state, self._tokens)

    def _make_room_for_pairs(self) -> None:
        """Remove pairs that no longer occur. Then make new tables with room for more pairs."""
        state = self._state
        run = self._state.run[0]
        known = state.pairs[: run["pairs"]]
        known = known[(known["count"] > 0) | (np.arange(len(known)) == names.NO_PAIR)]
        room = len(known) + int(run["wanted"])
        room += room // GROWTH
        check_room(max(0, room - len(state.pairs)) * _BYTES_A_PAIR, LEARNING, FEWER_CELLS)
        run["pairs"] = len(known)
        self._state = state._replace(
            pairs=with_zeros(known, room),
            heap=np.empty(room + int(run["wanted"]), names.HEAP_ENTRY),
            base_slots=np.zeros(1 << (2 * room).bit_length(), np.int32),
        )
        kernel.queue_all(self._state)


def with_zeros(array: npt.NDArray[Any], room: int) -> npt.NDArray[Any]:
    larger = np.zeros(room, array.dtype)
    larger[: len(array)] = array
    return larger
