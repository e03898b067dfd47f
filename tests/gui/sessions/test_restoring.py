"""Tests of unsaved work. It is kept when the window ends for any reason, and it can be restored."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.session import safety_copy
from app.session.run import Phase
from app.settings import data_folder
from app.wiring import Program
from bpe_core.session_file.reading import Summary, read_session, read_summary
from bpe_core.session_file.writing import write_session
from bpe_core.support.lock import Lock
from tests.gui.conftest import WAIT, NewProgram, Train, wait_for_phase
from tests.gui.sessions.saving import (
    answer,
    open_session,
    restore_copy,
    safety_copies,
    save_as,
    small,
    table,
    text_in,
    wait_until_kept,
)


def test_a_new_window_offers_to_restore_the_session_of_a_killed_window(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path
) -> None:
    """The test copies the safety copy of an open window. A killed window would leave the same file."""
    first = new_program()
    small(first)
    train(first)
    wait_until_kept(qtbot, first)
    left = tmp_path / "left.bpex"
    shutil.copyfile(safety_copies()[0], left)
    first.window.close()
    for copy in safety_copies():
        copy.unlink()
    shutil.move(left, data_folder() / "unsaved" / "2026-01-01-10-00-00-1-1.bpex")
    second = new_program()
    restore_copy(qtbot, second)
    assert table(second) == table(first) != []
    assert second.filing.document.path is None
    assert second.window.isWindowModified()
    qtbot.waitUntil(lambda: len(safety_copies()) == 1 and "2026-01-01" not in safety_copies()[0].name, timeout=WAIT)


def test_closing_a_window_with_unsaved_changes_keeps_a_safety_copy_without_asking(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, path = new_program(), tmp_path / "one.bpex"
    small(first)
    train(first)
    save_as(qtbot, first, path, monkeypatch)
    first.actions["new_run"].trigger()
    wait_for_phase(qtbot, first, Phase.ENDED)
    first.window.close()
    assert len(read_session(path).runs) == 1
    second = new_program()
    restore_copy(qtbot, second)
    assert "closed before it was saved" in second.messages.sentence.text()
    assert len(second.session.runs.all) == 2
    assert second.filing.document.path == path
    second.actions["save"].trigger()
    qtbot.waitUntil(lambda: safety_copies() == [], timeout=WAIT)
    assert len(read_session(path).runs) == 2


def test_closing_an_untouched_window_leaves_no_safety_copy(qtbot: QtBot, new_program: NewProgram) -> None:
    first = new_program()
    first.filing.document.check_for_changes()
    first.window.close()
    assert safety_copies() == []


def test_opening_another_session_keeps_a_safety_copy_of_the_current_session(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = new_program()
    small(program)
    train(program)
    save_as(qtbot, program, tmp_path / "one.bpex", monkeypatch)
    program.actions["new_run"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    program.actions["new_session"].trigger()
    assert program.session.runs.all == []
    assert table(program) == []
    qtbot.waitUntil(lambda: len(safety_copies()) == 1, timeout=WAIT)
    leftovers = program.filing.document.leftovers

    def is_found() -> bool:
        if not program.session.background.is_busy("leftovers"):  # or none of many looks would ever be over
            leftovers.search()  # at first it may still be being written
        return len(leftovers.all) == 1

    qtbot.waitUntil(is_found, timeout=WAIT)

    program.filing.unsaved.menu.aboutToShow.emit()
    program.filing.unsaved.menu.actions()[0].trigger()
    qtbot.waitUntil(lambda: len(program.session.runs.all) == 2, timeout=WAIT)


@pytest.fixture
def window_with_copy(qtbot: QtBot, new_program: NewProgram) -> Program:
    """Return a window that has found the safety copy of another window."""
    first = new_program()
    first.token_text.set_text("left behind")
    qtbot.waitUntil(lambda: first.session.text.value == "left behind", timeout=WAIT)
    first.filing.document.check_for_changes()
    first.window.close()
    second = new_program()
    with qtbot.waitSignal(second.filing.document.leftovers.changed, timeout=WAIT):
        second.filing.unsaved.offer_newest()
    assert len(second.filing.document.leftovers.all) == 1
    return second


def test_a_safety_copy_that_is_being_checked_is_not_reported_as_open_in_another_window(
    qtbot: QtBot, window_with_copy: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check locks the safety copy. The lock is held until the user has tried to restore the copy."""
    acquire, window = Lock.acquire, threading.current_thread()
    is_held, may_go_on = threading.Event(), threading.Event()

    def acquire_slowly(path: Path) -> Lock | None:
        lock = acquire(path)
        if threading.current_thread() is not window and path.parent.name == "unsaved":
            is_held.set()
            may_go_on.wait()
        return lock

    monkeypatch.setattr(Lock, "acquire", acquire_slowly)
    leftovers = window_with_copy.filing.document.leftovers
    leftovers.search()
    assert is_held.wait(WAIT / 1000)
    threading.Timer(0.2, may_go_on.set).start()
    with qtbot.waitSignal(window_with_copy.filing.document.opened, timeout=WAIT):
        answer(window_with_copy, "Restore")
    assert window_with_copy.token_text.text() == "left behind"


