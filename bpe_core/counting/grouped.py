"""How often each word occurs in each group of texts, and what a mixture makes of that: counted once, weighted at will.

>>> german, code = WordTable.from_counts({"low": 2, "new": 1}), WordTable.from_counts({"new": 4})
>>> words = GroupedWords.of({"de": german, "code": code})
>>> words.counts_in("code").tolist(), words.bytes_in("de")
([0, 4], 9)
>>> from bpe_core.mixture import Group
>>> list(words.weighted(Mixture((Group("de", Fraction(3)), Group("code", Fraction(1, 2))))))
[(b'low', 6), (b'new', 5)]

Words stand in the order in which they are first seen when the groups are read one after the other; weights do not
change that, and where texts are read in another order only that order is another, no count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from bpe_core.counting.joining import Int64s, join
from bpe_core.counting.weighing import sum_of, times
from bpe_core.counting.words import MOST_SYMBOLS, WordTable
from bpe_core.errors import CorpusError
from bpe_core.limits import check_room
from bpe_core.mixture import Mixture, share_text
from bpe_core.records import dataclass

BYTES_A_WORD = 48  # of memory, of each word of each group, while weights are applied
FEWER_WORDS = "Count fewer texts, or choose a pattern that leaves fewer different words."


class GroupCounts(NamedTuple):
    """The words of one group: which of all words they are, and how often each occurs there."""

    rows: Int64s
    counts: Int64s
    line_ends: Int64s | None
    text_bytes: int | None  # of its texts as they were given


@dataclass(frozen=True, eq=False)
class GroupedWords:
    """All words with their counts in all groups, and what of that is in each group."""

    words: WordTable
    groups: Mapping[str, GroupCounts]  # in their order

    @classmethod
    def of(cls, tables: Mapping[str, WordTable]) -> GroupedWords:
        """The words of groups that were counted one by one."""
        for table in tables.values():
            table.check_total()
        if sum(sum_of(table.counts) for table in tables.values()) > MOST_SYMBOLS:
            raise CorpusError("The groups hold more words than 64-bit numbers can count.")
        joined = join([table.columns for table in tables.values()])
        groups = {
            name: GroupCounts(rows, table.counts, table.line_ends, table.text_bytes)
            for (name, table), rows in zip(tables.items(), joined.rows, strict=True)
        }
        alone = next(iter(tables.values())) if len(tables) == 1 else None
        words = alone if alone is not None else _summed(WordTable(*joined.columns, np.empty(0, np.int64)), groups)
        return cls(words, groups)

    def counts_in(self, group: str) -> Int64s:
        """How often each of all words occurs in a group."""
        found = np.zeros(len(self.words), np.int64)
        found[self.groups[group].rows] = self.groups[group].counts
        return found

    def line_ends_in(self, group: str) -> Int64s:
        """How often each of all words ends a line in a group; never where nobody looked."""
        found = np.zeros(len(self.words), np.int64)
        if (ends := self.groups[group].line_ends) is not None:
            found[self.groups[group].rows] = ends
        return found

    def table_of(self, group: str) -> WordTable:
        """The words of one group alone."""
        return _summed(self.words, {group: self.groups[group]})

    def words_in(self, group: str) -> int:
        return sum_of(self.groups[group].counts)

    def bytes_in(self, group: str) -> int:
        """That stand in words."""
        rows, counts, *_ = self.groups[group]
        return sum_of((self.words.starts[rows + 1] - self.words.starts[rows]) * counts)

    def factors(self, mixture: Mixture) -> dict[str, Fraction]:
        """How many times each word of a group counts.

        Shares repeat what there is too little of: the group that has most for its share counts once. No word is lost.
        """
        said = mixture.matched(tuple(self.groups))
        if mixture.by == "times":
            return {group.name: group.weight for group in said}
        size_of = self.bytes_in if mixture.by == "bytes" else self.words_in
        sizes = {group.name: size_of(group.name) for group in said}
        for group in said:
            if group.weight and not sizes[group.name]:
                raise CorpusError(
                    f"The group {group.name!r} is to be {share_text(group.weight)} of the whole, but it holds no words."
                )
        whole = max(sizes[group.name] / group.weight for group in said if group.weight)
        return {group.name: group.weight * whole / sizes[group.name] if group.weight else Fraction(0) for group in said}

    def weighted(self, mixture: Mixture | None) -> WordTable:
        """The words as a mixture counts them: what is learned from. What does not occur in it is left out."""
        if mixture is None:
            return self.words
        groups = self._weighted_groups(mixture)
        return self.words if groups is None else _summed(self.words, groups)

    def weighted_parts(self, mixture: Mixture | None) -> dict[str, WordTable]:
        """The same, each group by itself: together they are the whole."""
        groups = None if mixture is None else self._weighted_groups(mixture)
        return {name: _summed(self.words, {name: group}) for name, group in (groups or self.groups).items()}

    def told(self, mixture: Mixture) -> list[str]:
        """A sentence a group: how often it counts, and what part of the whole that is."""
        factors = self.factors(mixture)
        sizes = {name: self.bytes_in(name) * factor for name, factor in factors.items()}
        whole = max(Fraction(1), sum(sizes.values(), Fraction(0)))
        return [
            f"{name or 'The texts'}: {self.bytes_in(name):,} bytes count {float(factor):.4g} times, "
            f"{float(sizes[name] / whole):.1%} of the whole."
            for name, factor in factors.items()
        ]

    def _weighted_groups(self, mixture: Mixture) -> dict[str, GroupCounts] | None:
        """None where all count once."""
        factors = self.factors(mixture)
        if all(factor == 1 for factor in factors.values()):
            return None
        check_room(BYTES_A_WORD * max(len(one.rows) for one in self.groups.values()), "Weighing words", FEWER_WORDS)
        if sum(self.words_in(name) * factor for name, factor in factors.items()) > MOST_SYMBOLS:
            raise CorpusError(
                "With these weights the words would occur more often than 64-bit numbers can say; give smaller weights."
            )
        return {name: self._heavier(one, factors[name]) for name, one in self.groups.items()}

    def _heavier(self, group: GroupCounts, factor: Fraction) -> GroupCounts:
        rows, columns = group.rows, self.words.columns
        counts = times(group.counts, factor, columns, rows)
        size = None if group.text_bytes is None else round(group.text_bytes * factor)
        if group.line_ends is None:
            return GroupCounts(rows, counts, None, size)
        return GroupCounts(rows, counts, np.minimum(counts, times(group.line_ends, factor, columns, rows)), size)


def _summed(words: WordTable, groups: Mapping[str, GroupCounts]) -> WordTable:
    """The words with what they are counted in all groups together."""
    found = np.zeros(len(words.starts) - 1, np.int64)
    ends = np.zeros(len(words.starts) - 1, np.int64)
    for rows, counts, line_ends, _ in groups.values():
        found[rows] += counts
        if line_ends is not None:
            ends[rows] += line_ends
    are_known = all(one.line_ends is not None for one in groups.values())
    sizes = [one.text_bytes for one in groups.values()]
    size = sum(size or 0 for size in sizes) if None not in sizes else None
    return replace(words.recounted(found, ends if are_known else None), text_bytes=size)
