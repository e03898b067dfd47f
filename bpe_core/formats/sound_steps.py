"""Whether all steps of a table can be, looked at together: what `HistoryBuilder.add` asks of one after the other.

Where it says no, the builder tells why; it may be more strict than the builder, never less.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bpe_core.alphabet import Alphabet
from bpe_core.history.history import NOTHING, Bools, Int64s
from bpe_core.history.lengths import joined_lengths
from bpe_core.learning.methods import Method
from bpe_core.recipe import LARGEST_VOCABULARY


def are_sound(columns: Sequence[Int64s], alphabet: Alphabet, method: Method, longest: int) -> bool:
    """Whether each step can follow those before; columns are those of a history, tokens have at most so many bytes."""
    left, right, *others = columns
    drops: Bools = (right == NOTHING) & method.drops
    right = np.where(drops, left, right)
    there = len(alphabet) + np.arange(len(left)) - (np.cumsum(drops) - drops)  # tokens before each step
    numbers = np.stack([others[0], others[3], others[4]])
    return (
        len(left) <= LARGEST_VOCABULARY
        and all(bool(((half >= 0) & (half < there)).all()) for half in (left, right))
        and bool((numbers >= NOTHING).all())
        and _have_merging_symbols(left, right, alphabet)
        and _are_left(left, right, drops, there)
        and (method.starts_anew or _are_joined_once(left[~drops], right[~drops]))
        and _have_runners_up(others[1], others[2], others[3], there, method.drops)
        and _fit(left[~drops], right[~drops], alphabet, longest)
    )


def _have_merging_symbols(left: Int64s, right: Int64s, alphabet: Alphabet) -> bool:
    never = [id for id, symbol in enumerate(alphabet.symbols) if not symbol.merges]
    return not (np.isin(left, never).any() or np.isin(right, never).any()) if never else True


def _are_left(left: Int64s, right: Int64s, drops: Bools, there: Int64s) -> bool:
    """Whether no step takes a token that one before dropped."""
    if not drops.any():
        return True
    rows = np.flatnonzero(drops)
    dropped_at = np.full(int(there[-1]) + 1, len(left))
    np.minimum.at(dropped_at, left[rows], rows)
    at = np.arange(len(left))
    return bool(((dropped_at[left] >= at) & (dropped_at[right] >= at)).all())


def _are_joined_once(left: Int64s, right: Int64s) -> bool:
    pairs = np.sort((left << 32) | right)
    return not (pairs[1:] == pairs[:-1]).any()


def _have_runners_up(left: Int64s, right: Int64s, count: Int64s, there: Int64s, drops: bool) -> bool:
    told = (left != NOTHING) | (right != NOTHING)
    right = np.where(right == NOTHING, left, right) if drops else right
    known = (left >= 0) & (left < there) & (right >= 0) & (right < there) & (count != NOTHING)
    return bool((known | ~told).all())


def _fit(left: Int64s, right: Int64s, alphabet: Alphabet, longest: int) -> bool:
    """Whether any two tokens together would not be too long, which is more than is asked."""
    return 2 * int(joined_lengths([len(text) for text in alphabet.decoded], left, right).max(initial=0)) <= longest
