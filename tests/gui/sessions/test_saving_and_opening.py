"""Tests that save a session and open it again. The window looks as before, and the training can continue."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.session.merge_filter import MergeFilter
from app.session.run import Phase
from app.session.snapshot import restore, snapshot_of
from app.wiring import Program
from bpe_core.command_line.main import run
from tests.gui.conftest import WAIT, NewProgram, Train, settle, wait_for_phase
from tests.gui.sessions.saving import open_session, save_as, small, table, tokens, wait_for_texts
from tests.gui.small_run import wait_for_rows
from tests.gui.tables import Rows, exact_rows
from tests.shared import ROOT


def charts_of(qtbot: QtBot, program: Program) -> list[Rows]:
    """Return the values of four charts."""
    tables = []
    for chart in ("pairs", "ranks", "compression", "lengths"):
        program.charts.show_page(chart)
        settle(qtbot, program)
        tables.append(exact_rows(program.charts.page))
    return tables


def test_an_opened_session_equals_the_saved_session(
    qtbot: QtBot, new_program: NewProgram, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = new_program()
    small(first)
    train(first)
    first.token_text.set_text("the lighthouse keeper’s 🐦\n\nand so on")
    first.merges.set_filter(MergeFilter("e", ties_only=True))
    first.window.show_dock("bookmarks")
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
    assert second.window.room == "ask"
    assert second.window.docks["recipe"].visibleRegion().isEmpty()
    assert not second.window.docks["bookmarks"].visibleRegion().isEmpty()
    assert second.window.docks["merges"].width() == first.window.docks["merges"].width()
    assert second.form.value("vocab_size") == 300
    assert charts_of(qtbot, second) == shown
    assert second.window.windowTitle() == "harbour.bpex[*] – BPE Explorer"
    assert not second.window.isWindowModified()
    assert second.status.sentence.text() == first.status.sentence.text()


def test_training_continues_from_a_session_without_the_corpus_files(
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


def test_a_paused_run_resumes_after_its_session_is_opened(
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


def test_an_opened_session_restores_all_runs_and_new_runs_get_new_numbers(
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


def test_a_session_file_of_the_previous_version_opens_and_its_training_continues(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    """Another test checks the content of the file, in tests/core/test_files_of_older_versions.py."""
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


def test_a_filter_saved_with_the_former_space_symbol_is_restored_with_the_new_symbol(program: Program) -> None:
    def restored(**filter: object) -> MergeFilter:
        saved = dataclasses.replace(snapshot_of(program.session, {}), filter={**before, **filter})
        restore(program.session, saved, {})
        return program.session.filter.value

    before = {"needle": "·th", "kind": "text", "ties_only": False, "min_length": 1}
    assert restored() == MergeFilter("␣th")
    assert restored(blank="␣") == MergeFilter("·th")  # as it is written in Catalan
    program.session.filter.put(MergeFilter("col·l"), "Filter merges")
    assert restored(**snapshot_of(program.session, {}).filter) == MergeFilter("col·l")


def test_opening_a_session_trained_on_named_symbols_shows_the_names_in_the_corpus(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    song, session = tmp_path / "song.txt", tmp_path / "song.bpex"
    song.write_text("C4\nD4\nE4\nC4\nD4\n")
    assert run(["train", str(song), "--base", "lines", "--merges", "1", "-o", str(session), "--quiet"]) == 0
    open_session(qtbot, program, session)
    names = program.text_panel.editor.token_layout.names
    assert names.names_in(program.token_text.text()) == "C4 D4 E4 C4 D4"
    assert tokens(program) == [0, 8, 12, 20]
    assert table(program)[0][1] == "<C4><D4>"
