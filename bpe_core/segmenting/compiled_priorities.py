"""Cutting by a table of priorities with the compiled kernels: all pairs with what they become, and whole words."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.history.joining import Joining
from bpe_core.kernels import encode as kernel
from bpe_core.kernels.join_word import MEETS, enter_pairs
from bpe_core.kernels.merge_word import MergeTable
from bpe_core.kernels.pieces import STARTING, PieceTable
from bpe_core.segmenting.by_priority import JoinedWords, pairs_by_text
from bpe_core.segmenting.compiled_encoder import CompiledEncoder, Int32s, Int64s, merge_table
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.piece_tables import piece_table

_SIDES = np.uint64(0xFFFFFFFF)


class CompiledPriorities(CompiledEncoder):
    """Cuts large texts by the same tokens as the plain cut."""

    def __init__(self, words: JoinedWords, cutting: Cutting) -> None:
        history, joining = words.history, words.joining
        pieces = _whole_words(words) if joining.whole_words else piece_table([], [], [], [])
        super().__init__(history, cutting, pieces, kind=kernel.JOINED)
        self._table = _table_of(words)
        number = self._alphabet.number
        unknown = history.alphabet.unknown_id
        number[kernel.LEFT_OUT] = unknown if unknown in joining.left_out else kernel.NOTHING
        number[kernel.JOINS_UNKNOWN] = unknown if joining.joins_unknown and unknown is not None else kernel.NOTHING
        self._parts = _Parts(history, joining) if joining.hidden else None

    def ids(self, text: str, at: int) -> Int32s:
        return self._shown(super().ids(text, at))

    def ids_of_words(self, data: kernel.Bytes, starts: Int32s, at: int) -> Int32s:
        return self._shown(super().ids_of_words(data, starts, at))

    def ids_of_texts(
        self, data: kernel.Bytes, edges: Int64s, at: int, room: Int32s | None = None
    ) -> tuple[Int32s, Int64s]:
        ids, free_at = super().ids_of_texts(data, edges, at, room)
        return self._shown(ids), free_at if self._parts is None else self._parts.before(ids)[free_at]

    def _shown(self, ids: Int32s) -> Int32s:
        return ids if self._parts is None else self._parts.of(ids)


class _Parts:
    """What stands for hidden tokens: what they were born of, and so on."""

    def __init__(self, history: History, joining: Joining) -> None:
        hidden = frozenset(joining.hidden)
        base = len(history.alphabet)
        found: list[list[int]] = [[id] for id in range(base)]
        for id, (left, right) in enumerate(history.pairs(), base):
            found.append(found[left] + found[right] if id in hidden else [id])
        self._counts = np.array(list(map(len, found)))
        self._first = np.cumsum(self._counts) - self._counts
        self._all = np.array([id for parts in found for id in parts], np.int32)

    def before(self, ids: Int32s) -> Int64s:
        """How many shown tokens stand before each of these, and before the end."""
        return np.concatenate((np.zeros(1, np.int64), np.cumsum(self._counts[ids])))

    def of(self, ids: Int32s) -> Int32s:
        """Tokens without the hidden ones."""
        counts = self._counts[ids]
        starts = np.repeat(self._first[ids] - (np.cumsum(counts) - counts), counts)
        shown: Int32s = self._all[starts + np.arange(len(starts))]
        return shown


def _table_of(words: JoinedWords) -> MergeTable:
    meeting = np.fromiter(words.meeting, np.uint64, len(words.meeting))
    rows = _rows(words)
    room = len(meeting) + len(rows[0])
    nothing = np.zeros(room, np.int32)
    table = merge_table(len(words.history.alphabet), nothing, nothing)
    table = table._replace(joined=np.zeros(len(table.keys), np.int32))
    meets = np.full(len(meeting), MEETS, np.int32)
    left, right = (meeting >> np.uint64(32)).astype(np.int32), (meeting & _SIDES).astype(np.int32)
    enter_pairs(table, left, right, meets, np.zeros(len(meeting), np.int32))
    enter_pairs(table, *rows)
    return table


def _rows(words: JoinedWords) -> list[npt.NDArray[np.int32]]:
    """Of each pair that is joined its sides, its priority and its token."""
    pairs = words.joining.pairs
    if pairs is not None:
        columns = [pairs.left, pairs.right, np.arange(len(pairs.left)), pairs.token]
        return [column.astype(np.int32) for column in columns]
    found = np.array(list(pairs_by_text(words.history, words.joining)), np.int32).reshape(-1, 4)
    return [np.ascontiguousarray(column) for column in found.T]


def _whole_words(words: JoinedWords) -> PieceTable:
    """The words that are tokens as they are, byte by byte."""
    base = len(words.history.alphabet)
    ids = np.array(list(words.whole.values()), np.int32)
    births = np.maximum(0, ids - base + 1).astype(np.int32)
    return piece_table(list(words.whole), np.full(len(ids), STARTING, np.int32), ids, births)
