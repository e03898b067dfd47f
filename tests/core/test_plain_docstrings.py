"""Docstrings must be sentences: none may begin with a part of a sentence that has no subject or no verb."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.asking import Question
from bpe_core.formats.base import Format
from bpe_core.methods.facts import MethodFacts
from bpe_core.methods.kit.method import Method
from tests.shared import ROOT

# Questions without a verb, prepositions, and words that refer to an earlier text.
HEADLESS = re.compile(
    r"(After|And|As|At|Because|Before|Beside|Between|But|By|For|From|How|If|In|Its|Of|On|Only|Or|Since|So|Such|Than"
    r"|That|The (one|ones|other|others|same)|Their|Those|To|Until|What|Whatever|When|Whenever|Where|Whether|Which|While"
    r"|Who|Whose|With)\b",
)
AFTER_QUOTES = re.compile(rf"[\"'][\s\\]*{HEADLESS.pattern}")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
HOW_TO_MEND = "A function's docstring begins with a verb (`Return whether`), that of a class or module with a noun."


def docstrings_in(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the place and the text of each docstring in a file.

    Yield nothing if a quick search shows that no text of the file begins with a forbidden word.
    """
    source = path.read_text("utf-8")
    if not AFTER_QUOTES.search(source):  # a source without a match is not parsed
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, DOCUMENTED) and (text := ast.get_docstring(node)):
            name = "the module" if isinstance(node, ast.Module) else node.name
            yield f"{path.relative_to(ROOT).as_posix()}: {name}", text


def is_headless(text: str) -> bool:
    return HEADLESS.match(text) is not None


def test_every_docstring_of_the_program_begins_with_a_verb_or_a_noun_phrase() -> None:
    paths = [path for folder in ("app", "bpe_core") for path in sorted((ROOT / folder).rglob("*.py"))]
    listed = [f"{place}: {text}" for path in paths for place, text in docstrings_in(path) if is_headless(text)]
    assert listed == [], HOW_TO_MEND


@pytest.mark.parametrize(
    "text",
    ["Of what is joined", "Whether it fits.", "The same for files.", "How long it takes", "By text", "What's left"],
)
def test_the_check_of_docstrings_reports_a_docstring_that_begins_with_neither_a_verb_nor_a_noun(text: str) -> None:
    assert is_headless(text)


@pytest.mark.parametrize(
    "text",
    ["Return whether it fits.", "A word.", "The words of a text.", "Format a row.", "Offer two ways.", "Insert it."],
)
def test_the_check_of_docstrings_accepts_a_verb_or_a_noun_at_the_beginning(text: str) -> None:
    assert not is_headless(text)


def test_the_check_of_docstrings_reads_modules_and_functions() -> None:
    places = {place.split(": ")[1] for place, _ in docstrings_in(Path(__file__))}
    assert {"the module", "docstrings_in"} <= places


def names_explained(documented: Any, section: str) -> set[str]:
    """Return the names that a section of a NumPy-style docstring explains."""
    text = inspect.getdoc(documented) or ""
    _, _, after = text.partition(f"{section}\n{'-' * len(section)}\n")
    lines = re.split(r"\n\w+\n---", after)[0].splitlines()
    heads = [line for line in lines if line and not line.startswith(" ")]
    return {name.strip().lstrip("*") for head in heads for name in head.split(",")}


def public_names() -> list[str]:
    names: list[str] = bpe.__getattr__("__all__")
    return names


def test_public_functions_explain_each_parameter_and_show_an_example() -> None:
    public = [getattr(bpe, name) for name in public_names()]
    functions = [documented for documented in public if inspect.isfunction(documented)]
    assert len(functions) > 15
    lacking = {
        function.__name__: set(inspect.signature(function).parameters) - names_explained(function, "Parameters")
        for function in functions
    }
    assert {name: missing for name, missing in lacking.items() if missing} == {}
    assert [documented.__name__ for documented in functions if ">>> " not in (documented.__doc__ or "")] == []


def test_docstrings_of_public_errors_say_when_the_error_is_raised() -> None:
    errors = [
        error
        for error in map(bpe.__getattr__, public_names())
        if inspect.isclass(error) and issubclass(error, Exception)
    ]
    assert bpe.BpeError in errors
    assert [error.__name__ for error in errors if "raised when" not in (error.__doc__ or "")] == []


@pytest.mark.parametrize("kind", [Format, MethodFacts, Method, Question])
def test_docstrings_for_plug_in_authors_explain_each_field(kind: type) -> None:
    fields = {name for name, value in vars(kind).items() if not name.startswith("_") and is_plain_field(value)}
    fields |= set(inspect.get_annotations(kind))
    assert fields - names_explained(kind, "Attributes") == set()


def is_plain_field(value: Any) -> bool:
    return isinstance(value, bool | int | float | str | tuple | frozenset)
