"""Tests of the model of token pairs: its probabilities sum to one, and kernels and plain Python give equal results."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Collection
from itertools import pairwise
from math import log2
from random import Random
from typing import Any

import numpy as np
import pytest
import regex
from hypothesis import given, reject
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, CorpusError
from bpe_core.history.history import History
from bpe_core.history.joining import MergePriorities, PairRows
from bpe_core.insight.tokenized_words import TokenizedWords
from bpe_core.measures import bits_per_byte as measure
from bpe_core.measures import compiled_bits, size_curves
from bpe_core.measures.bits_per_byte import bits_per_byte, hold_out_tenth
from bpe_core.measures.size_curves import some_sizes, which_sizes
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.reference.kneser_ney import PairModel
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
from tests.core.random_training import recipes, words
from tests.machine_code import machine_code
from tests.shared import text_of

MOST = sys.maxsize
TOKENS = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@given(st.lists(st.tuples(TOKENS, st.integers(1, 5)), max_size=6), st.integers(5, 9))
def test_the_probabilities_of_everything_that_can_follow_a_token_sum_to_one(
    texts: list[tuple[list[int], int]], tokens: int
) -> None:
    model, events = PairModel(texts, tokens + 1), [None, *range(tokens)]
    for event in events:
        assert sum(model.probability(event, other) for other in events) == pytest.approx(1)


@given(words(), words(), recipes())
def test_bits_per_byte_match_a_plain_python_pair_model(learned: WordTable, held_out: WordTable, recipe: Recipe) -> None:
    history = reference.train(learned, recipe)
    _check(learned, held_out, history)
    rest, tenth = hold_out_tenth(learned)
    if not tenth.total:
        with pytest.raises(CorpusError, match="no part of the text can be held out"):
            bits_per_byte(rest, tenth, history)
    assert {**dict(rest), **{word: count + dict(rest).get(word, 0) for word, count in tenth}} == dict(learned)


@given(words(), words(), recipes(), st.booleans(), st.randoms())
def test_bits_per_byte_with_merge_priorities_match_the_plain_python_model(
    learned: WordTable, held_out: WordTable, recipe: Recipe, whole: bool, chance: Random
) -> None:
    history = reference.train(learned, recipe)
    rows = [(*pair, id) for id, pair in enumerate(history.pairs(), len(history.alphabet))]
    chance.shuffle(rows)
    pairs = PairRows(*np.array(rows, np.int64).reshape(-1, 3).T)
    joining = MergePriorities(pairs=pairs, whole_words=whole)
    _check(learned, held_out, History(recipe, history.alphabet, history.columns, joining=joining))


@given(words(), words(), st.sampled_from(["wordpiece", "bert", "unigram", "mingram"]), st.integers(1, 30), st.data())
def test_bits_per_byte_of_vocabulary_lookup_methods_match_a_plain_python_computation(
    learned: WordTable, held_out: WordTable, method: str, merges: int, data: st.DataObject
) -> None:
    choices: dict[str, Any] = dict(merges=merges, vocab_size=None, alphabet_limit=data.draw(st.sampled_from([None, 3])))
    if method in ("wordpiece", "bert"):
        choices["longest_word"] = data.draw(st.sampled_from([5, 100]))
    else:
        choices["unknown"] = data.draw(st.sampled_from(["unk", "bytes"]))
    try:
        trainer = Trainer(learned, Recipe.preset(method, **choices))
    except BpeError:  # too little to learn from
        reject()
    trainer.advance()
    _check(learned, held_out, trainer.history)


def test_bits_per_byte_of_a_method_that_drops_tokens_match_the_plain_python_model() -> None:
    recipe = Recipe.preset("unigram", vocab_size=120)
    words = count_words(Corpus.from_texts([text_of("poem")]), recipe)
    history = train(Corpus.from_texts([text_of("poem")]), recipe)
    assert history.scores is not None
    assert len(history.scores.since) > 2  # so all words are encoded again several times
    _check(*hold_out_tenth(words), history)


def test_the_answer_about_bits_per_byte_names_the_measured_vocabulary_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe.preset("mingram", vocab_size=None, merges=10, min_frequency=1)
    words = WordTable.from_counts({"lower": 40, "lowest": 30, "newest": 20, "widest": 20, "wider": 10})
    trainer = Trainer(words, recipe)
    trainer.advance()
    monkeypatch.setattr(measure, "MOST_WITH_SEEDS", 4)
    monkeypatch.setattr(measure, "MEASURED", 3)
    monkeypatch.setattr(size_curves, "MEASURED", 3)
    bits = bits_per_byte(*hold_out_tenth(words), trainer.history)
    smallest = trainer.history.vocabulary_size
    assert bits.sizes.tolist() == [*range(smallest, smallest + 4), smallest + 10]
    assert which_sizes(bits.sizes, trainer.history) == f"Measured: 5 of 11 sizes, with all sizes up to {smallest + 3}."
    text = "low lower lowest newest widest " * 30
    gage = train(Corpus.from_texts([text]), Recipe.preset("gage", block_size=200))
    whole = WordTable.from_counts({text: 1})
    with pytest.raises(BpeError, match="no part of the text can be held out"):
        bits_per_byte(*hold_out_tenth(whole), gage)
    unseen = WordTable.from_counts({"wider": 1})
    assert len(bits_per_byte(whole, unseen, gage).sizes) == len(gage) + 1
    monkeypatch.setattr(measure, "LITTLE", 0)
    bits = bits_per_byte(whole, unseen, gage)
    assert which_sizes(bits.sizes, gage) == f"Measured: 3 of {len(gage) + 1} sizes."


def test_the_formula_in_the_manual_gives_the_bits_per_byte_of_the_answer() -> None:
    study, held_out = bpe.train(text_of("prose"), "gpt2", merges=120), text_of("poem")
    said = bpe.sizes({"it": study}, held_out=held_out, bits=True).columns

    def counted(text: str) -> Counter[tuple[int | None, int | None]]:
        words = regex.findall(bpe.NAMED_PATTERNS["gpt2"].expression, text)
        tokens = ([None, *study.encode(word), None] for word in words)  # None is the edge
        return Counter(pair for ids in tokens for pair in pairwise(ids))

    def discount(counts: Collection[int]) -> float:
        once, twice = (list(counts).count(times) for times in (1, 2))
        return once / (once + 2 * twice) if once and twice else 0.75

    learned = counted(text_of("prose"))
    total, after, before = Counter[int | None](), Counter[int | None](), Counter[int | None]()
    for (left, right), count in learned.items():
        total[left] += count
        after[left] += 1
        before[right] += 1
    own, lower = discount(learned.values()), discount(before.values())

    def alone(token: int | None) -> Any:
        shared = lower * len(before) / (said["vocabulary"][-1] + 1)
        return (max(0, before[token] - lower) + shared) / len(learned)

    def probability(left: int | None, right: int | None) -> Any:
        if not total[left]:
            return alone(right)
        return (max(0, learned[left, right] - own) + own * after[left] * alone(right)) / total[left]

    bits = sum(-count * log2(probability(*pair)) for pair, count in counted(held_out).items())
    assert said["bits_per_byte"][-1] == pytest.approx(bits / len(held_out.encode()))


def _check(learned: WordTable, held_out: WordTable, history: History) -> None:
    with machine_code(is_used=False):
        measured = bits_per_byte(learned, held_out, history)
        some_bits = bits_per_byte(learned, held_out, history, some_sizes(history, 6))
    assert (np.diff(measured.sizes) >= 0).all()
    assert sorted(measured.steps.tolist()) == list(range(len(history) + 1))
    every = dict(zip(measured.steps.tolist(), measured.bits.tolist(), strict=True))
    for step, bits in zip(some_bits.steps.tolist(), some_bits.bits.tolist(), strict=True):
        events = history.vocabulary_size_at(step) + 1
        model = PairModel(_tokens(learned, history, step), events)
        assert bits == pytest.approx(model.bits(_tokens(held_out, history, step)) / held_out.size)
        assert every[step] == bits
    with pytest.MonkeyPatch.context() as patch, machine_code(is_used=True):
        patch.setattr(measure, "MEASURED", 1)
        patch.setattr(compiled_bits, "SLOTS", 4)
        assert bits_per_byte(learned, held_out, history).bits == pytest.approx(measured.bits, rel=1e-9)


def _tokens(table: WordTable, history: History, step: int) -> list[tuple[list[int], int]]:
    ids, places = TokenizedWords.of(table, history.recipe, history).tokens_in_words(step)
    return [(ids[places == index].tolist(), count) for index, count in enumerate(table.counts.tolist())]