def test_a_safety_copy_can_be_restored_while_its_summary_is_still_being_read(
    qtbot: QtBot, window_with_copy: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading the summary of a large copy takes a long time. During this time, the copy must not be locked."""
    is_reading, may_go_on = threading.Event(), threading.Event()

    def read_slowly(path: Path) -> Summary:
        is_reading.set()
        may_go_on.wait()
        return read_summary(path)

    monkeypatch.setattr("app.session.safety_copy.read_summary", read_slowly)
    window_with_copy.filing.document.leftovers.search()
    assert is_reading.wait(WAIT / 1000)
    try:
        with qtbot.waitSignal(window_with_copy.filing.document.opened, timeout=WAIT):
            answer(window_with_copy, "Restore")
    finally:
        may_go_on.set()


def test_a_damaged_safety_copy_that_could_not_be_restored_is_kept(qtbot: QtBot, window_with_copy: Program) -> None:
    """The damaged copy stays while the window writes a copy of its own new work."""
    (copy,) = safety_copies()
    copy.write_bytes(b"SQLite format 3\0 and then nothing")
    answer(window_with_copy, "Restore")
    qtbot.waitUntil(lambda: copy.stem in window_with_copy.messages.sentence.text(), timeout=WAIT)
    window_with_copy.token_text.set_text("another text")
    qtbot.waitUntil(lambda: len(safety_copies()) == 2, timeout=WAIT)
    (own,) = set(safety_copies()) - {copy}
    qtbot.waitUntil(lambda: text_in(own) == "another text", timeout=WAIT)
    window_with_copy.window.close()
    assert copy in safety_copies()
    assert Lock.acquire(safety_copy.lock_of(copy)) is not None  # nobody holds it any more


def test_a_safety_copy_requested_while_another_session_is_saved_can_be_restored_later(
    qtbot: QtBot, window_with_copy: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window asks the person to try again, and the second try works."""
    may_go_on = threading.Event()

    def write_slowly(*arguments: Any) -> None:
        may_go_on.wait()
        write_session(*arguments)

    monkeypatch.setattr("app.session.session_files.write_session", write_slowly)
    (copy,) = safety_copies()
    bring = next(button for button in window_with_copy.messages.findChildren(QPushButton) if button.text() == "Restore")
    window_with_copy.filing.document.save(tmp_path / "one.bpex")
    window_with_copy.token_text.set_text("another text")
    bring.click()
    assert "Try again in a moment" in window_with_copy.messages.sentence.text()
    qtbot.waitUntil(lambda: len(safety_copies()) == 2, timeout=WAIT)
    (own,) = set(safety_copies()) - {copy}
    qtbot.waitUntil(lambda: text_in(own) == "another text", timeout=WAIT)
    with qtbot.waitSignal(window_with_copy.filing.document.saved, timeout=WAIT):
        may_go_on.set()
    window_with_copy.filing.unsaved.menu.aboutToShow.emit()
    (again,) = [action for action in window_with_copy.filing.unsaved.menu.actions() if action.isEnabled()]
    assert copy.exists()
    with qtbot.waitSignal(window_with_copy.filing.document.opened, timeout=WAIT):
        again.trigger()
    assert window_with_copy.token_text.text() == "left behind"


def test_a_symbolic_link_to_the_open_session_file_can_be_opened_and_saved_in_the_same_window(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, link = tmp_path / "one.bpex", tmp_path / "link.bpex"
    save_as(qtbot, program, path, monkeypatch)
    link.symlink_to(path)
    open_session(qtbot, program, link)
    assert program.filing.document.path == path
    program.token_text.set_text("another text")
    qtbot.waitUntil(lambda: program.session.text.value == "another text", timeout=WAIT)
    with qtbot.waitSignal(program.filing.document.saved, timeout=WAIT):
        program.filing.document.save(link)
    assert link.is_symlink()
    assert text_in(path) == "another text"


def test_the_safety_copy_of_an_unsaved_session_can_be_discarded(
    qtbot: QtBot, new_program: NewProgram, train: Train
) -> None:
    first = new_program()
    small(first)
    train(first)
    first.window.close()
    assert len(safety_copies()) == 1
    second = new_program()
    with qtbot.waitSignal(second.filing.document.leftovers.changed, timeout=WAIT):
        second.filing.unsaved.offer_newest()
    answer(second, "Discard")
    assert safety_copies() == []
