"""A history as if some tokens were not there: its alphabet, steps, special tokens, and the order of its joining."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bpe_core.alphabet import Alphabet
from bpe_core.history.history import Bools, History, Int64s
from bpe_core.history.joining import Joining, PairRows
from bpe_core.recipe import Recipe

GONE = -1  # the new id of a token that is not there


@dataclass(frozen=True, eq=False)
class Without:
    """What is left."""

    history: History
    new_ids: Int64s  # for each id of before, or GONE


def without(history: History, goes: Bools, hidden: Bools) -> Without:
    """Without these tokens, and with some as steps to others only.

    Counts are not kept: without some merges the others would have counted something else.
    """
    new_ids = np.cumsum(~goes) - 1
    new_ids[goes] = GONE
    base = len(history.alphabet)
    rows = ~goes[base : history.first_special]
    left, right = (new_ids[column[rows]].tolist() for column in history.columns[:2])
    pairs = list(zip(left, right, strict=True))
    specials = enumerate(history.recipe.special_tokens, history.first_special)
    kept = tuple(token for id, token in specials if not goes[id])
    recipe = as_given(history.recipe, len(pairs)).with_changes(special_tokens=kept)
    alphabet = history.alphabet
    if goes[:base].any():
        alphabet = Alphabet(tuple(symbol for id, symbol in enumerate(alphabet.symbols) if not goes[id]))
    joining = _joining(history, goes, hidden, new_ids)
    return Without(History.from_pairs(recipe, alphabet, pairs, joining), new_ids)


def as_given(recipe: Recipe, merges: int) -> Recipe:
    """The same for a table of so many merges that nobody has learned so."""
    return recipe.with_changes(merges=merges, interventions=(), grown_from=0)


def _joining(history: History, goes: Bools, hidden: Bools, new_ids: Int64s) -> Joining | None:
    """The order in which texts are joined, where it must be said: of what is left."""
    joining = history.joining
    if joining is None:
        if not hidden.any():
            return None
        left, right = (column.astype(np.int64) for column in history.columns[:2])
        joining = Joining(pairs=PairRows(left, right, np.arange(len(history.alphabet), history.first_special)))
    pairs, priorities = joining.pairs, joining.priorities
    if pairs is not None:
        rows = ~(goes[pairs.left] | goes[pairs.right] | goes[pairs.token])
        pairs = PairRows(*(new_ids[column[rows]] for column in pairs))
    if priorities is not None:
        priorities = priorities[~goes[: len(priorities)]]

    def mapped(ids: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(int(new_ids[id]) for id in ids if not goes[id])

    return replace(
        joining,
        pairs=pairs,
        priorities=priorities,
        left_out=mapped(joining.left_out),
        found_first=mapped(joining.found_first),
        hidden=mapped((*joining.hidden, *np.flatnonzero(hidden).tolist())),
    )
