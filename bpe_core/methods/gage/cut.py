"""The segmenter of Gage's compressor, in which each table belongs to one block.

After k steps, a text is split by the table of the block that step k belongs to, with the entries made up to step k.
Within one block this is byte-pair encoding with a few merges.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from bpe_core.history.history import NOTHING, History
from bpe_core.segmenting.boundaries import Boundaries
from bpe_core.segmenting.cutting import Cutting, utf8
from bpe_core.segmenting.segmentation import Ahead, Segmentation, Tokens
from bpe_core.segmenting.text_encoder import TextEncoder
from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.progress import CancelCheck, never_cancelled

AT_ONCE = 20_000  # bytes of a text that are split by a new table at once; a longer text would block the window


class Table(NamedTuple):
    first: int  # the number of steps before the table's first step
    steps: int
    encoder: TextEncoder  # an encoder with only the table's steps


class BlockTables:
    def __init__(self, history: History, cutting: Cutting) -> None:
        self._history = history
        self._cutting = cutting
        self._base = len(history.alphabet)
        self._block_of_step = history.reasons["block"] if len(history) else np.zeros(0, np.int32)
        self._tables: dict[int, Table] = {}  # only the table that was used last, by its block

    def ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        table = self.table(at)
        return self.named(table.encoder.ids(text, at - table.first, allowed), table).astype(np.int32)

    def segmentation(
        self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled
    ) -> BlockTokens:
        return BlockTokens(self, utf8(text), allowed)

    def block(self, at: int) -> int:
        """Return the block of step number `at`. Return NOTHING before the first step."""
        at = min(at, len(self._block_of_step))  # after the last step nothing changes
        return int(self._block_of_step[at - 1]) if at else NOTHING

    def table(self, at: int) -> Table:
        block = self.block(at)
        table = self._tables.get(block)
        if table is None:
            table = self._table(block)
            self._tables = {block: table}
        return table

    def last(self) -> int:
        """Return the last step of the block whose table was used most recently.

        If no table was used yet, return the total number of steps.
        """
        table = next(iter(self._tables.values()), None)
        return len(self._history) if table is None else table.first + table.steps

    def _table(self, block: int) -> Table:
        first, stop = np.searchsorted(self._block_of_step, (block, block + 1)).tolist()
        steps = stop - first
        pairs = np.array(self._history.pairs(first, stop), np.int64).reshape(steps, 2)
        pairs[pairs >= self._base] -= first
        own = History.from_pairs(self._history.recipe, self._history.alphabet, [(a, b) for a, b in pairs.tolist()])
        return Table(first, steps, TextEncoder(own, self._cutting))

    def named(self, ids: Int32s | Int64s, table: Table) -> Int64s:
        """Convert token ids of one block's table to indices in the whole history."""
        own_special = self._base + table.steps
        named = ids.astype(np.int64)
        named[ids >= self._base] += table.first
        named[ids >= own_special] += self._history.first_special - own_special - table.first
        return named


class CutByBlock(NamedTuple):
    data: bytes
    block: int
    table: Table
    boundaries: Boundaries


class BlockTokens(Segmentation):
    """The tokens into which the table of one block splits a text.

    If a step of a different block is requested, the text is split again with the table of that block.
    """

    def __init__(self, segmenter: BlockTables, data: bytes, allowed: tuple[str, ...]) -> None:
        self._segmenter = segmenter
        self._allowed = allowed
        self._ahead: CutByBlock | None = None
        self._use(self._cut(data, segmenter.last(), never_cancelled))

    def _cut(self, data: bytes, at: int, cancelled: CancelCheck) -> CutByBlock:
        block = self._segmenter.block(at)
        table = self._segmenter.table(at)
        return CutByBlock(data, block, table, table.encoder.segmentation(data.decode(), self._allowed, cancelled))

    def _use(self, cut: CutByBlock) -> None:
        self._block = cut.block
        self._table = cut.table
        self._take(cut.boundaries)

    def _take(self, boundaries: Boundaries) -> None:
        self._boundaries = boundaries
        self.data = boundaries.data
        self.pending = boundaries.pending

    def _table_at(self, at: int) -> tuple[Boundaries, int]:
        """Return the boundaries of the text when the table of one block splits it.

        The block is the one to which step `at` belongs. Also return how many of the first `at` steps belong to this
        block.
        """
        block = self._segmenter.block(at)
        if block != self._block:
            ahead = self._cut_ahead(block)
            self._use(self._cut(self.data, at, never_cancelled) if ahead is None else ahead)
        return self._boundaries, at - self._table.first

    def tokens(self, at: int) -> Tokens:
        boundaries, own = self._table_at(at)
        return self._named(boundaries.tokens(own))

    def tokens_between(self, start: int, stop: int, at: int) -> Tokens:
        boundaries, own = self._table_at(at)
        return self._named(boundaries.tokens_between(start, stop, own))

    def with_empty(self, tokens: Tokens, at: int, *, of_neighbours: bool = False) -> Tokens:
        return tokens  # every token covers bytes

    def ahead_of(self, at: int) -> Ahead | None:
        block = self._segmenter.block(at)
        data = self.data
        if block == self._block or len(data) <= AT_ONCE or self._cut_ahead(block) is not None:
            return None

        def cut_all(cancelled: CancelCheck) -> None:
            self._ahead = self._cut(data, at, cancelled)

        return cut_all

    def _cut_ahead(self, block: int) -> CutByBlock | None:
        ahead = self._ahead
        return ahead if ahead is not None and ahead.block == block and ahead.data is self.data else None

    def edges(self, at: int) -> Int64s:
        boundaries, own = self._table_at(at)
        return boundaries.edges(own)

    def count(self, at: int) -> int:
        boundaries, own = self._table_at(at)
        return boundaries.count(own)

    def splice(self, start: int, removed: int, added: bytes) -> None:
        self._boundaries.splice(start, removed, added)
        self._take(self._boundaries)

    def put(self, start: int, answer: Self) -> None:
        boundaries, _ = answer._table_at(self._table.first + self._table.steps)
        self._boundaries.put(start, boundaries)
        self._take(self._boundaries)

    def _named(self, tokens: Tokens) -> Tokens:
        return Tokens(tokens.edges, self._segmenter.named(tokens.ids, self._table))
