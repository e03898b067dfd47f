"""Tests of memory in the window.

The number of Qt objects does not grow when an action is used again and again. The editor of a removed text is freed.
"""

from __future__ import annotations

import gc
import weakref

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QInputDialog, QMessageBox
from pytestqt.qtbot import QtBot

from app.session.run import Run
from app.window.pages import CORPUS_TEXT
from app.window.text.text_model import TokenTextModel
from app.wiring import Program
from tests.conftest import ONCE
from tests.e2e.soak import count_qt_objects
from tests.gui.conftest import WAIT, Train, wait_for_rest

# The window is closed at the end, and files and pages of others are not opened here.
LEFT_OUT = {"quit", "claim_sessions"}
FIRST, FURTHER = 1, 2  # times that an action is pressed before, and between, the counts
AGAIN = 3  # times more before, and between, two further counts, if there were more objects


@pytest.fixture
def dialogs_close_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, name, lambda *_, **__: ("", ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_, **__: ([], ""))
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_, **__: "")
    for name, answer in (("getText", ""), ("getItem", ""), ("getInt", 0), ("getDouble", 1.0)):
        monkeypatch.setattr(QInputDialog, name, lambda *_, answer=answer, **__: (answer, False))
    monkeypatch.setattr(QMessageBox, "exec", lambda box: box.done(0) or 0)


def come_to_rest(qtbot: QtBot, program: Program) -> None:
    """Close all dialogs, and wait until all background tasks have ended and closed widgets are deleted."""
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QDialog) and widget.isVisible():
            widget.close()
    wait_for_rest(qtbot, program)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning", "ignore::DeprecationWarning")  # of IPython's parts
@pytest.mark.skipif(ONCE, reason="it takes half a minute, and another Python has run it")
def test_no_action_leaves_qt_objects_behind_when_repeated(
    qtbot: QtBot, program: Program, train: Train, dialogs_close_themselves: None, long_time_limit: None
) -> None:
    train(program)
    grown = {}
    pressed = set()
    for name, action in sorted(program.actions.by_name.items()):
        if name in LEFT_OUT:
            continue

        def objects_after(times: int, action: QAction = action) -> int:
            for _ in range(times):
                if action.isEnabled():
                    pressed.add(action)
                    action.trigger()
                    QCoreApplication.processEvents()
                come_to_rest(qtbot, program)
            return count_qt_objects(program)

        counts = [objects_after(FIRST), objects_after(FURTHER)]
        if counts[1] - counts[0] >= FURTHER:  # one each time, or some that are made once
            counts = [objects_after(AGAIN), objects_after(AGAIN)]
            if counts[1] - counts[0] >= AGAIN:
                grown[name] = counts
    assert grown == {}
    assert {program.actions[name] for name in ("undo", "stop")} <= pressed, "the actions before leave something to do"


def test_the_editor_of_a_removed_corpus_text_is_freed(qtbot: QtBot, program: Program) -> None:
    page = program.pages.page(CORPUS_TEXT)
    program.actions["corpus_text"].trigger()
    for number in range(6):
        program.filing.document.new()
        program.session.corpus.replace_by_text("it", f"low lower {number}")
        page.model.refresh()
        qtbot.waitUntil(lambda: page.model.opened is not None, timeout=WAIT)
    wait_for_rest(qtbot, program)
    program.session.corpus.replace_by_text("it", "at last")
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert page.editors.count() <= 2
    assert len(page.model.findChildren(TokenTextModel)) <= 2


def test_runs_of_former_sessions_are_freed(qtbot: QtBot, program: Program, train: Train) -> None:
    runs = list[weakref.ref[Run]]()
    for number in range(1, 5):
        program.session.corpus.replace_by_text("it", "low lower lowest newer newest " * number)
        train(program)
        for name in ("room_compare", "benchmark", "room_ask"):
            program.actions[name].trigger()
            wait_for_rest(qtbot, program)
        program.session.cursor.go_to(1)
        wait_for_rest(qtbot, program)
        program.form.choose(vocab_size=258 + number)  # a draft
        wait_for_rest(qtbot, program)
        runs += [weakref.ref(run) for run in program.session.runs.all]
        program.filing.document.new()
        wait_for_rest(qtbot, program)
    gc.collect()
    assert len(runs) >= 4
    alive = [run() for run in runs]
    assert [run.number for run in alive if run is not None] == []
