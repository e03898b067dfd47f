"""The numbers of a table's tokens: those of the file it came from, else our ids.

Unigram's files have no number for a character that only longer pieces hold; here it gets one when the table changes.
"""

from __future__ import annotations

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.base import NO_NUMBER
from bpe_core.history.history import History, Int64s
from bpe_core.learning.growing import free_numbers


def numbers_of(history: History) -> Int64s:
    """Return a number for each id; refuse a table that gives one number to two tokens."""
    known = history.numbers
    if known is None:
        return np.arange(history.id_count)
    if len(known) != history.id_count:
        raise FormatError(
            f"The table contradicts itself: it has {history.id_count:,} tokens, and numbers for {len(known):,}."
        )
    known = _with_all_characters(history, known)
    given = np.sort(known[known != NO_NUMBER])
    twice = given[1:][given[1:] == given[:-1]]
    if len(twice):
        first, second = np.flatnonzero(known == twice[0])[:2].tolist()
        raise FormatError(
            f"The table contradicts itself: its tokens {first:,} and {second:,}, in the order in which they were "
            f"made, both have the id {int(twice[0]):,}."
        )
    return known


def _with_all_characters(history: History, known: Int64s) -> Int64s:
    if history.scores is None:
        return known
    unknown = history.alphabet.unknown_id
    without = NO_NUMBER if unknown is None else known[unknown]
    kinds = np.array([symbol.kind in ("character", "marker") for symbol in history.alphabet.symbols], np.bool_)
    lone = np.flatnonzero(kinds & (known[: len(kinds)] == without))
    known = known.copy()
    known[lone] = int(known.max(initial=-1)) + 1 + np.arange(len(lone))
    return known


def further_numbers(known: Int64s, old_ids: Int64s, first: int | None = None) -> Int64s:
    """The numbers of a table made of another: those of before, and for what is new further ones, from a free one on.

    >>> further_numbers(np.array([7, 5]), np.array([0, -1, 1])).tolist()
    [7, 8, 5]
    """
    new = old_ids < 0
    found = known[np.maximum(old_ids, 0)]
    found[new] = free_numbers(known, int(np.count_nonzero(new)), first)
    return found


def renumbered(numbers: Int64s) -> Int64s:
    """The same order without gaps.

    >>> renumbered(np.array([7, NO_NUMBER, 3])).tolist()
    [1, -1, 0]
    """
    found = np.full(len(numbers), NO_NUMBER, np.int64)
    given = np.flatnonzero(numbers != NO_NUMBER)
    found[given[np.argsort(numbers[given], kind="stable")]] = np.arange(len(given))
    return found
