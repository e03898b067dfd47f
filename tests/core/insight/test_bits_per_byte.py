"""The model of pairs of tokens: its probabilities sum to one, and the fast one tells what the plain one does."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core import reference
from bpe_core.insight.cut_words import CutWords
from bpe_core.kernels.policy import Policy
from bpe_core.learning.methods import has_ranks
from bpe_core.measures import bits_per_byte as measure
from bpe_core.measures import compiled_pairs
from bpe_core.measures.bits_per_byte import bits_per_byte, tenth_apart
from bpe_core.measures.compiled_pairs import follow_bits
from bpe_core.measures.measured_sizes import some_sizes
from bpe_core.reference.kneser_ney import PairModel
from tests.core.random_training import recipes, words
from tests.shared import text_of

TOKENS = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@given(st.lists(st.tuples(TOKENS, st.integers(1, 5)), max_size=6), st.integers(5, 9))
def test_probabilities_sum_to_one(texts: list[tuple[list[int], int]], tokens: int) -> None:
    model, events = PairModel(texts, tokens + 1), [None, *range(tokens)]
    for one in events:
        assert sum(model.probability(one, other) for other in events) == pytest.approx(1)


@given(words(), words(), recipes())
def test_bits_are_those_of_the_plain_model(learned: bpe.WordTable, held_out: bpe.WordTable, recipe: bpe.Recipe) -> None:
    history = reference.train(learned, recipe)
    _check(learned, held_out, history)
    rest, tenth = tenth_apart(learned)
    if not tenth.total:
        with pytest.raises(bpe.CorpusError, match="Nothing is held out"):
            bits_per_byte(rest, tenth, history)
    assert {**dict(rest), **{word: count + dict(rest).get(word, 0) for word, count in tenth}} == dict(learned)


def test_bits_of_a_method_that_drops() -> None:
    recipe = bpe.Recipe.preset("unigram", vocab_size=120)
    words = bpe.count_words(bpe.Corpus.from_texts([text_of("poem")]), recipe)
    _check(*tenth_apart(words), bpe.train(bpe.Corpus.from_texts([text_of("poem")]), recipe))


def _check(learned: bpe.WordTable, held_out: bpe.WordTable, history: bpe.History) -> None:
    found = bits_per_byte(learned, held_out, history)
    assert (np.diff(found.sizes) >= 0).all()
    some = bits_per_byte(learned, held_out, history, some_sizes(history, 6))
    every = dict(zip(found.steps.tolist(), found.bits.tolist(), strict=True))
    for step, bits in zip(some.steps.tolist(), some.bits.tolist(), strict=True):
        events = history.vocabulary_size_at(step) + 1
        model = PairModel(_tokens(learned, history, step), events)
        assert bits == pytest.approx(model.bits(_tokens(held_out, history, step)) / held_out.size)
        assert every.get(step, bits) == bits
    if has_ranks(history) and history.recipe.unknown != "bytes":
        assert found.steps.tolist() == list(range(len(history) + 1))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(measure, "MEASURED", 1)
            patch.setattr(measure, "KERNELS", Policy(measure.KERNELS.module, small=0))
            patch.setattr(compiled_pairs, "follow_bits", partial(follow_bits, slots=4))
            assert bits_per_byte(learned, held_out, history).bits == pytest.approx(found.bits, rel=1e-9)


def _tokens(table: bpe.WordTable, history: bpe.History, step: int) -> list[tuple[list[int], int]]:
    ids, places = CutWords.of(table, history.recipe, history).placed(step)
    return [(ids[places == index].tolist(), count) for index, count in enumerate(table.counts.tolist())]
