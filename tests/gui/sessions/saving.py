"""Functions that save and open sessions, and that read session files and safety copies."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.settings import data_folder
from app.wiring import Program
from bpe_core.errors import BpeError
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedSession
from tests.gui.conftest import WAIT, settle


def small(program: Program, size: int = 300) -> None:
    assert program.form.choose(vocab_size=size)


def table(program: Program) -> list[list[str]]:
    model = program.merges
    return [
        [str(model.data(model.index(row, column))) for column in range(model.columnCount())]
        for row in range(model.rowCount())
    ]


def wait_for_texts(qtbot: QtBot, program: Program) -> None:
    qtbot.waitUntil(lambda: bool(program.session.corpus.texts.value), timeout=WAIT)


def tokens(program: Program) -> list[int]:
    return [int(edge) for edge in program.token_text.edges()]


def save_as(qtbot: QtBot, program: Program, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    program.actions["save_as"].trigger()
    qtbot.waitUntil(lambda: program.filing.document.path == path, timeout=WAIT)


def open_session(qtbot: QtBot, program: Program, path: Path) -> None:
    with qtbot.waitSignal(program.filing.document.opened, timeout=WAIT):
        program.filing.open(path)
    settle(qtbot, program)


def restore_copy(qtbot: QtBot, program: Program) -> None:
    with qtbot.waitSignal(program.filing.document.leftovers.changed, timeout=WAIT):
        program.filing.unsaved.offer_newest()
    assert program.messages.isVisible()
    with qtbot.waitSignal(program.filing.document.opened, timeout=WAIT):
        answer(program, "Restore")
    settle(qtbot, program)


def answer(program: Program, title: str) -> None:
    buttons = program.messages.findChildren(QPushButton)
    next(button for button in buttons if button.text() == title and not button.isHidden()).click()


def safety_copies() -> list[Path]:
    return sorted((data_folder() / "unsaved").glob("*.bpex"))


def merges_in(path: Path, run: int) -> int:
    with closing(sqlite3.connect(path)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'merges'").fetchall():
            return -1
        (merges,) = connection.execute("SELECT count(*) FROM merges WHERE run = ?", (run,)).fetchone()
    return int(merges)


def text_in(path: Path) -> str:
    """Return the user's text in a safety copy. Return an empty string while the copy is being written."""
    try:
        return read_session(path, is_safety_copy=True).text
    except BpeError:
        return ""


def wait_until_kept(qtbot: QtBot, program: Program) -> SavedSession:
    """Wait until the safety copy holds all steps of the run. Return its session."""
    run = program.session.runs.shown
    assert run is not None

    def is_kept() -> None:
        assert len(safety_copies()) == 1
        assert merges_in(safety_copies()[0], run.number) == run.learned

    qtbot.waitUntil(is_kept, timeout=WAIT)
    return read_session(safety_copies()[0], is_safety_copy=True)
