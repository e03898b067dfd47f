"""Strategies for random words and recipes for Unigram, which needs pieces that occur more than once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.methods.unigram import reference as unigram
from bpe_core.recipes.recipe import Recipe
from tests.core.learning import all_columns
from tests.core.random_training import words


@st.composite
def runs(draw: st.DrawFn) -> tuple[WordTable, Recipe]:
    """Draw words, and a recipe that drops some or all of the seeds."""
    table = draw(words())
    if draw(st.booleans()):
        ends = [draw(st.sampled_from([0, count // 2, count])) for _, count in table]
        table = replace(table, line_ends=np.array(ends, np.int64))
    choices: dict[str, Any] = dict(
        max_token_length=draw(st.sampled_from([None, 2, 3, 6, 16])),
        alphabet_limit=draw(st.sampled_from([None, None, 1, 3])),
        unknown=draw(st.sampled_from(["unk", "bytes"])),
        em_passes=draw(st.integers(1, 3)),
        keep_share=draw(st.integers(50, 95)),
        seed_size=draw(st.sampled_from([1_000_000, 20, 5])),
    )
    recipe = Recipe.preset("unigram", merges=0, **choices)
    seeds = sum(symbol.kind == "seed" for symbol in unigram.tokens_at_first(table, recipe).symbols)
    return table, recipe.with_changes(merges=draw(st.integers(0, seeds)))


def everything(history: History) -> dict[str, object]:
    """Return all values of a history as one dictionary, so that pytest shows the differences between two histories."""
    scores = history.scores
    assert scores is not None
    return {
        "alphabet": history.alphabet,
        **all_columns(history),
        **{name: repr(column.tolist()) for name, column in history.reasons.items()},  # NaN equals itself
        "tokens at start": history.tokens_at_start,
        "scores since": list(scores.since),
        "scores": [row.tolist() for row in scores.rows],
        "end": history.end_reason,
    }
