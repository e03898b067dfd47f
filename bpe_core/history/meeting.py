"""Functions that find the pairs of symbols that are neighbours inside tokens.

A merge can only join two tokens if the symbols at their boundary are such a pair.
"""

from __future__ import annotations

import numpy as np

from bpe_core.history.history import NOTHING, History
from bpe_core.support.arrays import Bools, Int64s


def inner_neighbours(history: History, chosen: Bools | None = None) -> tuple[Int64s, Int64s]:
    """Return for each join the two base symbols that become neighbours inside the new token.

    If `chosen` is given, it is a mask of joins, and only these joins are examined. Tokens that other joins made then
    count as symbols.

    >>> from bpe_core.history.alphabet import Alphabet
    >>> from bpe_core.recipes.recipe import Recipe
    >>> history = History.from_pairs(Recipe(), Alphabet.of_bytes(), [(97, 98), (256, 99)])  # ab, abc
    >>> [symbols.tolist() for symbols in inner_neighbours(history)]
    [[97, 98], [98, 99]]
    >>> [symbols.tolist() for symbols in inner_neighbours(history, np.array([False, True]))]
    [[256], [99]]
    """
    rows = (history.columns.right != NOTHING) & (True if chosen is None else chosen)
    left, right, made = (column[rows] for column in (history.columns.left, history.columns.right, history.indices))
    last, first = (np.arange(history.first_special) for _ in range(2))
    last[made] = right
    first[made] = left
    return outermost_symbols(last)[left], outermost_symbols(first)[right]


def outermost_symbols(parts: Int64s) -> Int64s:
    """Return for each token the base symbol at its left end, or the base symbol at its right end.

    `parts` chooses the end. It holds the left part of each token, or the right part of each token. The part of a base
    symbol is the symbol itself.
    """
    while not np.array_equal(further := parts[parts], parts):
        parts = further
    return parts
