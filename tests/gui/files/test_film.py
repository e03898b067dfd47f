"""The film, drawn from the window: it can be cancelled, and is offered when it is written."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QImageReader
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.wiring import Program
from tests.gui.conftest import WAIT
from tests.gui.sessions.saving import Train, small


def test_a_film_is_written_or_cancelled(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.actions["film"].trigger()
    assert "nothing to publish yet" in program.messages.sentence.text()
    small(program, 280)
    train(program)
    path = tmp_path / "run.gif"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    program.actions["film"].trigger()
    dialog = program.filing.film_dialog
    assert dialog is not None
    program.actions["film"].trigger()
    assert "Another film is being drawn" in program.messages.sentence.text()
    dialog.findChildren(QPushButton)[0].click()
    qtbot.waitUntil(lambda: program.filing.film_dialog is None, timeout=WAIT)
    assert not path.exists()
    program.actions["film"].trigger()
    qtbot.waitUntil(lambda: "Wrote the film" in program.messages.sentence.text(), timeout=WAIT)
    qtbot.waitUntil(lambda: program.filing.film_dialog is None, timeout=WAIT)
    assert QImageReader(str(path)).imageCount() > 5
