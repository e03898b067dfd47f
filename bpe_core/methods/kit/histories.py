"""The facts about a history that depend on its method."""

from __future__ import annotations

from bpe_core.history.history import History
from bpe_core.methods.kit.method import Method
from bpe_core.support.wording import count_text


def first_stage_steps(history: History) -> int:
    """Return the number of steps in the first stage, for a method that learns in two stages.

    Return 0 for a method with one stage.
    """
    return min(Method.of(history.recipe).turns(history), default=0)


def has_ranks(history: History) -> bool:
    """Return whether the boundaries of a text have ranks.

    The rank of a boundary is the number of the step that removes the boundary. Boundaries have ranks if each is removed
    by at most one step, and if no later step restores it.
    """
    return _only_joins_in_order(history) and Method.of(history.recipe).has_ranks


def learns_by_ranks(history: History) -> bool:
    """Return whether boundaries in the words of the corpus have ranks (see `has_ranks`)."""
    return _only_joins_in_order(history) and Method.of(history.recipe).learns_by_ranks


def _only_joins_in_order(history: History) -> bool:
    return history.joining is None and Method.of(history.recipe).joins_in_order(history.recipe)


def steps_in_words(history: History) -> str:
    """Return the number of steps as a text, such as `3 merges`.

    If the history has no steps, return the number of its tokens as a text.
    """
    return (
        history.recipe.wording.counted(len(history)) if len(history) else count_text(history.vocabulary_size, "token")
    )
