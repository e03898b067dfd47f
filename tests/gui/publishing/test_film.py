"""Tests of films that the window writes. A film can be cancelled, and a finished film can be opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QImageReader
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.session.manifests import RESULT, SESSION, run_of_session
from app.session.publications import FilmChoices
from app.window.publishing.film_dialog import USUAL
from app.wiring import Program, film_command
from tests.gui.conftest import WAIT, Train
from tests.gui.sessions.saving import small


def test_drawing_a_film_of_a_run_writes_a_file_or_can_be_cancelled(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("PIL", reason="the package Pillow is not installed")
    program.actions["film"].trigger()
    assert "no run to publish yet" in program.messages.sentence.text()
    small(program, 280)
    train(program)
    path = tmp_path / "run.gif"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    save(program)
    dialog = program.publishing.film_dialog
    assert dialog is not None
    program.actions["film"].trigger()
    assert "Another film is being drawn" in program.messages.sentence.text()
    dialog.findChildren(QPushButton)[0].click()
    qtbot.waitUntil(lambda: program.publishing.film_dialog is None, timeout=WAIT)
    assert not path.exists()
    save(program, size="chat", first=2, last=20, seconds=2)
    qtbot.waitUntil(lambda: "Wrote the film" in program.messages.sentence.text(), timeout=WAIT)
    qtbot.waitUntil(lambda: program.publishing.film_dialog is None, timeout=WAIT)
    reader = QImageReader(str(path))
    assert reader.imageCount() > 5
    assert reader.size() == QSize(540, 540)
    program.actions["film"].trigger()
    form = program.publishing.film_form
    assert form is not None
    assert [form.beside_box.itemText(place) for place in range(form.beside_box.count())] == ["no other run"]
    form.reject()


def test_film_choices_in_the_window_become_options_of_the_film_command() -> None:
    assert film_command(FilmChoices("readme"))[2:] == ("--size", "readme", "--output", RESULT)
    wish = FilmChoices("slide", 3, 90, 7.0, dark=True, beside=2)
    options = ("--size", "slide", "--from", "3", "--to", "90", "--seconds", "7", "--dark")
    assert film_command(wish) == ("film", SESSION, run_of_session(2), *options, "--output", RESULT)


def save(program: Program, *, size: str = "readme", first: int = 0, last: int = 0, seconds: int = USUAL) -> None:
    """Fill in the dialog that saves a film, and press its button."""
    program.actions["film"].trigger()
    form = program.publishing.film_form
    assert form is not None
    form.size_box.setCurrentIndex(form.size_box.findData(size))
    for box, value in ((form.first_box, first), (form.last_box, last), (form.seconds_box, seconds)):
        box.setValue(value)
    form.save.click()
