"""The fixtures of the window's tests. Each test has its own settings, and leaves no files or windows behind."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QEventLoop, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from app.session import time as session_time
from app.session.run import Phase
from app.settings import LESSON_PLACES, LESSONS_DONE, LIVE, LOCATION, PLAYS, RECENT_FILES, SPEED, START_HERE, Settings
from app.window.charts import rows as _charts  # noqa: F401  # pyqtgraph must not be loaded while jobs run
from app.window.parts.lazy_model import LazyModel
from app.window.parts.timing import Throttle
from app.wiring import FIRST_RECIPE, Program, build
from app.worker.job import THREAD
from bpe_core.methods.registry import METHODS
from bpe_core.questions import floor
from tests import adding_method, dropping_method

# The picture-only platform says the first three of windows with a least size and of menus; some fonts are why it
# says the last.
OFFSCREEN_CHATTER = (
    "This plugin does not support (propagateSizeHints|raise|grabbing)|Failed to compute left/right minimum bearings"
    "|Qt depends on a UTF-8 locale"  # said once where the language is C, to whichever test comes first
)
NewProgram = Callable[..., Program]
Train = Callable[[Program], None]
WAIT = 300_000  # milliseconds; a busy machine gets the time it needs
SWITCHED_ON = "switched on at first"  # which actions of the window that tests share
HURRY = 10  # times as soon as for a person, the window does what it would do after a pause


class PatientQtBot(QtBot):
    """A QtBot that waits as long as a busy machine needs. Without a time limit, pytest-qt waits for 5 seconds."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        super().__init__(request)
        self._events = QEventLoop()
        self._alarm = QTimer()
        self._alarm.setSingleShot(True)
        self._alarm.timeout.connect(self._events.quit)

    def wait(self, ms: int) -> None:
        """Process events for a while.

        Tests wait very often, so all waits share one event loop. Making another loop each time would cost more than
        the waiting itself.
        """
        if self._events.isRunning():  # something that waits has been called while a test waits
            super().wait(ms)
        else:
            self._alarm.start(ms)
            self._events.exec()

    def waitUntil(self, callback: Callable[[], bool | None], *, timeout: int = WAIT) -> None:
        super().waitUntil(callback, timeout=timeout)

    def waitSignal(self, signal: Any, *, timeout: int = WAIT, **how: Any) -> Any:
        return super().waitSignal(signal, timeout=timeout, **how)

    def waitExposed(self, widget: QWidget, *, timeout: int = WAIT) -> Any:
        return super().waitExposed(widget, timeout=timeout)


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> QtBot:
    return PatientQtBot(request)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        item.add_marker(pytest.mark.qt_log_ignore(OFFSCREEN_CHATTER))


@pytest.fixture(autouse=True)
def release_keys_and_buttons(qapp: QApplication) -> Iterator[None]:
    """Release keys and mouse buttons after each test.

    After a click with Shift or Ctrl, Qt still treats the key as pressed, so a click in the next test would extend the
    selection. The fixture also makes sure that an application exists. Without one, Qt ends the process when a text is
    measured.
    """
    yield
    if QApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
        QTest.keyRelease(QWidget(), Qt.Key.Key_Shift)
        assert QApplication.keyboardModifiers() == Qt.KeyboardModifier.NoModifier
    for button in (Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton):
        if QApplication.mouseButtons() & button:  # what waits for its release would wait in all tests to come
            there = QWidget()
            there.show()
            QTest.mouseRelease(there, button)


@pytest.fixture(autouse=True)
def delete_closed_widgets(qapp: QApplication) -> Iterator[None]:
    """Delete the widgets that a test has closed, so that no event of a later test reaches them."""
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the pauses between refreshes of pages, because tests look at many pages."""
    monkeypatch.setattr(session_time, "hurry", HURRY)


@pytest.fixture(autouse=True, scope="session")
def short_searches() -> None:
    """End the search of a floor after a twentieth of the usual rounds, because many tests show all pages."""
    floor.ROUNDS //= 20
    floor.SWAPS //= 20


@pytest.fixture
def long_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengthen the time limit for quick training runs, so that a busy machine does not exceed it."""
    monkeypatch.setattr("app.session.playing.PATIENCE_MILLISECONDS", WAIT * HURRY)


