"""Tests of the whole window: settings, themes, names, help, unexpected errors, and closing during work."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QDialog,
    QLineEdit,
    QSlider,
    QSpinBox,
    QTabBar,
    QToolBar,
)
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.settings import Settings
from app.window.pages import PAGES
from app.wiring import Program
from app.worker.training import TrainingJob
from tests.gui.conftest import WAIT, Train, wait_for_phase
from tests.gui.small_run import rows, small


def test_a_new_window_starts_with_the_settings_of_the_last_window(
    qtbot: QtBot, new_program: Callable[..., Program], settings: Settings
) -> None:
    program = new_program()
    program.speed.slider.setValue(40)
    program.actions["copy_headers"].setChecked(False)
    program.window.docks["inspector"].hide()
    program.window.close()
    again = new_program()
    assert again.speed.slider.value() == 40
    assert not again.actions["copy_headers"].isChecked()
    assert not again.window.docks["inspector"].isVisible()
    again.window.reset_layout()
    assert again.window.docks["inspector"].isVisible()


def test_the_window_changes_between_dark_and_light_theme(program: Program) -> None:
    window = program.window
    for choice, is_dark in (("dark", True), ("light", False)):
        program.choose_theme(choice)
        assert (window.palette().window().color().lightness() < 128) == is_dark
        picture = window.grab().toImage()
        assert (picture.pixelColor(5, picture.height() - 40).lightness() < 128) == is_dark


def test_every_control_has_a_name_and_every_action_has_a_tip(program: Program) -> None:
    assert all(program.pages.page(row) for row in PAGES)  # all are there
    for kind in (QComboBox, QSlider, QLineEdit, QAbstractSpinBox):
        for control in program.window.findChildren(kind):
            inside_another = isinstance(control.parent(), QComboBox | QAbstractSpinBox)
            assert control.accessibleName() or inside_another, control
    for button in program.window.findChildren(QAbstractButton):
        if button.isVisible() and not button.objectName().startswith("qt_"):
            of_qt = type(button.parent()) in (QTabBar, QToolBar, QSpinBox)
            assert button.accessibleName() or button.text() or button.toolTip() or of_qt, (button, button.parent())
    for action in program.actions.by_name.values():
        assert action.toolTip()
    keys = [action.shortcut().toString() for action in program.actions.by_name.values()]
    keys = [key for key in keys if key]  # the platform has none for some of the standard ones
    assert len(keys) == len(set(keys)) > 15
    least = program.window.minimumSizeHint().expandedTo(program.window.minimumSize())
    assert least.width() <= 800  # of a small screen
    assert least.height() <= 600


def test_the_manual_and_the_about_dialog_open(qtbot: QtBot, program: Program) -> None:
    for name in ("manual", "about"):
        program.actions[name].trigger()
        dialogs = [dialog for dialog in program.window.findChildren(QDialog) if dialog.isVisible()]
        assert len(dialogs) == 1
        dialogs[0].close()


def test_an_unexpected_error_can_be_copied_and_does_not_close_the_session(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    try:
        raise ZeroDivisionError("a bug of ours")
    except ZeroDivisionError as error:
        sys.excepthook(type(error), error, error.__traceback__)
    qtbot.waitUntil(lambda: program.crashes.dialog is not None and program.crashes.dialog.isVisible(), timeout=WAIT)
    dialog, program.crashes.dialog = program.crashes.dialog, None
    assert dialog is not None
    dialog.copy_button.click()
    assert "a bug of ours" in QGuiApplication.clipboard().text()
    assert rows(program) == 64
    assert program.window.isVisible()


def test_a_bug_in_the_training_thread_makes_the_run_fail_and_is_shown(
    qtbot: QtBot, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: TrainingJob) -> None:
        raise ZeroDivisionError("a bug in the thread")

    monkeypatch.setattr(TrainingJob, "work", broken)
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.FAILED)
    qtbot.waitUntil(lambda: program.crashes.dialog is not None, timeout=WAIT)
    program.crashes.dialog = None
    assert program.actions["main"].isEnabled()


def test_the_window_can_be_closed_during_training(qtbot: QtBot, program: Program) -> None:
    program.speed.slider.setValue(50)
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: rows(program) > 3, timeout=WAIT)
    program.window.close()  # the fixture sees to it that no thread is left


@pytest.mark.parametrize("moment", ["at once", "soon"])
def test_the_window_can_be_closed_while_the_corpus_is_counted(
    qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path, moment: str
) -> None:
    path = tmp_path / "large.txt"
    path.write_text("".join(f"word{number} " for number in range(600_000)))
    program = new_program(path)
    if moment == "soon":
        qtbot.waitUntil(lambda: program.session.corpus.counts.is_busy, timeout=WAIT)
    program.window.close()
