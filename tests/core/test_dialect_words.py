"""Tests that docstrings and comments use the words of the field.

Words with a meaning that only this project knows are reported.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT

# Each word of the old dialect, and the usual word of the field.
INSTEAD = {
    "aside": "in the background",
    "told": "reported, given or known",
    "sought": "searched for",
    "sound": "valid",
    "unsound": "not valid",
    "desk": "buffers",
    "furniture": "parts of the window",
    "honest": "escaped",
}
MOST = 20  # in the whole program, because a sentence may need a word in its common meaning
DIALECT = re.compile(rf"\b({'|'.join(INSTEAD)})\b", re.IGNORECASE)
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def dialect_words(source: str) -> Iterator[str]:
    """Yield the project's own words in the docstrings and comments of a module, but not in its examples."""
    if not DIALECT.search(source):  # as in most modules, which need not be parsed
        return
    texts = [ast.get_docstring(node) or "" for node in ast.walk(ast.parse(source)) if isinstance(node, DOCUMENTED)]
    lines = [line for text in texts for line in text.splitlines() if not line.lstrip().startswith(">>>")]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines += [token.string for token in tokens if token.type == tokenize.COMMENT]
    for line in lines:
        yield from (word.lower() for word in DIALECT.findall(line))


def modules() -> Iterator[Path]:
    for folder in ("app", "bpe_core"):
        yield from (ROOT / folder).rglob("*.py")


def test_docstrings_contain_at_most_a_few_words_of_project_jargon() -> None:
    counts = Counter(word for path in modules() for word in dialect_words(path.read_text("utf-8")))
    assert counts.total() <= MOST, {word: f"{count} times; say {INSTEAD[word]}" for word, count in counts.items()}


@pytest.mark.parametrize("source", ['"""Work aside."""\n', "x = 1  # told later\n", 'def f():\n    """A desk."""\n'])
def test_the_check_for_project_jargon_reports_a_jargon_word(source: str) -> None:
    assert [*dialect_words(source)]


@pytest.mark.parametrize("source", ["told = 1\n", '"""Show it.\n\n>>> told = 2\n"""\n', '"""Set besides."""\n'])
def test_the_check_for_project_jargon_ignores_code_and_examples(source: str) -> None:
    assert not [*dialect_words(source)]
