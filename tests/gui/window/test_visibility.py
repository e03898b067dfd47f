"""Tests that all parts of the window are visible, have names, are not cut off, and have the right positions."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics, QMouseEvent
from PySide6.QtWidgets import QApplication, QToolBar
from pytestqt.qtbot import QtBot

from app.session.background import Notice
from app.window.charts.figure_view import FigureView
from app.window.pages import SIZES
from app.window.parts.theme import fixed_font
from app.window.questions.compare.panel import LanesPanel
from app.window.questions.question_page import QuestionPage
from app.wiring import Program
from tests.gui.conftest import WAIT, Train, settle
from tests.gui.questions.conftest import wait_for_answers
from tests.gui.small_run import small


def test_a_file_without_text_to_learn_from_is_reported_as_soon_as_it_is_opened(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\0\0\0")
    program.window.files_dropped.emit([picture])
    qtbot.waitUntil(lambda: "it looks like a picture" in program.messages.sentence.text(), timeout=WAIT)
    assert program.messages.isVisible()
    program.messages.close_button.click()
    program.form.choose(min_frequency=3)
    settle(qtbot, program)
    assert not program.messages.isVisible()  # it was said


def test_a_message_does_not_move_the_chart_tabs(qtbot: QtBot, program: Program) -> None:
    tabs = program.charts.tabBar()
    before = tabs.mapTo(program.window, QPoint())
    program.messages.show_notice(Notice("Something is told. " * 20))
    QApplication.processEvents()
    assert program.messages.isVisible()
    assert tabs.mapTo(program.window, QPoint()) == before
    sentence = program.messages.sentence
    assert sentence.height() >= sentence.heightForWidth(sentence.width())
    program.messages.hide()
    QApplication.processEvents()
    assert tabs.mapTo(program.window, QPoint()) == before


def test_a_panel_opened_from_the_menu_is_in_front_and_the_menu_cannot_hide_tool_bars(
    qtbot: QtBot, program: Program
) -> None:
    runs = program.window.docks["runs"]
    runs.toggleViewAction().trigger()
    qtbot.waitUntil(lambda: not runs.visibleRegion().isEmpty(), timeout=WAIT)
    bars = program.window.findChildren(QToolBar)
    assert {bar.objectName() for bar in bars} >= {"main", "time"}
    menu = program.window.createPopupMenu()
    shown = {action.text() for action in menu.actions() if action.isVisible()} if menu else set()
    assert not shown & {bar.windowTitle() for bar in bars}
    (button,) = (part for part in program.toolbar.children() if getattr(part, "text", str)() == "Open")
    program.choose_theme("dark")
    assert button.text() == "Open"  # type: ignore[attr-defined]


def test_the_status_bar_shows_the_name_of_the_run_and_all_run_names_differ(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program, 270)
    train(program)
    assert program.status.run.text() == "Run 1: gpt2"
    program.form.choose(special_tokens=("<pad>",))
    train(program)
    assert program.status.run.text() == "Run 2: gpt2, 1 special tokens"
    program.running.runs_menu.aboutToShow.emit()
    titles = [action.text() for action in program.running.runs_menu.actions()]
    assert titles == ["Run 2: gpt2, 1 special tokens, 13 merges", "Run 1: gpt2, no special tokens, 14 merges"]
    assert [title for _, title in program.pages[LanesPanel].model.choices] == [
        "gpt2, no special tokens · run 1",
        "gpt2, 1 special tokens · run 2",
    ]


def test_the_merge_table_and_the_docks_grow_with_the_window(
    qtbot: QtBot, new_program: Callable[..., Program], train: Train
) -> None:
    program = new_program()
    small(program, 320)
    train(program)
    window, table = program.window, program.merge_panel.table
    header = table.horizontalHeader()
    before = {name: window.docks[name].width() for name in ("inspector", "merges")}
    narrow = header.sectionSize(3)
    window.resize(2560, 1440)
    qtbot.waitUntil(lambda: window.docks["merges"].width() > 1.5 * before["merges"], timeout=WAIT)
    assert window.docks["inspector"].width() > 1.3 * before["inspector"]
    qtbot.waitUntil(lambda: header.sectionSize(3) > narrow, timeout=WAIT)
    fixed = QFontMetrics(fixed_font(table.font().pointSizeF()))
    for row in range(program.merges.rowCount()):
        for place in (1, 2, 3):
            text = program.merges.data(program.merges.index(row, place))
            assert fixed.horizontalAdvance(text) <= header.sectionSize(place)
    assert header.sectionSize(0) >= QFontMetrics(table.font()).horizontalAdvance("99,999")


def test_charts_show_the_values_under_the_mouse_pointer(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 320)
    train(program)

    def said_at_middle(figure: FigureView) -> str:
        (chart,) = figure.charts
        QApplication.processEvents()  # until it has its size
        port, middle = chart.viewport(), chart.mapFromScene(chart.box.sceneBoundingRect().center())
        place, away, none = QPointF(middle), QPointF(port.mapToGlobal(middle)), Qt.MouseButton.NoButton
        moved = QMouseEvent(QEvent.Type.MouseMove, place, away, none, none, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(port, moved)
        assert chart.crosshair.label.isVisible()
        return str(chart.crosshair.label.toPlainText())

    for name, wanted in (
        ("ranks", "Occurrences: "),
        ("compression", "Base symbols per token: "),
        ("lengths", "Tokens: "),
    ):
        program.charts.show_page(name)
        wait_for_answers(qtbot, program)
        page = program.charts.page
        assert isinstance(page, QuestionPage)
        assert wanted in said_at_middle(page.figure)
    program.actions["sizes"].trigger()
    wait_for_answers(qtbot, program)
    figure = program.pages.page(SIZES).figure
    assert said_at_middle(figure).startswith("Tokens in the vocabulary")
    assert "training text: " in figure.values_at(QPointF(figure.width() / 2, figure.height() / 2))


def test_the_time_bar_and_the_status_bar_are_visible_on_a_small_screen(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    """At double scale, a screen of 1280 by 800 pixels has only 640 by 400 points."""
    small(program, 270)
    train(program)
    window = program.window
    window.resize(640, 400)
    qtbot.waitUntil(lambda: window.height() <= 430, timeout=WAIT)
    assert program.status.geometry().bottom() <= window.rect().bottom()
    assert program.text_panel.editor.height() > 60  # the middle scrolls, and nothing in it is squeezed
