"""Tests of adding a question to the program with a single file. The question has a new kind of figure.

The file alone adds a command, a Python function, a part of reports and a page of the window.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import PATIENCE, ROOT

QUESTION = '''"""Tokens that read the same from both ends."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.asking import Answer, Question, parameter
from bpe_core.figures.figure import Figure
from bpe_core.figures.painter import layout_of
from bpe_core.figures.sheet import Layout, Sheet
from bpe_core.studies.study import Study
from bpe_core.support.data_table import DataTable
from bpe_core.support.progress import ALONE, Work


@dataclass(frozen=True, eq=False)
class Column(Figure):
    """A figure of a new kind: words below each other."""

    words: list[str]

    @property
    def is_empty(self) -> bool:
        return not self.words


class ColumnLayout(Layout):
    def __init__(self, figure: Column, sheet: Sheet) -> None:
        self.figure, self.sheet = figure, sheet

    def draw(self) -> None:
        for row, word in enumerate(self.figure.words):
            self.sheet.text(30, 20 * (row + 1), word, "token")

    def values_at(self, x: float, y: float) -> str:
        return self.figure.sentence


layout_of.register(Column, ColumnLayout)


@dataclass(frozen=True)
class Palindromes(Question):
    """List the tokens that read the same from both ends."""

    in_report = "figure"

    least: int = parameter(2, help="of at least N characters", metavar="N")

    def answer(self, study: Study, work: Work = ALONE) -> Answer:
        texts = [study.names.text[id] for id in study.history.vocabulary]
        found = sorted({text for text in texts if len(text) >= self.least and text == text[::-1]})
        table = DataTable({"token_text": found, "characters": [len(text) for text in found]})
        sentence = f"{len(found)} tokens read the same from both ends."
        return Answer(table, (sentence,), Column("palindromes", "Palindromes.", sentence, found))
'''
SENTENCE = "1 tokens read the same from both ends."

# Learn in a window, show the page, change its field, and print what it says.
IN_THE_WINDOW = """
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.settings import Settings
from app.window.pages import PAGES
from app.wiring import build

application = QApplication([])
program = build(application, Settings())
program.window.show()
program.begin(["text.txt"])
page = program.pages.page(next(row for row in PAGES if row.id == "palindromes"))

def look():
    shown, background = program.session.runs.shown, program.session.background
    if shown is None:
        program.session.train()
    elif page.model.answer is None:
        program.charts.show_page("palindromes")
    elif shown.is_busy or page.model.is_waiting or background.is_busy():
        pass  # the answer may be about the first merges
    else:
        print(list(page.fields), page.sentence.text(), page.rows.rowCount(), page.figure.isVisible())
        program.window.may_close = lambda: True
        program.window.close()
        application.exit(0)

timer = QTimer(interval=50)
timer.timeout.connect(look)
timer.start()
application.exec()
"""


@pytest.fixture
def folder_with_new_question(tmp_path: Path) -> Path:
    """Return a folder with links to the program and an additional question file."""
    for name in ("app", "resources", "pyproject.toml"):
        (tmp_path / name).symlink_to(ROOT / name)
    for folder in (Path("bpe_core"), Path("bpe_core", "questions")):
        (tmp_path / folder).mkdir()
        for path in (ROOT / folder).iterdir():
            if path.name not in ("questions", "__pycache__"):
                (tmp_path / folder / path.name).symlink_to(path)
    (tmp_path / "bpe_core" / "questions" / "palindromes.py").write_text(QUESTION, encoding="utf-8")
    (tmp_path / "text.txt").write_text("anna sees anna. " * 9, encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str) -> str:
    environment = os.environ | {"PYTHONPATH": str(folder), "QT_QPA_PLATFORM": "offscreen"}
    environment["BPE_EXPLORER_SETTINGS"] = str(folder / "settings.ini")
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_new_question_file_adds_a_command_and_a_function_and_a_page_and_a_report_section(
    folder_with_new_question: Path,
) -> None:
    folder = folder_with_new_question
    lines = (
        "train text.txt --merges 5 --output merges.csv",
        "palindromes --help",
        "palindromes merges.csv --least 4 --json",
        "palindromes merges.csv --output rows.csv --manifest made.json",
        "repeat made.json",
        "palindromes merges.csv --output figure.svg",
        "report merges.csv --output report.html",
    )
    asked = json.dumps([line.split() for line in lines])
    done = json.loads(run(folder, str(ROOT / "tests" / "e2e" / "command_sequence.py"), asked))
    assert [code for code, _, _ in done] == [0] * len(lines), done
    assert "List the tokens that read the same" in done[1][2]
    assert json.loads(done[2][2])["sentences"] == [SENTENCE]
    assert "anna" in (folder / "rows.csv").read_text(encoding="utf-8")
    assert "anna" in (folder / "figure.svg").read_text(encoding="utf-8")
    assert "Palindromes." in (folder / "report.html").read_text(encoding="utf-8")
    asked = "import bpe_core as bpe; print(bpe.palindromes(bpe.open('merges.csv'), least=4).sentences)"
    assert SENTENCE in run(folder, "-c", asked)
    assert run(folder, "-c", IN_THE_WINDOW).startswith(f"['least'] {SENTENCE} 1 True")
