"""Tests of the command and the Python code that a page copies.

Outside the window, the command and the code give the same answer as the page.
"""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from app.session.publications import FilmChoices
from app.session.repeat_code import LONGEST_ARGUMENT, UNSAVED
from app.session.run import Phase
from app.window.pages import (
    AUDIT,
    COMPRESSION,
    CURVES,
    FLOOR,
    LAB,
    PAGES,
    RACE,
    RANKS,
    SIZES,
    TIES,
    TOKEN,
    TREE,
    WAYS,
    WHY,
    WORDS,
)
from app.window.publishing.wiring import NO_FILE, NO_FUNCTION
from app.window.questions.compare.panel import LanesPanel
from app.wiring import Program
from bpe_core.command_line.main import run
from bpe_core.recipes.recipe import Recipe
from tests.gui.conftest import Train, settle

pytestmark = pytest.mark.usefixtures("only_window")
DIFFERENT = 3  # the exit status of `diff` if two tables differ
VARYING = {"seconds", "rounds", "text"}  # columns with measured times, and with the name of a file


@pytest.fixture
def trained_window(program: Program, train: Train) -> Program:
    train(program)
    return program


def answer_by_python(lines: str) -> Any:
    names: dict[str, Any] = {}
    exec(lines.replace("print(answer)", ""), names)  # noqa: S102  # lines that the program wrote
    return names["answer"]


def copy_by(program: Program, action: str) -> str:
    program.actions[action].trigger()
    return QGuiApplication.clipboard().text()


