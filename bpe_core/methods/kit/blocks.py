"""The blocks of texts that a method starts anew with."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.support.arrays import Int64s


@dataclass(frozen=True, eq=False)
class RunBlocks:
    texts: Int64s  # the text each is a part of; the first is 0
    starts: Int64s  # in that text
    stops: Int64s
    different: Int64s  # bytes that occur in it
    size_at_start: int  # of all blocks before the first step, each as often as its text occurs

    def __len__(self) -> int:
        return len(self.starts)
