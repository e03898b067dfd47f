"""Tests of the compiled learner in cases that do not exist for the plain learner.

These cases are buffers that must grow, first steps that are given, and huge counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.kernels import learn_queue
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit import compiled_pairs as compiled_learner
from bpe_core.methods.kit.compiled_pairs import CompiledLearner
from bpe_core.recipes.recipe import Recipe
from tests.conftest import EXAMPLES
from tests.core.learning import all_columns, history_of_learner, pairs_of
from tests.core.random_training import BYTE_TIES, CHARACTER_TIES, merge_tables, recipes, words

A_LOT = 2**60  # work that no call reaches
NO_ROOM = 2  # pairs that fit at first: everything must grow, and more than once


def learn_to_end(
    learner: CompiledLearner, recipe: Recipe, alphabet: Alphabet, limit: int, columns: Columns | None = None
) -> History:
    """Run a learner until it ends. Return its history."""
    columns = columns or Columns.with_room(limit)
    end = learner.learn(columns, limit, A_LOT)
    return history_of_learner(learner, recipe, alphabet, columns, end)


def learn(words: WordTable, recipe: Recipe, forced: History | None = None, room: int = NO_ROOM) -> History:
    alphabet = Alphabet.for_words(words, recipe) if forced is None else forced.alphabet
    learner = CompiledLearner(words, alphabet, recipe, forced, room=room, threads=3)
    return learn_to_end(learner, recipe, alphabet, recipe.merge_limit(len(alphabet)))


def assert_same(first: History, second: History) -> None:
    assert all_columns(first) == all_columns(second)
    assert (first.end_reason, first.tokens_at_start) == (second.end_reason, second.tokens_at_start)


@given(words=words(), recipe=recipes())
@settings(max_examples=5 * EXAMPLES)
# The pairs left are forgotten for being rare, or cannot be joined for being long: that is not the same end.
@example(words=WordTable.from_counts({"abc": 1}), recipe=Recipe(merges=9, vocab_size=None, min_frequency=2))
@example(
    words=WordTable.from_counts({"abcd": 1}),
    recipe=Recipe(merges=9, vocab_size=None, min_frequency=1, max_token_length=2),
)
def test_the_compiled_learner_with_minimal_buffers_makes_the_same_merges_as_the_reference(
    words: WordTable, recipe: Recipe
) -> None:
    assert_same(learn(words, recipe), reference.train(words, recipe))


@given(words=words(), recipe=recipes())
def test_resuming_compiled_training_from_any_step_gives_the_same_merges(words: WordTable, recipe: Recipe) -> None:
    plain = reference.train(words, recipe)
    for known in range(len(plain) + 1):
        assert_same(learn(words, recipe, plain.first(known)), plain)


@given(words=words(), recipe=recipes(), data=st.data())
def test_newly_learned_merges_follow_the_recipe_even_if_the_given_merges_do_not(
    words: WordTable, recipe: Recipe, data: st.DataObject
) -> None:
    """The given merges may be too rare, too long, or not the best.

    All merges that are learned later must obey the recipe.
    """
    loose = recipe.with_changes(min_frequency=1, max_token_length=None)
    other = reference.train(words, loose.with_changes(ties=data.draw(st.sampled_from(CHARACTER_TIES))))
    given_pairs = pairs_of(other)[: data.draw(st.integers(0, 12))]
    recipe = recipe.with_changes(merges=len(given_pairs) + 8)
    forced = History.from_pairs(recipe, other.alphabet, given_pairs)
    history = learn(words, recipe, forced)
    assert pairs_of(history)[: len(given_pairs)] == given_pairs
    assert_chosen_by_the_rules(history, words, recipe, len(given_pairs))


@given(table=merge_tables(), words=words())
def test_training_can_repeat_the_merges_of_an_imported_table_and_then_learn_more_merges(
    table: History, words: WordTable
) -> None:
    recipe = table.recipe.with_changes(alphabet_limit=None, merges=len(table) + 5)
    if Alphabet.for_words(words, recipe) != table.alphabet:
        return
    history = learn(words, recipe, table)
    assert pairs_of(history)[: len(table)] == pairs_of(table)
    assert_chosen_by_the_rules(history, words, recipe, len(table))


def assert_chosen_by_the_rules(history: History, words: WordTable, recipe: Recipe, given: int) -> None:
    """Check that every count and runner-up is right, and that every merge after the given merges joins the
    best pair.
    """
    tokens = reference.TokenBook(history.alphabet)
    corpus = [(history.alphabet.symbols_of(word, recipe), count) for word, count in words]
    for merge in history:
        counts = reference.count_pairs(corpus)
        ranked = reference.ranked(reference.allowed(counts, tokens, recipe), tokens, recipe)
        ranking = [pair for pair, count in ranked if count >= recipe.min_frequency]
        pair = merge.left, merge.right
        assert merge.count == counts.get(pair, 0)
        assert merge.step <= given or pair == ranking[0]
        others = [other for other in ranking if other != pair]
        assert merge.runner_up == (others[0] if others else None)
        assert merge.runner_up_count == (counts[others[0]] if others else 0)
        token = tokens.add(pair)
        corpus = [(reference.join(word, pair, token), count) for word, count in corpus]
        assert merge.tokens_left == reference.count_tokens(corpus)


@given(words=words(), recipe=recipes())
def test_a_learner_makes_room_for_as_many_pairs_as_its_words_can_hold(words: WordTable, recipe: Recipe) -> None:
    alphabet = Alphabet.for_words(words, recipe)
    learner = CompiledLearner(words, alphabet, recipe, None)
    room, cells = len(learner._state.pairs), len(learner._state.cells)
    learn_to_end(learner, recipe, alphabet, recipe.merge_limit(len(alphabet)))
    assert room == len(learner._state.pairs)
    assert room <= 3 * cells + 1


@pytest.mark.parametrize("ties", BYTE_TIES)
@given(words=words(), merges=st.integers(0, 20), wanted=st.integers(1, 400))
def test_asking_for_the_leading_pairs_does_not_change_the_training_result(
    words: WordTable, ties: Any, merges: int, wanted: int
) -> None:
    recipe = Recipe(pattern="whitespace", ties=ties, merges=40, vocab_size=None, min_frequency=1)
    alphabet = Alphabet.for_words(words, recipe)
    learner, columns = CompiledLearner(words, alphabet, recipe, None, room=NO_ROOM), Columns.with_room(40)
    learner.learn(columns, merges, A_LOT)
    leading = learner.candidates(wanted)
    learner.learn(columns, 40, A_LOT)
    plain = reference.train(words, recipe)
    assert all_columns(History(recipe, alphabet, columns.first(learner.learned))) == all_columns(plain)
    for best in list(plain)[merges : merges + 1]:
        assert (leading[0].left, leading[0].right, leading[0].count) == (best.left, best.right, best.count)
        assert len(leading) < 2 or best.runner_up == (leading[1].left, leading[1].right)
    assert [pair.count for pair in leading] == sorted((pair.count for pair in leading), reverse=True)


@pytest.mark.parametrize("ties", CHARACTER_TIES)
def test_training_with_thousands_of_different_characters_matches_the_reference(ties: Any) -> None:
    """The text has so many symbols that a table with a cell for each pair would be too large."""
    random = np.random.default_rng(5)
    made = {"".join(map(chr, 0x4E00 + random.zipf(1.3, 6) % 2000)): int(random.integers(1, 4)) for _ in range(250)}
    words = WordTable.from_counts({**made, "".join(map(chr, range(0x4E00, 0x5400))): 1})
    recipe = Recipe(base="characters", pattern="whitespace", ties=ties, merges=15, vocab_size=None)
    plain = reference.train(words, recipe)
    assert len(plain) == 15
    assert_same(learn(words, recipe), plain)
    assert_same(learn(words, recipe, History.from_pairs(recipe, plain.alphabet, pairs_of(plain))), plain)


def test_a_token_longer_than_the_text_buffer_is_learned() -> None:
    """Each merge doubles the longest token, until this token is longer than the whole buffer was at first."""
    words = WordTable.from_counts({"a" * 4096: 1})
    recipe = Recipe(pattern="none", ties="largest-text", merges=12, vocab_size=None, min_frequency=1)
    assert_same(learn(words, recipe), reference.train(words, recipe))


def test_the_text_buffer_is_doubled_twice_for_one_token_that_is_longer_than_the_doubled_buffer() -> None:
    """With the single base symbol `a`, the buffer has room for three bytes. The second token ends at the seventh."""
    words = WordTable.from_counts({"a" * 64: 1})
    recipe = Recipe(pattern="none", base="characters", ties="largest-text", merges=6, vocab_size=None, min_frequency=1)
    (_, letter) = Alphabet.for_words(words, recipe).symbols
    learner = CompiledLearner(words, Alphabet((letter,)), recipe, None)
    rooms = [len(learner._state.text)]
    columns = Columns.with_room(6)
    for stop_at in range(1, 7):
        learner.learn(columns, stop_at, A_LOT)
        rooms.append(len(learner._state.text))
    assert rooms[:3] == [3, 3, 12]
    assert bytes(learner._state.text[: learner._state.run[0]["text"]]) == b"a" * 127


def test_one_call_of_a_learner_with_a_small_work_limit_learns_a_single_merge() -> None:
    words = WordTable.from_counts({"abcdefgh" * 50: 3})
    recipe = Recipe(merges=5, vocab_size=None)
    learner = CompiledLearner(words, Alphabet.for_words(words, recipe), recipe, None)
    columns = Columns.with_room(5)
    for done in range(1, 6):
        assert learner.learn(columns, 5, 1) == ""
        assert learner.learned == done


@given(st.integers(1, 2**63 - 1), st.integers(1, 2**63 - 1))
@example(2**53, 2**53 + 1)
@example(2**63 - 1, 1)
def test_a_pair_with_a_higher_count_never_has_a_lower_level_in_the_queue(first: int, second: int) -> None:
    low, high = sorted((first, second))
    levels = [int(learn_queue.level_of(np.int64(count))) for count in (low, high)]
    assert 0 <= levels[0] <= levels[1] < 64 * 64
    assert levels[0] < levels[1] or low == high or low >= 128


@pytest.mark.parametrize("ties", ["first-seen", "largest-text"])
def test_outdated_occurrences_of_pairs_are_removed_from_memory_during_training(
    ties: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The merges of a long word make more occurrences of pairs than the learner's memory can hold at one time."""
    rooms: list[int] = []
    tidy = CompiledLearner.tidy_arena

    def noting(learner: CompiledLearner) -> None:
        tidy(learner)
        # The exact size is not documented. The test checks only that the size stays bounded.
        rooms.append(len(learner._state.arena))

    monkeypatch.setattr(CompiledLearner, "tidy_arena", noting)
    monkeypatch.setattr(compiled_learner, "_ROOMY", 0)
    letters = (96 + np.random.default_rng(1).geometric(0.4, 3_000)).astype(np.uint8).tobytes()
    words = WordTable.from_counts([(letters + b"a" * 500, 2)])
    recipe = Recipe.preset("raw-bytes", merges=300, ties=ties, min_frequency=3)  # many a pair is born too rare
    alphabet = Alphabet.for_words(words, recipe)
    learner = CompiledLearner(words, alphabet, recipe, None, room=NO_ROOM)
    columns = Columns.with_room(300)
    learner.learn(columns, 100, A_LOT)
    assert len(rooms) > 0
    for merges in (100, 150, 200):  # the entries of merged pairs are used again, so the arena is seldom full
        learner.learn(columns, merges, A_LOT)
        learner.tidy_arena()
    assert_same(learn_to_end(learner, recipe, alphabet, 300, columns), reference.train(words, recipe))
    assert len(rooms) > 2
    assert rooms[-1] < 1_750 < max(rooms)  # half of the number of symbols before training
