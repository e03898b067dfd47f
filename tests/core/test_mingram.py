"""Tests of MinGram: training matches the specification, and words are split into the fewest tokens."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bpe_core.counting.words import WordTable
from bpe_core.formats import FORMATS
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import Columns, History
from bpe_core.methods.kit.compiled_lattices import CompiledLattices
from bpe_core.methods.kit.explanation import TextWord
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.mingram import reference as mingram
from bpe_core.methods.mingram.learn import MinGramLearner
from bpe_core.methods.unigram.explain import CutComparison, WhyPath
from bpe_core.methods.unigram.reference import encode
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.compiled_methods import CompiledPaths
from bpe_core.segmenting.cutting import Cutting
from bpe_core.text.corpus import Corpus
from tests.core.formats.samples import content
from tests.core.learning import history_of_learner, train
from tests.core.random_training import texts
from tests.core.random_training import words as tables
from tests.core.unigram_training import everything
from tests.shared import available_texts, samples_of


@st.composite
def runs(draw: st.DrawFn) -> tuple[WordTable, Recipe]:
    """Draw words, and a recipe that drops some or all of the joined tokens."""
    table = draw(tables())
    choices: dict[str, Any] = dict(
        max_token_length=draw(st.sampled_from([None, 2, 3, 16])),
        alphabet_limit=draw(st.sampled_from([None, None, 1, 3])),
        unknown=draw(st.sampled_from(["unk", "bytes"])),
        em_passes=draw(st.integers(1, 3)),
        min_frequency=draw(st.integers(1, 3)),
    )
    if draw(st.booleans()):
        return table, Recipe.preset("mingram", merges=draw(st.integers(1, 20)), **choices)
    base = len(Alphabet.for_words(table, Recipe.preset("mingram", **choices)))
    return table, Recipe.preset("mingram", vocab_size=base + draw(st.integers(0, 20)), **choices)


@given(runs(), texts(), st.integers(1, 5))
def test_mingram_training_and_encoding_match_the_specification(
    run: tuple[WordTable, Recipe], text: str, part: int
) -> None:
    words, recipe = run
    asked = recipe.vocab_size or 0
    assume(asked <= len(alphabet := mingram.tokens_at_first(words, recipe)) and alphabet.seed_count)
    expected = mingram.train(words, recipe)
    trainer = Trainer(words, recipe)
    while not trainer.advance(part, seconds=1e-5).finished:
        assert len(trainer.candidates(3)) <= 3
    assert everything(trainer.history) == everything(expected)
    learner = MinGramLearner(words, expected.alphabet, recipe, None, lambda *told: CompiledLattices(*told, room=1))
    columns = Columns.with_room(len(expected))
    learner.learn(columns, len(expected), 2**60)
    history = history_of_learner(learner, recipe, expected.alphabet, columns)
    assert everything(history) == everything(expected)
    tokenizer, cutting = Tokenizer(expected), Cutting(recipe)
    assert expected.scores is not None
    fast = CompiledPaths(expected, cutting, expected.scores)
    for at in sorted({0, min(1, len(expected)), len(expected)}):
        ids = encode(text, expected, at=at, best=mingram.fewest_tokens)
        assert tokenizer.encode(text, at=at) == ids
        parts = (fast.ids(part[0], at).tolist() for part in cutting.normalized_parts(text, ()))
        assert [id for part in parts for id in part] == ids


@pytest.mark.parametrize(("method", "steps"), [("mingram", 120), ("best", 120), ("best", 30)])
def test_an_exported_mingram_table_splits_a_text_into_as_many_tokens_as_the_original_table(
    method: str, steps: int
) -> None:
    text = samples_of(available_texts("languages", "data/udhr-languages.txt")[-1], 20_000)
    history = train(Corpus.from_texts([text]), Recipe.preset(method, merges=120, unicode_form="")).first(steps)
    tokenizer = Tokenizer(history)
    lines = [line for line in text.split("\n") if "▁" not in line]
    for name in ("sentencepiece", "tokenizer.json"):
        data, numbers = content(history, name), FORMATS[name].numbers(history)
        peer = FORMATS[name].peer(data, history, name)
        assert peer is None or [peer(line) for line in lines] == [
            [int(numbers[id]) for id in tokenizer.encode(line)] for line in lines
        ]
        back = FORMATS[name].open(data, name)
        assert back.history.recipe.method == "mingram"
        again = Tokenizer(back.history)
        assert [len(again.encode(line)) for line in lines[:100]] == [
            len(tokenizer.encode(line)) for line in lines[:100]
        ]
    _check_reasons(history)


def _check_reasons(history: History) -> None:
    word = max((text.decode() for text in history.alphabet.texts), key=len).strip("▁") + "x"
    why, at, amounts = WhyPath(word, history), len(history), set[str]()
    fewest = len(Tokenizer(history).encode(word))
    for byte in range(1, len(word.encode())):
        sentence, whole = why.explanation_at(byte, at).sentence, why._words.around(byte)
        assert len(sentence) < 300
        reason = why.compared(whole, byte, at) if isinstance(whole, TextWord) else None
        if isinstance(reason, CutComparison) and reason.other is not None:
            assert max(reason.taken.scores) <= 0
            assert len(reason.taken.tokens) == fewest <= len(reason.other.tokens)
            amounts |= {amount for amount in ("1 token more", "2 tokens more", "as many tokens") if amount in sentence}
            assert len(reason.other.tokens) > fewest or reason.lead >= 0
    assert amounts
