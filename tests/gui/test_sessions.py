"""Saving, opening and bringing back, as a person does it."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.session import corpus_texts, fingerprints
from app.session.merge_filter import MergeFilter
from app.session.run import Phase
from app.session.safety_copy import SafetyCopy
from app.session.snapshot import restore, snapshot_of
from app.settings import RECENT_FILES, data_folder
from app.window.parts.watched import Table
from app.wiring import Program
from app.worker import safety_copy
from bpe_core import BpeError, OutputError, Recipe
from bpe_core.lock import Lock
from bpe_core.progress import CancelCheck
from bpe_core.session_file import (
    Fingerprint,
    SavedRun,
    SavedSession,
    SavedSource,
    SessionWriter,
    Summary,
    View,
    read_session,
    read_summary,
    write_session,
)
from resources import samples
from tests import permissions
from tests.gui.conftest import WAIT, settle, wait_for_phase
from tests.shared import ROOT

NewProgram = Callable[..., Program]
Train = Callable[[Program], None]


def small(program: Program, size: int = 300) -> None:
    assert program.form.choose(vocab_size=size)


def table(program: Program) -> list[list[str]]:
    model = program.merges
    return [[str(model.data(model.index(row, column))) for column in range(9)] for row in range(model.rowCount())]


def wait_for_rows(qtbot: QtBot, program: Program, wanted: int) -> None:
    qtbot.waitUntil(lambda: program.merges.rowCount() == wanted, timeout=WAIT)


def wait_for_texts(qtbot: QtBot, program: Program) -> None:
    qtbot.waitUntil(lambda: bool(program.session.corpus.texts.value), timeout=WAIT)


def tokens(program: Program) -> list[int]:
    return [int(edge) for edge in program.token_text.edges()]


def save_as(qtbot: QtBot, program: Program, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    program.actions["save_as"].trigger()
    qtbot.waitUntil(lambda: program.filing.document.path == path, timeout=WAIT)


def open_session(qtbot: QtBot, program: Program, path: Path) -> None:
    with qtbot.waitSignal(program.filing.document.opened, timeout=WAIT):
        program.filing.open(path)
    settle(qtbot, program)


def bring_back(qtbot: QtBot, program: Program) -> None:
    with qtbot.waitSignal(program.filing.document.leftovers.changed, timeout=WAIT):
        program.filing.offer_to_recover()
    assert program.messages.isVisible()
    with qtbot.waitSignal(program.filing.document.opened, timeout=WAIT):
        answer(program, "Bring It Back")
    settle(qtbot, program)


def answer(program: Program, title: str) -> None:
    buttons = program.messages.findChildren(QPushButton)
    next(button for button in buttons if button.text() == title and not button.isHidden()).click()


def safety_copies() -> list[Path]:
    return sorted((data_folder() / "unsaved").glob("*.bpex"))


def merges_in(path: Path, run: int) -> int:
    with closing(sqlite3.connect(path)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'merges'").fetchall():
            return -1
        (merges,) = connection.execute("SELECT count(*) FROM merges WHERE run = ?", (run,)).fetchone()
    return int(merges)


def text_in(path: Path) -> str:
    """The person's text in a safety copy; nothing while it is being written."""
    try:
        return read_session(path, is_safety_copy=True).text
    except BpeError:
        return ""


def wait_until_kept(qtbot: QtBot, program: Program) -> SavedSession:
    """The safety copy when it holds all that was learned."""
    run = program.session.runs.shown
    assert run is not None

    def is_kept() -> None:
        assert len(safety_copies()) == 1
        assert merges_in(safety_copies()[0], run.number) == run.learned

    qtbot.waitUntil(is_kept, timeout=WAIT)
    return read_session(safety_copies()[0], is_safety_copy=True)


# There and back


def charts_of(qtbot: QtBot, program: Program) -> list[Table]:
    """What each of the charts that need no question shows."""
    tables = []
    for chart in ("pairs", "ranks", "compression", "lengths"):
        program.charts.show_page(chart)
        settle(qtbot, program)
        tables.append(program.charts.page.as_table())
    return tables


