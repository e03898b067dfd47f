"""Tests of the panel with the text and its ids. The run shown encodes the text."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.wiring import Program
from tests.gui.conftest import WAIT, Train, settle
from tests.gui.small_run import small


def test_typing_in_the_text_panel_changes_the_token_count(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.token_text.set_text("the the")
    settle(qtbot, program)
    before = program.token_text.token_count()
    program.token_text.replace(7, 7, " the")
    settle(qtbot, program)
    assert program.token_text.token_count() > before
    qtbot.waitUntil(lambda: program.session.text.value == "the the the", timeout=WAIT)


def test_ids_typed_in_the_text_panel_are_decoded_to_a_text(qtbot: QtBot, program: Program, train: Train) -> None:
    ids = program.text_panel.ids
    qtbot.keyClicks(ids.entry, "1 2")
    qtbot.keyClick(ids.entry, Qt.Key.Key_Return)
    assert "Train first" in ids.decoded.text()
    small(program)
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.names is not None
    for entered, meaning in (
        ("104, 35", "h#"),
        ("[256]", run.names.raw[256].decode()),
        ("104 320", "There is no token 320. The ids go from 0 to 319."),
        ("one", "“one” is not an id. Ids are whole numbers."),
    ):
        ids.entry.setText(entered)
        qtbot.keyClick(ids.entry, Qt.Key.Key_Return)
        assert ids.decoded.text() == meaning
        assert not ids.remark.isVisible()


def test_pasted_ids_that_encoding_never_produces_are_marked_with_the_reason(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    left, right = run.history.pair(0)
    ids = program.text_panel.ids
    ids.entry.setText(f"10 {left} {right} 195")
    qtbot.keyClick(ids.entry, Qt.Key.Key_Return)
    assert ids.decoded.text().count("underline") == 2
    assert "Merge 1 joins" in ids.remark.text()
    assert "is not a text in UTF-8" in ids.remark.text()
    assert ids.decoded.text().count("�") == 1
