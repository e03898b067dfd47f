"""Whether what a person decides in a run can be done in it: a sentence where it cannot."""

from __future__ import annotations

from bpe_core.errors import RecipeError
from bpe_core.history.columns import Columns
from bpe_core.history.history import EndReason
from bpe_core.interventions import forced_at
from bpe_core.recipe import Recipe


def check_beforehand(recipe: Recipe, alphabet_size: int, steps: int, known: int) -> None:
    """Before the first step, when it is known how many there can be, and how many are given."""
    for one in recipe.interventions:
        if one.step > steps:
            raise RecipeError(f"There is no step {one.step:,} for {one}: only {steps:,} are to be made.")
        if max(one.pair) >= alphabet_size + one.step - 1:
            raise RecipeError(f"{one} names the token {max(one.pair):,}, which is not there before step {one.step:,}.")
    if recipe.grown_from > known:
        raise RecipeError(
            f"This recipe goes on from a table of {recipe.grown_from:,} steps, which is not here; "
            "open that table and extend it (bpe-explorer extend)."
        )


def check_done(recipe: Recipe, columns: Columns, learned: int, end: EndReason) -> None:
    """After some steps: what was to be joined must have been there, and no step may be missing at the end."""
    for step, (left, right) in forced_at(recipe.interventions).items():
        if step <= learned and columns.count[step - 1] == 0:
            raise RecipeError(
                f"force:{left}+{right}@{step} cannot be done: by step {step:,} the two stand side by side nowhere "
                "in this text. Take it back, or force them at an earlier step."
            )
    missed = next((one for one in recipe.interventions if one.step > learned + 1), None)
    if missed is not None and end in ("too rare", "no pairs"):
        raise RecipeError(
            f"There is no step {missed.step:,} for {missed}: no pair is frequent enough after {learned:,} steps."
        )
