"""The page to begin with: a word is typed, put together and explained; whatever is done next, it makes room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.settings import START_HERE, Settings
from app.window.start.start_page import STAGE
from app.wiring import Program
from tests.gui.conftest import WAIT


class Drawn(QObject):
    """How often something was drawn on the screen; a picture that is grabbed is no proof that anything was."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.times = 0
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.times += event.type() == QEvent.Type.Paint
        return False


def at_the_end(qtbot: QtBot, program: Program) -> None:
    """Through all scenes of the word, without waiting for each."""
    page = program.start_page
    qtbot.waitUntil(lambda: page.sentence.text() != "", timeout=WAIT)
    while page.forward.isEnabled():
        page.forward.click()


def test_a_word_is_cut_put_together_and_explained(
    qtbot: QtBot, new_program: Callable[..., Program], settings: Settings, tmp_path: Path
) -> None:
    settings.put(START_HERE, True)
    program = new_program()
    page, window = program.start_page, program.window
    assert window.stage == STAGE
    qtbot.waitUntil(page.field.hasFocus, timeout=WAIT)  # as soon as the window is active
    at_the_end(qtbot, program)
    assert window.stage == STAGE, "the sample it begins with is no news"
    assert "Merge 176 joins ␣ligh and thouse: 3 times in the sample." in page.sentence.text()
    assert "e + s was learned as merge 97, but e had already been taken by merge 61." in page.reasons.text()
    QTest.keyClicks(page.field, "the")
    assert page.reasons.text() == ""
    at_the_end(qtbot, program)
    assert page.view.accessibleDescription() == "␣the"
    assert "it is one token" in page.reasons.text()
    page.back.click()
    assert page.view.accessibleDescription() == "␣t | he"
    page.again.click()
    assert page.view.accessibleDescription() == "␣ | t | h | e"
    assert page.sentence.text() == "3 letters and the space before, in 4 bytes: one token each."

    page.train.click()
    assert window.stage == "", "there is something to be watched"
    drawn = Drawn(program.text_panel.editor.viewport())
    qtbot.waitUntil(lambda: drawn.times > 1, timeout=WAIT)  # again and again, as the text is cut anew
    program.actions["start_here"].trigger()
    assert window.stage == STAGE
    (tmp_path / "zebras.txt").write_text("zebras zebras", encoding="utf-8")
    program.opening.add_paths([tmp_path / "zebras.txt"])
    qtbot.waitUntil(lambda: window.stage == "", timeout=WAIT)  # texts were opened
    program.actions["start_here"].trigger()
    page.lesson.click()
    assert window.stage == ""
    assert window.docks["lessons"].isVisible()
    program.actions["start_here"].trigger()
    program.actions["lab"].trigger()
    assert window.stage == "lab"
    program.actions["start_here"].trigger()
    assert not program.actions["lab"].isChecked()
    page.at_start.click()
    page.close_button.click()
    assert window.stage == ""
    assert not settings.get(START_HERE)
