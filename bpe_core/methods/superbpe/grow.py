"""The choices for extending any table by merges across words."""

from __future__ import annotations

from typing import Any

from bpe_core.history.history import History
from bpe_core.methods.kit.method import Method
from bpe_core.methods.superbpe.choices import WORDS_BY
from bpe_core.methods.superbpe.learn import transition_in


def second_stage(history: History, name: str) -> dict[str, Any]:
    """Return the settings with which the method `name` adds merges across words to a table.

    The existing steps of the table become the first stage.
    """
    recipe = history.recipe
    if Method.of(recipe).goes_across_words:
        return {"transition": transition_in(history)}
    by = {"words_by": recipe.pattern} if recipe.pattern in WORDS_BY else {}
    stage = {"method": name, "pattern": "superwords", "custom_pattern": "", "unit": "line"}
    return {**stage, "transition": len(history), **by}
