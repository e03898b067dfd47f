"""Tests of training and encoding without machine code.

Small texts are learned by a method's specification in plain Python. Larger work waits for machine code. It is
refused if machine code cannot be made.
"""

from __future__ import annotations

import numpy as np
import pytest

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError, Cancelled, FormatError
from bpe_core.history.history import History
from bpe_core.kernels import readiness, stored_code
from bpe_core.methods.kit.by_specification import SpecifiedWay
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.methods.kit.trainer import Trainer, learn
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import Progress, Work
from bpe_core.text.corpus import Corpus
from tests.core.learning import all_columns, with_two_languages
from tests.machine_code import machine_code
from tests.shared import ROOT

SAMPLE = (ROOT / "resources" / "samples" / "lighthouse.txt").read_text(encoding="utf-8")
SPECIFIED = [name for name in METHODS if isinstance(Method.named(name).plain, SpecifiedWay)]
TEXT = "the lowest price is lower than the last one, and the lowest is the last\n" * 2
LONG = " ".join(str(7919 * number).translate({48 + i: 97 + i for i in range(10)}) for number in range(2_000))
LONG_RECIPE = {"merges": 3, "vocab_size": None}


def run_of(name: str, text: str = TEXT, **choices: object) -> tuple[WordTable, Recipe]:
    method = Method.named(name)
    recipe = Recipe.preset(next(iter(method.presets)), **(choices or {"merges": 12}))
    words = count_words(Corpus.from_texts([text]), recipe)
    return (with_two_languages(words) if method.serves_languages else words), recipe


def can_be_extended(method: Method) -> bool:
    """Return whether training to a larger vocabulary begins with the same steps as training to a smaller one."""
    return not method.size_decides and method.joins_in_order(Recipe.preset(next(iter(method.presets))))


def columns_and_reasons(history: History) -> dict[str, object]:
    columns = {**history.reasons, "scores": np.zeros(0) if history.scores is None else history.scores.at(len(history))}
    reasons = {name: np.nan_to_num(column, nan=-1.0).tolist() for name, column in columns.items()}
    return {**all_columns(history), **reasons, "end": history.end_reason, "first": history.alphabet.texts}


def test_every_method_except_best_and_bpe_has_a_learner_in_plain_python_for_small_texts() -> None:
    """The method `bpe` has another learner in plain Python, and the method `best` needs machine code for its search."""
    assert sorted({*METHODS} - {*SPECIFIED}) == ["best", "bpe"]


@pytest.mark.parametrize("name", SPECIFIED)
def test_training_on_a_small_text_gives_the_same_result_with_and_without_machine_code(name: str) -> None:
    words, recipe = run_of(name, SAMPLE, vocab_size=METHODS[name].first_size)
    with machine_code(is_used=False):
        trainer = Trainer(words, recipe)
        leading = trainer.candidates(5)
        while not trainer.advance(max_merges=7).finished:
            assert len(trainer.history) % 7 == 0
    expected = learn(words, recipe)
    assert columns_and_reasons(trainer.history) == columns_and_reasons(expected)
    assert trainer.history.tokens_at_start == expected.tokens_at_start
    assert [(candidate.left, candidate.right, candidate.count) for candidate in leading] == [
        (expected[0].left, expected[0].right, expected[0].count)
    ]


@pytest.mark.parametrize("name", SPECIFIED)
def test_plain_python_training_on_a_small_text_resumes_from_any_step(name: str) -> None:
    words, recipe = run_of(name)
    whole = learn(words, recipe)
    with machine_code(is_used=False):
        for steps in (0, 1, 5, len(whole)):
            assert all_columns(learn(words, recipe, history=whole.first(steps))) == all_columns(whole)


def test_plain_python_training_can_be_extended_to_a_larger_vocabulary() -> None:
    words, recipe = run_of("wordpiece")
    with machine_code(is_used=False):
        trainer = Trainer(words, recipe.with_changes(merges=4))
        assert trainer.advance().finished
        trainer.extend(recipe)
        trainer.advance()
    assert columns_and_reasons(trainer.history) == columns_and_reasons(learn(words, recipe))


@pytest.mark.parametrize("name", [name for name in SPECIFIED if can_be_extended(Method.named(name))])
def test_the_leading_candidate_is_the_pair_of_the_next_step_even_if_the_vocabulary_is_full(name: str) -> None:
    words, recipe = run_of(name, merges=12)
    expected = learn(words, recipe)[4]
    with machine_code(is_used=False):
        trainer = Trainer(words, recipe.with_changes(merges=4))
        assert trainer.advance().finished
        (leading,) = trainer.candidates(1)
    assert (leading.left, leading.right, leading.count) == (expected.left, expected.right, expected.count)
    assert len(trainer.history) == 4


