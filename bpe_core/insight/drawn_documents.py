"""Repeated estimates of a mixture, each computed from randomly drawn documents.

The differences between the estimates show how much an estimate depends on the choice of documents.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bpe_core.counting.grouped import GroupedWords
from bpe_core.counting.words import WordTable
from bpe_core.insight.shares import Program
from bpe_core.support.arrays import Float64s, Int64s
from bpe_core.support.progress import ALONE, Progress, Work

Rows = tuple[Int64s, Int64s]  # rows of words, and their counts


class DrawnDocuments:
    """The words of each group of texts, divided into several blocks. A block is a random part of a group's documents.

    A draw chooses as many blocks as the group has. It can choose a block several times.
    """

    def __init__(self, groups: GroupedWords, blocks: Mapping[str, Sequence[WordTable]]) -> None:
        """Store the counts of the words in each block.

        Dividing a text into blocks can make words that the undivided groups do not have. These words are left out.
        """
        named = [(name, table) for name in groups.groups for table in blocks[name]]
        together = GroupedWords.of({"": groups.words, **{f"{place}": table for place, (_, table) in enumerate(named)}})
        self._words = len(groups.words)
        self._rows: dict[str, list[Rows]] = {name: [] for name in groups.groups}
        self._sizes: dict[str, list[int]] = {name: [] for name in groups.groups}
        for (name, table), part in zip(named, list(together.groups.values())[1:], strict=True):
            known = part.rows < self._words
            self._rows[name].append((part.rows[known], part.counts[known]))
            self._sizes[name].append(table.text_bytes or table.total_bytes)

    def shares(self, program: Program, times: int, seed: int, work: Work = ALONE) -> Float64s:
        """Draw documents `times` times. Return the estimated shares of the groups, with a row for each draw."""
        shares = list[Float64s]()
        for number in range(times):
            work.check()
            work.progress(Progress("drawing other documents", number, times, ""))
            shares.append(program.shares_by(program.evidence.with_counts(*self.draw(seed, number)), work))
        return np.array(shares)

    def draw(self, seed: int, number: int) -> tuple[Float64s, Float64s]:
        """Draw blocks of documents. Return the counts of their words, and the size of each group in bytes.

        The counts have a row for each word and a column for each group. The draw depends only on `seed` and on
        `number`, the number of the draw.
        """
        chance = np.random.default_rng((seed, number))
        counts = np.zeros((self._words, len(self._rows)))
        sizes = np.zeros(len(self._rows))
        for group, (name, blocks) in enumerate(self._rows.items()):
            times = chance.multinomial(len(blocks), np.full(len(blocks), 1 / len(blocks)))
            for often, (rows, of_block), size in zip(times.tolist(), blocks, self._sizes[name], strict=True):
                counts[rows, group] += often * of_block
                sizes[group] += often * size
        return counts, sizes
