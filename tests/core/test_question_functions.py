"""Tests of the Python function of each question.

Editors and type checkers find its parameters, and `help` explains it.
"""

# ruff: noqa: S301 - they are pickles of our own

from __future__ import annotations

import ast
import doctest
import inspect
import json
import pickle
import pydoc
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.asking.functions import function_of
from bpe_core.errors import BpeError
from bpe_core.questions import QUESTIONS, question_named
from bpe_core.support.progress import Work
from tests.question_stub import STUB, stub
from tests.shared import ROOT

FORMER: Any = bpe  # for calls that a type checker would refuse
STUDY = bpe.train("low lower lowest, new newer newest", "gpt2", merges=6)
every_question = pytest.mark.parametrize("name", sorted(QUESTIONS.own))

RIGHT = """
import bpe_core as bpe
study = bpe.train("low lower lowest", "gpt2", merges=3, min_frequency=1)
bpe.why(study, "lowest", 2).columns["reason"]
bpe.race(study, pairs=[("l", "o")], steps=[1])
bpe.sizes({"ours": study}, held_out=["low"])
bpe.ways(study, "low", shares="sampled")
bpe.curves({"ours": study}, held_out={"en": "low"}, lines=["ours"])
bpe.sweep_results("runs.csv", lines=["a"])
ids: list[int] = study.encode("low")
several: list[list[int]] = study.encode(["low", "lower"])
bpe.__version__.split(".")
"""
WRONG = {
    "bpe.trian()": "trian",
    "bpe.whyy(study, 'low')": "whyy",
    "bpe.why(study)": "text",
    "bpe.why(study, 5)": "int",
    "bpe.why(study, 'low', to=3)": "to",
    "bpe.ways(study, 'low', shares='all')": "all",
    "bpe.sizes(study)": "studies|Mapping",
    "study.ranked()": "ranked",
    "study.encode(5)": "int",
}


def test_the_stub_file_of_the_question_functions_is_up_to_date() -> None:
    assert STUB.read_text(encoding="utf-8") == stub(), "python -m tests.question_stub writes it anew"


@every_question
def test_a_question_function_has_the_same_signature_as_in_the_type_stub(name: str) -> None:
    tree = ast.parse(STUB.read_text(encoding="utf-8"))
    (stub,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name)
    signature = inspect.signature(getattr(bpe, name))
    assert [parameter.arg for parameter in (*stub.args.args, *stub.args.kwonlyargs)] == [*signature.parameters]
    defaults = [
        parameter.default
        for parameter in signature.parameters.values()
        if parameter.default is not inspect.Parameter.empty
    ]
    assert [
        ast.literal_eval(parameter) for parameter in (*stub.args.defaults, *stub.args.kw_defaults) if parameter
    ] == defaults
    assert inspect.cleandoc(ast.get_docstring(stub) or "") == inspect.cleandoc(getattr(bpe, name).__doc__)


@every_question
def test_a_question_function_explains_its_parameters_and_has_a_running_example(name: str) -> None:
    function = getattr(bpe, name)
    for parameter in inspect.signature(function).parameters:
        assert f"\n{parameter} : " in function.__doc__
    (example,) = doctest.DocTestFinder().find(function, name, module=False, globs={})
    assert f"bpe.{name}(" in (example.docstring or "")
    assert doctest.DocTestRunner(verbose=False).run(example) == (0, len(example.examples))


def test_the_help_function_of_python_shows_the_signature_and_the_docstring_of_a_question() -> None:
    help_text = pydoc.plain(pydoc.render_doc(bpe.why))
    in_one_line = "".join(help_text.split())  # newer Pythons wrap a long signature
    assert "why(study:bpe_core.studies.study.Study,text:str,at:int|None=None" in in_one_line
    assert "Show why a text is split where it is." in help_text
    assert {*QUESTIONS.own} <= {*dir(bpe)}


def test_question_functions_accept_positional_arguments_in_the_order_of_the_manual() -> None:
    """In an earlier version `bpe.why(study, "lowest")` failed, because the text was used as a different parameter."""
    assert bpe.why(STUDY, "lowest", 2).table.records() == bpe.why(STUDY, text="lowest", at=2).table.records()
    assert bpe.paid(STUDY, 1).table.records() == bpe.paid(STUDY, step=1).table.records()
    assert bpe.token(STUDY, "␣lowe", 6).sentences == bpe.token(STUDY, token="␣lowe", at=6).sentences
    assert bpe.diff({"a": STUDY, "b": STUDY.at(2)}, "low").sentences
    assert bpe.idmap(STUDY.at(2), STUDY).sentences == bpe.ask({"a": STUDY.at(2), "b": STUDY}, "idmap").sentences
    with pytest.raises(BpeError, match="Id map needs 2 tokenizers, not 1"):
        FORMER.idmap(STUDY)
    assert FORMER.why(study=STUDY, text="low").table.records() == bpe.why(STUDY, "low").table.records()
    assert FORMER.lab(study={"a": STUDY}).sentences == bpe.lab({"a": STUDY}).sentences


