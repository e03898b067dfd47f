"""Tests of the layouts of the window. Closed panels can be shown again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.settings import OWN_LAYOUT, Settings
from app.window.actions import actions_in
from app.window.layouts.wiring import READY
from app.window.parts.zoom import USUAL, set_zoom, zoom_percent
from app.window.room_plan import DOCKS
from app.wiring import Program
from tests.gui.conftest import WAIT, NewProgram


@pytest.fixture(autouse=True)
def usual_zoom(qapp: QApplication) -> Iterator[None]:
    yield
    set_zoom(USUAL)


def open_docks(program: Program) -> set[str]:
    return {id for id, dock in program.window.docks.items() if not dock.isHidden()}


@pytest.mark.parametrize("id", [row.id for row in DOCKS])
def test_every_panel_can_be_closed_and_reopened_from_the_view_menu(qtbot: QtBot, program: Program, id: str) -> None:
    dock = program.window.docks[id]
    in_menu = [action for way, action in actions_in(program.window) if way == "View › Panels"]
    (action,) = (action for action in in_menu if action.text() == dock.windowTitle())
    if dock.isHidden():
        action.trigger()
    dock.titleBarWidget().close_button.click()  # type: ignore[attr-defined]
    assert dock.isHidden()
    assert not action.isChecked()
    action.trigger()
    qtbot.waitUntil(lambda: not dock.visibleRegion().isEmpty(), timeout=WAIT)
    assert action.isChecked()


def test_each_predefined_layout_shows_its_room_and_only_its_panels(program: Program) -> None:
    for name, layout in READY.items():
        program.actions[name].trigger()
        assert program.window.room == layout["room"]
        assert open_docks(program) == {*layout["docks"]}
    assert program.window.centre.sizes()[0] < program.window.centre.sizes()[1]  # the charts are last
    program.actions["layout_table"].trigger()
    assert program.window.centre.sizes()[0] > program.window.centre.sizes()[1]


def test_the_layout_for_projectors_zooms_the_window_to_150_percent(program: Program) -> None:
    program.actions["layout_projector"].trigger()
    assert zoom_percent() == 150


def test_a_saved_layout_can_be_shown_in_another_window(
    new_program: NewProgram, settings: Settings, qtbot: QtBot
) -> None:
    program = new_program()
    assert not program.actions["own_layout"].isEnabled()
    program.window.show_room("build")
    program.window.docks["runs"].close()
    program.zoom_to(110)
    program.actions["save_layout"].trigger()
    program.actions["layout_charts"].trigger()
    program.actions["zoom_usual"].trigger()
    again = new_program()
    assert again.actions["own_layout"].isEnabled()
    again.actions["own_layout"].trigger()
    assert (again.window.room, open_docks(again), zoom_percent()) == ("build", {"corpus", "recipe"}, 110)


@pytest.mark.parametrize("stored", ["", "no JSON", "[]", "7"])
def test_a_damaged_saved_layout_is_ignored(new_program: NewProgram, settings: Settings, stored: str) -> None:
    settings.put(OWN_LAYOUT, stored)
    assert not new_program().actions["own_layout"].isEnabled()
