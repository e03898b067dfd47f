"""Tests of the zoom of the whole window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QLabel,
    QTabBar,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.settings import ZOOM, Settings
from app.window.parts.theme import Theme
from app.window.parts.widgets import IconButton, OneLine
from app.window.parts.zoom import ADAPTIONS, STEPS, USUAL, set_zoom, zoom_percent
from app.window.room_plan import ROOMS
from app.wiring import Program
from tests.gui.conftest import NewProgram, Train, settle

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture(autouse=True)
def usual_zoom(qapp: QApplication) -> Iterator[None]:
    """Set the zoom to 100 percent after each test, because all windows of the process share it."""
    yield
    set_zoom(USUAL)


def points() -> float:
    return QApplication.font().pointSizeF()


def sizes(program: Program) -> list[object]:
    """Return the font sizes in a window, and the minimum and maximum sizes of the parts that adapt to the zoom."""
    parts = [part for part in program.window.findChildren(QWidget) if part.window() is program.window]
    letters = [part.font().pointSizeF() for part in parts if text_of(part)]
    limits = [(part.minimumSize(), part.maximumSize()) for part in parts if part.property(ADAPTIONS) is not None]
    return [*large_letters(program).items(), *letters, *limits]


def large_letters(program: Program) -> dict[str, float]:
    """Return the sizes of letters in the parts of a window whose letters are larger than usual."""
    return {
        "text": program.text_panel.editor.font().pointSizeF(),
        "ids": program.text_panel.ids.grid.font().pointSizeF(),
        "questions": program.question_list.font().pointSizeF(),
        "the question asked": program.question.question.font().pointSizeF(),
        "field of Watch": program.watch.field.font().pointSizeF(),
    }


def test_pressing_ctrl_and_plus_in_the_text_enlarges_the_whole_window_and_the_settings_keep_the_zoom(
    program: Program, settings: Settings
) -> None:
    editor = program.text_panel.editor
    before = points(), editor.font().pointSizeF(), program.token_text.chunks.text()
    editor.setFocus()
    QTest.keyClick(editor, Qt.Key.Key_Plus, CONTROL)
    assert (points(), editor.font().pointSizeF()) == pytest.approx((1.1 * before[0], 1.1 * before[1]), rel=0.02)
    assert settings.get(ZOOM) == 110
    QTest.keyClick(editor, Qt.Key.Key_Minus, CONTROL)
    QTest.keyClick(editor, Qt.Key.Key_Minus, CONTROL)
    assert settings.get(ZOOM) == zoom_percent() == 90
    QTest.keyClick(editor, Qt.Key.Key_0, CONTROL)
    assert (points(), editor.font().pointSizeF(), program.token_text.chunks.text()) == before
    assert settings.get(ZOOM) == USUAL


def test_ctrl_and_the_mouse_wheel_enlarge_only_the_text_and_combine_with_the_window_zoom(
    program: Program,
) -> None:
    editor = program.text_panel.editor
    before = editor.font().pointSizeF()
    place = QPointF(20, 20)
    turn = QWheelEvent(
        place, place, QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, CONTROL, Qt.ScrollPhase.NoScrollPhase, False
    )
    QApplication.sendEvent(editor.viewport(), turn)
    assert zoom_percent() == USUAL
    larger = editor.font().pointSizeF()
    assert larger > before
    program.zoom_to(200)
    assert editor.font().pointSizeF() == pytest.approx(2 * larger, rel=0.1)
    assert program.text_panel.ids.grid.font().pointSizeF() == pytest.approx(2 * points() / 2, rel=0.1)


def test_the_zoom_scales_the_text_and_the_controls_of_the_window(program: Program, train: Train) -> None:
    train(program)
    table = program.merge_panel.table

    def measured() -> list[float]:
        return [
            *large_letters(program).values(),
            table.verticalHeader().defaultSectionSize(),
            program.time_bar.track.sizeHint().height(),
            program.watch.view.minimumSizeHint().height(),
            program.caption.height(),
            program.corpus_panel.add_button.iconSize().width(),
            program.toolbar.iconSize().width(),
        ]

    usual = measured()
    program.zoom_to(200)
    assert measured() == pytest.approx([2 * size for size in usual], rel=0.15)


@pytest.mark.parametrize("percent", [80, 150, 200])
def test_zooming_and_returning_to_the_usual_size_restores_all_sizes(program: Program, percent: int) -> None:
    before = sizes(program)
    program.zoom_to(percent)
    assert sizes(program) != before
    program.zoom_to(USUAL)
    assert sizes(program) == before


def test_a_zoom_read_from_the_settings_gives_the_same_letter_size_as_a_zoom_chosen_later(
    new_program: NewProgram, settings: Settings, qtbot: QtBot
) -> None:
    zoomed_later = new_program()
    zoomed_later.zoom_to(150)
    expected = large_letters(zoomed_later)
    assert large_letters(new_program()) == expected


def test_changing_the_theme_keeps_the_zoom(program: Program) -> None:
    program.zoom_to(150)
    before = large_letters(program)
    program.choose_theme("dark")
    assert large_letters(program) == before


@pytest.mark.parametrize("unknown", [0, 7, 10_000])
def test_an_unsupported_zoom_in_the_settings_is_replaced_by_the_nearest_supported_zoom(
    new_program: NewProgram, settings: Settings, unknown: int
) -> None:
    settings.put(ZOOM, unknown)
    new_program()
    assert zoom_percent() in (STEPS[0], STEPS[-1])


@pytest.mark.parametrize("room", [room.id for room in ROOMS])
def test_no_text_is_cut_off_at_a_zoom_of_150_percent_in_a_window_of_1280_by_800(
    new_program: NewProgram, settings: Settings, train: Train, qtbot: QtBot, room: str
) -> None:
    settings.put(ZOOM, 150)
    program = new_program()
    train(program)
    program.window.show_room(room)
    settle(qtbot, program)
    assert (program.window.width(), program.window.height()) == (1280, 800)
    cut_off = [
        (type(part).__name__, text_of(part), part.size(), part.minimumSizeHint())
        for part in program.window.findChildren(QWidget)
        if part.isVisible() and text_of(part) and not scrolls(part) and is_cut_off(part)
    ]
    assert not cut_off


def text_of(part: QWidget) -> str:
    """Return the text of a widget that must be fully visible. Return an empty string if it has none."""
    if isinstance(part, QToolButton) and part.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly:
        return part.text() if part.icon().isNull() else ""
    if isinstance(part, OneLine):
        return ""  # its tip shows what is left out
    return part.text() if isinstance(part, QLabel | QAbstractButton) else ""


def is_cut_off(part: QWidget) -> bool:
    """Return whether a part is smaller than its text needs, or reaches beyond its window."""
    least = part.minimumSizeHint()
    if isinstance(part, QLabel) and part.wordWrap():
        least.setHeight(part.heightForWidth(part.width()))
    is_outside = not part.window().rect().contains(part.rect().translated(part.mapTo(part.window(), QPoint())))
    return is_outside or part.width() < least.width() or part.height() < least.height()


def scrolls(part: QWidget) -> bool:
    """Return whether a part is inside a scroll area or a tab bar. A person can scroll both."""
    holder = part.parentWidget()
    while holder is not None and not isinstance(holder, QAbstractScrollArea | QTabBar):
        holder = holder.parentWidget()
    return holder is not None


def test_the_zoom_scales_sizes_in_pixels_in_the_style_sheet(qapp: QApplication) -> None:
    theme = Theme("light")
    before = qapp.styleSheet()
    try:
        theme.apply_style()
        assert "QScrollBar:vertical { width: 12px; }" in qapp.styleSheet()
        theme.set_zoom(200)
        assert "QScrollBar:vertical { width: 24px; }" in qapp.styleSheet()
    finally:
        qapp.setStyleSheet(before)


@pytest.mark.parametrize("percent", [80, 100, 150, 200])
def test_icons_are_drawn_in_the_sizes_in_which_buttons_show_them(program: Program, percent: int) -> None:
    program.zoom_to(percent)
    scale = program.window.devicePixelRatio()
    actions = program.actions.by_name.values()
    buttons = [
        button
        for button in program.window.findChildren(QToolButton)
        if isinstance(button, IconButton) or (button.defaultAction() in actions and not button.icon().isNull())
    ]
    assert len(buttons) > 20
    for button in buttons:
        shown = round(button.iconSize().width() * scale)
        drawn = {size.width() for size in button.icon().availableSizes()}
        assert shown in drawn, (button.objectName() or button.text(), shown, drawn)
        assert len(drawn) <= 6  # drawings that nobody sees take memory