def test_commands_and_python_lines_copied_from_a_question_page_give_the_answer_of_the_page(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    """The texts of the sample have no file, so they are written beside the session."""
    program = trained_window
    program.window.show_room("ask")
    program.filing.document.save(tmp_path / "a book.bpex")
    settle(qtbot, program)
    asking = set()
    for row in PAGES:
        if row.tabs != "charts":
            continue
        program.charts.show_page(row.id)
        settle(qtbot, program)
        page = program.pages.page(row)
        if not page.watched.command:
            assert "nothing to copy" in copy_and_read_message(program)
            continue
        asking.add(row.id)
        expected = page.table_function()(lambda: False)
        _, *words = shlex.split(copy_by(program, "copy_command"))
        table = tmp_path / f"{row.id}.csv"
        assert run([*words, *(() if row is WORDS else ("-o", str(table)))]) in (0, DIFFERENT), row.id
        written = tmp_path / "count.csv" if row is WORDS else table
        assert count_rows(written) == len(expected), row.id
        if page.watched.current_question is None:
            continue
        answer = answer_by_python(copy_by(program, "copy_python")).table
        assert answer.columns.keys() == expected.columns.keys(), row.id
        compared = () if row is FLOOR else answer.columns.keys() - VARYING  # a floor is searched for some time
        for name in compared:
            assert [*map(str, answer.columns[name])] == [*map(str, expected.columns[name])], (row.id, name)
    asked = {row.id for row in (COMPRESSION, RANKS, RACE, TIES, WAYS, SIZES, FLOOR, LAB, WORDS, CURVES, AUDIT)}
    assert asking >= asked | {"noise", "ends", "forms", "scripts", "chat", "lorenz", "benchmark"}


def test_code_copied_from_the_inspector_or_the_tree_page_gives_the_answer_shown_there(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    program = trained_window
    program.window.show_room("ask")
    program.filing.document.save(tmp_path / "a book.bpex")
    settle(qtbot, program)
    program.session.cursor.go_to(9)
    program.asking.ask_why_at(5)
    for row in (WHY, TOKEN, TREE):
        if row is TREE:
            program.asking.enlarge_tree_at(5)
        else:
            program.inspector.show_page(row.id)
        settle(qtbot, program)
        page = program.pages.page(row)
        page.setFocus()
        assert program.charting.page_in_use is page
        asked = page.watched.current_question
        assert asked is not None, row.id
        expected = page.table_function()(lambda: False)
        assert len(expected), row.id
        _, *words = shlex.split(copy_by(program, "copy_command"))
        table = tmp_path / f"{row.id}.csv"
        assert run([*words, "-o", str(table)]) == 0, row.id
        assert count_rows(table) == len(expected), row.id
        answer = answer_by_python(copy_by(program, "copy_python")).table
        assert {name: [*map(str, cells)] for name, cells in answer.columns.items()} == {
            name: [*map(str, cells)] for name, cells in expected.columns.items()
        }, row.id


def train_second_run(qtbot: QtBot, program: Program) -> None:
    recipe = Recipe.preset("raw-bytes", vocab_size=270)
    runs = program.session.runs
    before = len(runs.all)
    runs.train(program.session.corpus.texts.value, recipe, fits=True)
    qtbot.waitUntil(lambda: len(runs.all) > before and runs.all[-1].phase is Phase.ENDED)
    settle(qtbot, program)


def test_python_lines_copied_from_the_compare_page_give_the_same_columns_as_the_page(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    program = trained_window
    train_second_run(qtbot, program)
    program.token_text.set_text("the lighthouse, naïve low")
    program.window.show_room("compare")
    settle(qtbot, program)
    program.filing.document.save(tmp_path / "a book.bpex")
    settle(qtbot, program)
    page = program.pages[LanesPanel]
    column = page.columns.all[1].text
    column.setFocus()
    assert program.charting.page_in_use is page
    page.model.set_size(265)
    settle(qtbot, program)
    expected = page.table_function()(lambda: False)
    shown = [lane.cut for lane in page.model.lanes]
    for letter, cut in zip("AB", shown, strict=True):
        assert cut is not None
        pieces = [piece for cell in expected.columns[letter] for piece in cell.split("|")]
        assert len(pieces) == cut.count
    _, *words = shlex.split(copy_by(program, "copy_command"))
    table = tmp_path / "columns.csv"
    assert run([*words, "-o", str(table)]) == 0
    with table.open(encoding="utf-8", newline="") as file:
        rows = [*csv.DictReader(file)]
    assert [*rows[0]] == ["start", "text", "A", "B"]
    for name, cells in expected.columns.items():
        assert [row[name] for row in rows] == [*map(str, cells)], name
    answer = answer_by_python(copy_by(program, "copy_python")).table
    assert {name: [*cells] for name, cells in answer.columns.items()} == {
        name: [*cells] for name, cells in expected.columns.items()
    }


def test_copying_a_command_from_a_lane_of_the_compare_page_reports_a_text_that_is_too_long(
    qtbot: QtBot, trained_window: Program
) -> None:
    program = trained_window
    train_second_run(qtbot, program)
    program.token_text.set_text("low " * LONGEST_ARGUMENT)
    program.window.show_room("compare")
    settle(qtbot, program)
    page = program.pages[LanesPanel]
    page.columns.all[0].text.setFocus()
    settle(qtbot, program)
    assert "too long for a command" in copy_and_read_message(program)


def test_commands_that_recreate_a_report_or_a_film_can_be_copied(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    program = trained_window
    program.filing.document.save(tmp_path / "run.bpex")
    settle(qtbot, program)
    report = tmp_path / "report.html"
    published = program.publishing.publications
    with qtbot.waitSignal(published.reported, timeout=60_000):
        published.report(report)
    report.unlink()
    _, *words = shlex.split(copy_by(program, "copy_file_command"))
    assert run(words) == 0
    assert report.exists()
    program.actions["copy_file_python"].trigger()
    assert program.messages.sentence.text() == NO_FUNCTION
    published.filmed.emit(tmp_path / "run.gif", FilmChoices("readme"), "")
    film = shlex.split(copy_by(program, "copy_file_command"))
    assert film[:2] == ["bpe-explorer", "film"]
    assert film[-1] == str(tmp_path / "run.gif")


def count_rows(table: Path) -> int:
    with table.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.reader(file)) - 1


def copy_and_read_message(program: Program) -> str:
    program.actions["copy_command"].trigger()
    return program.messages.sentence.text()


def test_a_command_copied_from_a_question_page_prints_the_answer(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trained_window.charts.show_page(COMPRESSION.id)
    settle(qtbot, trained_window)
    trained_window.filing.document.save(tmp_path / "a book.bpex")
    settle(qtbot, trained_window)
    program, *words = shlex.split(copy_by(trained_window, "copy_command"))
    assert program == "bpe-explorer"
    assert run(words) == 0
    assert "base symbols per token" in capsys.readouterr().out.lower()


def test_python_lines_copied_from_an_unsaved_session_use_a_placeholder_file_name(
    qtbot: QtBot, trained_window: Program
) -> None:
    trained_window.charts.show_page(COMPRESSION.id)
    settle(qtbot, trained_window)
    assert f"bpe.open('{UNSAVED}')" in copy_by(trained_window, "copy_python")
    assert UNSAVED in trained_window.messages.sentence.text()


def test_a_copied_command_or_python_code_writes_the_last_exported_file_again(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    assert copy_by(trained_window, "copy_file_command") != "" or trained_window.messages.sentence.text() == NO_FILE
    path = tmp_path / "table.csv"
    export = trained_window.exchanging.export
    with qtbot.waitSignal(export.checked, timeout=60_000):
        export.prepare(path, "csv")
    with qtbot.waitSignal(export.finished, timeout=60_000):
        export.put_in_place()
    trained_window.filing.document.save(tmp_path / "run.bpex")
    settle(qtbot, trained_window)
    written = path.read_bytes()
    path.unlink()
    _, *words = shlex.split(copy_by(trained_window, "copy_file_command"))
    assert run(words) == 0
    assert path.read_bytes() == written
    path.unlink()
    exec(copy_by(trained_window, "copy_file_python"), {})  # noqa: S102  # lines that the program wrote
    assert path.read_bytes() == written
