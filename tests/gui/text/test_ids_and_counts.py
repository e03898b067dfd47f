"""Tests of the panels beside the token text: the ids with their tokens, and the counts."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

import bpe_core as bpe
from app.window.text.pasted_ids import DecodedIds
from app.window.text.text_model import NO_TOKEN, TokenAt, TokenTextModel
from app.window.text.view.ids_view import IdsGrid, IdsView
from app.window.text.view.text_panel import CountsBar, TokenTextPanel
from bpe_core.segmenting.boundaries import NEVER, Boundaries, HiddenSymbols
from bpe_core.segmenting.boundaries import PATTERN_CUT as CUT
from tests.gui.text.conftest import CTRL, SHIFT, Key, answer, light, middle_of, move
from tests.shared import text_of


@pytest.fixture
def panel(qtbot: QtBot) -> TokenTextPanel:
    model = TokenTextModel("some words, and numbers 123\n" * 40)
    panel = TokenTextPanel(model)
    panel.setPalette(light())
    qtbot.addWidget(panel)
    panel.resize(900, 400)
    panel.show()
    qtbot.waitExposed(panel)
    answer(model)
    model.set_cursor(60)
    QApplication.processEvents()
    return panel


def test_pointing_at_an_id_or_at_the_token_with_this_id_highlights_the_id_and_the_token(
    panel: TokenTextPanel,
) -> None:
    grid, editor = panel.ids.grid, panel.editor
    index = grid.cells.columns + 1
    QTest.mouseMove(grid.viewport(), grid.cell_of(index).center().toPoint())
    span = tuple(editor.model.edges()[index : index + 2].tolist())
    assert grid.hovered is not None
    assert editor.highlighted == span == grid.hovered.span
    byte = int(editor.model.edges()[5])
    move(editor, middle_of(editor, byte))
    assert grid.highlighted == tuple(editor.model.edges()[5:7].tolist())


def test_choosing_an_id_selects_its_token_in_the_text(panel: TokenTextPanel) -> None:
    grid, editor = panel.ids.grid, panel.editor
    grid.setFocus()
    QTest.keyClick(grid, Key.Key_End)
    last = editor.model.edges()[-2:].tolist()
    assert editor.selected_bytes() == tuple(last)
    assert editor.visible_blocks()[-1].block == editor.document().lastBlock()
    QTest.keyClick(grid, Key.Key_Home)
    QTest.keyClick(grid, Key.Key_Right)
    assert editor.selected_bytes() == tuple(editor.model.edges()[1:3].tolist())
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=grid.cell_of(3).center().toPoint())
    assert editor.selected_bytes() == tuple(editor.model.edges()[3:5].tolist())


def test_the_ids_of_the_selected_tokens_are_copied_to_the_clipboard(panel: TokenTextPanel) -> None:
    edges = panel.editor.model.edges()
    panel.editor.select_bytes(int(edges[2]), int(edges[5]))
    ids = panel.editor.model.tokens_between(int(edges[2]), int(edges[5])).ids.tolist()
    assert len(ids) == 3
    panel.ids.grid.copy()
    assert QApplication.clipboard().text() == ", ".join(map(str, ids))
    panel.editor.select(0, 0)
    assert len(panel.ids.grid.selected_ids()) == panel.editor.model.token_count()


def test_pasted_ids_are_decoded_and_their_text_is_shown(qtbot: QtBot) -> None:
    view = IdsView(TokenTextModel("x"))
    qtbot.addWidget(view)
    view.show()
    QTest.keyClicks(view.entry, "104, 105")
    with qtbot.waitSignal(view.ids_pasted) as caught:
        QTest.keyClick(view.entry, Key.Key_Return)
    assert caught.args == ["104, 105"]
    view.show_decoded(DecodedIds("hi"))
    assert view.decoded.isVisible()
    view.show_decoded(DecodedIds(""))
    assert not view.decoded.isVisible()


def test_the_ids_view_reports_ids_that_are_larger_than_the_vocabulary(qtbot: QtBot) -> None:
    model = TokenTextModel("low lower")
    view = IdsView(model)
    qtbot.addWidget(view)
    view.show()
    text = text_of("prose")[:3_000]
    study = bpe.train(text, method="unigram", vocab_size=100)
    model.use_history(study.history)
    assert view.about_large_ids.isVisible()
    assert view.about_large_ids.text().startswith("These ids go up to ")
    model.use_history(bpe.train(text, merges=5).history)
    assert not view.about_large_ids.isVisible()


def test_the_grid_of_300_000_ids_can_be_scrolled_to_the_last_id(qtbot: QtBot) -> None:
    model = TokenTextModel("abc" * 100_000)
    view = IdsView(model)
    qtbot.addWidget(view)
    view.resize(300, 300)
    view.show()
    model.accept(model.revision, 0, Boundaries(model.data, np.full(300_001, NEVER, np.int32)))
    grid = view.grid
    qtbot.waitUntil(lambda: grid.verticalScrollBar().maximum() > 10_000)
    grid.verticalScrollBar().setValue(grid.verticalScrollBar().maximum())
    grid.grab()
    assert grid.index_at(grid.cell_of(299_999).center()) == 299_999
    assert grid.viewport().rect().contains(grid.cell_of(299_999).center().toPoint())


def test_the_counts_bar_shows_the_counts_of_the_text_at_the_shown_step(qtbot: QtBot) -> None:
    model = TokenTextModel("low low")
    bar = CountsBar(model)
    qtbot.addWidget(bar)
    assert "… tokens" in bar.accessibleName()
    model.accept(0, 0, Boundaries(model.data, np.array([CUT, 0, 1, CUT, 2, 0, 1, CUT], np.int32)))
    qtbot.waitUntil(lambda: bar.accessibleName().startswith("7 characters, 7 bytes, 7 tokens, 1.00 bytes per token"))
    model.set_cursor(3)
    qtbot.waitUntil(lambda: "2 tokens, 3.50 bytes per token, 1.00 tokens per word" in bar.accessibleName())


def test_every_part_of_the_text_panel_has_a_name_and_can_be_reached_by_keyboard(panel: TokenTextPanel) -> None:
    for widget in (panel.editor, panel.ids.grid, panel.ids.entry):
        assert widget.accessibleName()
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    panel.ids.grid.setFocus()
    QTest.keyClick(panel.ids.grid, Key.Key_Backtab, SHIFT)
    assert panel.editor.hasFocus()
    QTest.keyClick(panel.editor, Key.Key_Tab, CTRL)
    assert panel.editor.hasFocus()
    assert panel.editor.model.text().startswith("\t"), "with Ctrl a tab is a character of the text"
    QTest.keyClick(panel.editor, Key.Key_Tab)
    assert not panel.editor.hasFocus()


def test_the_mouse_can_point_at_the_id_of_a_token_without_bytes(qtbot: QtBot) -> None:
    """A token such as a word marker has no bytes in the text. A person can still point at its id and select it.

    A click on the id moves the text cursor to the place of the token.
    """
    model = TokenTextModel("low low")
    panel = TokenTextPanel(model)
    qtbot.addWidget(panel)
    panel.show()
    symbols = np.array([1, 2, 3, NO_TOKEN, 1, 2, 3], np.int32)
    ranks = np.array([CUT, 0, NEVER, CUT, CUT, 0, NEVER, CUT], np.int32)
    markers = HiddenSymbols(
        np.array([3, 7]), *(np.array(two, np.int32) for two in ([4, 4], [NEVER, NEVER], [CUT, CUT]))
    )
    model.accept(model.revision, 0, Boundaries(model.data, ranks, symbols, markers, alphabet_size=9))
    model.set_cursor(1)
    grid = panel.ids.grid
    qtbot.waitUntil(lambda: grid.cells == grid._measured())  # laid out for what the model holds by now
    grid.grab()
    assert grid.selected_ids() == [9, 3, 4, 9, 3, 4]
    with qtbot.waitSignal(grid.token_hovered) as hovered:
        QTest.mouseMove(grid.viewport(), grid.cell_of(2).center().toPoint())
    assert hovered.args == [TokenAt(3, 3, 4, b"")]
    panel.grab()
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=grid.cell_of(6).center().toPoint())
    assert panel.editor.caret == 7


def test_without_a_run_the_cells_of_the_id_grid_are_wide_enough_for_three_digits(qtbot: QtBot) -> None:
    model = TokenTextModel("theme")
    grid = IdsGrid(model)
    qtbot.addWidget(grid)
    assert grid.cells.width > grid.fontMetrics().horizontalAdvance("255")
