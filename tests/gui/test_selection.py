"""Tests of the selection.

All views highlight the token under the pointer. A clicked token stays highlighted until Escape is pressed.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QItemSelectionModel, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.session.selection import NOTHING, Highlight, Mark
from app.window.pages import AUDIT, COMPRESSION, LANES, PAIRS, TREE, WHY, WORDS
from app.wiring import Program
from tests.gui.conftest import Train, settle, wait_for_phase

pytestmark = pytest.mark.usefixtures("only_window")
SELECT_ROWS = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows


@pytest.fixture
def trained_window(program: Program, train: Train) -> Program:
    train(program)
    return program


def move_to(widget: QWidget, place: QPointF) -> None:
    button = Qt.MouseButton.NoButton
    event = QMouseEvent(
        QEvent.Type.MouseMove, place, widget.mapToGlobal(place), button, button, Qt.KeyboardModifier.NoModifier
    )
    QApplication.sendEvent(widget, event)


def token_of(program: Program, step: int) -> int:
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    return int(run.history.indices[step - 1])


def point_at_step(program: Program, step: int) -> None:
    program.session.selection.point(Mark.of_step(program.session.runs.shown, step))


def test_pointing_at_a_token_in_the_text_highlights_it_in_every_panel(
    trained_window: Program,
) -> None:
    program = trained_window
    editor = program.text_panel.editor
    byte = editor.model.text().encode().index(b"the")
    cells = editor.rectangle_of(editor.model.chunks.character_of(byte))
    move_to(editor.viewport(), QPointF(cells.center()) + QPointF(4, 0))
    token = editor.hovered
    assert token is not None
    assert editor.highlight == Highlight((token.id,)) == program.merge_panel.table.model().highlight  # type: ignore[attr-defined]
    assert program.text_panel.ids.grid._highlight == Highlight((token.id,))
    QApplication.sendEvent(editor, QEvent(QEvent.Type.Leave))
    assert editor.highlight == NOTHING


def test_pointing_at_a_row_of_the_merge_table_highlights_its_token_in_the_text(trained_window: Program) -> None:
    table = trained_window.merge_panel.table
    before = trained_window.text_panel.editor.viewport().grab().toImage()
    row = table.rowAt(table.viewport().height() // 2)
    step = trained_window.merges.merge_at(row) + 1
    move_to(table.viewport(), QPointF(30, table.viewport().height() // 2))
    assert trained_window.text_panel.editor.highlight == Highlight((token_of(trained_window, step),))
    point_at_step(trained_window, 1)
    assert trained_window.text_panel.editor.viewport().grab().toImage() != before


def test_a_token_stays_highlighted_after_a_click_until_escape_is_pressed(trained_window: Program) -> None:
    table = trained_window.merge_panel.table
    place = QPoint(30, table.viewport().height() // 2)
    move_to(table.viewport(), QPointF(place))
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    QApplication.sendEvent(table, QEvent(QEvent.Type.Leave))
    card = trained_window.selecting.card
    assert trained_window.text_panel.editor.highlight != NOTHING
    assert card.isVisible()
    assert card.button_row.isVisible()
    QTest.keyClick(trained_window.window, Qt.Key.Key_Escape)
    assert trained_window.text_panel.editor.highlight == NOTHING
    assert not card.isVisible()


def test_the_token_card_shows_the_id_and_bytes_and_step_and_count_and_parts_of_a_token(
    qtbot: QtBot, trained_window: Program
) -> None:
    point_at_step(trained_window, 3)
    trained_window.session.selection.keep(trained_window.session.selection.pointed)
    trained_window.selecting._update_card()
    run = trained_window.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert run.names is not None
    said = trained_window.selecting.card.accessibleDescription()
    step = run.history[2]
    assert f"Id: {run.history.numbers_of(step.index):,}" in said
    assert "Learned: merge 3" in said
    assert f"Count: {step.count:,} times" in said
    assert f"Made of: {run.names.text[step.left]} + {run.names.text[step.right]}" in said


def test_pointing_at_a_pair_highlights_its_occurrences_in_the_text(trained_window: Program) -> None:
    run = trained_window.session.runs.shown
    assert run is not None
    assert run.history is not None
    trained_window.session.cursor.go_to(0)
    pair = run.history.pair(0)
    trained_window.pages.page(PAIRS).tokens_pointed.emit(pair)
    assert trained_window.text_panel.editor.highlight == Highlight(pair)
    assert trained_window.session.selection.shown_highlight.step == 1


def test_the_token_under_the_pointer_is_highlighted_in_the_columns_of_another_run(
    qtbot: QtBot, trained_window: Program, train: Train
) -> None:
    first = trained_window.session.runs.shown
    trained_window.session.recipe.put(
        trained_window.session.recipe.value.with_changes(ties="largest-text"), "Change the ties"
    )
    trained_window.actions["new_run"].trigger()
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    settle(qtbot, trained_window)
    second = trained_window.session.runs.shown
    assert first is not None
    assert second is not None
    assert first is not second
    mark = Mark.of_step(second, 200)
    assert mark is not None
    there = mark.in_run(first)
    assert first.names is not None
    assert second.names is not None
    assert not there.tokens or first.names.raw[there.tokens[0]] == mark.texts[0]
    trained_window.window.show_room("compare")
    settle(qtbot, trained_window)
    trained_window.session.selection.point(mark)
    columns = trained_window.pages.page(LANES).columns.all
    shown = [lane.run for lane in trained_window.pages.page(LANES).model.lanes]
    assert [column.text.highlight for column in columns[: len(shown)]] == [mark.in_run(run) for run in shown]


def test_pointing_at_a_tree_node_highlights_its_token_everywhere(qtbot: QtBot, trained_window: Program) -> None:
    trained_window.actions["why"].trigger()
    settle(qtbot, trained_window)
    page = trained_window.pages.page(WHY)
    node = next(node for node in page.tree.nodes() if node.step)
    move_to(page.tree, page.tree.area_of(node).center())
    assert trained_window.session.selection.shown_highlight.step == node.step
    assert page.tree._highlighted_text == node.text
    assert (
        trained_window.pages.known(TREE) is None or trained_window.pages.page(TREE).tree._highlighted_text == node.text
    )


def test_a_curve_over_steps_marks_the_step_that_made_the_highlighted_token(
    qtbot: QtBot, trained_window: Program
) -> None:
    trained_window.charts.show_page(COMPRESSION.id)
    settle(qtbot, trained_window)
    point_at_step(trained_window, 5)
    charts = trained_window.pages.page(COMPRESSION).figure.charts
    assert charts
    assert all(chart._highlight.isVisible() for chart in charts)
    trained_window.session.selection.point(None)
    assert not any(chart._highlight.isVisible() for chart in charts)


def test_pointing_at_a_tile_highlights_its_token_and_clicking_the_tile_opens_the_token_card(
    qtbot: QtBot, trained_window: Program
) -> None:
    trained_window.window.show_room("watch")
    settle(qtbot, trained_window)
    view = trained_window.watch.view
    view.grab()
    tile = next(target for target in view.targets if not target.is_split and target.tile.id is not None)
    move_to(view, tile.area.center())
    assert trained_window.text_panel.editor.highlight == Highlight((tile.tile.id,))  # type: ignore[arg-type]
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=tile.area.center().toPoint())
    assert trained_window.selecting.card.isVisible()


def test_a_click_on_a_boundary_shows_the_reason_for_the_boundary_until_the_step_changes(
    qtbot: QtBot, trained_window: Program
) -> None:
    trained_window.window.show_room("watch")
    settle(qtbot, trained_window)
    view = trained_window.watch.view
    view.grab()
    split = next(target for target in view.targets if target.is_split)
    card = trained_window.selecting.card
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=split.area.center().toPoint())
    qtbot.waitUntil(card.isVisible)
    assert card.sentence.text().endswith(".")
    trained_window.session.cursor.go_to(3)
    assert not card.isVisible()


def test_the_token_card_can_show_the_token_under_the_pointer_after_showing_a_reason(trained_window: Program) -> None:
    trained_window.selecting._show_reason("A reason.")
    point_at_step(trained_window, 3)
    trained_window.selecting._show_card()
    card = trained_window.selecting.card
    assert "A reason." not in card.accessibleDescription()
    assert "Learned: merge 3" in card.accessibleDescription()
    trained_window.session.selection.point(None)
    assert not card.isVisible()


def test_opening_another_session_clears_the_highlight_and_the_chosen_steps(trained_window: Program) -> None:
    selection = trained_window.session.selection
    point_at_step(trained_window, 3)
    selection.keep(selection.pointed)
    trained_window.selecting._update_card()
    trained_window.merge_panel.table.selectAll()
    trained_window.filing.document.new()
    assert selection.shown_highlight.mark is None
    assert selection.steps == ()
    assert not trained_window.selecting.card.isVisible()


def test_a_highlighted_token_of_a_different_run_is_found_by_its_bytes(trained_window: Program) -> None:
    run = trained_window.session.runs.shown
    assert run is not None
    assert run.names is not None
    highlight = Highlight((token_of(trained_window, 3),))
    assert Mark(highlight, (run.names.raw[token_of(trained_window, 4)],)).in_run(run) == Highlight(
        (token_of(trained_window, 4),)
    )
    assert Mark(highlight, (b"not in this run",)).in_run(run) == NOTHING
    assert Mark(Highlight((len(run.names.raw),)), (b"not in this run",)).in_run(run) == NOTHING


def test_arrow_keys_move_through_the_tiles_and_splits_of_the_watched_word(
    qtbot: QtBot, trained_window: Program
) -> None:
    trained_window.window.show_room("watch")
    settle(qtbot, trained_window)
    view = trained_window.watch.view
    view.grab()
    view.setFocus()
    at = trained_window.session.cursor.position
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.accessibleDescription().startswith("Token")
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.accessibleDescription().startswith("Split before")
    assert trained_window.session.cursor.position == at


def test_buttons_of_the_token_card_copy_the_token_and_forbid_its_merge(qtbot: QtBot, trained_window: Program) -> None:
    selection = trained_window.session.selection
    run = trained_window.session.runs.shown
    selection.keep(Mark.of_step(run, 4))
    trained_window.selecting._update_card()
    trained_window.selecting.card.buttons["copy"].click()
    assert run is not None
    assert run.names is not None
    assert QGuiApplication.clipboard().text() == run.names.text[token_of(trained_window, 4)]
    trained_window.selecting.card.buttons["forbid"].click()
    assert trained_window.session.runs.shown is not run
    settle(qtbot, trained_window)


def test_selecting_several_rows_of_the_merge_table_chooses_their_steps(trained_window: Program) -> None:
    table = trained_window.merge_panel.table
    table.selectRow(2)
    assert trained_window.session.selection.steps == ()
    table.selectAll()
    run = trained_window.session.runs.shown
    assert run is not None
    assert trained_window.session.selection.steps == tuple(range(1, run.learned + 1))
    assert len(trained_window.session.selection.chosen_tokens) == run.learned


def test_actions_on_chosen_steps_use_only_these_steps(qtbot: QtBot, trained_window: Program) -> None:
    table = trained_window.merge_panel.table
    trained_window.charts.show_page(COMPRESSION.id)
    settle(qtbot, trained_window)
    table.clearSelection()
    for row in (9, 10, 11):
        index = trained_window.merges.index(row, 0)
        table.selectionModel().select(index, SELECT_ROWS)
    steps = trained_window.session.selection.steps
    assert steps == (10, 11, 12)
    trained_window.actions["chart_chosen"].trigger()
    chart = trained_window.pages.page(COMPRESSION).figure.charts[0]
    left, right = chart.box.viewRange()[0]
    assert left <= chart.place_of(10) < chart.place_of(12) <= right  # type: ignore[operator]
    assert not chart.is_whole
    trained_window.actions["film"].trigger()
    form = trained_window.publishing.film_form
    assert form is not None
    assert (form.first_box.value(), form.last_box.value()) == (9, 12)
    form.close()
    trained_window.actions["audit"].trigger()
    settle(qtbot, trained_window)
    run = trained_window.session.runs.shown
    assert run is not None
    assert run.history is not None
    tokens = run.history.numbers_of(run.history.indices[9:12]).tolist()
    assert trained_window.pages.page(AUDIT).trimming.chosen_tokens == tokens


def test_all_occurrences_of_the_selected_text_are_highlighted_until_nothing_is_selected(
    trained_window: Program,
) -> None:
    editor = trained_window.text_panel.editor
    editor.select(0, 3)
    selected = editor.model.text()[:3].encode()
    assert editor.highlight == Highlight(word=selected)
    assert trained_window.text_panel.ids.grid._highlight == Highlight(word=selected)
    point_at_step(trained_window, 5)  # the pointer comes first
    assert editor.highlight.tokens
    trained_window.session.selection.point(None)
    assert editor.highlight == Highlight(word=selected)
    editor.select(0, 0)
    assert editor.highlight == NOTHING


def test_long_selected_text_is_not_highlighted(trained_window: Program) -> None:
    editor = trained_window.text_panel.editor
    editor.select(0, editor.model.chunks.length)
    assert editor.model.byte_length > 200
    assert editor.highlight == NOTHING


def test_a_word_under_the_pointer_is_highlighted_in_the_word_list_and_in_the_text(
    qtbot: QtBot, trained_window: Program
) -> None:
    program = trained_window
    program.window.show_room("build")
    program.charts.show_page(WORDS.id)
    page = program.pages.page(WORDS)
    settle(qtbot, program)
    word = page.rows.word(0)
    move_to(page.table.viewport(), QPointF(page.table.visualRect(page.rows.index(0, 0)).center()))
    assert program.text_panel.editor.highlight == Highlight(word=word)
    lit = [row for row in range(page.rows.rowCount()) if page.rows.index(row, 0).data(Qt.ItemDataRole.BackgroundRole)]
    assert lit == [row for row in range(page.rows.rowCount()) if word in page.rows.word(row)]
    assert 0 in lit
    QApplication.sendEvent(page, QEvent(QEvent.Type.Leave))
    assert program.text_panel.editor.highlight == NOTHING
    token = token_of(program, 3)
    point_at_step(program, 3)
    run = program.session.runs.shown
    assert run is not None
    assert run.names is not None
    raw = run.names.raw[token]
    lit = [row for row in range(page.rows.rowCount()) if page.rows.index(row, 0).data(Qt.ItemDataRole.BackgroundRole)]
    assert lit == [row for row in range(page.rows.rowCount()) if raw in page.rows.word(row)]
    assert lit