def test_plain_python_refuses_to_resume_from_steps_that_were_learned_from_different_words() -> None:
    words, recipe = run_of("unigram")
    other = learn(*run_of("unigram", TEXT.replace("l", "r")))
    with machine_code(is_used=False), pytest.raises(FormatError, match="do not belong to these words"):
        Trainer(words, recipe, history=other)


@pytest.fixture
def slow_compiler(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make machine code ready only after a few requests. Return the list of requests."""
    asked: list[str] = []

    def ready(part: str = "") -> bool:
        asked.append(part)
        return len(asked) > 4

    monkeypatch.delenv("BPE_EXPLORER_PLAIN", raising=False)
    monkeypatch.setattr(readiness, "is_ready", ready)
    monkeypatch.setattr(readiness, "is_preparing", lambda: True)
    monkeypatch.setattr(readiness, "prepare", lambda **how: None)
    monkeypatch.setattr(readiness, "SECONDS_BETWEEN_LOOKS", 0.0)
    monkeypatch.setattr(stored_code, "stored_share", lambda: 0.4)
    return asked


@pytest.mark.parametrize("name", SPECIFIED)
def test_training_on_a_large_text_waits_for_machine_code_and_reports_progress(
    name: str, slow_compiler: list[str]
) -> None:
    reports: list[Progress] = []
    words, recipe = run_of(name, LONG, **LONG_RECIPE)
    slow_compiler.clear()  # because counting the words asked for its part, too
    Trainer(words, recipe, progress=reports.append)
    compiled = Method.named(name).compiled
    assert compiled is not None
    assert {*slow_compiler[:5]} == {compiled.part}
    assert {(report.stage, report.done, report.total) for report in reports} == {
        ("machine code is being made", 40, 100)
    }


def test_training_by_the_method_named_best_waits_for_machine_code_even_for_a_small_text(
    slow_compiler: list[str],
) -> None:
    reports: list[Progress] = []
    Trainer(*run_of("best"), progress=reports.append)
    assert {report.done for report in reports} == {40}
    assert slow_compiler[0] == stored_code.EVERY_PART


def test_training_by_byte_pair_encoding_does_not_wait_for_machine_code(slow_compiler: list[str]) -> None:
    reports: list[Progress] = []
    trainer = Trainer(*run_of("bpe", LONG, **LONG_RECIPE), progress=reports.append)
    trainer.advance()
    assert reports == []
    assert len(trainer.history) == 3


@pytest.mark.parametrize("name", ["bpe", "unigram", "wordpiece"])
def test_encoding_a_large_text_waits_for_machine_code_and_reports_progress(name: str, slow_compiler: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readiness, "is_ready", lambda part="": True)
        tokenizer = Tokenizer(learn(*run_of(name)))
    reports: list[Progress] = []
    tokenizer.expect(len(LONG), Work(reports.append))
    assert {(report.stage, report.done, report.total) for report in reports} == {
        ("machine code is being made", 40, 100)
    }


@pytest.mark.parametrize("name", ["bpe", "unigram", "boundless"])
def test_plain_python_encodes_texts_if_machine_code_cannot_be_made(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    history = learn(*run_of(name))
    expected = Tokenizer(history).encode(LONG)
    monkeypatch.setenv("BPE_EXPLORER_PLAIN", "1")
    assert len(LONG) > readiness.SAMPLE
    assert Tokenizer(history).encode(LONG) == expected
    assert [*Tokenizer(history).encode_batch([TEXT, LONG]).ids] == [*Tokenizer(history).encode(TEXT), *expected]


def test_waiting_for_machine_code_before_training_can_be_cancelled(slow_compiler: list[str]) -> None:
    with pytest.raises(Cancelled):
        Trainer(*run_of("unigram", LONG, **LONG_RECIPE), cancelled=lambda: True)


def test_training_on_a_large_text_without_machine_code_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BPE_EXPLORER_PLAIN", "1")
    with pytest.raises(BpeError, match=r"needs machine code for more than 5,000 bytes .* BPE_EXPLORER_PLAIN is set"):
        Trainer(*run_of("unigram", LONG, **LONG_RECIPE))
    assert len(learn(*run_of("bpe", LONG, **LONG_RECIPE))) == 3
