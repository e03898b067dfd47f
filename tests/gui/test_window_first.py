"""Tests of the priority of the window. Background tasks wait while the window is busy, but only for a limited time."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.window.parts.widgets import ProgressBar
from app.wiring import Program
from app.worker import window_first
from app.worker.job import Job, Mailbox


@pytest.fixture(autouse=True)
def window_at_rest(qtbot: QtBot) -> Iterator[None]:
    window_first.mark_window_free()
    yield
    window_first.mark_window_free()


def waited() -> float:
    began = time.monotonic()
    window_first.wait_for_window()
    return time.monotonic() - began


def test_background_threads_do_not_wait_while_the_window_is_idle() -> None:
    assert min(waited() for _ in range(100)) < 0.001


def test_background_threads_wait_a_limited_time_for_a_busy_window(qtbot: QtBot) -> None:
    window_first.mark_window_busy()
    assert waited() >= window_first.PATIENCE_SECONDS
    qtbot.waitUntil(lambda: waited() < window_first.PATIENCE_SECONDS)  # the event loop has come to rest


def test_a_waiting_background_thread_goes_on_when_the_window_becomes_idle() -> None:
    def seconds_until_idle() -> float:
        window_first.mark_window_busy()
        timer = threading.Timer(0.002, window_first.mark_window_free)
        timer.start()
        seconds = waited()
        timer.join()
        return seconds

    # On a busy machine, the timer is often late.
    assert any(seconds_until_idle() < window_first.PATIENCE_SECONDS for _ in range(500))


def test_background_threads_treat_a_window_that_is_drawing_as_busy(qtbot: QtBot, program: Program) -> None:
    qtbot.waitUntil(lambda: not window_first._Window.is_at_work)
    QApplication.sendEvent(program.window, QEvent(QEvent.Type.UpdateRequest))
    assert window_first._Window.is_at_work
    qtbot.waitUntil(lambda: not window_first._Window.is_at_work)


@pytest.mark.skipif(sys.platform != "linux", reason="threads have priorities of their own here only")
def test_background_jobs_run_with_a_lower_priority(qtbot: QtBot) -> None:
    priorities: list[int] = []

    class Modest(Job):
        def work(self) -> None:
            priorities.append(os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))

    job = Modest("a")
    job.start(Mailbox())
    job.join()
    mine = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    assert priorities[0] > mine or mine == window_first.MOST_MODEST


def test_a_new_value_of_a_progress_bar_does_not_repaint_the_window_immediately(qtbot: QtBot) -> None:
    drawn: list[QPaintEvent] = []

    class Beside(QWidget):
        def paintEvent(self, event: QPaintEvent) -> None:
            drawn.append(event)

    window = QWidget()
    qtbot.addWidget(window)
    window.resize(300, 100)
    beside, bar = Beside(window), ProgressBar(1000)
    bar.setParent(window)
    beside.resize(100, 50)
    bar.move(150, 0)
    window.show()
    qtbot.waitUntil(lambda: bool(drawn))
    QApplication.processEvents()
    drawn.clear()
    beside.update()
    bar.setValue(500)
    assert not drawn  # Qt's own bar would have had all of the window drawn by now
    qtbot.waitUntil(lambda: bool(drawn))
    assert bar.value() == 500
