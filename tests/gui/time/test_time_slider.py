"""Tests of the time slider. All parts of the window must show the step that the slider selects."""

from __future__ import annotations

from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QInputDialog, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.window.charts.pairs_page import PairsPage
from app.window.questions.token.page import TokenPage
from app.wiring import Program
from tests.gui.conftest import WAIT, Train, settle
from tests.gui.small_run import cell, moments, rows, small

pytestmark = pytest.mark.usefixtures("only_window")


def test_no_two_buttons_of_the_time_bar_have_the_same_icon(program: Program) -> None:
    """In an older version, Skip and Jump to End had the same icon. Now the button Skip has a text instead."""
    buttons = [item for item in program.time_bar.findChildren(QToolButton) if item.defaultAction() is not None]
    pictures = [item.icon().pixmap(16, 16).toImage() for item in buttons if not item.icon().isNull()]
    assert all(item != other for item, other in combinations(pictures, 2))
    assert [item.text() for item in buttons if item.icon().isNull()] == ["Skip"]


def test_all_panels_show_the_step_of_the_time_slider(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    assert moments(program) == (64, 64, 64, 64)
    for position in (0, 1, 33, 64, 17):
        program.time_bar.track.setValue(position)
        settle(qtbot, program)
        assert moments(program) == (position,) * 4
        assert program.pages[PairsPage].model.at == position
    program.actions["live"].trigger()
    settle(qtbot, program)
    assert moments(program) == (64, 64, 64, 64)
    assert program.session.cursor.live


def test_at_an_earlier_step_the_first_bar_of_the_pairs_chart_shows_the_next_merge(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    for position in (0, 5, 40):
        program.session.cursor.go_to(position)
        settle(qtbot, program)
        leading = program.pages[PairsPage].model.bars[0]
        assert (leading.left, leading.right) == (cell(program, position, 2), cell(program, position, 3))
        assert f"{leading.count:,}" == cell(program, position, 4)


def test_a_click_on_a_row_of_the_merge_table_goes_to_the_step_of_that_row(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    table = program.merge_panel.table
    index = program.merges.index(20, 1)
    table.scrollTo(index)
    qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=table.visualRect(index).center())
    assert moments(program) == (21, 21, 21, 21)
    qtbot.keyClick(table, Qt.Key.Key_Down)
    assert moments(program) == (22, 22, 22, 22)


def test_keys_and_the_number_box_move_the_time_slider(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program)
    train(program)
    program.actions["first"].trigger()
    program.actions["forward"].trigger()
    assert moments(program) == (1, 1, 1, 1)
    program.time_bar.number.setValue(30)
    program.actions["back"].trigger()
    assert moments(program) == (29, 29, 29, 29)
    monkeypatch.setattr(QInputDialog, "getInt", lambda *_: (12, True))
    program.actions["go_to"].trigger()
    assert moments(program) == (12, 12, 12, 12)


def test_dragging_the_time_slider_changes_the_shown_step(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    track = program.time_bar.track
    middle = QPoint(track.width() // 2, track.height() // 2)
    qtbot.mousePress(track, Qt.MouseButton.LeftButton, pos=middle)
    assert abs(program.session.cursor.position - 32) <= 1
    qtbot.mouseMove(track, QPoint(2, 5))
    qtbot.mouseRelease(track, Qt.MouseButton.LeftButton, pos=QPoint(2, 5))
    assert program.session.cursor.position == 0


def test_an_earlier_step_can_be_shown_while_training_goes_on(qtbot: QtBot, program: Program) -> None:
    program.speed.slider.setValue(30)
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: rows(program) >= 5, timeout=WAIT)
    program.session.cursor.go_to(3)
    before = rows(program)
    qtbot.waitUntil(lambda: rows(program) > before + 2, timeout=WAIT)
    assert program.session.cursor.position == 3
    assert moments(program) == (3, 3, 3, 3)
    program.actions["live"].trigger()
    assert program.session.cursor.position == rows(program)


def test_the_token_inspector_changes_with_the_time_slider_and_links_to_token_parts(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    panel = program.pages[TokenPage]
    program.session.cursor.go_to(50)
    qtbot.waitUntil(lambda: panel.facts["Learned"].text() == "merge 50", timeout=WAIT)
    assert panel.token.text() == cell(program, 49, 1)
    merge = next(row for row in range(63, 0, -1) if len(cell(program, row, 2)) > 1)
    program.session.cursor.go_to(merge + 1)
    qtbot.waitUntil(lambda: panel.facts["Learned"].text() == f"merge {merge + 1}", timeout=WAIT)
    left = cell(program, merge, 2)
    button = next(button for button in panel.findChildren(QPushButton) if button.text() == left)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert panel.token.text() == left
    assert cell(program, program.session.cursor.position - 1, 1) == left
