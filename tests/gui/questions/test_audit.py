"""Tests of the audit in the window: the list of tokens, its saved file, and a run without the listed tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.session.run import Run
from app.window.questions.audit.page import AuditPage
from app.window.questions.compare.answers import ComparePage
from app.wiring import Program
from bpe_core.methods.kit.tokenizer import Tokenizer
from tests.gui.conftest import WAIT, settle
from tests.gui.questions.conftest import MERGES, wait_for_answers


def show_tokens_of_one_file(qtbot: QtBot, program: Program) -> AuditPage:
    """Show the audit with the tokens that occur only in one file."""
    page = program.pages[AuditPage]
    program.actions["audit"].trigger()
    wait_for_answers(qtbot, program)
    assert "one-file: The token occurs only in one file" in page.sentence.text()
    only = page.fields["only"]
    assert isinstance(only, QComboBox)
    only.setCurrentIndex(only.findData("one-file"))
    wait_for_answers(qtbot, program)
    return page


def trim_listed_tokens(qtbot: QtBot, program: Program) -> Run:
    """Remove all tokens that the audit lists. The other tokens keep their ids. Return the new run."""
    page = show_tokens_of_one_file(qtbot, program)
    page.trim.click()
    dialog = page.trim_dialog
    dialog.needed.setCurrentIndex(dialog.needed.findData("lose"))
    dialog.ids.setCurrentIndex(dialog.ids.findData("keep"))
    dialog.choices["listed"].setChecked(True)
    dialog.go.click()
    runs = program.session.runs
    qtbot.waitUntil(lambda: len(runs.all) == 2, timeout=WAIT)
    assert runs.shown is not None
    return runs.shown


def test_a_saved_audit_list_is_sorted_as_on_the_page(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = show_tokens_of_one_file(qtbot, trained_window)
    rows = page.rows
    assert 0 < rows.rowCount() < MERGES
    for column in range(rows.columnCount()):
        page.table.sortByColumn(column, Qt.SortOrder.DescendingOrder)
    characters = page.model.columns.index("characters")
    page.table.sortByColumn(characters, Qt.SortOrder.DescendingOrder)
    lengths = [int(rows.index(row, characters).data()) for row in range(rows.rowCount())]
    assert lengths == sorted(lengths, reverse=True)
    wait_for_answers(qtbot, trained_window)

    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(tmp_path / "list.json"), ""))
    page.save.click()
    wait_for_answers(qtbot, trained_window)
    saved = json.loads((tmp_path / "list.json").read_text(encoding="utf-8"))
    assert [f"{row['id']:,}" for row in saved] == [rows.index(row, 0).data() for row in range(rows.rowCount())]
    lengths = [row["characters"] for row in saved]
    assert lengths == sorted(lengths, reverse=True)
    assert {row["only_in"] for row in saved} == {"one.txt", "other.txt"}


def test_the_trim_dialog_can_remove_the_selected_tokens_or_trim_to_a_size(
    qtbot: QtBot, trained_window: Program
) -> None:
    page = show_tokens_of_one_file(qtbot, trained_window)
    page.table.selectAll()
    header = page.table.horizontalHeader().selectionModel()
    assert not header.hasSelection(), "the header would ask the model whether all rows are selected, for seconds"
    page.trim.click()
    assert page.trim_dialog.choices["selected"].text() == f"The {page.rows.rowCount()} tokens selected"
    page.trim_dialog.reject()
    page.table.selectRow(0)
    page.trim.click()
    dialog = page.trim_dialog
    assert dialog.choices["selected"].isChecked()
    dialog.size_box.setValue(300)
    assert dialog.choices["down to"].isChecked()
    dialog.reject()


def test_trimming_the_tokens_listed_on_the_audit_page_keeps_the_ids_of_all_other_tokens(
    qtbot: QtBot, trained_window: Program
) -> None:
    first = trained_window.session.runs.shown
    assert first is not None
    assert first.history is not None
    trimmed = trim_listed_tokens(qtbot, trained_window)
    assert trimmed.history is not None
    left = trimmed.history.index_count
    assert left < first.history.index_count
    assert trimmed.history.numbers is not None  # the ids are kept, with holes
    assert trimmed.recipe.name == f"{first.recipe.name}, trimmed"
    line = str(trained_window.run_list.data(trained_window.run_list.index(1)))
    assert line.endswith(f"\n\u2003Run 1 without {first.history.index_count - left} tokens")
    wait_for_answers(qtbot, trained_window)
    assert "Your text" in trained_window.messages.sentence.text()


def test_a_trimmed_run_can_be_compared_and_combined_with_the_original_run(
    qtbot: QtBot, trained_window: Program
) -> None:
    program, runs = trained_window, trained_window.session.runs
    first = runs.shown
    trimmed = trim_listed_tokens(qtbot, program)
    assert trimmed.history is not None
    wait_for_answers(qtbot, program)
    next(button for button in program.messages.findChildren(QPushButton) if button.text() == "Compare").click()
    compared = program.pages[ComparePage]
    qtbot.waitUntil(lambda: compared.put_together.isEnabled(), timeout=WAIT)
    assert [lane.run for lane in compared.lanes.pair] == [trimmed, first]
    compared.put_together.click()
    qtbot.waitUntil(lambda: len(runs.all) == 3, timeout=WAIT)
    both = runs.shown
    assert both is not None
    assert both.history is not None
    assert both.history.index_count == 256 + MERGES
    tables = (both.history, trimmed.history)
    qtbot.waitUntil(lambda: [lane.run for lane in compared.lanes.pair] == [both, trimmed], timeout=WAIT)
    settle(qtbot, program)
    at = [table.step_of_size(compared.lanes.size) for table in tables]  # both at the size that both can have
    texts = [
        Tokenizer(history).encode(program.session.text.value, at=step) for history, step in zip(tables, at, strict=True)
    ]
    qtbot.waitUntil(
        lambda: [lane.cut and lane.cut.count for lane in compared.lanes.pair] == [*map(len, texts)], timeout=WAIT
    )
    assert not any(lane.why_not for lane in compared.lanes.pair)
    assert both.history.numbers is not None
    assert trimmed.history.numbers is not None
    assert both.history.numbers[: trimmed.history.index_count].tolist() == trimmed.history.numbers.tolist()