def test_everything_is_back_as_it_was(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = new_program()
    small(first)
    train(first)
    first.token_text.set_text("the lighthouse keeper’s 🐦\n\nand so on")
    first.merges.set_filter(MergeFilter("e", ties_only=True))
    first.window.docks["corpus"].hide()
    first.window.docks["bookmarks"].raise_()
    first.window.resizeDocks([first.window.docks["merges"]], [530], Qt.Orientation.Horizontal)
    first.session.cursor.go_to(17)
    shown = charts_of(qtbot, first)
    assert all(len(chart) > 1 for chart in shown)
    first.charts.show_page("compression")
    settle(qtbot, first)
    qtbot.waitUntil(lambda: first.session.text.value.startswith("the lighthouse"), timeout=WAIT)
    save_as(qtbot, first, tmp_path / "harbour.bpex", monkeypatch)
    second = new_program()
    first.window.close()
    open_session(qtbot, second, tmp_path / "harbour.bpex")
    assert table(second) == table(first) != []
    assert tokens(second) == tokens(first)
    assert second.token_text.text() == first.token_text.text()
    assert second.session.cursor.position == 17
    assert not second.session.cursor.live
    assert second.merges.filter == first.merges.filter
    assert second.charts.shown == "compression"
    assert second.window.docks["corpus"].isHidden()
    assert second.window.docks["recipe"].visibleRegion().isEmpty()
    assert not second.window.docks["bookmarks"].visibleRegion().isEmpty()
    assert second.window.docks["merges"].width() == first.window.docks["merges"].width()
    assert second.form.value("vocab_size") == 300
    assert charts_of(qtbot, second) == shown
    assert second.window.windowTitle() == "harbour.bpex[*] – BPE Explorer"
    assert not second.window.isWindowModified()
    assert second.status.sentence.text() == first.status.sentence.text()


def test_training_goes_on_where_it_stopped_without_the_files(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the keeper of the lighthouse wrote one more word into the log, and the light went out. " * 9)
    whole = new_program(text)
    wait_for_texts(qtbot, whole)
    small(whole, 300)
    train(whole)
    first = new_program(text)
    wait_for_texts(qtbot, first)
    small(first, 280)
    train(first)
    save_as(qtbot, first, tmp_path / "part.bpex", monkeypatch)
    text.unlink()
    second = new_program()
    open_session(qtbot, second, tmp_path / "part.bpex")
    qtbot.waitUntil(lambda: "text.txt" in second.messages.sentence.text(), timeout=WAIT)
    small(second, 300)
    qtbot.waitUntil(lambda: second.actions["extend"].isEnabled(), timeout=WAIT)
    second.actions["extend"].trigger()
    wait_for_phase(qtbot, second, Phase.ENDED)
    settle(qtbot, second)
    assert table(second) == table(whole)
    assert len(table(second)) == 44


def test_a_paused_run_resumes_after_opening(
    qtbot: QtBot, new_program: NewProgram, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = new_program()
    small(first)
    for step in range(5):
        first.actions["step"].trigger()
        wait_for_rows(qtbot, first, step + 1)
        wait_for_phase(qtbot, first, Phase.PAUSED)
    save_as(qtbot, first, tmp_path / "part.bpex", monkeypatch)
    second = new_program()
    open_session(qtbot, second, tmp_path / "part.bpex")
    assert second.training.status.main == "resume"
    assert second.actions["main"].text() == "&Resume"
    second.actions["main"].trigger()
    wait_for_phase(qtbot, second, Phase.ENDED)
    assert table(second)[:5] == table(first)
    assert len(table(second)) == 44


def test_several_runs_come_back_and_new_ones_get_new_numbers(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = new_program()
    small(first)
    train(first)
    assert first.form.choose(ties="largest-text")
    first.actions["new_run"].trigger()
    wait_for_phase(qtbot, first, Phase.ENDED)
    settle(qtbot, first)
    save_as(qtbot, first, tmp_path / "two.bpex", monkeypatch)
    second = new_program()
    open_session(qtbot, second, tmp_path / "two.bpex")
    assert [run.number for run in second.session.runs.all] == [1, 2]
    assert second.session.runs.shown is second.session.runs.all[1]
    second.session.runs.show(second.session.runs.all[0])
    settle(qtbot, second)
    first.session.runs.show(first.session.runs.all[0])
    assert table(second) == table(first)
    second.actions["new_run"].trigger()
    wait_for_phase(qtbot, second, Phase.ENDED)
    assert [run.number for run in second.session.runs.all] == [1, 2, 3]


def test_a_session_of_the_version_before_goes_on(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    """What it holds is looked at in tests/core/test_before.py."""
    path = shutil.copy(ROOT / "tests/core/before/session.bpex", tmp_path)
    open_session(qtbot, program, Path(path))
    assert [run.number for run in program.session.runs.all] == [1, 2, 3]
    assert program.session.runs.shown is program.session.runs.all[1]
    assert program.session.cursor.position == 7
    assert program.charts.currentIndex() == 2
    assert program.merges.filter == MergeFilter("e", "text", ties_only=True, min_length=2)
    assert [program.bookmarks.rowCount(), program.token_text.text()[:8]] == [3, "the lamp"]
    assert program.training.status.main == "resume"
    learned = program.session.runs.all[1].learned
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    assert program.session.runs.all[1].learned > learned


# The modified mark


def test_the_mark_of_what_is_not_saved(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = program.filing.document.look
    look()
    assert not program.window.isWindowModified()
    small(program)
    train(program)
    look()
    assert program.window.isWindowModified()
    save_as(qtbot, program, tmp_path / "one.bpex", monkeypatch)
    qtbot.waitUntil(lambda: not program.window.isWindowModified(), timeout=WAIT)
    program.session.cursor.go_to(3)  # looking is no change
    look()
    assert not program.window.isWindowModified()
    assert program.form.choose(min_frequency=3)
    look()
    assert program.window.isWindowModified()
    program.actions["undo"].trigger()
    look()
    assert not program.window.isWindowModified()
    small(program, 320)
    look()
    program.actions["save"].trigger()
    qtbot.waitUntil(lambda: not program.window.isWindowModified() and safety_copies() == [], timeout=WAIT)
    assert read_session(tmp_path / "one.bpex").recipe.vocab_size == 320
    assert str(tmp_path / "one.bpex") in program.settings.get(RECENT_FILES)


def test_a_filter_can_be_taken_back(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.merge_panel.needle.setText("th")
    shown = len(table(program))
    program.actions["undo"].trigger()
    assert program.merge_panel.needle.text() == ""
    assert len(table(program)) > shown
    program.actions["redo"].trigger()
    assert program.merge_panel.needle.text() == "th"
    assert len(table(program)) == shown


def test_a_filter_of_several_choices_is_one_step(program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.session.filter.put(MergeFilter("74", "hex", True, 2), "Filter merges")
    assert program.session.undo.count() == 2  # the size and the filter
    program.actions["undo"].trigger()
    assert program.session.filter.value == program.merges.filter == MergeFilter()
    program.actions["redo"].trigger()
    assert program.session.filter.value == program.merges.filter == MergeFilter("74", "hex", True, 2)
    assert program.merge_panel.kind.currentData() == "hex"


def test_saving_where_it_cannot_be(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program)
    train(program)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "no" / "such.bpex"), ""))
    program.actions["save"].trigger()
    qtbot.waitUntil(lambda: "Could not write" in program.messages.sentence.text(), timeout=WAIT)
    assert program.filing.document.path is None
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "elsewhere.bpex"), ""))
    answer(program, "Save Elsewhere …")
    qtbot.waitUntil(lambda: program.filing.document.path == tmp_path / "elsewhere.bpex", timeout=WAIT)
    assert len(read_session(tmp_path / "elsewhere.bpex").runs) == 1


def test_a_file_that_somebody_else_has_changed_is_not_replaced_unasked(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program)
    train(program)
    path = tmp_path / "one.bpex"
    save_as(qtbot, program, path, monkeypatch)
    path.write_bytes(b"somebody else's")
    small(program, 310)
    program.actions["save"].trigger()
    assert "was changed by another program" in program.messages.sentence.text()
    assert path.read_bytes() == b"somebody else's"
    answer(program, "Replace it")
    qtbot.waitUntil(lambda: path.read_bytes().startswith(b"SQLite"), timeout=WAIT)


@pytest.mark.parametrize("content", [b"", b"no session", b"SQLite format 3\0 and then nothing"])
def test_what_is_no_session_is_refused_and_nothing_is_lost(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, content: bytes
) -> None:
    small(program)
    train(program)
    before = table(program)
    (tmp_path / "bad.bpex").write_bytes(content)
    program.filing.open(tmp_path / "bad.bpex")
    qtbot.waitUntil(lambda: "bad.bpex" in program.messages.sentence.text(), timeout=WAIT)
    assert table(program) == before


def test_two_windows_on_one_file(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, path = new_program(), tmp_path / "one.bpex"
    small(first)
    train(first)
    save_as(qtbot, first, path, monkeypatch)
    second = new_program()
    open_session(qtbot, second, path)
    assert "is open in another window. This is a copy" in second.messages.sentence.text()
    assert second.filing.document.path is None
    assert second.window.windowTitle().startswith("one (copy)")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    second.actions["save"].trigger()
    assert "is open in another window; save under another name" in second.messages.sentence.text()
    first.window.close()
    third = new_program()
    open_session(qtbot, third, path)
    assert third.filing.document.path == path


def test_opened_by_drop_by_name_and_from_the_recent_ones(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, path = new_program(), tmp_path / "one.bpex"
    small(first)
    train(first)
    save_as(qtbot, first, path, monkeypatch)
    first.window.close()
    by_name = new_program(path)
    qtbot.waitUntil(lambda: by_name.filing.document.path == path, timeout=WAIT)
    by_name.window.close()
    recent = new_program()
    recent.opening.recent_menu.aboutToShow.emit()
    next(action for action in recent.opening.recent_menu.actions() if action.text() == str(path)).trigger()
    qtbot.waitUntil(lambda: recent.filing.document.path == path, timeout=WAIT)


# Bringing back


def test_what_a_killed_window_left_is_offered(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path
) -> None:
    """The copy is taken while the window lives, as a kill would leave it."""
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
    bring_back(qtbot, second)
    assert table(second) == table(first) != []
    assert second.filing.document.path is None
    assert second.window.isWindowModified()
    qtbot.waitUntil(lambda: len(safety_copies()) == 1 and "2026-01-01" not in safety_copies()[0].name, timeout=WAIT)


def test_closing_never_asks_and_loses_nothing(
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
    bring_back(qtbot, second)
    assert "closed before it was saved" in second.messages.sentence.text()
    assert len(second.session.runs.all) == 2
    assert second.filing.document.path == path
    second.actions["save"].trigger()
    qtbot.waitUntil(lambda: safety_copies() == [], timeout=WAIT)
    assert len(read_session(path).runs) == 2


def test_an_untouched_window_leaves_nothing(qtbot: QtBot, new_program: NewProgram) -> None:
    first = new_program()
    first.filing.document.look()
    first.window.close()
    assert safety_copies() == []


def test_opening_another_session_keeps_what_was_here(
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
        leftovers.look()  # at first it may still be being written
        return len(leftovers.all) == 1

    qtbot.waitUntil(is_found, timeout=WAIT)

    program.filing.recover_menu.aboutToShow.emit()
    program.filing.recover_menu.actions()[0].trigger()
    qtbot.waitUntil(lambda: len(program.session.runs.all) == 2, timeout=WAIT)


@pytest.fixture
def left(qtbot: QtBot, new_program: NewProgram) -> Program:
    """A window that has found the safety copy which another one left."""
    first = new_program()
    first.token_text.set_text("left behind")
    qtbot.waitUntil(lambda: first.session.text.value == "left behind", timeout=WAIT)
    first.filing.document.look()
    first.window.close()
    second = new_program()
    with qtbot.waitSignal(second.filing.document.leftovers.changed, timeout=WAIT):
        second.filing.offer_to_recover()
    assert len(second.filing.document.leftovers.all) == 1
    return second


def test_a_look_that_is_under_way_is_no_other_window(
    qtbot: QtBot, left: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look is held while it has a copy's lock, until after the person has asked for that copy."""
    acquire, window = Lock.acquire, threading.current_thread()
    is_held, may_go_on = threading.Event(), threading.Event()

    def acquire_slowly(path: Path) -> Lock | None:
        lock = acquire(path)
        if threading.current_thread() is not window and path.parent.name == "unsaved":
            is_held.set()
            may_go_on.wait()
        return lock

    monkeypatch.setattr(Lock, "acquire", acquire_slowly)
    leftovers = left.filing.document.leftovers
    leftovers.look()
    is_held.wait()
    threading.Timer(0.2, may_go_on.set).start()
    with qtbot.waitSignal(left.filing.document.opened, timeout=WAIT):
        answer(left, "Bring It Back")
    assert left.token_text.text() == "left behind"


def test_the_summary_of_a_copy_is_read_without_keeping_others_from_it(
    qtbot: QtBot, left: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That takes long for a large one."""
    is_reading, may_go_on = threading.Event(), threading.Event()

    def read_slowly(path: Path) -> Summary:
        is_reading.set()
        may_go_on.wait()
        return read_summary(path)

    monkeypatch.setattr("app.session.leftovers.read_summary", read_slowly)
    left.filing.document.leftovers.look()
    is_reading.wait()
    try:
        with qtbot.waitSignal(left.filing.document.opened, timeout=WAIT):
            answer(left, "Bring It Back")
    finally:
        may_go_on.set()


def test_what_could_not_be_brought_back_stays(qtbot: QtBot, left: Program) -> None:
    """It is damaged, and goes on being there while the window keeps a copy of what it does next."""
    (copy,) = safety_copies()
    copy.write_bytes(b"SQLite format 3\0 and then nothing")
    answer(left, "Bring It Back")
    qtbot.waitUntil(lambda: copy.stem in left.messages.sentence.text(), timeout=WAIT)
    left.token_text.set_text("another text")
    qtbot.waitUntil(lambda: len(safety_copies()) == 2, timeout=WAIT)
    (own,) = set(safety_copies()) - {copy}
    qtbot.waitUntil(lambda: text_in(own) == "another text", timeout=WAIT)
    left.window.close()
    assert copy in safety_copies()
    assert Lock.acquire(safety_copy.lock_of(copy)) is not None  # nobody holds it any more


def test_what_is_asked_for_while_another_session_is_saved_stays(
    qtbot: QtBot, left: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The person is told to try again, and can."""
    may_go_on = threading.Event()

    def write_slowly(*arguments: Any) -> None:
        may_go_on.wait()
        write_session(*arguments)

    monkeypatch.setattr("app.session.session_files.write_session", write_slowly)
    (copy,) = safety_copies()
    bring = next(button for button in left.messages.findChildren(QPushButton) if button.text() == "Bring It Back")
    left.filing.document.save(tmp_path / "one.bpex")
    left.token_text.set_text("another text")
    bring.click()
    assert "try again in a moment" in left.messages.sentence.text()
    qtbot.waitUntil(lambda: len(safety_copies()) == 2, timeout=WAIT)
    (own,) = set(safety_copies()) - {copy}
    qtbot.waitUntil(lambda: text_in(own) == "another text", timeout=WAIT)
    with qtbot.waitSignal(left.filing.document.saved, timeout=WAIT):
        may_go_on.set()
    left.filing.recover_menu.aboutToShow.emit()
    (again,) = [action for action in left.filing.recover_menu.actions() if action.isEnabled()]
    assert copy.exists()
    with qtbot.waitSignal(left.filing.document.opened, timeout=WAIT):
        again.trigger()
    assert left.token_text.text() == "left behind"


def test_a_link_to_the_file_that_is_open_here_is_no_other_window(
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


def test_an_unsaved_session_can_be_thrown_away(qtbot: QtBot, new_program: NewProgram, train: Train) -> None:
    first = new_program()
    small(first)
    train(first)
    first.window.close()
    assert len(safety_copies()) == 1
    second = new_program()
    with qtbot.waitSignal(second.filing.document.leftovers.changed, timeout=WAIT):
        second.filing.offer_to_recover()
    answer(second, "Throw It Away")
    assert safety_copies() == []


def test_a_folder_that_cannot_be_written_is_told_once_and_training_goes_on(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_folder().parent.mkdir(exist_ok=True)
    data_folder().write_text("a file where the folder should be")
    small(program)
    train(program)
    program.filing.document.look()
    qtbot.waitUntil(lambda: "No safety copy can be kept" in program.messages.sentence.text(), timeout=WAIT)
    program.messages.hide()
    program.actions["new_run"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    program.filing.document.look()
    assert not program.messages.isVisible()
    save_as(qtbot, program, tmp_path / "one.bpex", monkeypatch)
    assert len(read_session(tmp_path / "one.bpex").runs) == 2
    data_folder().unlink()
    small(program, 310)
    program.actions["new_run"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    qtbot.waitUntil(lambda: len(safety_copies()) == 1, timeout=WAIT)


@pytest.fixture
def locked_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in which nothing can be changed, with a session."""
    if os.name != "posix":
        pytest.skip("folders are locked otherwise there")
    folder = tmp_path / "locked"
    folder.mkdir()
    write_session(SavedSession(Recipe.preset("gpt2"), text="as it was"), folder / "one.bpex")
    folder.chmod(0o555)
    (folder / "one.bpex").chmod(0o444)
    with permissions.obeyed():
        yield folder
    folder.chmod(0o755)


def test_a_folder_that_cannot_be_written_is_told_and_another_is_taken(
    qtbot: QtBot, program: Program, train: Train, locked_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(locked_folder / "two.bpex"), ""))
    program.actions["save_as"].trigger()
    qtbot.waitUntil(lambda: "Could not write" in program.messages.sentence.text(), timeout=WAIT)
    assert str(locked_folder) in program.messages.sentence.text()
    train(program)
    save_as(qtbot, program, locked_folder.parent / "two.bpex", monkeypatch)
    qtbot.waitUntil(lambda: (locked_folder.parent / "two.bpex").exists(), timeout=WAIT)


def test_a_session_that_cannot_be_written_opens_and_is_saved_elsewhere(
    qtbot: QtBot, program: Program, train: Train, locked_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_session(qtbot, program, locked_folder / "one.bpex")
    assert program.token_text.text() == "as it was"
    small(program)
    program.opening.open_sample(samples()[0])
    train(program)
    program.actions["save"].trigger()
    qtbot.waitUntil(lambda: "Could not write" in program.messages.sentence.text(), timeout=WAIT)
    save_as(qtbot, program, locked_folder.parent / "two.bpex", monkeypatch)
    assert len(read_session(locked_folder.parent / "two.bpex").runs) == 1


def test_a_full_disk_is_told_and_written_to_again_when_there_is_room(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OutputError("Could not write it: database or disk is full.")

    monkeypatch.setattr(safety_copy, "RETRY_SECONDS", 0.05)
    update = SessionWriter.update
    monkeypatch.setattr(SessionWriter, "update", refuse)
    small(program)
    train(program)
    qtbot.waitUntil(lambda: "disk is full" in program.messages.sentence.text(), timeout=WAIT)
    (copy,) = program.filing.document.findChildren(SafetyCopy)
    monkeypatch.setattr(SessionWriter, "update", update)
    with qtbot.waitSignal(copy.kept, timeout=WAIT):
        pass
    wait_until_kept(qtbot, program)


def test_a_file_is_hashed_once_for_all_runs_until_it_changes(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, hashed = tmp_path / "a.txt", list[Path]()
    path.write_text("low lower lowest " * 9, encoding="utf-8")
    hash_of = fingerprints.hash_of

    def noting(path: Path, cancelled: CancelCheck) -> str | None:
        hashed.append(path)
        return hash_of(path, cancelled)

    monkeypatch.setattr(fingerprints, "hash_of", noting)

    def hash_of_last_run() -> str:
        (known,) = program.session.runs.all[-1].fingerprints.values()
        return known.sha256

    program.opening.open_paths([path])
    small(program)
    train(program)
    qtbot.waitUntil(lambda: hash_of_last_run() != "", timeout=WAIT)
    train(program)
    assert hash_of_last_run() == hashlib.sha256(path.read_bytes()).hexdigest()
    assert hashed == [path]
    path.write_text("high higher highest " * 9, encoding="utf-8")
    train(program)
    qtbot.waitUntil(lambda: hash_of_last_run() == hashlib.sha256(path.read_bytes()).hexdigest(), timeout=WAIT)
    assert hashed == [path, path]


# From a stranger


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such pipes")
def test_a_session_that_names_a_pipe_as_its_text_cannot_hold_the_window_up(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    os.mkfifo(tmp_path / "pipe.txt")
    source = SavedSource("pipe.txt", path=str(tmp_path / "pipe.txt"))
    write_session(SavedSession(Recipe.preset("gpt2"), (source,)), tmp_path / "one.bpex")
    open_session(qtbot, program, tmp_path / "one.bpex")

    def told() -> str:
        roles = range(Qt.ItemDataRole.UserRole + 8)
        return "\n".join(str(program.corpus.data(program.corpus.index(0), role)) for role in roles)

    qtbot.waitUntil(lambda: "is a pipe or a device" in told(), timeout=WAIT)


def test_a_session_that_names_a_file_on_another_computer_does_not_look_at_it(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To look is to call that computer. As if paths could do that here; the file is there, and would be read."""
    path = tmp_path / r"\\other\share\a.txt"
    path.write_text("low lower lowest", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(corpus_texts, "PATHS_REACH_FAR", True)
    known = Fingerprint(path.stat().st_size - 1, 0)
    run = SavedRun(1, Recipe.preset("gpt2"), (SavedSource("a.txt", path=path.name, fingerprint=known),))
    source = SavedSource("a.txt", path=path.name)
    write_session(SavedSession(Recipe.preset("gpt2"), (source,), runs=(run,)), tmp_path / "one.bpex")
    open_session(qtbot, program, tmp_path / "one.bpex")
    (opened,) = program.session.corpus.texts.value
    assert opened.path == Path(path.name)
    assert opened.size is None

    def told() -> str:
        roles = range(Qt.ItemDataRole.UserRole + 8)
        return "\n".join(str(program.corpus.data(program.corpus.index(0), role)) for role in roles)

    qtbot.waitUntil(lambda: "is on another computer" in told(), timeout=WAIT)
    assert "changed" not in program.messages.sentence.text()
    program.session.corpus.add_paths([Path(path.name)])
    qtbot.waitUntil(lambda: "another computer" not in told(), timeout=WAIT)
    (added,) = program.session.corpus.texts.value
    assert not added.refused


@pytest.mark.parametrize(
    "layout",
    [
        {"docks": [], "centre": {}, "chart": "two", "sort": "up"},
        {"docks": {"Corpus": 3, "\0": None}, "centre": [10**30, -5], "chart": 10**30, "sort": [10**30, 1]},
        {"docks": {}, "sizes": {"Merges": [10**30, 1], "Recipe": [-1, 5], "Corpus": "x", "Nothing": [1, 1]}},
        {
            "docks": {"Corpus": {}},
            "sizes": {"Merges": [9_999, 9_999], "Inspector": [1, 1]},
            "centre": [1.5, True],
            "chart": -1,
            "sort": [[], {}],
        },
        {"docks": None, "centre": [None, None], "chart": 1.5, "sort": [1.0, None], "more": [[[[]]]]},
    ],
)
def test_a_layout_that_makes_no_sense_does_no_harm(
    qtbot: QtBot, program: Program, tmp_path: Path, layout: dict[str, object]
) -> None:
    hostile = {"needle": 5, "kind": "regex", "ties_only": "yes", "min_length": 10**30}
    saved = SavedSession(Recipe.preset("gpt2"), text="a b", filter=hostile, view=View(layout=layout))
    write_session(saved, tmp_path / "one.bpex")
    open_session(qtbot, program, tmp_path / "one.bpex")
    assert program.token_text.text() == "a b"
    assert program.merges.filter == MergeFilter()
    assert all(size >= 0 for size in program.window.centre.sizes())


# The report


def test_a_report_is_written(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.actions["report"].trigger()
    assert "nothing to report yet" in program.messages.sentence.text()
    small(program)
    train(program)
    program.session.cursor.go_to(9)
    program.actions["bookmark"].trigger()
    program.bookmarks.set_note(0, "look at this <one>")
    for place, said in (("page.html", "Wrote the report"), ("no/such/page.html", "Could not write")):
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, place=place: (str(tmp_path / place), ""))
        program.actions["report"].trigger()
        qtbot.waitUntil(lambda said=said: said in program.messages.sentence.text(), timeout=WAIT)  # type: ignore[misc]
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "look at this &lt;one&gt;" in page
    assert "The lighthouse library" in page


def test_a_filter_kept_when_a_blank_had_another_sign_means_the_same(program: Program) -> None:
    def restored(**filter: object) -> MergeFilter:
        saved = dataclasses.replace(snapshot_of(program.session, {}), filter={**before, **filter})
        restore(program.session, saved, {})
        return program.session.filter.value

    before = {"needle": "·th", "kind": "text", "ties_only": False, "min_length": 1}
    assert restored() == MergeFilter("␣th")
    assert restored(blank="␣") == MergeFilter("·th")  # as it is written in Catalan
    program.session.filter.put(MergeFilter("col·l"), "Filter merges")
    assert restored(**snapshot_of(program.session, {}).filter) == MergeFilter("col·l")
