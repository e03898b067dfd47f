"""Docstrings are sentences: no file gains one that begins with a clause without its subject.

Files of before have a number that may only shrink, in `headless_docstrings.txt`; all others may have none.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.core import headless_docstrings
from tests.core.headless_docstrings import allowed_in_files, docstrings_in, is_headless, shrink_table
from tests.shared import ROOT

HOW_TO_MEND = "A function's docstring begins with a verb (`Return whether`), that of a class or module with a noun."


def test_no_file_gains_a_headless_docstring() -> None:
    listed = headless_docstrings.headless_docstrings()
    too_many = Counter(docstring.path for docstring in listed) - allowed_in_files()
    assert [str(docstring) for docstring in listed if docstring.path in too_many] == [], HOW_TO_MEND


@pytest.mark.parametrize(
    "text",
    ["Of what is joined", "Whether it fits.", "The same for files.", "How long it takes", "By text", "What's left"],
)
def test_a_clause_without_its_subject_is_headless(text: str) -> None:
    assert is_headless(text)


@pytest.mark.parametrize(
    "text",
    ["Return whether it fits.", "A word.", "The words of a text.", "Format a row.", "Offer two ways.", "Insert it."],
)
def test_a_sentence_is_not_headless(text: str) -> None:
    assert not is_headless(text)


def test_docstrings_of_modules_classes_and_functions_are_looked_at() -> None:
    names = {docstring.name for docstring in docstrings_in(ROOT / "tests/core/headless_docstrings.py")}
    assert {"the module", "Docstring", "is_headless"} <= names


def test_shrinking_the_table_raises_no_number_and_adds_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "table.txt"
    table.write_text("  5 app/a.py\n  2 app/b.py\n  1 app/gone.py\n", "utf-8")
    monkeypatch.setattr(headless_docstrings, "TABLE", table)
    shrink_table(Counter({"app/a.py": 3, "app/b.py": 4, "app/new.py": 7}))
    assert allowed_in_files() == {"app/a.py": 3, "app/b.py": 2}
