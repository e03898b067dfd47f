"""Steps that are looked at together are held to what the builder asks of one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import FormatError
from bpe_core.formats.rebuilding import HistoryBuilder
from bpe_core.history.alphabet import Alphabet, Symbol, unknown_symbols
from bpe_core.recipes.interventions import Intervention
from bpe_core.recipes.recipe import Recipe

RECIPES = [
    Recipe.preset("words", marker="none", vocab_size=None, merges=9),
    Recipe.preset("gage"),
    Recipe.preset("unigram"),
]
counts = st.sampled_from([-1, 0, 7, 2**63 - 1, -2])


def builder(recipe: Recipe) -> HistoryBuilder:
    symbols = [Symbol(one, one, "character") for one in (b"a", b"b", b"c")]
    alphabet = Alphabet((*unknown_symbols(RECIPES[0]), *symbols))  # the first never merges
    return HistoryBuilder(recipe, alphabet, tokens_at_start=9, end_reason="stopped")


@st.composite
def steps(draw: st.DrawFn) -> list[Any]:
    """Rows of columns, most of which can be."""
    rows = []
    for tokens in range(4, 4 + draw(st.integers(0, 6))):
        ids = st.one_of(st.integers(1, tokens - 1), st.sampled_from([-1, 0, tokens]))
        runner_up = st.one_of(st.just((-1, -1, -1)), st.tuples(ids, ids, counts))
        left, right = draw(ids), draw(st.one_of(ids, st.just(-1)))
        rows.append((left, right, draw(counts), *draw(runner_up), draw(counts)))
    return rows


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda recipe: recipe.method)
@given(rows=steps())
def test_all_at_once_are_sound_where_each_is(recipe: Recipe, rows: list[Any]) -> None:
    one_by_one, at_once = builder(recipe), builder(recipe)
    sound = True
    try:
        for left, right, count, *runner_up, runner_up_count, tokens_left in rows:
            numbers = dict(count=count, runner_up_count=runner_up_count, tokens_left=tokens_left)
            one_by_one.add(left, right, runner_up=(runner_up[0], runner_up[1]), where="here", **numbers)
    except FormatError:
        sound = False
    columns = np.array(rows, np.int64).reshape(-1, 7).T
    assert at_once.add_at_once(list(columns), {}) == sound


def test_decisions_of_the_recipe_are_looked_for_in_both() -> None:
    recipe = RECIPES[0].with_changes(interventions=(Intervention(2, "force", 1, 2),))
    columns = np.array([(1, 3, 5, -1, -1, -1, 5), (2, 3, 4, -1, -1, -1, 4)], np.int64).T
    found = builder(recipe)
    assert found.add_at_once(list(columns), {})
    with pytest.raises(FormatError, match="step 2 joins another pair"):
        found.finish(where="here")
