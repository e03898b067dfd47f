"""Tests of the benchmark page, which measures all runs on many texts.

Each number on the page must equal the number that the engine computes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.window.pages import BENCHMARK, MORPHEMES
from app.window.questions.question_page import QuestionPage
from app.window.questions.reading_page import ReadingPage
from app.wiring import Program
from bpe_core.asking import Answer
from bpe_core.history.token_texts import shown
from bpe_core.measures.morphemes import morpheme_agreement, own_lists
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.data_table import DataTable
from resources import parallel_samples
from tests.gui.questions.conftest import MERGES, ONE, choose_value, ranked_words, wait_for_answers

pytestmark = pytest.mark.usefixtures("only_window")


def test_the_benchmark_page_sorts_run_names_in_numerical_order(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = program.pages.page(BENCHMARK).model
    names = ["Run 2: gpt2", "Run 9: gpt2", "Run 10: gpt2", "Run 2: gpt2"]
    monkeypatch.setattr(type(model), "columns", ("tokenizer",))
    monkeypatch.setattr(model, "answer", Answer(DataTable({"tokenizer": names})))
    model.sort(0, from_end=False)
    assert [names[row] for row in model.order] == [names[0], *names[:3]]
    model.sort(0, from_end=True)
    assert names[model.order[0]] == "Run 10: gpt2"
    model.sort(-1, from_end=False)


def show_benchmark(qtbot: QtBot, program: Program) -> ReadingPage:
    program.actions["benchmark"].trigger()
    wait_for_answers(qtbot, program)
    return program.pages.page(BENCHMARK)


def test_the_benchmark_page_counts_the_tokens_of_parallel_sentences(qtbot: QtBot, trained_window: Program) -> None:
    page = show_benchmark(qtbot, trained_window)
    tokenizer = Tokenizer(ranked_words(trained_window).history)
    choose_value(page, "reference", "en")
    wait_for_answers(qtbot, trained_window)
    samples = parallel_samples()
    ids = {name: [id for item in texts for id in tokenizer.encode(item)] for name, texts in samples.items()}
    cells = _cells(page)
    assert {row["Text"]: row["Tokens"] for row in cells} == {name: f"{len(item):,}" for name, item in ids.items()}
    assert {row["Text"]: row["Premium"] for row in cells} == {
        name: f"{len(item) / len(ids['en']):.3f}" for name, item in ids.items()
    }
    assert "Gini" in page.sentence.text()
    choose_value(page, "reference", "de")
    wait_for_answers(qtbot, trained_window)
    assert {row["Text"]: row["Premium"] for row in _cells(page)}["de"] == "1.000"


def test_sorting_a_column_of_the_benchmark_page_sorts_the_rows_and_marks_the_heading(
    qtbot: QtBot, trained_window: Program
) -> None:
    page = show_benchmark(qtbot, trained_window)
    counts = [int(row["Tokens"].replace(",", "")) for row in _cells(page)]
    page.table.sortByColumn(2, Qt.SortOrder.DescendingOrder)
    assert [row["Tokens"] for row in _cells(page)] == [f"{count:,}" for count in sorted(counts, reverse=True)]
    headings = [page.rows.headerData(column, Qt.Orientation.Horizontal) for column in (1, 2)]
    assert headings == ["Text", "Tokens ▾"]
    sides = Qt.ItemDataRole.TextAlignmentRole
    assert page.rows.headerData(2, Qt.Orientation.Horizontal, sides) == page.rows.index(0, 2).data(sides)
    header = page.table.horizontalHeader()
    assert all(header.sectionSize(column) >= header.sectionSizeHint(column) for column in range(header.count()))
    page.table.clicked.emit(page.rows.index(0, 2))
    wait_for_answers(qtbot, trained_window)
    assert "|" in page.preview.text()


def test_the_benchmark_page_measures_the_corpus_at_the_shown_step_and_at_the_end(
    qtbot: QtBot, trained_window: Program
) -> None:
    page = show_benchmark(qtbot, trained_window)
    tokenizer = Tokenizer(ranked_words(trained_window).history)
    trained_window.session.cursor.go_to(40)
    choose_value(page, "parallel", "")
    wait_for_answers(qtbot, trained_window)
    cells = [row for row in _cells(page) if row["Text"] == "one.txt"]
    expected = {f"{len(tokenizer.encode(ONE, at=at)):,}" for at in (40, MERGES)}
    assert {row["Tokens"] for row in cells} == expected
    assert page.model.table_function()(lambda: False).columns["bytes"][0] == len(ONE.encode())


def test_clicking_a_benchmark_row_shows_the_tokens_of_its_text_in_consecutive_parts(
    qtbot: QtBot, trained_window: Program
) -> None:
    page = show_benchmark(qtbot, trained_window)
    tokenizer = Tokenizer(ranked_words(trained_window).history)
    choose_value(page, "parallel", "")
    wait_for_answers(qtbot, trained_window)
    row = next(
        place for place, item in enumerate(_cells(page)) if (item["Text"], item["Tokens"]) == _expected_cells(tokenizer)
    )
    page.table.clicked.emit(page.rows.index(row, 2))
    wait_for_answers(qtbot, trained_window)
    previews = [page.preview.text()]
    while page.on.isEnabled():
        page.on.click()
        wait_for_answers(qtbot, trained_window)
        previews.append(page.preview.text())
    raw = [tokenizer.token_bytes(id) for id in tokenizer.encode(ONE)]
    assert "|".join(filter(None, previews)) == "|".join(map(shown, raw))
    assert page.name.toolTip().endswith("one.txt")
    page.start.setValue(3)
    wait_for_answers(qtbot, trained_window)
    assert page.until.text() == f"to 602 of {len(ONE):,}"
    page.close_button.click()
    assert not page.bar.isVisibleTo(page)
    page.grab()


def test_the_benchmark_page_reports_which_run_cannot_encode_the_texts(qtbot: QtBot, trained_window: Program) -> None:
    page = show_benchmark(qtbot, trained_window)
    trained_window.session.recipe.put_quietly(Recipe.preset("clean-words", vocab_size=None, merges=5))
    trained_window.session.train()
    choose_value(page, "parallel", "own")
    wait_for_answers(qtbot, trained_window)
    assert "Run 2: clean-words cannot encode everything: " in page.sentence.text()


def test_the_benchmark_page_refuses_parallel_texts_of_different_lengths(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    page = show_benchmark(qtbot, trained_window)
    folder = tmp_path / "parallel"
    folder.mkdir()
    (folder / "en.txt").write_text("one\ntwo\n", encoding="utf-8")
    (folder / "de.txt").write_text("eins\n", encoding="utf-8")
    page.form.choose_path("parallel", str(folder))
    wait_for_answers(qtbot, trained_window)
    assert "de has 1 line, and en has 2." in page.sentence.text()


def test_the_morphemes_page_measures_the_runs_by_a_built_in_list_or_a_list_from_a_file(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    words = trained_window.pages.page(MORPHEMES)
    tokenizer = Tokenizer(ranked_words(trained_window).history)
    trained_window.charts.show_page("morphemes")
    wait_for_answers(qtbot, trained_window)
    agreement = morpheme_agreement({"": tokenizer}, own_lists()).columns
    assert {f"{value:.3f}" for value in agreement["f1"]} <= {row["F1"] for row in _cells(words)}
    words.table.clicked.emit(words.rows.index(0, 2))
    wait_for_answers(qtbot, trained_window)
    assert "|" in words.preview.text()
    (tmp_path / "words.tsv").write_text("newer\tnew er\nlight\n", encoding="utf-8")
    words.form.choose_path("list", str(tmp_path / "words.tsv"))
    wait_for_answers(qtbot, trained_window)
    assert "line 2" in words.sentence.text()


def _expected_cells(tokenizer: Tokenizer) -> tuple[str, str]:
    return "one.txt", f"{len(tokenizer.encode(ONE)):,}"


def _cells(page: QuestionPage) -> list[dict[str, str]]:
    model = page.model
    rows = range(page.rows.rowCount())
    return [{title: page.rows.index(row, place).data() for place, title in enumerate(model.headings)} for row in rows]