@pytest.fixture
def settings(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Settings:
    return settings_in(tmp_path_factory, monkeypatch)


def settings_in(folders: pytest.TempPathFactory, patch: pytest.MonkeyPatch) -> Settings:
    # Not in the folder of the test, which may be opened as a folder of texts while settings are written.
    patch.setenv(LOCATION, str(folders.mktemp("settings") / "settings.ini"))
    settings = Settings()
    settings.put(START_HERE, False)  # what is tested lies behind that page
    settings.put(LIVE, False)  # or each choice in the recipe would be a run
    settings.put(PLAYS, False)  # or whoever presses Train would wait for the end of the play
    return settings


@pytest.fixture
def new_program(qtbot: QtBot, settings: Settings, short_pauses: None) -> Iterator[Callable[..., Program]]:
    """Return a function that opens a window. After the test, close all windows, and check that no thread is left."""
    with windows(settings) as make:
        yield make


@contextmanager
def windows(settings: Settings) -> Iterator[Callable[..., Program]]:
    opened: list[Program] = []
    application = cast(QApplication, QApplication.instance())
    before = application.styleSheet()  # none, unless another window stands there

    def make(*files: Path) -> Program:
        program = build(application, settings, "light")
        opened.append(program)
        program.window.resize(1280, 800)  # the screen of tests is smaller
        program.window.show()
        QTest.qWaitForWindowExposed(program.window)
        program.begin(files)
        program.window.show_room("ask")
        return program

    yield make
    for program in opened:
        try:
            assert_nothing_broke(program)
        finally:  # or its threads would keep the next tests waiting
            program.window.may_close = lambda: True  # nobody is there any more to be asked
            program.window.close()
            program.deleteLater()  # with its models, before the views that listen to them
            program.window.deleteLater()
    for thread in threading.enumerate():
        if thread.name.startswith(THREAD) and not before:
            thread.join(WAIT / 1000)  # one that only answers is left behind, and ends by itself
            assert not thread.is_alive(), thread.name
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # or all of it would be drawn anew below
    if application.styleSheet() != before:
        application.setStyleSheet(before)  # what is shown next alone must not wear it


@pytest.fixture
def dropping(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Register two methods that are defined only for tests, and remove them after the test.

    Windows that could still show a run of these methods are also removed.

    The fixture uses the test's own `monkeypatch`, because the test may patch a method, too. If two patches were
    undone in the wrong order, the method would stay registered.
    """
    shown_before = set(QApplication.topLevelWidgets())
    monkeypatch.setitem(METHODS, "dropping", dropping_method.METHOD)
    monkeypatch.setitem(METHODS, "adding", adding_method.METHOD)
    yield
    for widget in set(QApplication.topLevelWidgets()) - shown_before:
        widget.hide()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


@pytest.fixture(scope="module")
def only_window(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Return the window that all tests of a file share.

    A file with `pytestmark = pytest.mark.usefixtures("only_window")` shares its window. Use it for tests of the
    session in a window. Tests that open, close or arrange a window, or that check its settings or memory, need a
    window of their own. A test that connects a signal must disconnect it.
    """
    with window_of_many_tests(tmp_path_factory) as program:
        yield program


@contextmanager
def window_of_many_tests(folders: pytest.TempPathFactory) -> Iterator[Program]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_time, "hurry", HURRY)
        with windows(settings_in(folders, patch)) as make:
            program = make()
            program.setProperty(
                SWITCHED_ON, [name for name, action in program.actions.by_name.items() if action.isChecked()]
            )
            yield program


@pytest.fixture
def new_session(qtbot: QtBot, only_window: Program, short_pauses: None) -> Iterator[Callable[..., Program]]:
    """Return a function that begins a new session in the shared window, which is much faster than opening a window."""
    assert only_window.window.isVisible(), "a test has closed the window that others share with it"

    def begin(*files: Path) -> Program:
        return begin_session(qtbot, only_window, *files)

    yield begin
    assert_nothing_broke(only_window)


def begin_session(qtbot: QtBot, program: Program, *files: Path) -> Program:
    """Reset a window, and begin a session with `files` in it. Return the window."""
    with reset_window_around(qtbot, program):
        program.filing.document.new()
        program.session.recipe.put_quietly(FIRST_RECIPE)
    program.begin(files)
    program.window.show_room("ask")
    return program


@contextmanager
def reset_window_around(qtbot: QtBot, program: Program) -> Iterator[None]:
    """Reset the window before and after its session is changed.

    Before the change, close dialogs and reset settings and switches. After the change, reset the layout and the speed,
    and wait until no background task runs.
    """
    gc.disable()  # closing another window switched it on
    for box in program.window.findChildren(QDialog):
        box.close()
    program.course.leave()
    for remembered in (LESSONS_DONE, LESSON_PLACES, RECENT_FILES):
        program.settings.put(remembered, remembered.default)
    for name, action in program.actions.by_name.items():
        if action.isChecked() != (name in program.property(SWITCHED_ON)):
            action.trigger()
    yield
    program.window.set_stage("")
    program.window.reset_layout()
    for tabs in (program.charts, program.inspector):
        tabs.show_page(tabs.ids[0])
    program.merges.sort(0, Qt.SortOrder.AscendingOrder)
    program.speed.slider.setValue(SPEED.default)
    program.running.set_speed(SPEED.default)  # a test may have set only the speed of training
    program.messages.forget()
    wait_for_rest(qtbot, program)  # wait for the questions of the test before
    program.messages.forget()  # a message to the test before must not look like one to the next test


@pytest.fixture(scope="module")
def one_session(only_window: Program) -> list[object]:
    """Return a list that all tests of a file share. `reuse_session` stores the session of the file in this list."""
    return []


def reuse_session(qtbot: QtBot, session: list[object], window: Program, make: Callable[[], Program]) -> Program:
    """Return the window with the session that `make` makes.

    The session of the previous test is reused if that test did not change it.
    """
    if session and session == state_of(window):
        with reset_window_around(qtbot, window):
            window.session.runs.show(window.session.runs.all[-1])
        window.session.cursor.go_live()
        window.window.show_room("ask")
        settle(qtbot, window)
    else:
        session[:] = state_of(make())
    return window


def state_of(program: Program) -> list[object]:
    session = program.session
    runs = [(run, run.phase, run.learned) for run in session.runs.all]
    return [runs, session.recipe.value, session.corpus.texts.value, session.text.value, session.undo.index()]


def assert_nothing_broke(program: Program) -> None:
    """Raise an error if a thread has failed.

    A failed thread makes the window show a dialog, but raises no error in the test. So this function looks for the
    dialog.
    """
    dialog, program.crashes.dialog = program.crashes.dialog, None
    assert dialog is None, dialog.text.toPlainText()


@pytest.fixture
def window_with(request: pytest.FixtureRequest) -> Callable[..., Program]:
    """Return a function that opens a window with the files that it is given.

    In a test file that uses `only_window`, it returns the shared window.
    """
    name = "new_session" if "only_window" in request.fixturenames else "new_program"
    return cast(Callable[..., Program], request.getfixturevalue(name))


@pytest.fixture
def program(window_with: Callable[..., Program]) -> Program:
    """Return a window that shows the first sample."""
    return window_with()


@pytest.fixture
def train(qtbot: QtBot) -> Callable[[Program], None]:
    """Return a function that presses Train and waits for the end of the training."""

    def press_and_wait(program: Program) -> None:
        program.actions["main"].trigger()
        wait_for_phase(qtbot, program, Phase.ENDED)
        settle(qtbot, program)

    return press_and_wait


def export_to(program: Program, path: Path, format: str) -> None:
    """Write all merges to a file, as if a user had first prepared and then saved the file in the dialog."""
    export = program.exchanging.export
    export.checked.connect(lambda _: export.put_in_place(), Qt.ConnectionType.SingleShotConnection)
    export.prepare(path, format)


def wait_for_phase(qtbot: QtBot, program: Program, *phases: Phase) -> None:
    def is_there() -> None:
        run = program.session.runs.shown
        assert run is not None
        phase, sentence = run.phase, run.sentence  # or pytest would write out the whole run, each time it waits
        assert phase in phases, sentence

    qtbot.waitUntil(is_there, timeout=WAIT)


def settle(qtbot: QtBot, program: Program) -> None:
    """Wait until no background task runs and all pages are up to date."""

    def is_quiet() -> None:
        late = busy_with(program)  # known at once; the rest is looked for among all objects
        assert not late
        assert not unfinished_work(program)

    qtbot.waitUntil(is_quiet, timeout=WAIT)


def busy_with(program: Program) -> list[Hashable]:
    background = program.session.background
    encoder: list[Hashable] = [program.encoder] if program.encoder.is_behind else []
    return [*(topic for topic, about in tuple(background._topics.items()) if about.is_busy), *encoder]


def unfinished_work(program: Program) -> list[Hashable]:
    """Return the tasks that still run and the pages that are out of date, for the message of a failed wait."""
    late = busy_with(program)
    for throttle in program.findChildren(Throttle) + program.window.findChildren(Throttle):
        waits = throttle.parent()
        if waits.is_waiting if isinstance(waits, LazyModel) else throttle.is_pending:
            late.append(waits)
    return late


# The timers of each window. All objects are searched for new timers only when these are done, because there are many.
_KNOWN_TIMERS = WeakKeyDictionary[Program, list[QTimer]]()


def wait_for_rest(qtbot: QtBot, program: Program) -> None:
    """Wait until no background task runs and no timer is about to start a task."""
    known = _KNOWN_TIMERS.setdefault(program, [])

    def is_active(timer: QTimer) -> bool:
        return isValid(timer) and timer.isActive()

    waited_for = [*filter(is_active, known)]

    def is_at_rest() -> None:
        assert not busy_with(program)
        waited_for[:] = filter(is_active, waited_for)
        assert not [timer.parent() for timer in waited_for]
        timers = program.findChildren(QTimer) + program.window.findChildren(QTimer)  # those of throttles, too
        known[:] = [timer for timer in timers if timer.isSingleShot()]
        waited_for[:] = filter(is_active, known)
        assert not [timer.parent() for timer in waited_for]

    qtbot.waitUntil(is_at_rest, timeout=WAIT)


def wait_for_sentence(qtbot: QtBot, program: Program, sentence: str) -> None:
    """Wait until the message bar shows a sentence.

    If it never does, the error names the state of the run and the unfinished work.
    """

    def is_shown() -> None:
        run = program.session.runs.shown
        phase = "no run" if run is None else run.phase
        assert sentence in program.messages.sentence.text(), (phase, unfinished_work(program))

    qtbot.waitUntil(is_shown, timeout=WAIT)


def wait_for_totals(qtbot: QtBot, program: Program, totals: str) -> None:
    """Wait until the totals of the corpus contain a text."""

    def is_shown() -> None:
        assert totals in program.corpus_panel.totals.text(), unfinished_work(program)

    qtbot.waitUntil(is_shown, timeout=WAIT)
