"""Tests of leaving a session if no safety copy can be written. The program always asks first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from app.screenshot import Screenshot
from app.settings import data_folder
from app.window.sessions import wiring as filing
from app.wiring import Program
from bpe_core.errors import OutputError
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedSession
from bpe_core.session_file.writing import SessionWriter, write_session
from bpe_core.support.progress import CancelCheck, never_cancelled
from tests.gui.conftest import WAIT, wait_for_sentence

Button = QMessageBox.StandardButton


class DialogAnswerer:
    """A helper that presses a button of the dialog as soon as it opens, and remembers the text of the dialog."""

    def __init__(self, qtbot: QtBot) -> None:
        self.asked: list[str] = []
        self._qtbot = qtbot

    def __call__(self, button: Button, act: Callable[[], object]) -> None:
        QTimer.singleShot(0, lambda: self._press(button))
        act()

    def _press(self, button: Button) -> None:
        box = QApplication.activeModalWidget()
        if isinstance(box, QMessageBox):
            self.asked.append(f"{box.text()} {box.informativeText()}")
            box.button(button).click()


@pytest.fixture
def answerer(qtbot: QtBot) -> DialogAnswerer:
    return DialogAnswerer(qtbot)


def not_a_folder(_: pytest.MonkeyPatch) -> None:
    data_folder().parent.mkdir(exist_ok=True)
    data_folder().write_text("a file where the folder should be")


class WriterWithoutRoom(SessionWriter):
    """A writer that fails as if the disk were full."""

    def update(self, session: SavedSession, *, cancelled: CancelCheck = never_cancelled) -> None:
        raise OutputError("Could not write it: database or disk is full.")


def a_full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.session.safety_copy.SessionWriter", WriterWithoutRoom)


@pytest.fixture(params=[not_a_folder, a_full_disk], ids=["no folder", "no room"])
def window_without_copy(
    request: pytest.FixtureRequest, program: Program, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Program:
    """Return a window with unsaved work. Its safety copy cannot be written."""
    request.param(monkeypatch)
    program.token_text.set_text("not to be lost")
    qtbot.waitUntil(lambda: program.session.text.value == "not to be lost", timeout=WAIT)
    return program


def test_closing_a_window_asks_what_to_do_if_the_safety_copy_cannot_be_written(
    window_without_copy: Program, answerer: DialogAnswerer
) -> None:
    answerer(Button.Cancel, window_without_copy.window.close)
    assert window_without_copy.window.isVisible()
    (said,) = answerer.asked
    assert "safety copy cannot be written" in said
    assert "Could not write" in said
    window_without_copy.token_text.set_text("and it goes on")
    answerer(Button.Discard, window_without_copy.window.close)
    assert not window_without_copy.window.isVisible()
    assert len(answerer.asked) == 2


def test_choosing_save_in_the_closing_dialog_saves_the_session(
    qtbot: QtBot,
    window_without_copy: Program,
    answerer: DialogAnswerer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "kept.bpex"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    answerer(Button.Save, window_without_copy.window.close)
    qtbot.waitUntil(lambda: not window_without_copy.window.isVisible(), timeout=WAIT)
    assert read_session(path).text == "not to be lost"


def test_cancelling_the_save_dialog_keeps_the_window_open(
    window_without_copy: Program, answerer: DialogAnswerer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    answerer(Button.Save, window_without_copy.window.close)
    assert window_without_copy.window.isVisible()
    assert window_without_copy.token_text.text() == "not to be lost"


@pytest.mark.parametrize("way", ["new", "open"])
def test_opening_or_beginning_another_session_asks_what_to_do_with_unsaved_work(
    qtbot: QtBot, window_without_copy: Program, answerer: DialogAnswerer, tmp_path: Path, way: str
) -> None:
    other = tmp_path / "other.bpex"
    other.write_bytes(b"")
    ways = {
        "new": window_without_copy.actions["new_session"].trigger,
        "open": lambda: window_without_copy.filing.open(other),
    }
    answerer(Button.Cancel, cast(Callable[[], object], ways[way]))
    assert len(answerer.asked) == 1
    assert window_without_copy.token_text.text() == "not to be lost"


def test_discarding_the_current_session_opens_the_requested_session(
    qtbot: QtBot, program: Program, answerer: DialogAnswerer, tmp_path: Path
) -> None:
    write_session(SavedSession(Recipe.preset("gpt2"), text="the other"), tmp_path / "other.bpex")
    data_folder().parent.mkdir(exist_ok=True)
    data_folder().write_text("a file where the folder should be")
    program.token_text.set_text("not needed")
    qtbot.waitUntil(lambda: program.session.text.value == "not needed", timeout=WAIT)
    with qtbot.waitSignal(program.filing.document.opened, timeout=WAIT):
        answerer(Button.Discard, lambda: program.filing.open(tmp_path / "other.bpex"))
    assert program.token_text.text() == "the other"


def test_closing_the_window_asks_no_question_if_a_safety_copy_can_be_written(
    qtbot: QtBot, program: Program, answerer: DialogAnswerer
) -> None:
    program.token_text.set_text("kept")
    qtbot.waitUntil(lambda: program.session.text.value == "kept", timeout=WAIT)
    answerer(Button.Cancel, program.window.close)
    assert not program.window.isVisible()
    assert answerer.asked == []
    (copy,) = (data_folder() / "unsaved").glob("*.bpex")
    assert read_session(copy, is_safety_copy=True).text == "kept"


def test_quitting_with_unsaved_work_of_the_user_asks_what_to_do(
    qtbot: QtBot, program: Program, answerer: DialogAnswerer
) -> None:
    program.token_text.set_text("kept")
    qtbot.waitUntil(lambda: program.session.text.value == "kept", timeout=WAIT)
    answerer(Button.Cancel, program.actions["quit"].trigger)
    assert program.window.isVisible()
    assert answerer.asked == [
        (
            "Do you want to save this session? If you keep the session for next time, BPE Explorer offers "
            "to restore it at the next start."
        )
    ]
    event = PersonalCloseEvent()
    answerer(Button.Cancel, lambda: program.window.closeEvent(event))
    assert (event.isAccepted(), len(answerer.asked)) == (False, 2)
    answerer(Button.Discard, program.actions["quit"].trigger)
    assert (program.window.isVisible(), len(answerer.asked)) == (False, 3)
    (copy,) = (data_folder() / "unsaved").glob("*.bpex")
    assert read_session(copy, is_safety_copy=True).text == "kept"


class PersonalCloseEvent(QCloseEvent):
    """A close event like that of the close button in the title bar."""

    def spontaneous(self) -> bool:
        return True


def test_quitting_asks_no_question_if_only_the_sample_was_trained(
    program: Program, answerer: DialogAnswerer, train: Callable[[Program], None]
) -> None:
    train(program)
    assert program.session.runs.all
    answerer(Button.Cancel, program.actions["quit"].trigger)
    assert (program.window.isVisible(), answerer.asked) == (False, [])
    assert list((data_folder() / "unsaved").glob("*.bpex")) == [], "nor does the next start ask whether to restore it"


def test_a_new_session_offers_to_restore_the_previous_session(qtbot: QtBot, program: Program) -> None:
    program.token_text.set_text("not to be lost")
    qtbot.waitUntil(lambda: program.session.text.value == "not to be lost", timeout=WAIT)
    program.actions["new_session"].trigger()
    wait_for_sentence(qtbot, program, "The previous session is kept as an unsaved session: ")
    assert program.token_text.text() != "not to be lost"
    next(button for button in program.messages.findChildren(QPushButton) if button.text() == "Restore").click()
    qtbot.waitUntil(lambda: program.token_text.text() == "not to be lost", timeout=WAIT)


def test_closing_a_window_a_second_time_is_never_refused(program: Program) -> None:
    """Qt closes all visible windows before the program ends. A window that refused to close would prevent the end."""
    events: list[str] = []
    program.window.closing.connect(lambda: events.append("closing"))
    assert program.window.close()
    program.window.may_close = lambda: False  # as where no safety copy can be kept any more
    program.window.show()
    assert program.window.close()
    assert events == ["closing"]


def test_taking_a_screenshot_asks_no_question_even_if_no_safety_copy_can_be_kept(
    qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, ended, asked = new_program(), list[int](), list[str]()
    monkeypatch.setattr(program.filing.document, "write_safety_copy", lambda: "The disk is full.")
    monkeypatch.setattr(filing, "ask_before_leaving", lambda window, why: asked.append(why))
    monkeypatch.setattr(QApplication, "exit", ended.append)
    picture = tmp_path / "window.png"
    taken = Screenshot(program, picture)
    qtbot.waitUntil(lambda: bool(ended), timeout=WAIT)
    assert (ended, asked, picture.exists()) == ([0], [], True), taken
