"""Tests of reports that the window writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.wiring import Program
from tests.gui.conftest import WAIT, Train
from tests.gui.sessions.saving import small


def test_a_report_of_the_session_is_written_from_the_window(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.actions["report"].trigger()
    assert "no run to publish yet" in program.messages.sentence.text()
    small(program)
    train(program)
    program.session.cursor.go_to(9)
    program.actions["bookmark"].trigger()
    program.bookmarks.set_note(0, "look at this <one>")
    for place, said in (("page.html", "Wrote the report"), ("no/such/page.html", "Could not write")):
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, place=place: (str(tmp_path / place), ""))
        program.actions["report"].trigger()
        qtbot.waitUntil(lambda said=said: said in program.messages.sentence.text(), timeout=WAIT)  # type: ignore[misc]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "look at this &lt;one&gt;" in page
    assert "The lighthouse library" in page
