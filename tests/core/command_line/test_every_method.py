"""Tests that run the command of every question on a run of each training method.

Each command prints an answer, or a sentence that names another question.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.methods.facts import Single
from bpe_core.methods.kit.method import Method
from bpe_core.methods.registry import METHODS
from bpe_core.session_file.reading import read_session
from tests.core.learning import text_arguments

TEXT = "the lowest price is lower than the last one, and the lowest of the low is the lowest\n" * 3


@pytest.fixture(params=METHODS)
def method(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def files(tmp_path: Path, method: str) -> tuple[str, str]:
    """Train on a text with the given method. Return the path of the text and the path of the session."""
    text, learned = tmp_path / "text.txt", tmp_path / "run.bpex"
    text.write_text(TEXT, encoding="utf-8")
    texts = text_arguments(method, str(text))
    assert run(["train", *texts, "--method", method, "--merges", "12", "--quiet", "--output", str(learned)]) == 0
    return str(text), str(learned)


def single_step_of(method: str) -> Single | None:
    listed = METHODS[method]
    return None if "tau" in listed.own_choices else listed.single  # a method with tau merges tokens and drops tokens


def test_the_train_command_prints_the_steps_of_each_method(
    files: tuple[str, str], method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", *text_arguments(method, files[0]), "--method", method, "--merges", "5"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    sign = {"drop": "− ", "add": "+ ", None: " → "}[single_step_of(method)]
    asked = [line for line in lines if sign in line]
    dropped = [line for line in lines if line not in asked]  # each makes room for a merge more
    assert len(asked) == 5 + len(dropped)
    assert all(sign == " → " or " → " not in line for line in asked)
    assert not dropped or "tau" in METHODS[method].own_choices
    assert all("− " in line for line in dropped)
    assert f"Learned {len(lines)} {METHODS[method].wording.steps}" in printed.err


def test_each_question_is_answered_for_every_method(
    files: tuple[str, str], method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text, learned = files
    history = read_session(learned).runs[0].history
    assert history is not None
    token = f"#{int(history.vocabulary[-1])}"
    asked = {
        "why": ["why", "the lowest", "--merges", learned, "--all", "--steps"],
        "token": ["token", token, "--merges", learned, "--corpus", text],
        "ties": ["ties", "--merges", learned],
        "sizes": ["sizes", "--merges", learned, "--corpus", text],
        "report": ["report", learned, "--output", str(Path(learned).with_name("page.html"))],
        "share": ["share", learned, "--output", str(Path(learned).with_name("run.html"))],
        "chart": ["chart", "compression", learned, "-o", str(Path(learned).with_name("compression.csv"))],
        "verify": ["verify", learned],
        "encode": ["encode", "--merges", learned, "--pieces", "the lowest"],
    }
    for name, arguments in asked.items():
        assert run(arguments) == 0, name
        assert capsys.readouterr().out.strip(), name
    page = Path(learned).with_name("page.html").read_text(encoding="utf-8")
    assert "Compression." in page
    assert ("decided by a tie" in page) == history.recipe.applies("ties")
    for name in ("why", "token", "sizes"):
        assert run([argument for argument in asked[name] if argument != "--steps"] + ["--json"]) == 0, name
        assert json.loads(capsys.readouterr().out)


def test_questions_that_make_no_sense_for_a_method_are_refused_with_an_error_message(
    files: tuple[str, str], method: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text, learned = files
    joins = Method.of(read_session(learned).runs[0].recipe).learns_by_ranks
    code = run(["race", "--merges", learned, "--corpus", text, "--step", "2"])
    printed = capsys.readouterr()
    assert (code == 0) == joins
    assert joins or "only for tokenizers that merge pairs one after the other" in printed.err
    code = run(["paid", "--merges", learned, "--corpus", text, "--step", "2"])
    assert (code == 0) == (method != "gage")
