"""Tests that the plain learner, the compiled learner and the reference give equal histories.

All columns of the histories are compared.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.compiled_pairs import CompiledLearner
from bpe_core.methods.kit.learner import Learner
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from tests.conftest import EXAMPLES
from tests.core.learning import all_columns, pairs_of
from tests.core.random_training import merge_tables, recipes, words

MakeLearner = Callable[[WordTable, Alphabet, Recipe, History | None], Learner]
LEARNERS: dict[str, MakeLearner] = {"plain": PlainLearner, "compiled": CompiledLearner}
A_LOT = 2**60  # work that no call reaches

SPELLED_MARKER = Recipe(
    base="characters", pattern="whitespace", marker="prefix", ties="smallest-text", merges=9, vocab_size=None,
    min_frequency=1,
)  # fmt: skip

each_learner = pytest.mark.parametrize("make_learner", LEARNERS.values(), ids=LEARNERS)


def learn(make: MakeLearner, words: WordTable, recipe: Recipe, work: int = A_LOT) -> dict[str, list[int]]:
    """Run a learner to its end and return every column."""
    alphabet = Alphabet.for_words(words, recipe)
    limit = recipe.merge_limit(len(alphabet))
    columns = Columns.with_room(limit)
    learner = make(words, alphabet, recipe, None)
    end = ""
    while learner.learned < limit and not end:
        end = learner.learn(columns, limit, work)
    return {name: column[: learner.learned].tolist() for name, column in columns._asdict().items()}


@each_learner
@given(words=words(), recipe=recipes())
@example(words=WordTable.from_counts({"aaaa": 1}), recipe=Recipe(merges=9, vocab_size=None, min_frequency=1))
# Words that spell the marker: the letter stays a letter, and where the letter and the marker tie by text,
# the lower id decides and not chance.
@example(
    words=WordTable.from_counts({"a▁b": 2, "▁": 1}),
    recipe=SPELLED_MARKER.with_changes(ties="first-seen"),
)
@example(words=WordTable.from_counts({"b": 1, "▁a": 1, "aa": 1}), recipe=SPELLED_MARKER)
@example(
    words=WordTable.from_counts({"b": 1, "▁a": 1, "aa": 1}),
    recipe=SPELLED_MARKER.with_changes(ties="largest-text"),
)
def test_each_bpe_learner_makes_the_same_merges_as_the_reference(
    make_learner: MakeLearner, words: WordTable, recipe: Recipe
) -> None:
    assert learn(make_learner, words, recipe) == all_columns(reference.train(words, recipe))


@each_learner
@given(words=words(), recipe=recipes(), work=st.sampled_from([1, 50, 700, 5_000]))
def test_interrupting_a_learner_does_not_change_the_history(
    make_learner: MakeLearner, words: WordTable, recipe: Recipe, work: int
) -> None:
    assert learn(make_learner, words, recipe, work=work) == learn(make_learner, words, recipe)


@each_learner
@given(words=words(), recipe=recipes(), merges=st.integers(0, 20), wanted=st.integers(1, 40))
def test_the_pairs_that_a_learner_ranks_first_are_also_ranked_first_by_the_reference(
    make_learner: MakeLearner, words: WordTable, recipe: Recipe, merges: int, wanted: int
) -> None:
    alphabet = Alphabet.for_words(words, recipe)
    learner = make_learner(words, alphabet, recipe, None)
    columns = Columns.with_room(merges)
    learner.learn(columns, merges, A_LOT)
    done = columns.first(learner.learned)
    leading = [(pair.left, pair.right, pair.count) for pair in learner.candidates(wanted)]
    assert leading == ranking_after(History(recipe, alphabet, done), words)[:wanted]
    # Looking changes nothing:
    assert leading == [(pair.left, pair.right, pair.count) for pair in learner.candidates(wanted)]


def ranking_after(history: History, words: WordTable) -> list[tuple[int, int, int]]:
    """Return every frequent pair after the last merge, in the order in which the reference would choose the pairs."""
    recipe = history.recipe
    tokens = reference.TokenBook(history.alphabet)
    corpus = [(reference.encode_word(word, history), count) for word, count in words]
    for pair in pairs_of(history):
        tokens.add(pair)
    ranked = reference.ranked(reference.allowed(reference.count_pairs(corpus), tokens, recipe), tokens, recipe)
    return [(*pair, count) for pair, count in ranked if count >= recipe.min_frequency]


def train_to_end(trainer: Trainer) -> History:
    while not trainer.advance().finished:
        pass
    return trainer.history


def has_pairs(words: WordTable, recipe: Recipe) -> bool:
    """Return whether the corpus has a pair to learn. A trainer refuses a corpus without pairs."""
    return reference.train(words, recipe.with_changes(merges=1, min_frequency=1)).end_reason == "vocabulary full"


@given(words=words(), recipe=recipes(), steps=st.lists(st.integers(1, 7), max_size=20))
def test_training_in_portions_of_any_size_gives_the_same_history(
    words: WordTable, recipe: Recipe, steps: list[int]
) -> None:
    if not has_pairs(words, recipe):
        return
    trainer = Trainer(words, recipe)
    done = 0
    for step in steps:
        batch = trainer.advance(max_merges=step)
        assert batch.start == done
        assert batch.stop == len(trainer.history) <= done + step
        done = batch.stop
    history = train_to_end(trainer)
    plain = reference.train(words, recipe)
    assert all_columns(history) == all_columns(plain)
    assert (history.end_reason, history.tokens_at_start) == (plain.end_reason, plain.tokens_at_start)
    assert trainer.end_reason == plain.end_reason


@given(words=words(), recipe=recipes(), data=st.data())
def test_resuming_training_at_any_step_gives_the_same_history(
    words: WordTable, recipe: Recipe, data: st.DataObject
) -> None:
    if not has_pairs(words, recipe):
        return
    plain = reference.train(words, recipe)
    known = plain.first(data.draw(st.integers(0, len(plain)), label="merges known"))
    assert all_columns(train_to_end(Trainer(words, recipe, history=known))) == all_columns(plain)


@given(words=words(), recipe=recipes(), data=st.data())
def test_extending_the_vocabulary_of_a_run_gives_the_same_history_as_a_single_training(
    words: WordTable, recipe: Recipe, data: st.DataObject
) -> None:
    if not has_pairs(words, recipe):
        return
    first = data.draw(st.integers(0, recipe.merges or 0), label="merges at first")
    trainer = Trainer(words, recipe.with_changes(merges=first))
    train_to_end(trainer)
    trainer.extend(recipe)
    assert all_columns(train_to_end(trainer)) == all_columns(reference.train(words, recipe))


@given(table=merge_tables(), words=words())
def test_counts_of_an_imported_table_match_the_reference(table: History, words: WordTable) -> None:
    """The table has merges without counts. The trainer counts each merge, even if it is not the most frequent."""
    # The table was not learned with this limit, so the limit does not apply.
    recipe = table.recipe.with_changes(alphabet_limit=None, max_token_length=None, merges=len(table))
    alphabet = Alphabet.for_words(words, recipe)
    if alphabet != table.alphabet or not len(table) or not has_pairs(words, recipe):
        return
    history = train_to_end(Trainer(words, recipe, history=table))
    assert pairs_of(history) == pairs_of(table)
    corpus = [(alphabet.symbols_of(word, recipe), count) for word, count in words]
    for merge in history:
        pair = merge.left, merge.right
        assert merge.count == reference.count_pairs(corpus).get(pair, 0)
        corpus = [(reference.join(word, pair, merge.index), count) for word, count in corpus]
        assert merge.tokens_left == reference.count_tokens(corpus)


def test_counts_of_pairs_are_64_bit_numbers() -> None:
    large_count = 2**40
    words = WordTable.from_counts({"ab": large_count, "abab": large_count})
    history = train_to_end(Trainer(words, Recipe(merges=1, vocab_size=None)))
    assert history.columns.count.dtype == np.int64
    assert [(merge.count, merge.tokens_left) for merge in history] == [(3 * large_count, 3 * large_count)]


@each_learner
@settings(max_examples=EXAMPLES // 2)
@given(seed=st.integers(0, 2**32 - 1), recipe=recipes())
def test_training_on_larger_random_corpora_matches_the_reference(
    make_learner: MakeLearner, seed: int, recipe: Recipe
) -> None:
    """The corpora have hundreds of words, so that tables grow, heaps hold outdated entries, and ties are frequent."""
    random = np.random.default_rng(seed)
    letters = np.array(list("abcdeé"))
    made = {"".join(random.choice(letters, random.integers(1, 12))): int(random.integers(1, 5)) for _ in range(400)}
    words, recipe = WordTable.from_counts(made), recipe.with_changes(merges=120)
    assert learn(make_learner, words, recipe) == all_columns(reference.train(words, recipe))
