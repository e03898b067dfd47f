"""Tests of the public check of methods: it accepts every method of the project and of the tests, and refuses wrong
methods.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.history import Columns, EndReason, History
from bpe_core.methods.bpe import BytePairEncoding
from bpe_core.methods.kit.check_method import STEPS, MethodIsWrong, check_method
from bpe_core.methods.kit.explanation import Corpus, ExplainedText, Explanation
from bpe_core.methods.kit.learner import LearnerStart, Way
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.plain_pairs import PlainLearner
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Allowed, Cutting
from bpe_core.segmenting.segmentation import Segmenter
from tests import adding_method, dropping_method


@pytest.mark.parametrize("name", METHODS.own)
def test_each_method_passes_the_conformance_check(name: str) -> None:
    method = METHODS[name]
    assert isinstance(method, Method)
    assert len(check_method(method)) >= 16


@pytest.mark.parametrize("method", [adding_method.METHOD, dropping_method.METHOD])
def test_a_plug_in_method_passes_the_conformance_check_without_being_registered(method: Method) -> None:
    assert len(check_method(method)) >= 11
    assert method.name not in METHODS


class _HastyEncoder(PlainLearner):
    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        end = super().learn(columns, stop_at, work)
        columns.count[: self.learned] += 1
        return end


class HastyMethod(BytePairEncoding):
    title = "Counting one too many"
    plain = Way(_HastyEncoder, bytes_a_cell=80)
    compiled = None


class _MistakenReference(ExplainedText):
    def explanation_at(self, byte: int, at: int) -> Explanation:
        return Explanation("joined", True, "Nothing is joined here.")


class SilentMethod(BytePairEncoding):
    title = "Silent"

    def explain(self, text: str, history: History, allowed: Allowed, corpus: Corpus | None = None) -> ExplainedText:
        return _MistakenReference()


class LazyMethod(BytePairEncoding):
    """A faulty method. For a history of `STEPS` steps, it encodes with the first step only."""

    title = "Lazy"

    def cutter(self, history: History, cutting: Cutting) -> Segmenter:
        return super().cutter(history.first(1) if len(history) == STEPS else history, cutting)


class TrustingMethod(BytePairEncoding):
    """A faulty method. It resumes from given steps without checking that the steps belong to the text."""

    title = "Trusting"

    def begin(self, words: WordTable, recipe: Recipe, known: History | None = None, *, fast: bool) -> LearnerStart:
        if known is not None and not len(words.holding(b"lights")):
            raise KeyError("no such words")
        return super().begin(words, recipe, known, fast=fast)


class NamelessMethod(BytePairEncoding):
    title = ""


class TeachingMethod(adding_method.Adding):
    """A method with a fault: one of its lessons asks a question that the program does not know."""

    name = "teaching"
    title = "Teaching"
    lessons: Mapping[str, str] = {"19-wrong": adding_method.LESSON.replace("number of tokens of", "number of tears of")}


@pytest.mark.parametrize(
    ("method", "sentence"),
    [
        (HastyMethod(), "stopping and continuing after every step gives the same history"),
        (SilentMethod(), "each place of a text has an explanation"),
        (LazyMethod(), "after some steps a text is split as if there were no later steps"),
        (TrustingMethod(), "steps of another text and unknown ids are refused with a message"),
        (NamelessMethod(), "the method has a name, a title and an explanation"),
        (TeachingMethod(), "each lesson about the method can be completed"),
    ],
    ids=lambda value: getattr(value, "title", None),
)
def test_the_conformance_check_names_the_rule_that_a_wrong_method_breaks(method: Method, sentence: str) -> None:
    with pytest.raises(MethodIsWrong, match=sentence) as error:
        check_method(method)
    assert isinstance(error.value, BpeError)
