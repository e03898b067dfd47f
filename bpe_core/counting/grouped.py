"""The words of a corpus, counted once in each group of texts, in first-seen order. Weights are applied later.

A count times a weight is rounded by the method of largest remainders. So the rounded counts add up to the
exact sum, rounded to a whole number. Sometimes only some of the words with equal remainders are rounded up.
A hash of a word's bytes decides which words these are, so the result depends neither on the order of the
words nor on the alphabet. If each count were rounded separately, the sum could be far off, because all of
the many rare words would be rounded in one direction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import MOST_SYMBOLS, Language, PartCounts, WordColumns, WordTable, join
from bpe_core.errors import CorpusError
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Int64s, repeat
from bpe_core.support.limits import check_room
from bpe_core.support.wording import count_text
from bpe_core.text.mixture import Mixture, share_text

BYTES_A_WORD = 48  # bytes of memory for each word of each group, while weights are applied
FEWER_WORDS = "Count fewer texts, or choose a pattern that makes fewer different words."
WORDS_AT_ONCE = 1 << 16
MULTIPLIER = 0x9E3779B97F4A7C15


@dataclass(frozen=True, eq=False)
class GroupedWords:
    words: WordTable
    groups: Mapping[str, PartCounts]  # names in order
    at_first: GroupedWords | None = None  # the words of the first stage, if it splits the texts in another way

    @classmethod
    def of(cls, tables: Mapping[str, WordTable]) -> GroupedWords:
        for table in tables.values():
            table.check_total()
        if sum(sum_of(table.counts) for table in tables.values()) > MOST_SYMBOLS:
            raise CorpusError("The counts of words in the groups are too large for 64-bit numbers.")
        joined = join([table.columns for table in tables.values()])
        groups = {
            name: PartCounts(rows, table.counts, table.line_ends, table.text_bytes)
            for (name, table), rows in zip(tables.items(), joined.rows, strict=True)
        }
        alone = next(iter(tables.values())) if len(tables) == 1 else None
        words = alone if alone is not None else _summed(WordTable(*joined.columns, np.empty(0, np.int64)), groups)
        at_first = {name: table.at_first for name, table in tables.items() if table.at_first is not None}
        return cls(words, groups, cls.of(at_first) if at_first and len(at_first) == len(tables) else None)

    def counts_in(self, group: str) -> Int64s:
        return self._by_word(group, self.groups[group].counts)

    def line_ends_in(self, group: str) -> Int64s:
        """Return how often each word of the corpus ends a line in this group.

        Return zeros if line ends were not counted.
        """
        ends = self.groups[group].line_ends
        return self._by_word(group, 0 if ends is None else ends)

    def _by_word(self, group: str, values: Int64s | int) -> Int64s:
        by_word = np.zeros(len(self.words), np.int64)
        by_word[self.groups[group].rows] = values
        return by_word

    def table_of(self, group: str) -> WordTable:
        return _summed(self.words, {group: self.groups[group]})

    def words_in(self, group: str) -> int:
        return sum_of(self.groups[group].counts)

    def bytes_in(self, group: str) -> int:
        rows, counts, *_ = self.groups[group]
        return sum_of((self.words.starts[rows + 1] - self.words.starts[rows]) * counts)

    def factors(self, mixture: Mixture) -> dict[str, Fraction]:
        """Return the factor by which the counts of each group are multiplied.

        If the weights are shares, the weighted groups have these shares, and the smallest factor above 0 is 1.
        """
        said = mixture.matched(tuple(self.groups))
        if mixture.by == "times":
            return {group.name: group.weight for group in said}
        size_of = self.bytes_in if mixture.by == "bytes" else self.words_in
        sizes = {group.name: size_of(group.name) for group in said}
        for group in said:
            if group.weight and not sizes[group.name]:
                raise CorpusError(
                    f"The group {group.name!r} should be {share_text(group.weight)} of the corpus, but it holds no "
                    "words."
                )
        whole = max(sizes[group.name] / group.weight for group in said if group.weight)
        return {group.name: group.weight * whole / sizes[group.name] if group.weight else Fraction(0) for group in said}

    def weighted(self, mixture: Mixture | None) -> WordTable:
        """Return the words with their counts in a mixture. Words with a count of zero are left out."""
        return self.words if mixture is None else self._weighted_by(self.factors(mixture))

    def _weighted_by(self, factors: Mapping[str, Fraction]) -> WordTable:
        groups = self._weighted_groups(factors)
        return self.words if groups is None else _summed(self.words, groups)

    def learned_by(self, recipe: Recipe) -> WordTable:
        """Return the table of words from which a recipe learns, with the weights of the recipe's mixture.

        If the recipe's method compares languages, the table also holds the words of each language.
        """
        mixture = recipe.mixture
        words = self.weighted(mixture)
        if recipe.recipe_at_first is not None and self.at_first is not None:
            at_first = self.at_first.words if mixture is None else self.at_first._weighted_by(self.factors(mixture))
            words = replace(words, at_first=at_first)
        if mixture is None or not (recipe.serves_languages and mixture.languages):
            return words
        return replace(words, languages=self._languages(mixture))

    def _languages(self, mixture: Mixture) -> tuple[Language, ...]:
        said = mixture.matched(tuple(self.groups))
        dev = {group.dev_of: self.table_of(group.name) for group in said if group.dev_of}
        learned = {group.name: group for group in said if not group.dev_of}
        what = "dev text" if dev else "ratio"
        for name in (*learned, *mixture.languages):
            if name not in mixture.languages:
                raise CorpusError(
                    f"The language {name!r} has no {what}, but {mixture.languages[0]!r} has a {what}. Give each "
                    f"language a {what}, or none of them."
                )
            if name not in learned:
                raise CorpusError(
                    f"There is a {what} of {name!r}, but no group {name!r} to learn from. Add the group, or leave "
                    f"out the {what}."
                )
            if not self.words_in(name) or (name in dev and not len(dev[name])):
                raise CorpusError(f"The language {name!r} has no words in its training texts or in its dev text.")
        parts = self.weighted_parts(mixture)
        return tuple(
            Language(name, parts[name], dev.get(name), float(learned[name].ratio or 1)) for name in mixture.languages
        )

    def weighted_parts(self, mixture: Mixture | None) -> dict[str, WordTable]:
        """Return the words of each group with their counts in a mixture.

        A word's counts in all groups add up to the count of the word in the mixture.
        """
        groups = None if mixture is None else self._weighted_groups(self.factors(mixture))
        return {name: _summed(self.words, {name: group}) for name, group in (groups or self.groups).items()}

    def sentences(self, mixture: Mixture) -> list[str]:
        factors = self.factors(mixture)
        sizes = {name: self.bytes_in(name) * factor for name, factor in factors.items()}
        whole = max(Fraction(1), sum(sizes.values(), Fraction(0)))
        said = [(name or "The texts", name, factor, mixture.of(name).dev_of) for name, factor in factors.items()]
        return [
            f"{title}: {count_text(self.bytes_in(name), 'byte')}, the dev text of {dev_of}."
            if dev_of
            else f"{title}: {count_text(self.bytes_in(name), 'byte')}, counted {float(factor):.4g} times: "
            f"{float(sizes[name] / whole):.1%} of the corpus."
            for title, name, factor, dev_of in said
        ]

    def _weighted_groups(self, factors: Mapping[str, Fraction]) -> dict[str, PartCounts] | None:
        if all(factor == 1 for factor in factors.values()):
            return None
        check_room(BYTES_A_WORD * max(len(group.rows) for group in self.groups.values()), "Weighing words", FEWER_WORDS)
        if sum(self.words_in(name) * factor for name, factor in factors.items()) > MOST_SYMBOLS:
            raise CorpusError(
                "With these weights the counts of words are too large for 64-bit numbers; give smaller weights."
            )
        return {name: self._heavier(group, factors[name]) for name, group in self.groups.items()}

    def _heavier(self, group: PartCounts, factor: Fraction) -> PartCounts:
        rows = group.rows
        columns = self.words.columns
        counts = multiplied(group.counts, factor, columns, rows)
        size = None if group.text_bytes is None else round(group.text_bytes * factor)
        if group.line_ends is None:
            return PartCounts(rows, counts, None, size)
        return PartCounts(rows, counts, np.minimum(counts, multiplied(group.line_ends, factor, columns, rows)), size)


def _summed(words: WordTable, groups: Mapping[str, PartCounts]) -> WordTable:
    counts_of_words = np.zeros(len(words.starts) - 1, np.int64)
    ends = np.zeros(len(words.starts) - 1, np.int64)
    for rows, counts, line_ends, _ in groups.values():
        counts_of_words[rows] += counts
        if line_ends is not None:
            ends[rows] += line_ends
    are_known = all(group.line_ends is not None for group in groups.values())
    sizes = [group.text_bytes for group in groups.values()]
    size = sum(size or 0 for size in sizes) if None not in sizes else None
    return replace(words.recounted(counts_of_words, ends if are_known else None), text_bytes=size)


# Counts times a weight, in whole numbers


def multiplied(counts: Int64s, weight: Fraction, columns: WordColumns, rows: Int64s) -> Int64s:
    """Multiply the counts of words by a weight, and return the rounded products.

    Two words with equal counts get results that differ by at most one. The sum of the results must fit into 64 bits.
    """
    total = sum_of(counts) * weight
    if weight.denominator == 1:
        return counts * weight.numerator
    values, places, how_many = np.unique(counts, return_inverse=True, return_counts=True)
    parts = [divmod(value * weight.numerator, weight.denominator) for value in values.tolist()]
    whole = [part for part, _ in parts]
    left = round(total) - sum(part * many for part, many in zip(whole, how_many.tolist(), strict=True))
    in_part = -1  # the remainder at which only some words get one more
    for i in sorted(range(len(parts)), key=lambda i: (-parts[i][1], -i)):
        if left < how_many[i]:
            in_part = i
            break
        whole[i] += 1
        left -= int(how_many[i])
    products = np.array(whole, np.int64)[places]
    if left:
        equal = np.flatnonzero(places == in_part)
        products[equal[np.argpartition(hashes(columns, rows[equal]), left - 1)[:left]]] += 1
    return products


def sum_of(counts: Int64s) -> int:
    """Return the exact sum as a Python number, because the sum may need more than 64 bits."""
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())


def hashes(columns: WordColumns, chosen: Int64s) -> npt.NDArray[np.uint64]:
    """Return a hash of each of the words in `chosen`. The hash depends only on the bytes of the word."""
    numbers = np.empty(len(chosen), np.uint64)
    for begin in range(0, len(chosen), WORDS_AT_ONCE):
        part = chosen[begin : begin + WORDS_AT_ONCE]
        firsts = columns.starts[part]
        lengths = columns.starts[part + 1] - columns.starts[part]
        begins = np.cumsum(lengths) - lengths
        inside = np.arange(int(lengths.sum())) - repeat(begins, lengths)
        powers = np.cumprod(np.full(int(lengths.max()), MULTIPLIER, np.uint64))
        letters = columns.text[repeat(firsts, lengths) + inside].astype(np.uint64) + np.uint64(1)
        numbers[begin : begin + len(part)] = np.add.reduceat(letters * powers[inside], begins)
    numbers ^= numbers >> np.uint64(32)
    numbers *= np.uint64(MULTIPLIER)
    numbers ^= numbers >> np.uint64(29)
    return numbers
