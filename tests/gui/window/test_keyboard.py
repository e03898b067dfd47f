"""Tests of the window for people who use only keys or a screen reader.

The Tab key reaches every control, and each control has a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAction, QShortcut
from PySide6.QtWidgets import QAbstractItemView, QApplication, QMenu, QMenuBar, QTabBar, QWidget
from pytestqt.qtbot import QtBot

from app.window.pages import LAB, LANES, PAIRS, TOKEN, WORDS
from app.window.room_plan import ROOMS
from app.wiring import Program
from tests.gui.conftest import WAIT, Train, wait_for_rest


def controls(program: Program) -> Iterator[QWidget]:
    """Yield the visible widgets that can have the focus, except the inner parts of Qt's own widgets."""
    for widget in program.window.findChildren(QWidget):
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or not widget.isVisible():  # as most: they are many
            continue
        if not (widget.objectName().startswith("qt_") or isinstance(widget, QMenuBar | QMenu) or widget.focusProxy()):
            yield widget


def name_of(widget: QWidget) -> str:
    interface = QAccessible.queryAccessibleInterface(widget)
    return str(interface.text(QAccessible.Text.Name))


def nameless(program: Program) -> list[str]:
    return [
        f"{type(widget).__name__} in {type(widget.parent()).__name__}"
        for widget in controls(program)
        if not name_of(widget)
        and not (isinstance(widget, QTabBar) and widget.count() == 0)  # one that Qt keeps background
    ]


def every_page(program: Program) -> Iterator[str]:
    """Show each chart, each page of the inspector and each dock, and yield its name.

    At the end, show more choices of the recipe.
    """
    for tabs in (program.charts, program.inspector):
        for page in range(tabs.count()):
            tabs.setCurrentIndex(page)
            yield tabs.tabText(page)
    for id, dock in program.window.docks.items():
        program.window.show_dock(id)
        yield dock.windowTitle()
    program.recipe_panel.more_button.click()
    yield "More"


def test_every_control_of_the_window_has_an_accessible_name(qtbot: QtBot, program: Program, train: Train) -> None:
    assert nameless(program) == []
    train(program)
    for page in every_page(program):
        qtbot.wait(1)
        assert nameless(program) == [], page


