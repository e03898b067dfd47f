"""Tests of the names of classes, and of conditional expressions.

The name of a class must be a noun. A participle alone (`Held`, `Told`, `Asking`) does not say what a thing
is. A conditional expression must not contain a second one, because two statements are easier to read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from tests.shared import ROOT

# Nouns that end like participles, names that others gave, and the question that is called `paid`.
NOUNS = {"Drawing", "Field", "Grade", "Paid", "Pen", "Precompiled", "Setting", "Spelling", "Tekken", "Token", "Wording"}
# `Cancelled` and two results of public functions keep their names; one belongs to the segmenter.
KEPT = {"Cancelled", "Cutting", "Extended", "Trimmed"}
PARTICIPLE = re.compile(r"_?[A-Z][a-z]*(ed|ing|en|ept|eft|eld|old|ought|aid|ade|wn)")
# Files of kernels with their number of nested conditional expressions; statements would change the machine code.
NESTED = {"learn_queue.py": 1, "scan.py": 1, "utf8.py": 1}
NEAR = re.compile(r"\belse\b(?!:)[^\n]*(?:\n[^\n]*){0,4}?\belse\b(?!:)")  # two conditional expressions, close together
AFTER_CLASS = re.compile(r"\bclass (\w+)")


def is_participle(name: str) -> bool:
    return PARTICIPLE.fullmatch(name) is not None and name.lstrip("_") not in NOUNS


def participles_in(source: str) -> Iterator[str]:
    """Yield each class name in a module that is a participle."""
    if not any(is_participle(name) for name in AFTER_CLASS.findall(source)):  # a source without a match is not parsed
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef) and is_participle(node.name):
            yield node.name


def test_no_class_of_the_program_has_a_participle_as_its_name() -> None:
    sources = [path.read_text("utf-8") for folder in ("app", "bpe_core") for path in (ROOT / folder).rglob("*.py")]
    assert {name for source in sources for name in participles_in(source)} <= KEPT


def test_the_check_of_class_names_reports_a_class_named_by_a_participle_and_ignores_docstrings() -> None:
    assert [*participles_in('"""A class Told of."""\nclass Held(Base): ...\n')] == ["Held"]


def nested_conditions_in(source: str) -> set[int]:
    """Return the lines of a module where a conditional expression contains another conditional expression."""
    if not NEAR.search(source):  # a source without a match is not parsed
        return set()
    outer = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.IfExp)]
    return {node.lineno for node in outer if sum(isinstance(inner, ast.IfExp) for inner in ast.walk(node)) > 1}


def test_no_conditional_expression_contains_another_conditional_expression() -> None:
    paths = [path for folder in ("app", "bpe_core") for path in (ROOT / folder).rglob("*.py")]
    nested = {path: nested_conditions_in(path.read_text("utf-8")) for path in paths}
    is_kernel = {path: path.parent.name == "kernels" for path in paths}
    assert {path: lines for path, lines in nested.items() if lines and not is_kernel[path]} == {}
    assert {path.name: len(lines) for path, lines in nested.items() if lines and is_kernel[path]} == NESTED


def test_the_check_of_conditional_expressions_reports_nested_expressions() -> None:
    source = "a = 1 if b else 2\nc = 1 if d else 2 if e else 3\nf = 1 if g else [2 if h else 3]\n"
    assert nested_conditions_in(source) == {2, 3}


@pytest.mark.parametrize("name", ["Held", "Told", "Asking", "_Joined", "Drawn", "Made", "Kept"])
def test_the_check_of_class_names_refuses_a_name_that_is_only_a_participle(name: str) -> None:
    assert is_participle(name)


@pytest.mark.parametrize("name", ["Token", "JoinedTables", "CountedWords", "Study", "Setting"])
def test_the_check_of_class_names_accepts_nouns(name: str) -> None:
    assert not is_participle(name)
