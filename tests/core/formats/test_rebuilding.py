"""Tests that a check of all steps at once finds the same invalid step as a check of the steps one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import FormatError
from bpe_core.formats.rebuilding import check_steps, rebuild
from bpe_core.history.alphabet import Alphabet, Symbol, unknown_symbols
from bpe_core.methods.kit.method import Method
from bpe_core.recipes.interventions import Intervention
from bpe_core.recipes.recipe import Recipe

RECIPES = [
    Recipe.preset("words", marker="none", vocab_size=None, merges=9),
    Recipe.preset("gage"),
    Recipe.preset("unigram"),
]
counts = st.sampled_from([-1, 0, 7, 2**63 - 1, -2])


SYMBOLS = [Symbol(one, one, "character") for one in (b"a", b"b", b"c")]
ALPHABET = Alphabet((*unknown_symbols(RECIPES[0]), *SYMBOLS))  # the first never merges


def are_valid(rows: list[Any], recipe: Recipe) -> bool:
    """Return whether all steps are valid. The steps are checked one by one."""
    tokens = 4
    joined_pairs: set[tuple[int, int]] = set()
    dropped: set[int] = set()
    for left, right, count, other_left, other_right, other_count, tokens_left in rows:
        drops = right == -1 and recipe.single == "drop"
        halves = {left, left if drops else right}
        if not all(1 <= half < tokens for half in halves) or halves & dropped or min(count, tokens_left) < -1:
            return False
        if (left, right) in joined_pairs and not Method.of(recipe).starts_anew:
            return False
        others = (other_left, other_left if recipe.single and other_right == -1 else other_right)
        if (other_left, other_right) == (-1, -1):
            if other_count != -1:
                return False
        elif not all(0 <= other < tokens for other in others) or other_count < 0:
            return False
        joined_pairs |= set() if drops else {(left, right)}
        dropped |= {left} if drops else set()
        tokens += not drops
    return True


@st.composite
def steps(draw: st.DrawFn) -> list[Any]:
    """Draw rows of step columns, most of them valid."""
    rows = []
    for tokens in range(4, 4 + draw(st.integers(0, 6))):
        ids = st.one_of(st.integers(1, tokens - 1), st.sampled_from([-1, 0, tokens]))
        runner_up = st.one_of(st.just((-1, -1, -1)), st.tuples(ids, ids, counts))
        left, right = draw(ids), draw(st.one_of(ids, st.just(-1)))
        rows.append((left, right, draw(counts), *draw(runner_up), draw(counts)))
    return rows


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.method)
@given(rows=steps())
def test_checking_all_steps_at_once_finds_the_same_invalid_step_as_checking_each_step(
    recipe: Recipe, rows: list[Any]
) -> None:
    columns = np.array(rows, np.int64).reshape(-1, 7).T
    sound = [are_valid(rows[:end], recipe) for end in range(1, len(rows) + 1)]
    if all(sound):
        check_steps([*columns], ALPHABET, recipe, str)
    else:
        with pytest.raises(FormatError, match=f"^{sound.index(False)}: "):  # the first impossible step
            check_steps([*columns], ALPHABET, recipe, str)


def test_rebuilding_a_history_refuses_steps_that_contradict_a_forced_pair() -> None:
    recipe = RECIPES[0].with_changes(interventions=(Intervention(2, "force", 1, 2),))
    columns = np.array([(1, 3, 5, -1, -1, -1, 5), (2, 3, 4, -1, -1, -1, 4)], np.int64).T
    with pytest.raises(FormatError, match="step 2 merges another pair"):
        rebuild(recipe, ALPHABET, [*columns], str, "here")
