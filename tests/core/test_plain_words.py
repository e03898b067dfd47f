"""Texts for people must use the words "split", "space" and "occurs".

The former words for these were hard to read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shared import ROOT

OLD_WORDS = re.compile(
    r"\b(cut|cuts|cutting|blank|blanks|told|stood|stands?)\b(?! (for|off|short)\b)"
    r"|\bpaid for it\b|at least \d+x|Throw It Away|Bring It Back|Keep How It Was Made",
    re.IGNORECASE,
)
IN_CODE = re.compile(r"`[^`]*`|cut = .*|\{\w+\}|\w+ = |\]\([^)]*\)|power cut")
PROSE = [
    *(ROOT / "resources/lessons").glob("*.*"),
    *(ROOT / "bpe_core/methods").glob("*/*.toml"),
    *(path for path in (ROOT / "resources/manual").glob("*.md") if path.stem not in ("commands", "python")),
    ROOT / "README.md",
]


def sentences(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string with several words, except docstrings.

    To save time, yield nothing if the file does not contain any of the words that the test forbids.
    """
    source = path.read_text("utf-8")
    if not OLD_WORDS.search(source):  # most are known to be good without looking at each node
        return
    tree = ast.parse(source)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    docstrings = {id(body[0].value) for body in bodies if body and isinstance(body[0], ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in docstrings:
            continue
        if node.value.count(" ") > 1:
            yield node.lineno, node.value


@pytest.mark.parametrize("folder", ["app", "bpe_core"])
def test_texts_in_the_source_code_use_only_plain_words(folder: str) -> None:
    offences = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, text in sentences(path)
        if OLD_WORDS.search(text)
    ]
    assert offences == []


def without_python(page: str) -> str:
    """Replace each line of Python code in a page with an empty line, because code uses names from the program."""
    program = re.compile(r"(?<=```python\n).*?(?=^```)", re.DOTALL | re.MULTILINE)
    return program.sub(lambda match: "\n" * match[0].count("\n"), page)


def test_lessons_manual_and_readme_contain_no_word_of_the_former_project_jargon() -> None:
    offences = [
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for path in sorted(PROSE)
        for number, line in enumerate(without_python(path.read_text("utf-8")).splitlines(), 1)
        if OLD_WORDS.search(IN_CODE.sub("", line))
    ]
    assert offences == []
