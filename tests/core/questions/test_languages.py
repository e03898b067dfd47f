"""Tests of the question `languages`, which asks how many tokens a sentence takes in each language.

To check the answer, the tests encode the texts after the same number of steps.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

import bpe_core as bpe
from bpe_core.errors import BpeError
from bpe_core.figures.figure import LineFigure
from bpe_core.measures.measures import MEASURES
from bpe_core.methods.kit.reasons import LANGUAGE
from bpe_core.questions.languages import Languages
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.mixture import Group, Mixture
from resources import parallel_samples

NAMES = ("en", "tr", "ru")
SENTENCES = parallel_samples()
DEV = {f"{name} (dev)": "\n".join(SENTENCES[name]) + "\n" for name in NAMES}
RECIPE = Recipe.preset("parity", merges=50, mixture=Mixture(tuple(Group(f"{n} (dev)", dev_of=n) for n in NAMES)))


@pytest.fixture(scope="module")
def study() -> bpe.Study:
    return bpe.train({**{name: SENTENCES[name] for name in NAMES}, **DEV}, RECIPE)


def test_each_row_that_the_languages_question_returns_counts_the_tokens_of_one_language(study: bpe.Study) -> None:
    answer = Languages().answer(study)
    rows = answer.table.records()
    assert {*rows[0]} == {"text", "step", *(name for name in rows[0] if name in MEASURES)}
    for row in rows[::7]:
        name, at = str(row["text"]), int(row["step"])
        tokens = study.encode(DEV[f"{name} (dev)"], at=at)
        turns = study.history.reasons[LANGUAGE][:at].tolist()
        assert (row["tokens"], row["sentences"]) == (len(tokens), len(SENTENCES[name]))
        assert row["tokens_per_sentence"] == len(tokens) / len(SENTENCES[name])
        assert row["served"] == turns.count(NAMES.index(name))
    assert [row["step"] for row in rows if row["text"] == "en"][-1] == 50
    assert "ru needs" in answer.sentences[0]


def test_the_band_in_the_languages_chart_contains_the_curve_of_the_shown_language(study: bpe.Study) -> None:
    figure = Languages(lines=("ru",)).answer(study).figure
    assert isinstance(figure, LineFigure)
    river, ru = figure.lines
    assert river.band is not None
    low, high = river.band
    assert (low <= ru.y).all()
    assert (ru.y <= high).all()
    assert high[0] - low[0] > high[-1] - low[-1], "it narrows"


def test_the_languages_question_counts_tokens_of_parallel_sentences_with_any_tokenizer() -> None:
    plain = bpe.train(SENTENCES["en"], "gpt2", merges=20)
    rows = Languages(parallel="own").answer(plain).table.records()
    assert {str(row["text"]) for row in rows} == {*SENTENCES}
    last = next(row for row in rows if (row["text"], row["step"]) == ("de", 20))
    assert last["tokens"] == sum(len(plain.encode(line)) for line in SENTENCES["de"])
    pieces = bpe.train(SENTENCES["en"], "unigram", vocab_size=80)
    rows = Languages(parallel="own").answer(pieces).table.records()
    last = next(row for row in rows if (row["text"], row["step"]) == ("de", len(pieces.history)))
    assert last["tokens"] == sum(len(pieces.encode(line)) for line in SENTENCES["de"])


def test_the_languages_question_compares_languages_that_are_weighted_by_ratios(study: bpe.Study) -> None:
    ratios = Mixture(tuple(Group(name, ratio=Fraction(1)) for name in NAMES))
    by_ratio = bpe.train({name: SENTENCES[name] for name in NAMES}, RECIPE.with_changes(mixture=ratios))
    answer = Languages().answer(by_ratio)
    assert {str(row["text"]) for row in answer.table.records()} == {*NAMES}
    assert answer.sentences[1].startswith("The number of merges for each language: ")


def test_the_languages_question_refuses_a_single_text_or_an_unknown_language(study: bpe.Study) -> None:
    with pytest.raises(BpeError, match="A single text cannot be compared"):
        Languages().answer(bpe.train(["low low"], "gpt2", merges=1))
    with pytest.raises(BpeError, match="no language 'xx'; the languages are en, tr, ru"):
        Languages(lines=("xx",)).answer(study)
