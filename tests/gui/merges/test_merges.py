"""Tests of the merge table in the window: it follows the slider, and it can be filtered, sorted and copied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication
from pytestqt.qtbot import QtBot

from app.session.corpus_texts import CorpusText
from app.window.merges.merge_table import Look, MergeTableModel
from app.window.merges.merge_table_view import PADDING, MergeTableView
from app.window.parts.theme import fixed_font
from app.wiring import Program
from tests.gui.conftest import WAIT, Train, settle
from tests.gui.histories import random_history, run_with
from tests.gui.sessions.saving import open_session, save_as
from tests.gui.small_run import cell, rows, small

pytestmark = pytest.mark.usefixtures("only_window")


def test_the_merge_table_scrolls_with_training_only_if_the_last_row_is_shown(qtbot: QtBot, program: Program) -> None:
    program.speed.slider.setValue(35)  # 25 merges a second, or a slow machine is at the end before the table scrolls
    program.actions["main"].trigger()
    table = program.merge_panel.table
    qtbot.waitUntil(lambda: table.verticalScrollBar().maximum() > 30, timeout=WAIT)
    assert table.is_at_end
    table.verticalScrollBar().setValue(3)
    before = rows(program)
    qtbot.waitUntil(lambda: rows(program) > before + 20, timeout=WAIT)
    assert table.verticalScrollBar().value() == 3


def test_the_merge_table_is_filtered_while_the_user_types(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 500)
    train(program)
    panel = program.merge_panel
    everything = rows(program)
    qtbot.keyClicks(panel.needle, " th")
    assert 0 < rows(program) < everything
    assert all("␣th" in cell(program, row, 1) for row in range(rows(program)))
    assert panel.below.text() == f"{rows(program)} of {everything} merges"
    panel.needle.clear()
    panel.kind.setCurrentIndex(2)
    qtbot.keyClicks(panel.needle, "20")
    assert all("␣" in cell(program, row, 1) for row in range(rows(program)))
    panel.needle.clear()
    panel.ties_only.click()
    assert all(cell(program, row, 5).startswith("=") for row in range(rows(program)))
    panel.ties_only.click()
    panel.min_length.setValue(5)
    assert all(int(cell(program, row, 6)) >= 5 for row in range(rows(program)))


@pytest.fixture
def narrow_window(qtbot: QtBot, program: Program, train: Train) -> Iterator[Program]:
    """Return a window that is 1024 pixels wide, with a trained run. After the test, the window has its former size."""
    small(program)
    train(program)
    size = program.window.size()
    program.window.resize(1024, 700)
    program.window.reset_layout()
    settle(qtbot, program)
    yield program
    program.window.resize(size)
    program.window.reset_layout()


def test_in_a_narrow_merge_table_all_column_titles_from_the_first_to_the_count_are_complete(
    narrow_window: Program,
) -> None:
    table = narrow_window.merge_panel.table
    header = table.horizontalHeader()
    metrics = QFontMetrics(header.font())
    titles = [column.title for column in narrow_window.merges.columns]
    count = titles.index("Count")
    assert header.sectionViewportPosition(count) + header.sectionSize(count) <= table.viewport().width()
    for place, title in enumerate(titles[: count + 1]):
        assert header.sectionSize(place) >= metrics.horizontalAdvance(title) + PADDING


def test_the_columns_up_to_the_count_fill_a_narrow_merge_table_and_show_short_tokens_completely(qtbot: QtBot) -> None:
    model = MergeTableModel()
    table = MergeTableView(model)
    qtbot.addWidget(table)
    table.resize(1200, 200)
    table.show()
    model.show_run(run_with(random_history(10)))
    header = table.horizontalHeader()
    places = range([column.title for column in model.columns].index("Count") + 1)

    def sizes(room: int) -> list[int]:
        table.resize(room + table.width() - table.viewport().width(), 200)
        return [header.sectionSize(place) for place in places]

    least = sizes(100)
    for room in (sum(least), sum(least) + 1, sum(least) + 9):
        assert sum(sizes(room)) == room
    for place in places:
        column = model.columns[place]
        assert least[place] >= QFontMetrics(header.font()).horizontalAdvance(column.title) + PADDING
        assert least[place] >= max(
            table.delegate.width_of(model.index(row, place).data(), column.look) for row in range(5)
        )


def test_a_click_on_a_column_title_sorts_the_merge_table(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    header = program.merge_panel.table.horizontalHeader()

    def click(column: int) -> None:
        x = header.sectionViewportPosition(column) + header.sectionSize(column) // 2
        qtbot.mouseClick(header.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(x, header.height() // 2))

    click(6)
    lengths = [int(cell(program, row, 6)) for row in range(rows(program))]
    assert lengths == sorted(lengths, reverse=True)
    click(6)
    assert [int(cell(program, row, 6)) for row in range(rows(program))] == sorted(lengths)
    click(0)
    assert cell(program, 0, 0) == "1"


def test_selected_rows_of_the_merge_table_are_copied(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program)
    train(program)
    program.merge_panel.table.selectRow(2)
    program.actions["copy_tsv"].trigger()
    lines = QGuiApplication.clipboard().text().splitlines()
    assert lines[0].startswith("step\tleft_id\tleft_hex")
    assert lines[1].startswith("3\t")
    program.actions["copy_headers"].trigger()
    program.actions["copy_csv"].trigger()
    assert QGuiApplication.clipboard().text().startswith("3,")


def test_no_visible_token_of_the_merge_table_is_cut_off(qtbot: QtBot, program: Program, train: Train) -> None:
    assert program.window.width() == 1280
    long = "internationalisations"  # longer than the room that a token has at first
    program.session.corpus.texts.put((CorpusText("Long", text=f"the {long} of " * 40),), "Long")
    assert program.form.choose(vocab_size=400, pattern="gpt2")
    train(program)
    table = program.merge_panel.table
    token = next(place for place, column in enumerate(program.merges.columns) if column.look == "token")
    row = next(row for row in range(rows(program)) if cell(program, row, token) == f"␣{long}")
    program.session.cursor.go_to(row + 1)
    settle(qtbot, program)
    bold = fixed_font(table.font().pointSizeF())
    bold.setWeight(QFont.Weight.DemiBold)
    place = table.visualRect(program.merges.index(row, token))
    assert QFontMetrics(bold).horizontalAdvance(f"␣{long}") <= place.width() - 2 * PADDING
    assert table.viewport().rect().contains(place)
    assert table.horizontalScrollBar().value() == 0


def test_other_columns_of_the_merge_table_stay_visible_beside_a_huge_token(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    program.window.show_room("ask")
    program.session.corpus.replace_by_text("huge", "abcdefghijklmnopqrstuvwxyz" * 20 + " ab " * 20)
    program.form.choose(vocab_size=300)
    train(program)
    table = program.merge_panel.table
    settle(qtbot, program)
    table.scrollToBottom()
    qtbot.wait(50)
    header = table.horizontalHeader()
    columns = [place for place, column in enumerate(program.merges.columns) if column.look != "plain"]
    assert all(header.sectionSize(place) <= max(180, 0.4 * table.viewport().width()) + 1 for place in columns)


def test_a_merge_table_that_gets_fewer_rows_measures_the_width_of_visible_tokens_only(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = MergeTableModel()
    table = MergeTableView(model)
    qtbot.addWidget(table)
    table.resize(600, 400)
    table.show()
    model.show_run(run_with(random_history(5_000)))
    table.scrollToBottom()
    assert table.rowAt(0) > 4_000
    width_of, asked = table.delegate.width_of, list[str]()

    def noted(text: str, look: Look) -> int:
        asked.append(text)
        return width_of(text, look)

    monkeypatch.setattr(table.delegate, "width_of", noted)
    model.show_run(run_with(random_history(3_000)))
    assert 0 < len(asked) < 200  # three or four columns with tokens


def end_is_in_sight(program: Program) -> bool:
    table = program.merge_panel.table
    last = table.visualRect(program.merges.index(program.merges.rowCount() - 1, 0))
    return table.isVisible() and table.viewport().rect().contains(last.center())


def test_the_merge_table_shows_the_last_of_32_000_merges(qtbot: QtBot, program: Program) -> None:
    run = run_with(random_history(32_000))
    assert run.history is not None
    assert run.names is not None
    program.window.show_room("watch")
    program.session.runs.add_table(run.history, run.names, "made up")
    qtbot.waitUntil(lambda: program.merges.rowCount() == 32_000, timeout=WAIT)
    program.window.show_room("ask")
    settle(qtbot, program)
    qtbot.waitUntil(lambda: end_is_in_sight(program), timeout=WAIT)
    program.window.resize(1600, 1000)
    settle(qtbot, program)
    qtbot.waitUntil(lambda: end_is_in_sight(program), timeout=WAIT)


def test_the_merge_table_shows_its_last_row_after_a_session_is_opened(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program.window.show_room("ask")
    program.form.choose(vocab_size=512)
    train(program)
    save_as(qtbot, program, tmp_path / "kept.bpex", monkeypatch)
    program.filing.document.new()
    settle(qtbot, program)
    open_session(qtbot, program, tmp_path / "kept.bpex")
    qtbot.waitUntil(lambda: program.merges.rowCount() == 256, timeout=WAIT)
    qtbot.waitUntil(lambda: end_is_in_sight(program), timeout=WAIT)


@pytest.mark.parametrize("then", ["another room is entered", "the window becomes smaller"])
def test_the_merge_table_shows_its_last_row_while_the_time_slider_is_at_the_end(
    qtbot: QtBot, program: Program, train: Train, then: str
) -> None:
    window, table = program.window, program.merge_panel.table
    is_elsewhere = then == "another room is entered"
    window.show_room("watch" if is_elsewhere else "ask")
    program.form.choose(vocab_size=512)
    train(program)
    if is_elsewhere:
        window.show_room("ask")
    else:
        window.resize(1024, 600)
    settle(qtbot, program)
    qtbot.wait(200)
    last = table.visualRect(program.merges.index(program.merges.rowCount() - 1, 0))
    assert table.isVisible()
    assert table.viewport().rect().contains(last.center())
