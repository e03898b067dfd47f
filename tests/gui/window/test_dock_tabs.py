"""Tests of the tabs of docks. Each group of docks has one tab bar below it, and clicks on its tabs work."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTabBar
from pytestqt.qtbot import QtBot

from app.window.dock_title import DockTitle
from app.wiring import Program
from tests.gui.conftest import WAIT, NewProgram


def bars_in_sight(program: Program) -> list[QTabBar]:
    window = program.window
    bars = [child for child in window.children() if isinstance(child, QTabBar)]
    return [bar for bar in bars if bar.isVisible() and bar.geometry().intersects(window.rect())]


def titles(bar: QTabBar) -> list[str]:
    return [bar.tabText(place) for place in range(bar.count())]


def check(qtbot: QtBot, program: Program, *wanted: list[str]) -> None:
    """Check that only the tab bars in `wanted` are visible, and that each is right below one of its docks.

    `wanted` has the titles of each tab bar.
    """

    def is_tidy() -> None:
        bars, docks = bars_in_sight(program), program.window.docks.values()
        assert sorted(map(titles, bars)) == sorted(wanted)
        for bar in bars:
            dock = next(d for d in docks if d.windowTitle() == bar.tabText(bar.currentIndex()))
            assert (bar.x(), bar.y()) == (dock.x(), dock.geometry().bottom() + 1)

    qtbot.waitUntil(is_tidy, timeout=WAIT)


def click_tab(qtbot: QtBot, program: Program, title: str) -> None:
    bar = next(bar for bar in bars_in_sight(program) if title in titles(bar))
    place = bar.tabRect(titles(bar).index(title)).center()
    on_window = bar.mapTo(program.window, place)
    top = program.window.childAt(on_window)
    assert top is bar, "something else lies over the tabs"
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=place)


def go_on_building(program: Program) -> None:
    """Show the room Build with two tabs. The recipe is in front, and the bookmarks are behind it."""
    program.window.show_room("build")
    program.window.docks["bookmarks"].show()


def test_the_docks_of_the_build_room_have_one_tab_bar_when_the_window_opens(qtbot: QtBot, program: Program) -> None:
    go_on_building(program)
    check(qtbot, program, ["Recipe", "Bookmarks"])


def test_dock_tab_bars_stay_correct_when_the_lessons_open_and_close(qtbot: QtBot, program: Program) -> None:
    go_on_building(program)
    program.window.raise_lessons()
    check(qtbot, program, ["Recipe", "Bookmarks", "Lessons"])
    click_tab(qtbot, program, "Recipe")
    qtbot.waitUntil(lambda: not program.window.docks["recipe"].visibleRegion().isEmpty(), timeout=WAIT)
    program.window.docks["lessons"].hide()
    check(qtbot, program, ["Recipe", "Bookmarks"])


def test_dock_tabs_work_after_the_layout_is_reset(qtbot: QtBot, program: Program) -> None:
    go_on_building(program)
    for _ in range(3):
        program.window.raise_lessons()
        qtbot.wait(1)
        program.window.reset_layout()
    program.window.docks["bookmarks"].show()
    check(qtbot, program, ["Recipe", "Bookmarks"])
    click_tab(qtbot, program, "Bookmarks")
    qtbot.waitUntil(lambda: not program.window.docks["bookmarks"].visibleRegion().isEmpty(), timeout=WAIT)


def test_the_dock_tabs_of_a_second_window_match_the_visible_panels(qtbot: QtBot, new_program: NewProgram) -> None:
    first = new_program()
    go_on_building(first)
    first.window.raise_lessons()
    qtbot.wait(1)
    first.window.close()
    second = new_program()
    second.window.show_room("build")
    check(qtbot, second, ["Recipe", "Bookmarks", "Lessons"])
    second.window.docks["lessons"].hide()
    check(qtbot, second, ["Recipe", "Bookmarks"])


def test_the_main_panels_have_enough_space_when_the_window_opens(program: Program) -> None:
    docks = program.window.docks
    assert docks["merges"].width() >= program.window.width() // 3
    assert docks["merges"].height() >= 280
    assert docks["inspector"].height() >= 300
    assert program.merge_panel.table.rowAt(program.merge_panel.table.viewport().height() - 1) == -1  # empty as yet


def test_every_panel_can_be_closed_and_shown_again(qtbot: QtBot, program: Program) -> None:
    window = program.window
    window.show_room("build")
    for id, dock in window.docks.items():
        window.show_dock(id, here=True)
        title = dock.titleBarWidget()
        assert isinstance(title, DockTitle)
        qtbot.waitUntil(title.close_button.isVisible, timeout=WAIT)
        assert title.title.text() == dock.windowTitle()
        qtbot.mouseClick(title.close_button, Qt.MouseButton.LeftButton)
        assert dock.isHidden()
        window.show_dock(id, here=True)
        assert not dock.isHidden()


def test_the_lessons_action_opens_and_closes_the_lessons(qtbot: QtBot, program: Program) -> None:
    lessons = program.window.docks["lessons"]
    program.actions["lessons"].trigger()
    qtbot.waitUntil(lambda: not program.lesson_panel.list.visibleRegion().isEmpty(), timeout=WAIT)
    program.actions["lessons"].trigger()
    assert lessons.isHidden()
    program.actions["lessons"].trigger()
    assert not lessons.isHidden()
