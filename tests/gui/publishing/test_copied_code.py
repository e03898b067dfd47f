"""Tests of the command and the Python code that each page copies.

Both give the answer of the page outside the window.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.session.repeat_code import UNSAVED, as_python
from app.window.pages import COMPRESSION, FLOOR, LAB, RACE, RANKS, SIZES, TIES, WAYS, PageRow
from app.window.publishing.wiring import NO_FILE
from app.wiring import Program
from bpe_core.command_line.main import run
from tests.gui.conftest import Train, settle

pytestmark = pytest.mark.usefixtures("only_window")
ASKED = (COMPRESSION, RANKS, RACE, TIES, WAYS, SIZES, FLOOR, LAB)


@pytest.fixture
def trained_window(program: Program, train: Train) -> Program:
    train(program)
    return program


def answer_by_python(lines: str) -> Any:
    names: dict[str, Any] = {}
    exec(lines.replace("print(answer)", ""), names)  # noqa: S102  # lines that the program wrote
    return names["answer"]


def copy_by(program: Program, action: str) -> str:
    program.actions[action].trigger()
    return QGuiApplication.clipboard().text()


@pytest.mark.parametrize("row", ASKED, ids=lambda row: row.id)
def test_copied_python_lines_give_the_answer_shown_on_the_page(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, row: PageRow[Any]
) -> None:
    path = tmp_path / "a book.bpex"
    trained_window.charts.show_page(row.id)
    settle(qtbot, trained_window)
    trained_window.filing.document.save(path)
    settle(qtbot, trained_window)
    page = trained_window.pages.page(row)
    asked = page.watched.current_question
    assert asked is not None
    expected = page.table_function()(lambda: False)
    table = answer_by_python(as_python(asked[0], page.watched.opens_in_python, path)).table
    assert table.columns.keys() == expected.columns.keys()
    assert len(table) == len(expected)


def test_a_command_copied_from_a_page_runs_in_a_terminal(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained_window.charts.show_page(COMPRESSION.id)
    settle(qtbot, trained_window)
    trained_window.filing.document.save(tmp_path / "a book.bpex")
    settle(qtbot, trained_window)
    program, *words = shlex.split(copy_by(trained_window, "copy_command"))
    assert program == "bpe-explorer"
    assert run(words) == 0
    assert "base symbols per token" in capsys.readouterr().out.lower()


def test_python_lines_copied_from_an_unsaved_session_use_a_placeholder_file_name(
    qtbot: QtBot, trained_window: Program
) -> None:
    trained_window.charts.show_page(COMPRESSION.id)
    settle(qtbot, trained_window)
    assert f"bpe.open('{UNSAVED}')" in copy_by(trained_window, "copy_python")
    assert UNSAVED in trained_window.messages.sentence.text()


def test_copied_python_lines_write_the_last_exported_file_again(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    assert copy_by(trained_window, "copy_file_command") != "" or trained_window.messages.sentence.text() == NO_FILE
    path = tmp_path / "table.csv"
    export = trained_window.exchanging.export
    with qtbot.waitSignal(export.checked, timeout=60_000):
        export.prepare(path, "csv")
    with qtbot.waitSignal(export.finished, timeout=60_000):
        export.put_in_place()
    trained_window.filing.document.save(tmp_path / "run.bpex")
    settle(qtbot, trained_window)
    written = path.read_bytes()
    path.unlink()
    _, *words = shlex.split(copy_by(trained_window, "copy_file_command"))
    assert run(words) == 0
    assert path.read_bytes() == written
    path.unlink()
    exec(copy_by(trained_window, "copy_file_python"), {})  # noqa: S102  # lines that the program wrote
    assert path.read_bytes() == written
