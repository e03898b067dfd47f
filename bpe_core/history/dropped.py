"""Functions that find the tokens which replace dropped tokens."""

from __future__ import annotations

from bpe_core.history.history import NOTHING, History
from bpe_core.methods.registry import METHODS


def replacements_by_step(history: History) -> dict[int, list[int]]:
    """Return the tokens that replace each dropped token. A key is the row of a drop in the history, counted from 0."""
    parts_of_row = dict[int, list[int]]()
    in_use = [True] * history.first_special
    for row, (token, right) in enumerate(zip(history.indices.tolist(), history.columns.right.tolist(), strict=True)):
        in_use[token] = right != NOTHING
        if right == NOTHING:
            parts_of_row[row] = replacements_of(history, token, in_use)
    return parts_of_row


def replacements_of(history: History, token: int, in_use: list[bool]) -> list[int]:
    """Return the tokens that replace a dropped token: its base symbols, or the two tokens from which it was made.

    If one of these two tokens was dropped too, it is replaced in the same way.
    """
    if METHODS[history.recipe.method].falls_into_bytes(history.recipe):
        return history.symbols_of(token)
    halves = history.parts(token) or ()
    return [id for half in halves for id in ([half] if in_use[half] else replacements_of(history, half, in_use))]
