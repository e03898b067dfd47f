"""A whole window for a test, with settings of its own, and nothing left behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import cast

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.session import timer
from app.session.run import Phase
from app.settings import LOCATION, PLAYS, START_HERE, Settings
from app.window.charts.pairs_page import PairsPage
from app.wiring import Program, build
from app.worker.job import THREAD

# The picture-only platform says the first three of windows with a least size and of menus; some fonts are why it
# says the last.
OFFSCREEN_CHATTER = (
    "This plugin does not support (propagateSizeHints|raise|grabbing)|Failed to compute left/right minimum bearings"
    "|Qt depends on a UTF-8 locale"  # said once where the language is C, to whichever test comes first
)
WAIT = 60_000  # milliseconds; a busy machine gets the time it needs
HURRY = 10  # times as soon as for a person, the window does what it would do after a pause


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.qt_log_ignore(OFFSCREEN_CHATTER))


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that look at one page after another, each of which would pause before it follows."""
    monkeypatch.setattr(timer, "hurry", HURRY)


@pytest.fixture
def settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Settings:
    # Not in the folder of the test, which may be opened as a folder of texts while settings are written.
    monkeypatch.setenv(LOCATION, str(tmp_path_factory.mktemp("settings") / "settings.ini"))
    settings = Settings()
    settings.put(START_HERE, False)  # what is tested lies behind that page
    settings.put(PLAYS, False)  # or whoever presses Train would wait for the end of the play
    return settings


@pytest.fixture
def new_program(qtbot: QtBot, settings: Settings, hurry: None) -> Iterator[Callable[..., Program]]:
    """Opens windows; all are closed at the end, and no thread of theirs lives on."""
    opened: list[Program] = []

    def make(*files: Path) -> Program:
        program = build(cast(QApplication, QApplication.instance()), settings, "light")
        opened.append(program)
        program.window.show()
        qtbot.waitExposed(program.window)
        program.begin(files)
        return program

    yield make
    for program in opened:
        program.window.may_close = lambda: True  # nobody is there any more to be asked
        program.window.close()
        program.deleteLater()  # with its models, before the views that listen to them
        program.window.deleteLater()
    for thread in threading.enumerate():
        if thread.name.startswith(THREAD):
            thread.join(WAIT / 1000)  # one that only answers is left behind, and ends by itself
            assert not thread.is_alive(), thread.name
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # or all of it would be drawn anew below
    cast(QApplication, QApplication.instance()).setStyleSheet("")  # what is shown next alone must not wear it


@pytest.fixture
def program(new_program: Callable[..., Program]) -> Program:
    """A window that holds the first sample."""
    return new_program()


@pytest.fixture
def train(qtbot: QtBot) -> Callable[[Program], None]:
    """Press Train and wait for the end."""

    def press_and_wait(program: Program) -> None:
        program.actions["main"].trigger()
        wait_for_phase(qtbot, program, Phase.ENDED)
        settle(qtbot, program)

    return press_and_wait


def wait_for_phase(qtbot: QtBot, program: Program, *phases: Phase) -> None:
    def is_there() -> None:
        run = program.session.runs.shown
        assert run is not None
        assert run.phase in phases, run.sentence

    qtbot.waitUntil(is_there, timeout=WAIT)


def settle(qtbot: QtBot, program: Program) -> None:
    """Wait until nothing is on its way any more."""

    def is_quiet() -> None:
        assert not program.encoder.is_behind
        assert not program.pages[PairsPage].model.is_waiting
        assert not program.session.corpus.counts.busy

    qtbot.waitUntil(is_quiet, timeout=WAIT)


def rest(qtbot: QtBot, program: Program) -> None:
    """Wait until nothing is under way, and nothing is about to begin: no timer is set that will ring once."""

    def is_at_rest() -> None:
        assert not program.session.aside.is_busy()
        timers = program.findChildren(QTimer) + program.window.findChildren(QTimer)
        assert not [timer for timer in timers if timer.isSingleShot() and timer.isActive()]

    settle(qtbot, program)
    qtbot.waitUntil(is_at_rest, timeout=WAIT)
