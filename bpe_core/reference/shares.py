"""The conditions that the shares of groups in a corpus must meet, so that training makes a given list of merges.

At each step, the merge must occur more often than every other pair of neighbours. These other pairs are the rivals of
the merge. Each rival gives a condition, which is called a line. A line has a number for each group: how much more often
the merge occurs than the rival in a million bytes of this group. The module `insight/shares.py` computes only the lines
that the shares found so far do not satisfy.

>>> groups = [{b"ab": 3}, {b"bc": 1}]
>>> [(step, rival, [round(more) for more in oftener]) for step, rival, oftener in lines(groups, [(97, 98)])]
[(0, (98, 99), [500000, -500000])]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

Pair = tuple[int, int]
FIRST = 256  # the token of the first merge


def lines(groups: Sequence[Mapping[bytes, int]], merges: Sequence[Pair]) -> Iterator[tuple[int, Pair, list[float]]]:
    sizes = [sum(len(word) * count for word, count in group.items()) for group in groups]
    # Each token is a character, so replacing text joins pairs from the left.
    words = [[(word.decode("latin-1"), count) for word, count in group.items()] for group in groups]
    for step, merge in enumerate(merges):
        counts = [_counts_of_pairs(group) for group in words]
        for rival in sorted({pair for of_group in counts for pair in of_group} - {merge}):
            yield (
                step,
                rival,
                [
                    1e6 * (count_of[merge] - count_of[rival]) / size
                    for count_of, size in zip(counts, sizes, strict=True)
                ],
            )
        left, right = map(chr, merge)
        words = [[(word.replace(left + right, chr(FIRST + step)), count) for word, count in group] for group in words]


def _counts_of_pairs(words: Sequence[tuple[str, int]]) -> Counter[Pair]:
    counts: Counter[Pair] = Counter()
    for word, count in words:
        for left, right in pairwise(map(ord, word)):
            counts[left, right] += count
    return counts
