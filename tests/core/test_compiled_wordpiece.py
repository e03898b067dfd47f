"""Tests of the compiled learners of WordPiece.

From any words and with any recipe, they must learn the same steps as the specification.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.kernels import learn_score
from bpe_core.methods.bpe import reference as bpe
from bpe_core.methods.kit.compiled_pairs import CompiledLearner
from bpe_core.methods.kit.learner import Candidate
from bpe_core.methods.wordpiece import reference as reference
from bpe_core.methods.wordpiece.compiled import CompiledScoreLearner
from bpe_core.recipes.recipe import Recipe
from tests.conftest import EXAMPLES
from tests.core.learning import all_columns, history_of_learner
from tests.core.random_training import words
from tests.core.test_wordpiece import recipes

A_LOT = 2**60  # work that no call reaches
NO_ROOM = 2  # pairs that fit at first: everything must grow, and more than once
COUNTS = st.integers(1, 2**62) | st.integers(1, 50)


def learn(words: WordTable, recipe: Recipe, forced: History | None = None) -> History:
    alphabet = Alphabet.with_continuations(words, recipe) if forced is None else forced.alphabet
    by_score = recipe.wordpiece_rule == "score"
    learner = (CompiledScoreLearner if by_score else CompiledLearner)(words, alphabet, recipe, forced, room=NO_ROOM)
    limit = recipe.merge_limit(len(alphabet))
    columns = Columns.with_room(limit)
    end = learner.learn(columns, limit, A_LOT)
    return history_of_learner(learner, recipe, alphabet, columns, end)


def assert_same(first: History, second: History) -> None:
    assert all_columns(first) == all_columns(second)
    assert first.reasons.keys() == second.reasons.keys()
    assert all(first.reasons[name].tolist() == column.tolist() for name, column in second.reasons.items())
    assert (first.end_reason, first.tokens_at_start) == (second.end_reason, second.tokens_at_start)


@given(words=words(), recipe=recipes())
@settings(max_examples=5 * EXAMPLES)
def test_the_compiled_wordpiece_learner_with_minimal_buffers_makes_the_same_merges_as_the_reference(
    words: WordTable, recipe: Recipe
) -> None:
    assert_same(learn(words, recipe), reference.train(words, recipe))


@given(words=words(), recipe=recipes())
def test_resuming_wordpiece_training_from_any_step_gives_the_same_tokens(words: WordTable, recipe: Recipe) -> None:
    plain = reference.train(words, recipe)
    for known in range(len(plain) + 1):
        assert_same(learn(words, recipe, plain.first(known)), plain)


@given(words=words(), recipe=recipes())
def test_the_wordpiece_learner_finds_the_same_next_pairs_as_the_reference(words: WordTable, recipe: Recipe) -> None:
    recipe = recipe.with_changes(wordpiece_rule="score", merges=12)
    history = reference.train(words, recipe)
    learner = CompiledScoreLearner(words, history.alphabet, recipe, None, room=NO_ROOM)
    columns = Columns.with_room(61)
    for merges in range(12):
        learner.learn(columns, merges, A_LOT)
        assert learner.candidates(5) == ranking_after(history.first(merges), words)[:5]


def ranking_after(history: History, words: WordTable) -> list[Candidate]:
    """Return every frequent pair after the last step, in the order in which the reference would choose the pairs."""
    recipe, tokens = history.recipe, bpe.TokenBook(history.alphabet)
    corpus = [(history.alphabet.symbols_of(word, recipe), count) for word, count in words]
    for pair in history.pairs():
        token = tokens.add(pair)
        corpus = [(bpe.join(word, pair, token), count) for word, count in corpus]
    singles = reference.count_symbols(corpus)
    counts = bpe.allowed(bpe.count_pairs(corpus), tokens, recipe)
    scores = {pair: reference.score(pair, count, singles) for pair, count in counts.items()}
    return [
        Candidate(*pair, count, {"left_count": singles[pair[0]], "right_count": singles[pair[1]]})
        for pair, count in bpe.ranked(counts, tokens, recipe, scores.__getitem__)
        if count >= recipe.min_frequency
    ]


@given(numbers=st.tuples(*[COUNTS] * 6))
def test_wordpiece_scores_are_compared_exactly(numbers: tuple[int, int, int, int, int, int]) -> None:
    count, left, right, other_count, other_left, other_right = numbers
    first, second = Fraction(count, left * right), Fraction(other_count, other_left * other_right)
    order = int(learn_score.compare_scores(*map(np.int64, numbers)))
    assert order == (first > second) - (first < second)
    swapped = (count, left, right, count, right, left)
    assert int(learn_score.compare_scores(*map(np.int64, swapped))) == 0
    products = int(learn_score.compare_products(*map(np.int64, numbers[:4])))
    assert products == (count * left > right * other_count) - (count * left < right * other_count)


@pytest.mark.parametrize("apart", [1, -1])
def test_wordpiece_scores_that_floats_cannot_distinguish_are_compared_exactly(apart: int) -> None:
    large = 2**61 + 1
    numbers = (large, 7, large, large + apart, 7, large)
    assert int(learn_score.compare_scores(*map(np.int64, numbers))) == -apart