def spoken(widget: QWidget) -> str:
    """Return what a screen reader says about a widget: its name and its description."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return f"{interface.text(QAccessible.Text.Name)}: {interface.text(QAccessible.Text.Description)}"


def spoken_cells(table: QAbstractItemView) -> list[str]:
    interface = QAccessible.queryAccessibleInterface(table)
    return [interface.child(place).text(QAccessible.Text.Name) for place in range(interface.childCount())]


@pytest.mark.usefixtures("only_window")
@pytest.mark.parametrize("room", [room.id for room in ROOMS])
def test_a_screen_reader_can_read_the_text_and_the_tiles_and_the_tables_and_the_charts_of_each_room(
    qtbot: QtBot, program: Program, train: Train, room: str
) -> None:
    train(program)
    program.window.show_room(room)
    wait_for_rest(qtbot, program)
    editor = program.pages.page(LANES).editor if room == "compare" else program.text_panel.editor
    if room != "build":
        text = QAccessible.queryAccessibleInterface(editor).textInterface()
        assert text.text(0, 10) == "The keeper"
    if room == "watch":
        assert spoken(program.watch.view) == "The word, split into tokens: ␣lighthouse | s"
        assert spoken(program.pages.page(PAIRS)).startswith("Pairs now: Next: ")
    elif room == "ask":
        assert "␣ninety" in spoken_cells(program.merge_panel.table)
        figure = program.pages.page(TOKEN).life.chart
        assert spoken(figure).startswith("Occurrences over time: How often the token ␣ninety")
    elif room == "compare":
        figure = program.pages.page(LAB).figure
        assert spoken(figure) == (
            "Bytes per token by size: Bytes per token of 1 text for each vocabulary size. A: 2.91 at the end"
        )
    else:
        table = program.pages.page(WORDS).table
        assert {*spoken_cells(table)} >= {"Word", "␣the", "87", "9.32 %"}
        assert spoken_cells(program.corpus_panel.list) == ["The lighthouse library (prose)"]


def is_in_sight(widget: QWidget) -> bool:
    """Return whether the middle of a widget is visible, and not hidden by the scroll areas around the widget."""
    around: QWidget | None = widget
    while around is not None and around.rect().contains(widget.mapTo(around, widget.rect().center())):
        if around.isWindow():
            return True
        around = around.parentWidget()
    return False


def controls_in_order(program: Program, key: Qt.Key) -> list[QWidget]:
    """Return the controls in the order in which `key` reaches them: Tab forwards, or Backtab backwards.

    Stop at the first control that is reached a second time.
    """
    reached: list[QWidget] = []
    program.toolbar.main_button.setFocus()
    while (now := QApplication.focusWidget()) is not None and now not in reached:
        reached.append(now)
        assert is_in_sight(now), name_of(now)
        program.window.focusNextPrevChild(key == Qt.Key.Key_Tab)
    return reached


def test_the_tab_key_moves_between_the_visible_parts_of_the_window(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    train(program)
    program.window.raise_lessons()
    qtbot.wait(1)
    reached = controls_in_order(program, Qt.Key.Key_Backtab)
    landmarks: tuple[QWidget, ...] = (
        program.toolbar.main_button,
        program.text_panel.editor,
        program.charts.page,
        program.merge_panel.table,
        program.time_bar.track,
    )
    backwards = [widget for widget in reached if widget in landmarks]
    assert backwards == [landmarks[0], *landmarks[:0:-1]]
    forwards = [widget for widget in controls_in_order(program, Qt.Key.Key_Tab) if widget in landmarks]
    assert forwards == list(landmarks)


def mnemonics(menu: QMenu | QMenuBar) -> Iterator[str]:
    letters: dict[str, str] = {}
    for action in menu.actions():
        match = re.search("&([^&])", action.text())
        if match:
            letter = match[1].lower()
            if letter in letters:
                yield f"{action.text()} and {letters[letter]}"
            letters[letter] = action.text()
        if isinstance(action.menu(), QMenu):
            yield from mnemonics(action.menu())  # type: ignore[arg-type]


@pytest.mark.usefixtures("only_window")
def test_the_entries_of_each_menu_have_different_access_letters(qtbot: QtBot, program: Program, train: Train) -> None:
    assert list(mnemonics(program.window.menuBar())) == []
    train(program)
    program.form.choose(vocab_size=600)
    qtbot.waitUntil(lambda: program.actions["main"].text() == "&Continue", timeout=WAIT)
    assert list(mnemonics(program.window.menuBar())) == []


@pytest.mark.usefixtures("only_window")
def test_no_key_is_the_shortcut_of_two_actions(program: Program) -> None:
    keys: dict[str, str] = {}
    everywhere = {Qt.ShortcutContext.WindowShortcut, Qt.ShortcutContext.ApplicationShortcut}
    for action in program.window.findChildren(QAction):
        for shortcut in action.shortcuts() if action.shortcutContext() in everywhere else ():
            assert shortcut.toString() not in keys, f"{action.text()} and {keys[shortcut.toString()]}"
            keys[shortcut.toString()] = action.text()
    assert {key.key().toString() for key in program.window.findChildren(QShortcut)}.isdisjoint(keys)


@pytest.mark.usefixtures("only_window")
def test_frequent_actions_have_a_keyboard_shortcut(program: Program) -> None:
    often = ("main", "step", "stop", "export", "find", "undo", "live", "play", "go_to", "open")
    assert [name for name in often if program.actions[name].shortcut().isEmpty()] == []


@pytest.mark.usefixtures("only_window")
@pytest.mark.parametrize("room", [room.id for room in ROOMS])
def test_the_tab_key_reaches_every_part_of_each_room(qtbot: QtBot, program: Program, train: Train, room: str) -> None:
    train(program)
    program.window.show_room(room)
    program.window.activateWindow()
    qtbot.waitUntil(program.window.isActiveWindow, timeout=WAIT)
    wait_for_rest(qtbot, program)  # an answer that comes meanwhile would move what has the focus
    reached = controls_in_order(program, Qt.Key.Key_Tab)
    assert QApplication.focusWidget() is reached[0], "it comes back to where it began"
    assert [name_of(widget) for widget in reached if not widget.isVisible()] == []
    titles = {name_of(widget) for widget in reached}
    assert titles >= {room.title for room in ROOMS}
    backwards = controls_in_order(program, Qt.Key.Key_Backtab)
    assert set(backwards) == set(reached)
    closed_by = {dock.titleBarWidget() for dock in program.window.docks.values() if not dock.isHidden()}
    assert {title for title in closed_by if not any(title.isAncestorOf(widget) for widget in reached)} == set()
