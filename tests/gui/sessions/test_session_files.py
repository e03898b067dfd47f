"""Tests of session files: unsaved changes, a failed save, and a file that is open in another window."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.session import fingerprints
from app.session.merge_filter import MergeFilter
from app.settings import RECENT_FILES
from app.wiring import Program
from bpe_core.session_file.reading import read_session
from bpe_core.support.progress import CancelCheck
from tests.gui.conftest import WAIT, NewProgram, Train
from tests.gui.sessions.saving import answer, open_session, safety_copies, save_as, small, table


def test_the_window_title_marks_unsaved_changes(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = program.filing.document.check_for_changes
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


def test_a_change_of_the_merge_filter_can_be_undone(qtbot: QtBot, program: Program, train: Train) -> None:
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


def test_a_merge_filter_with_several_choices_is_undone_in_one_step(program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.session.filter.put(MergeFilter("74", "hex", True, 2), "Filter merges")
    assert program.session.undo.count() == 2  # the size and the filter
    program.actions["undo"].trigger()
    assert program.session.filter.value == program.merges.filter == MergeFilter()
    program.actions["redo"].trigger()
    assert program.session.filter.value == program.merges.filter == MergeFilter("74", "hex", True, 2)
    assert program.merge_panel.kind.currentData() == "hex"


def test_a_session_that_cannot_be_saved_is_reported_and_can_be_saved_elsewhere(
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


def test_the_window_asks_before_it_replaces_a_session_file_changed_by_another_program(
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
    answer(program, "Replace the File")
    qtbot.waitUntil(lambda: path.read_bytes().startswith(b"SQLite"), timeout=WAIT)


@pytest.mark.parametrize("content", [b"", b"not a session", b"SQLite format 3\0 and then nothing"])
def test_opening_a_file_that_is_not_a_session_is_refused_and_keeps_the_current_session(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, content: bytes
) -> None:
    small(program)
    train(program)
    before = table(program)
    (tmp_path / "bad.bpex").write_bytes(content)
    program.filing.open(tmp_path / "bad.bpex")
    qtbot.waitUntil(lambda: "bad.bpex" in program.messages.sentence.text(), timeout=WAIT)
    assert table(program) == before


def test_opening_a_session_that_another_window_has_open_is_reported(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, path = new_program(), tmp_path / "one.bpex"
    small(first)
    train(first)
    save_as(qtbot, first, path, monkeypatch)
    second = new_program()
    open_session(qtbot, second, path)
    assert "is open in another window. This window shows a copy" in second.messages.sentence.text()
    assert second.filing.document.path is None
    assert second.window.windowTitle().startswith("one (copy)")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    second.actions["save"].trigger()
    assert "is open in another window. Save this session under another name" in second.messages.sentence.text()
    first.window.close()
    third = new_program()
    open_session(qtbot, third, path)
    assert third.filing.document.path == path


def test_a_session_file_can_be_opened_by_name_or_from_the_recent_files_or_by_dropping_the_file_on_the_window(
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


def test_a_corpus_file_is_hashed_once_for_all_runs_until_the_file_changes(
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