def test_arguments_of_question_functions_may_be_lists_or_tuples_or_ranges_or_iterators() -> None:
    expected = bpe.race(STUDY, pairs=[("l", "o")], steps=[2, 3]).table.records()
    for steps in ((2, 3), range(2, 4), iter([2, 3])):
        assert FORMER.race(STUDY, pairs=[["l", "o"]], steps=steps).table.records() == expected
    first, second = (FORMER.curves({"a": STUDY}, held_out=["low"], lines=lines).figure.lines for lines in (["a"], "a"))
    assert [line.name for line in first] == [line.name for line in second]


def test_the_sweep_results_question_takes_a_file_instead_of_a_study(tmp_path: Path) -> None:
    curves = bpe.curves({"a": STUDY, "b": STUDY.at(2)}, held_out=["the lowest"])
    bpe.write_data(curves.table, tmp_path / "runs.csv")
    path = str(tmp_path / "runs.csv")
    expected = bpe.sweep_results(path).sentences
    for former in (
        lambda: FORMER.sweep_results(None, results=path),
        lambda: FORMER.sweep_results(None, path),
        lambda: FORMER.sweep_results(study=None, results=path),
        lambda: bpe.ask(None, "sweep_results", results=path),
    ):
        assert former().sentences == expected


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: FORMER.why(STUDY, "low", text="low"), "two values for 'text'"),
        (lambda: FORMER.lengths(STUDY, 1, 2), r"takes at most 2 values \(study, at\), not 3"),
        (lambda: FORMER.why(STUDY), "needs 'text'"),
        (lambda: FORMER.why(), "needs 'text'"),
        (lambda: FORMER.why(text="low"), "NoneType, not a tokenizer"),
        (lambda: FORMER.race(STUDY, what=1), "has no parameter 'what'; its parameters are: pairs, steps"),
        (lambda: FORMER.ways(STUDY, "low", shares="all"), "shares cannot be 'all'; choose one of 'dropout'"),
        (lambda: FORMER.sizes({"a": STUDY}, "tokens"), "measure cannot be 'tokens'; choose one of"),
        (lambda: bpe.audit(STUDY, "rare,odd"), "only cannot be 'odd'"),
    ],
)
def test_a_wrong_call_of_a_question_function_is_refused_with_an_error_message(call: Any, sentence: str) -> None:
    with pytest.raises(BpeError, match=sentence):
        call()


def test_a_question_function_reports_its_progress_to_the_given_work_object() -> None:
    stages = list[str]()
    study = bpe.train("low lower lowest " * 9, "gpt2", merges=3)
    bpe.curves({"a": study}, held_out=["low"], work=Work(lambda progress: stages.append(progress.stage)))
    assert stages


@every_question
def test_a_pickled_question_function_is_restored_as_the_same_function(name: str) -> None:
    function = getattr(bpe, name)
    assert pickle.loads(pickle.dumps(function)) is function is function_of(question_named(name))


def mypy_output(rows: str, folder: Path) -> str:
    """Return the output of mypy for a program with the lines `rows`.

    To save time, mypy reads only the public names of the package.
    """
    path = folder / "script.py"
    path.write_text(rows, encoding="utf-8")
    modules = ("asking/functions.pyi", "studies/making.py", "studies/study.py", "history/arguments.py")
    read = ["bpe_core/__init__.pyi", *(f"bpe_core/{name}" for name in modules)]
    options = ["--follow-imports=skip", "--config-file=", "--no-incremental", "--no-error-summary"]
    command = [sys.executable, "-m", "mypy", *options, str(path), *read]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    return "\n".join(row for row in (done.stdout + done.stderr).splitlines() if "script.py" in row)


def test_mypy_checks_the_names_and_parameters_of_question_functions(tmp_path: Path) -> None:
    """With an earlier version, mypy did not report `bpe.trian()`."""
    output = mypy_output(RIGHT + "".join(f"{row}\n" for row in WRONG), tmp_path)
    first = RIGHT.count("\n") + 1
    errors = {int(row.split(":")[1]): row for row in reversed(output.splitlines()) if ": error:" in row}
    assert [*sorted(errors)] == [*range(first, first + len(WRONG))], json.dumps(errors, indent=1)
    for place, word in enumerate(WRONG.values()):
        assert any(part in errors[first + place] for part in word.split("|")), errors[first + place]
