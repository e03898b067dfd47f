"""The blocks that Gage's compressor takes the texts of a run in: where each stands and how many bytes it leaves free.

>>> from bpe_core.recipe import Recipe
>>> words = WordTable.from_counts({"aaabdaaabac": 1, "ab": 3})
>>> found = blocks_of_run(words, Recipe.preset("gage", block_size=8))
>>> found.starts.tolist(), found.stops.tolist(), found.texts.tolist(), found.different.tolist()
([0, 8, 0], [8, 11, 2], [0, 0, 1], [3, 3, 2])
>>> found.size_at_start  # each has an empty table and a length
42
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled
from bpe_core.learning.gage.block_form import size_of_block
from bpe_core.learning.gage.blocks import blocks_of
from bpe_core.progress import CancelCheck, never_cancelled
from bpe_core.recipe import Recipe
from bpe_core.records import dataclass

Int64s = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RunBlocks:
    """One row a block, numbered as the steps number them."""

    texts: Int64s  # the text each is a part of; the first is 0
    starts: Int64s  # in that text
    stops: Int64s
    different: Int64s  # bytes that occur in it
    size_at_start: int  # of all blocks before the first step, each as often as its text occurs

    def __len__(self) -> int:
        return len(self.starts)


def blocks_of_run(words: WordTable, recipe: Recipe, *, cancelled: CancelCheck = never_cancelled) -> RunBlocks:
    rows: list[tuple[int, int, int, int]] = []
    size = 0
    for text, (word, times) in enumerate(words):
        for start, stop in blocks_of(word, recipe.block_size, recipe.block_bytes):
            if cancelled():
                raise Cancelled("Nobody wants to know the blocks any more.")
            rows.append((text, start, stop, len(set(word[start:stop]))))
            size += size_of_block((), stop - start) * times
    texts, starts, stops, different = np.array(rows, np.int64).reshape(-1, 4).T
    return RunBlocks(texts, starts, stops, different, size)
