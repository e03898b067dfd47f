"""The blocks into which texts are divided, for methods that compress each block with a separate table."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.support.arrays import Int64s


@dataclass(frozen=True, eq=False)
class RunBlocks:
    texts: Int64s  # the index of each block's text
    starts: Int64s  # offsets in that text, in bytes or other symbols
    stops: Int64s
    different: Int64s  # how many different bytes or other symbols occur in each block
    size_at_start: int  # bytes of all blocks before the first step, each block as often as its text occurs

    def __len__(self) -> int:
        return len(self.starts)
