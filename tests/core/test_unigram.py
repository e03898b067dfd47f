"""Tests of Unigram.

Training must give the same result as the plain specification. Texts must be encoded with the pieces that
remain at a step.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, NothingToLearn, RecipeError
from bpe_core.history.history import NOTHING, Columns, History
from bpe_core.methods.kit.best_paths import scores_of
from bpe_core.methods.kit.cells import Stretches
from bpe_core.methods.kit.compiled_lattices import CompiledLattices, repeated_pieces
from bpe_core.methods.kit.learner import Candidate
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer, learn
from bpe_core.methods.unigram import reference as unigram
from bpe_core.methods.unigram.learner import LEAST_LIKELY, LEAST_LOSS, RARELY_USED, UnigramLearner
from bpe_core.methods.unigram.reference import encode, word_cutter
from bpe_core.methods.unigram.seeds import alphabet_with_seeds
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.compiled_methods import CompiledPaths
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.word_tokens import WordCut, WordCuts
from bpe_core.splitting.normalization import normalize
from bpe_core.text.corpus import Corpus
from tests.core.learning import history_of_learner, train
from tests.core.random_training import texts
from tests.core.unigram_training import everything, runs
from tests.shared import text_of

TEXT = "the lowest price is lower than the last one, and the lowest is the last"


@pytest.fixture(scope="module")
def latin() -> History:
    return train(Corpus.from_texts([text_of("latin")]), Recipe.preset("unigram", vocab_size=200))


@given(runs())
def test_the_steps_and_reasons_and_scores_of_unigram_training_match_the_specification(
    run: tuple[WordTable, Recipe],
) -> None:
    words, recipe = run
    expected = unigram.train(words, recipe)
    assume(expected.alphabet.symbols[-1].kind == "seed")
    trainer = Trainer(words, recipe)
    trainer.advance()
    assert everything(trainer.history) == everything(expected)


@given(runs())
def test_unigram_kernels_make_the_same_steps_as_the_specification(run: tuple[WordTable, Recipe]) -> None:
    words, recipe = run
    expected = unigram.train(words, recipe)
    assume(expected.alphabet.symbols[-1].kind == "seed")
    assert alphabet_with_seeds(words, recipe, repeated_pieces).alphabet == expected.alphabet
    learner = UnigramLearner(words, expected.alphabet, recipe, None, lambda *told: CompiledLattices(*told, room=1))
    columns = Columns.with_room(len(expected))
    learner.learn(columns, len(expected), 2**60)
    history = history_of_learner(learner, recipe, expected.alphabet, columns)
    assert everything(history) == everything(expected)


@given(runs(), st.integers(1, 5))
def test_unigram_training_in_small_portions_gives_the_same_steps_as_training_at_once(
    run: tuple[WordTable, Recipe], part: int
) -> None:
    words, recipe = run
    expected = unigram.train(words, recipe)
    assume(expected.alphabet.symbols[-1].kind == "seed")
    trainer = Trainer(words, recipe)
    while not trainer.advance(part, seconds=1e-5).finished:
        candidates = trainer.candidates(3)
        assert len(candidates) <= 3
        assert all(candidate.right == NOTHING for candidate in candidates)
    assert everything(trainer.history) == everything(expected)
    again = Trainer(words, recipe, history=expected.first(len(expected) // 2))
    again.advance()
    assert everything(again.history) == everything(expected)


def test_the_drops_from_a_single_long_word_are_planned_in_small_calls_with_the_same_result() -> None:
    """Formerly one call planned the drops from a whole word. For a text that is not split, it could not be stopped."""
    words = WordTable.from_counts({"".join(Random(3).choices("abc", weights=(5, 2, 1), k=400)): 3, "abcab": 2})
    recipe = Recipe.preset("unigram", vocab_size=40)
    alphabet = alphabet_with_seeds(words, recipe, repeated_pieces).alphabet
    pieces = np.arange(len(alphabet) - 1, len(alphabet) - 60, -1).astype(np.int32)
    scores = np.linspace(-2.0, -9.0, len(alphabet)).astype(np.float32)[::-1].copy()
    results = []
    for work in (1, 500, 2**60):
        lattices = CompiledLattices(Stretches.of(words, alphabet, recipe), alphabet, recipe)
        lattices.cut(0, 2**60, scores)
        calls = 0
        start = 0
        while start < len(lattices):
            start, _ = lattices.plan(start, work, pieces)
            calls += 1
        now = (lattices.leaving.tolist(), lattices.tokens_after.tolist(), lattices.counts.tolist(), lattices.tokens)
        results.append((now, calls))
    assert results[0][0] == results[1][0] == results[2][0]
    assert sum(results[0][0][0]) > 0, "some pieces are in use when they are dropped"
    assert [calls > 2 for _, calls in results] == [True, True, False]


@given(runs(), texts())
def test_unigram_encoding_chooses_the_same_paths_as_the_specification(run: tuple[WordTable, Recipe], text: str) -> None:
    words, recipe = run
    history, cutting = unigram.train(words, recipe), Cutting(recipe)
    tokenizer, specified = Tokenizer(history), word_cutter(history)
    for at in sorted({0, len(history) // 2, len(history)}):
        ids = tokenizer.encode(text, at=at)
        assert ids == encode(text, history, at=at)
        assert [id for _, _, id in tokenizer.spans(text, at)] == ids
        fast = CompiledPaths(history, cutting, scores_of(history))
        assert [id for part in cutting.normalized_parts(text, ()) for id in fast.ids(part[0], at).tolist()] == ids
        split = [word.encode() for word in cutting.words(normalize(text, recipe))]
        for word, word_cut in zip(split, cuts_of(fast.cut_words(split, at)) if split else (), strict=True):
            expected = specified(word, at)
            assert (word_cut.ids, word_cut.ends) == (expected.ids, expected.ends)
            assert word_cut.since <= at < word_cut.until
            assert specified(word, min(word_cut.until - 1, len(history))).ids == word_cut.ids


def cuts_of(cuts: WordCuts) -> Iterator[WordCut]:
    ends = np.cumsum(cuts.counts).tolist()
    for count, since, until, end in zip(*map(list, (cuts.counts, cuts.since, cuts.until)), ends, strict=True):
        yield WordCut(cuts.ids[end - count : end].tolist(), cuts.ends[end - count : end].tolist(), since, until)


def test_encoding_the_corpus_at_a_unigram_step_gives_the_token_count_recorded_in_the_history(latin: History) -> None:
    tokenizer = Tokenizer(latin)
    for at in [*range(0, len(latin), 97), len(latin)]:
        assert len(tokenizer.encode(text_of("latin"), at=at)) == latin.tokens_after[at]


def test_a_unigram_round_drops_rare_pieces_and_then_the_pieces_with_the_least_loss(latin: History) -> None:
    assert (latin.end_reason, latin.vocabulary_size) == ("vocabulary full", 200)
    cause, loss, number = (latin.reasons[name] for name in ("cause", "loss", "round"))
    assert (np.diff(number) >= 0).all()
    assert {RARELY_USED, LEAST_LOSS, LEAST_LIKELY} <= set(cause.tolist())
    for number_of_round in set(number.tolist()):
        losses = loss[(number == number_of_round) & (cause == LEAST_LOSS)]
        assert (np.diff(losses) >= 0).all()
    assert np.isnan(loss[cause != LEAST_LOSS]).all()
    assert (latin.columns.count[cause == LEAST_LOSS] > 0).all()


def test_resuming_unigram_training_accepts_drops_in_another_order_and_refuses_unknown_tokens(latin: History) -> None:
    """The resumed history drops two tokens in exchanged order, as after training on slightly different words.

    A history that drops the same token twice is refused.
    """
    at = int(np.flatnonzero(latin.reasons["cause"] == LEAST_LOSS)[-9])
    left = latin.columns.left.tolist()
    order = [*left[:at], left[at + 1], left[at]]
    histories = [
        History.from_pairs(latin.recipe, latin.alphabet, [(id, NOTHING) for id in ids])
        for ids in (order, [*order, left[at]])
    ]
    words = count_words(Corpus.from_texts([text_of("latin")]), latin.recipe)
    trainer = Trainer(words, latin.recipe, history=histories[0])
    trainer.advance()
    history = trainer.history
    assert history.columns.left[: at + 2].tolist() == order
    assert np.isnan(history.reasons["loss"][at])
    assert history.end_reason == "vocabulary full"
    assert history.columns.tokens_left[at + 1] == latin.columns.tokens_left[at + 1]
    assert history.columns.count[at] > 0
    assert len(set(history.columns.left.tolist())) == len(history)
    for moment in (at + 1, len(history)):
        assert len(Tokenizer(history).encode(text_of("latin"), at=moment)) == history.tokens_after[moment]
    with pytest.raises(
        BpeError, match=rf"step {at + 3:,} drops token {left[at]:,}, which is not in the initial vocabulary"
    ):
        Trainer(words, latin.recipe, history=histories[1])


def test_unigram_training_keeps_every_single_character(latin: History) -> None:
    kinds = {latin.alphabet.symbols[id].kind for id in latin.columns.left.tolist()}
    assert kinds == {"seed"}
    assert Tokenizer(latin).decode(Tokenizer(latin).encode("a rose")) == " a rose"


def test_asking_for_the_next_unigram_steps_does_not_change_training() -> None:
    words = WordTable.from_counts({word: 1 + len(word) % 3 for word in TEXT.split()})
    for method, size in (("unigram", 17), ("mingram", 24)):
        trainer = Trainer(words, Recipe.preset(method, vocab_size=size))
        learned = everything(learn(words, trainer.recipe))
        dropped = [first.left for first in _each_first(trainer)]
        assert dropped == trainer.history.columns.left.tolist()
        assert everything(trainer.history) == learned


def _each_first(trainer: Trainer) -> Iterator[Candidate]:
    while not trainer.end_reason:
        trainer.look_ahead()
        yield trainer.candidates(1)[0]
        trainer.advance(max_merges=1)
    trainer.look_ahead()  # of which nothing comes


def test_unigram_scores_are_log_probabilities_of_the_remaining_pieces(latin: History) -> None:
    assert latin.scores is not None
    for at in (0, 1, len(latin) // 2, len(latin)):
        scores, vocabulary = latin.scores.at(at), set(latin.first(at).vocabulary.tolist())
        assert set(np.flatnonzero(np.isfinite(scores)).tolist()) <= vocabulary
        assert 0.5 < np.exp(scores.astype(float)).sum() < 1.05
    assert len(np.flatnonzero(np.isfinite(scores))) == len(vocabulary)
    assert (latin.first(5).scores.at(5) == latin.scores.at(5)).all()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("size", "sentence"),
    [
        (5, r"A vocabulary of 5 has no room for the 1\d tokens that it always has"),
        (5_000, r"A vocabulary of 5,000 is too large: this text has only \d\d tokens to choose from"),
    ],
)
def test_the_error_for_an_impossible_unigram_vocabulary_size_states_the_possible_sizes(
    size: int, sentence: str
) -> None:
    with pytest.raises(RecipeError, match=sentence):
        train(Corpus.from_texts([TEXT]), Recipe.preset("unigram", vocab_size=size))


def test_unigram_training_on_texts_without_repeated_pieces_is_refused() -> None:
    for text, sentence in ((" \n", "holds no words"), ("abc", "No piece of a word occurs twice")):
        with pytest.raises(NothingToLearn, match=sentence):
            train(Corpus.from_texts([text]), Recipe.preset("unigram", merges=0))
    with pytest.raises(NothingToLearn, match="holds no words"):  # for any requested size
        train(Corpus.from_texts([" \n"]), Recipe.preset("unigram"))


def test_unigram_training_with_more_steps_than_seed_pieces_leaves_only_the_characters() -> None:
    history = train(Corpus.from_texts([TEXT]), Recipe.preset("unigram", merges=10_000))
    assert "seed" not in {history.alphabet.symbols[id].kind for id in history.vocabulary.tolist()}


def test_a_unigram_run_cannot_be_extended_to_a_different_vocabulary_size(latin: History) -> None:
    """The final size decides which tokens are dropped first."""
    assert not latin.recipe.is_same_but_for_size(latin.recipe.with_changes(vocab_size=150))
