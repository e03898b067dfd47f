"""The ways to split a word with one vocabulary, in plain Python.

All ways are listed first. Then one way is chosen, or each way gets a probability.

`tokens` maps tuples of base symbols to tokens. Each symbol is also a token.

>>> tokens = {(1,): 1, (2,): 2, (1, 2): 3}
>>> all_ways([1, 2], tokens)
[(1, 2), (3,)]
>>> dropout([1, 2], {(1, 2): (0, 3)}, Fraction(1, 4)) == {(1, 2): Fraction(1, 4), (3,): Fraction(3, 4)}
True
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

Way = tuple[int, ...]
Tokens = Mapping[tuple[int, ...], int]
Merges = Mapping[tuple[int, int], tuple[int, int]]  # for each pair, its merge and the joined token


def all_ways(symbols: Sequence[int], tokens: Tokens) -> list[Way]:
    if not symbols:
        return [()]
    ways: list[Way] = []
    for stop in range(1, len(symbols) + 1):
        token = tokens.get(tuple(symbols[:stop]))
        if token is not None:
            ways += [(token, *rest) for rest in all_ways(symbols[stop:], tokens)]
    return ways


def fewest(symbols: Sequence[int], tokens: Tokens) -> int:
    """Return the smallest number of tokens that cover the symbols."""
    return min(map(len, all_ways(symbols, tokens)))


def weighted(symbols: Sequence[int], tokens: Tokens, probability: Mapping[int, float]) -> dict[Way, float]:
    """Return the probability of each way to split the symbols.

    The probability of a way is proportional to the product of the probabilities of its tokens.
    """
    weight_of = {way: math.prod(probability[id] for id in way) for way in all_ways(symbols, tokens)}
    return {way: weight / sum(weight_of.values()) for way, weight in weight_of.items()}


def dropout(symbols: Sequence[int], merges: Merges, left_out: Fraction) -> dict[Way, Fraction]:
    """Return the probability with which BPE-dropout splits the symbols in each way.

    At each step, BPE-dropout skips some boundaries at random. The function tries all sets of skipped boundaries.
    """
    chance_of: dict[Way, Fraction] = defaultdict(Fraction)
    places = [place for place, pair in enumerate(pairwise(symbols)) if pair in merges]
    for number in range(len(places) + 1):
        for kept in combinations(places, number):
            chance = left_out ** (len(places) - number) * (1 - left_out) ** number
            if not kept:
                chance_of[tuple(symbols)] += chance
                continue
            (_, token), place = min((merges[symbols[at], symbols[at + 1]], at) for at in kept)
            joined = [*symbols[:place], token, *symbols[place + 2 :]]
            for way, more in dropout(joined, merges, left_out).items():
                chance_of[way] += chance * more
    return {way: chance for way, chance in chance_of.items() if chance}
