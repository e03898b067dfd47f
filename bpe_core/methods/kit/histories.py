"""The facts about a history that depend on its method."""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.methods.kit.method import Method


def first_turn(history: History) -> int:
    """Return the last step of the first stage, in which a method learns from other words.

    Return 0 if there is one stage.
    """
    return min(Method.of(history.recipe).turns(history), default=0)


def has_ranks(history: History) -> bool:
    """Return whether each boundary of a text has a rank.

    A boundary has a rank if at most one step removes the boundary, and no step restores it.
    """
    return _only_joins_in_order(history) and Method.of(history.recipe).has_ranks


def learns_by_ranks(history: History) -> bool:
    """Return whether boundaries have ranks in the words that the history was learned from."""
    return _only_joins_in_order(history) and Method.of(history.recipe).learns_by_ranks


def _only_joins_in_order(history: History) -> bool:
    return history.joining is None and Method.of(history.recipe).joins_in_order(history.recipe)


def steps_in_words(history: History) -> str:
    """Return the number of steps as words for people. If the history has no steps, return the number of tokens."""
    return history.recipe.wording.counted(len(history)) if len(history) else f"{history.vocabulary_size:,} tokens"
