"""Functions that find which base symbols are neighbours inside tokens.

Two tokens can be joined only if the base symbols on both sides of the boundary between them are neighbours inside some
token.
"""

from __future__ import annotations

import numpy as np

from bpe_core.history.history import NOTHING, History
from bpe_core.support.arrays import Bools, Int64s


def inner_neighbours(history: History, chosen: Bools | None = None) -> tuple[Int64s, Int64s]:
    """Return the base symbols to the left and to the right of the boundary that each join removes.

    The result is two arrays with an item for each join. If `chosen` is given, it is a mask that selects some
    joins. Then a token that was made by any other join is treated as a base symbol.

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
    """Return the base symbol at one end of each token.

    For the left ends, `parts` holds the left part of each token. For the right ends, it holds the right part of each
    token. The part of a base symbol is the symbol itself.
    """
    while not np.array_equal(further := parts[parts], parts):
        parts = further
    return parts
