"""The numbers of a table's tokens: those of the file it came from, else our ids."""

from __future__ import annotations

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import NO_NUMBER
from bpe_core.history.history import History, Int64s


def numbers_of(history: History, known: Int64s | None) -> Int64s:
    """A number for each of its ids; a table that gives one number to two tokens contradicts itself."""
    if known is None:
        return np.arange(history.id_count)
    if len(known) != history.id_count:
        raise FormatError(
            f"The table contradicts itself: it has {history.id_count:,} tokens, and numbers for {len(known):,}."
        )
    given = np.sort(known[known != NO_NUMBER])
    twice = given[1:][given[1:] == given[:-1]]
    if len(twice):
        first, second = np.flatnonzero(known == twice[0])[:2].tolist()
        raise FormatError(
            f"The table contradicts itself: its tokens {first:,} and {second:,}, in the order in which they were "
            f"made, both have the id {int(twice[0]):,}."
        )
    return known


def renumbered(numbers: Int64s) -> Int64s:
    """The same order without gaps.

    >>> renumbered(np.array([7, NO_NUMBER, 3])).tolist()
    [1, -1, 0]
    """
    found = np.full(len(numbers), NO_NUMBER, np.int64)
    given = np.flatnonzero(numbers != NO_NUMBER)
    found[given[np.argsort(numbers[given], kind="stable")]] = np.arange(len(given))
    return found


def unless_ids(numbers: Int64s) -> Int64s | None:
    """None where the numbers are our ids anyway."""
    return None if np.array_equal(numbers, np.arange(len(numbers))) else numbers
