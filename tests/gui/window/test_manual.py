"""Tests of the manual in the window. F1 opens the section about the part that has the focus."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from app.window.help_dialog import TextDialog
from app.window.manual import window as manual_window
from app.window.manual.window import ManualWindow, titles_around
from app.wiring import Program
from bpe_core.support.version import program_version


def open_manual(program: Program) -> ManualWindow:
    program.actions["manual"].trigger()
    window = program.manual.window
    assert window is not None
    assert window.isVisible()
    return window


def heading(window: ManualWindow) -> str:
    return window.text.textCursor().block().text()


@pytest.mark.parametrize("room", ["watch", "ask", "compare", "build"])
def test_the_manual_opens_at_the_page_of_the_current_room(program: Program, room: str) -> None:
    program.window.show_room(room)
    assert open_manual(program).page == f"{room}.md"


def test_the_manual_opens_at_the_page_of_the_panel_with_the_focus(program: Program) -> None:
    program.window.show_room("build")
    inside = program.window.docks["recipe"].widget()
    assert titles_around(inside) == ["Recipe"]
    program.manual.open(*titles_around(inside))
    assert program.manual.window is not None
    assert heading(program.manual.window) == "Recipe"


def test_the_manual_finds_a_typed_word_and_the_back_button_returns_to_the_page_shown_before(program: Program) -> None:
    window = open_manual(program)
    window.go_to("start.md")
    window.field.setText("premium")
    assert 1 <= window.list.count() < 20
    QTest.keyClick(window.field, Qt.Key.Key_Return)
    assert window.text.textCursor().selectedText().casefold() == "premium"
    window.back.click()
    assert window.page == "start.md"
    window.field.clear()
    assert window.list.count() > 15


def test_links_in_the_manual_lead_to_pages_and_headings(program: Program) -> None:
    window = open_manual(program)
    window.text.anchorClicked.emit(QUrl("ask.md#ties"))
    assert (window.page, heading(window)) == ("ask.md", "Ties")
    window.text.anchorClicked.emit(QUrl("#race"))
    assert heading(window) == "Race"


def test_the_manual_shows_pictures_and_saves_a_page_as_pdf(
    program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = open_manual(program)
    window.go_to("gallery.md")
    assert window.text.document().size().height() > 12 * 200  # pixels: a picture each
    path = tmp_path / "gallery.pdf"
    monkeypatch.setattr(manual_window, "ask_where_to_save", lambda *_: path)
    window.save.click()
    assert path.read_bytes().startswith(b"%PDF")
    assert window.outcome.text() == f"Saved as {path}."
    path = tmp_path / "missing" / "gallery.pdf"
    window.save.click()
    assert window.outcome.text().startswith(f"Could not write {path}: No such file or directory.")


def test_the_whats_new_page_shows_the_changes_and_the_about_dialog_shows_the_version(program: Program) -> None:
    program.actions["whats_new"].trigger()
    assert program.manual.window is not None
    assert program.manual.window.page == "changes.md"
    program.actions["about"].trigger()
    (about,) = [dialog for dialog in program.window.findChildren(TextDialog) if dialog.isVisible()]
    assert any(program_version() in label.text() for label in about.findChildren(QLabel))
    about.close()
