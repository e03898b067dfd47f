"""Tests of the selection.

The token under the pointer is highlighted in all views. After a click, the token stays highlighted until Escape
is pressed.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QItemSelectionModel, QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.session.selection import NOTHING, Highlight, Mark
from app.window.pages import AUDIT, COMPRESSION, LANES, PAIRS, TREE, WHY
from app.wiring import Program
from tests.gui.conftest import Train, settle

pytestmark = pytest.mark.usefixtures("only_window")
SELECT_ROWS = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows


@pytest.fixture
def trained(program: Program, train: Train) -> Program:
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


def test_pointing_at_a_token_highlights_the_token_in_text_ids_and_table(trained: Program) -> None:
    program = trained
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


def test_pointing_at_a_row_of_the_merge_table_highlights_its_token_in_the_text(trained: Program) -> None:
    table = trained.merge_panel.table
    before = trained.text_panel.editor.viewport().grab().toImage()
    row = table.rowAt(table.viewport().height() // 2)
    step = trained.merges.merge_at(row) + 1
    move_to(table.viewport(), QPointF(30, table.viewport().height() // 2))
    assert trained.text_panel.editor.highlight == Highlight((token_of(trained, step),))
    point_at_step(trained, 1)
    assert trained.text_panel.editor.viewport().grab().toImage() != before


def test_a_token_stays_highlighted_after_a_click_until_escape_is_pressed(trained: Program) -> None:
    table = trained.merge_panel.table
    place = QPoint(30, table.viewport().height() // 2)
    move_to(table.viewport(), QPointF(place))
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, place)
    QApplication.sendEvent(table, QEvent(QEvent.Type.Leave))
    card = trained.selecting.card
    assert trained.text_panel.editor.highlight != NOTHING
    assert card.isVisible()
    assert card.deeds.isVisible()
    QTest.keyClick(trained.window, Qt.Key.Key_Escape)
    assert trained.text_panel.editor.highlight == NOTHING
    assert not card.isVisible()


def test_the_token_card_shows_the_id_the_bytes_the_step_the_count_and_the_parts_of_a_token(
    qtbot: QtBot, trained: Program
) -> None:
    point_at_step(trained, 3)
    trained.session.selection.keep(trained.session.selection.pointed)
    trained.selecting._update_card()
    run = trained.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert run.names is not None
    said = trained.selecting.card.accessibleDescription()
    step = run.history[2]
    assert f"Id: {run.history.numbers_of(step.index):,}" in said
    assert "Learned: merge 3" in said
    assert f"Count: {step.count:,} times" in said
    assert f"Made of: {run.names.text[step.left]} + {run.names.text[step.right]}" in said


def test_pointing_at_a_pair_highlights_where_its_tokens_are_neighbours(trained: Program) -> None:
    run = trained.session.runs.shown
    assert run is not None
    assert run.history is not None
    trained.session.cursor.go_to(0)
    pair = run.history.pair(0)
    trained.pages.page(PAIRS).tokens_pointed.emit(pair)
    assert trained.text_panel.editor.highlight == Highlight(pair)
    assert trained.session.selection.shown_highlight.step == 1


def test_the_token_under_the_pointer_is_highlighted_in_the_columns_of_another_run(
    qtbot: QtBot, trained: Program, train: Train
) -> None:
    first = trained.session.runs.shown
    trained.session.recipe.put(trained.session.recipe.value.with_changes(ties="largest-text"), "Change the ties")
    trained.actions["new_run"].trigger()
    settle(qtbot, trained)
    second = trained.session.runs.shown
    assert first is not None
    assert second is not None
    assert first is not second
    mark = Mark.of_step(second, 200)
    assert mark is not None
    there = mark.in_run(first)
    assert first.names is not None
    assert second.names is not None
    assert not there.tokens or first.names.raw[there.tokens[0]] == mark.texts[0]
    trained.window.show_room("compare")
    settle(qtbot, trained)
    trained.session.selection.point(mark)
    columns = trained.pages.page(LANES).columns.all
    shown = [lane.run for lane in trained.pages.page(LANES).model.lanes]
    assert [column.text.highlight for column in columns[: len(shown)]] == [mark.in_run(run) for run in shown]


def test_pointing_at_a_tree_node_highlights_its_token_everywhere(qtbot: QtBot, trained: Program) -> None:
    trained.actions["why"].trigger()
    settle(qtbot, trained)
    page = trained.pages.page(WHY)
    node = next(node for node in page.tree.nodes() if node.step)
    move_to(page.tree, page.tree.area_of(node).center())
    assert trained.session.selection.shown_highlight.step == node.step
    assert page.tree._highlighted_text == node.text
    assert trained.pages.known(TREE) is None or trained.pages.page(TREE).tree._highlighted_text == node.text


def test_a_curve_over_steps_marks_the_step_that_made_the_highlighted_token(qtbot: QtBot, trained: Program) -> None:
    trained.charts.show_page(COMPRESSION.id)
    settle(qtbot, trained)
    point_at_step(trained, 5)
    charts = trained.pages.page(COMPRESSION).figure.charts
    assert charts
    assert all(chart._highlight.isVisible() for chart in charts)
    trained.session.selection.point(None)
    assert not any(chart._highlight.isVisible() for chart in charts)


def test_a_tile_of_the_watched_word_highlights_its_token_and_opens_the_card(qtbot: QtBot, trained: Program) -> None:
    trained.window.show_room("watch")
    settle(qtbot, trained)
    view = trained.watch.view
    view.grab()
    tile = next(spot for spot in view.spots if not spot.is_split and spot.tile.id is not None)
    move_to(view, tile.area.center())
    assert trained.text_panel.editor.highlight == Highlight((tile.tile.id,))  # type: ignore[arg-type]
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=tile.area.center().toPoint())
    assert trained.selecting.card.isVisible()


def test_a_click_on_a_boundary_shows_the_reason_of_the_boundary_until_the_step_changes(
    qtbot: QtBot, trained: Program
) -> None:
    trained.window.show_room("watch")
    settle(qtbot, trained)
    view = trained.watch.view
    view.grab()
    split = next(spot for spot in view.spots if spot.is_split)
    card = trained.selecting.card
    QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=split.area.center().toPoint())
    qtbot.waitUntil(card.isVisible)
    assert card.sentence.text().endswith(".")
    trained.session.cursor.go_to(3)
    assert not card.isVisible()


def test_the_token_card_shows_the_token_under_the_pointer_after_it_showed_a_reason(trained: Program) -> None:
    trained.selecting._show_reason("A reason.")
    point_at_step(trained, 3)
    trained.selecting._show_card()
    card = trained.selecting.card
    assert "A reason." not in card.accessibleDescription()
    assert "Learned: merge 3" in card.accessibleDescription()
    trained.session.selection.point(None)
    assert not card.isVisible()


def test_opening_another_session_clears_the_highlight_and_the_chosen_steps(trained: Program) -> None:
    selection = trained.session.selection
    point_at_step(trained, 3)
    selection.keep(selection.pointed)
    trained.selecting._update_card()
    trained.merge_panel.table.selectAll()
    trained.filing.document.new()
    assert selection.shown_highlight.mark is None
    assert selection.steps == ()
    assert not trained.selecting.card.isVisible()


def test_a_highlight_from_another_run_is_matched_by_the_bytes_of_its_token(trained: Program) -> None:
    run = trained.session.runs.shown
    assert run is not None
    assert run.names is not None
    highlight = Highlight((token_of(trained, 3),))
    assert Mark(highlight, (run.names.raw[token_of(trained, 4)],)).in_run(run) == Highlight((token_of(trained, 4),))
    assert Mark(highlight, (b"not in this run",)).in_run(run) == NOTHING
    assert Mark(Highlight((len(run.names.raw),)), (b"not in this run",)).in_run(run) == NOTHING


def test_arrow_keys_move_through_the_tiles_and_splits_of_the_watched_word(qtbot: QtBot, trained: Program) -> None:
    trained.window.show_room("watch")
    settle(qtbot, trained)
    view = trained.watch.view
    view.grab()
    view.setFocus()
    at = trained.session.cursor.position
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.accessibleDescription().startswith("Token")
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.accessibleDescription().startswith("Split before")
    assert trained.session.cursor.position == at


def test_buttons_of_the_token_card_copy_the_token_and_forbid_its_merge(qtbot: QtBot, trained: Program) -> None:
    selection = trained.session.selection
    run = trained.session.runs.shown
    selection.keep(Mark.of_step(run, 4))
    trained.selecting._update_card()
    trained.selecting.card.buttons["copy"].click()
    assert run is not None
    assert run.names is not None
    assert QGuiApplication.clipboard().text() == run.names.text[token_of(trained, 4)]
    trained.selecting.card.buttons["forbid"].click()
    assert trained.session.runs.shown is not run
    settle(qtbot, trained)


def test_selected_rows_of_the_merge_table_become_the_chosen_steps(trained: Program) -> None:
    table = trained.merge_panel.table
    table.selectRow(2)
    assert trained.session.selection.steps == ()
    table.selectAll()
    run = trained.session.runs.shown
    assert run is not None
    assert trained.session.selection.steps == tuple(range(1, run.learned + 1))
    assert len(trained.session.selection.chosen_tokens) == run.learned


def test_charts_films_trimming_and_export_use_only_the_chosen_steps(qtbot: QtBot, trained: Program) -> None:
    table = trained.merge_panel.table
    trained.charts.show_page(COMPRESSION.id)
    settle(qtbot, trained)
    table.clearSelection()
    for row in (9, 10, 11):
        index = trained.merges.index(row, 0)
        table.selectionModel().select(index, SELECT_ROWS)
    steps = trained.session.selection.steps
    assert steps == (10, 11, 12)
    trained.actions["chart_chosen"].trigger()
    chart = trained.pages.page(COMPRESSION).figure.charts[0]
    left, right = chart.box.viewRange()[0]
    assert left <= chart.place_of(10) < chart.place_of(12) <= right  # type: ignore[operator]
    assert not chart.is_whole
    trained.actions["film"].trigger()
    form = trained.publishing.film_form
    assert form is not None
    assert (form.first_box.value(), form.last_box.value()) == (9, 12)
    form.close()
    trained.actions["audit"].trigger()
    settle(qtbot, trained)
    run = trained.session.runs.shown
    assert run is not None
    assert run.history is not None
    tokens = run.history.numbers_of(run.history.indices[9:12]).tolist()
    assert trained.pages.page(AUDIT).trimming.chosen_tokens == tokens
