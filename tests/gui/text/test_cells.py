"""Tests of the layout of a block. Each letter has a cell, and invisible characters are shown as names."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication

from app.window.text.chunks import utf16_length
from app.window.text.text_model import TokenTextModel
from app.window.text.view.cells import BlockCells, BlockStyle, name_of, shown_text
from app.window.text.view.document import TokenDocument
from app.window.text.view.palette import TokenPalette
from app.window.text.view.token_layout import TokenLayout
from bpe_core.support.numbered_symbols import SymbolNames, character_of


def shown_document(text: str, width: float) -> tuple[TokenDocument, TokenLayout]:
    model = TokenTextModel(text)
    document = TokenDocument(model, model)
    layout = TokenLayout(document, model.chunks, lambda: TokenPalette.matching(QPalette()))
    document.setDocumentLayout(layout)
    layout.use(BlockStyle(QApplication.font(), width))
    return document, layout


def first_block(text: str) -> tuple[BlockCells, float]:
    """Return the cells in the first block of a text, and the width of its first row."""
    document, layout = shown_document(text, 500.0)
    block = document.firstBlock()
    cells = layout.cells_of(block)
    return cells, block.layout().lineAt(0).naturalTextWidth()


def test_invisible_characters_are_shown_as_names() -> None:
    assert list(map(name_of, "\x00\r\u200b\x9f")) == ["NUL", "CR", "ZWSP", "U+009F"]
    assert shown_text("\x00\r\u200b\x9f", all_invisible=False) == "\ufffc" * 4
    notes = character_of(60) + character_of(1)
    assert shown_text(notes, all_invisible=False) == "\ufffc" * 4
    assert [name_of(note, SymbolNames(("C", "D"), has_numbers=True)) for note in notes] == ["60", "D"]
    family = "👩\u200d👧"
    assert shown_text(family, all_invisible=False) == family, "a joiner does its work"
    assert shown_text(family, all_invisible=True) == "👩\ufffc👧"


@given(
    st.text(st.sampled_from("ab  \x00\u200b😀\u0301ש\t\U000e0041") | st.characters(codec="utf-8"), max_size=40),
    st.booleans(),
)
def test_showing_invisible_characters_does_not_change_the_length_of_the_text(text: str, all_invisible: bool) -> None:
    text = text.replace("\n", "")
    shown = shown_text(text, all_invisible=all_invisible)
    assert utf16_length(shown) == utf16_length(text)
    assert shown_text(shown, all_invisible=all_invisible) == shown
    assert not set(shown) & set("\x00\r\u2028\u2029\ufdd0\ufdd1"), "nothing that Qt would take for an end of a block"


def test_the_box_of_an_invisible_character_is_as_wide_as_its_name() -> None:
    cells, _ = first_block("\x00\u200bx")
    (row,) = cells.rows
    widths = row.cells.ends - row.cells.begins
    assert row.byte_count == 5
    assert widths[1:4].sum() > widths[0] > widths[4] > 0, "ZWSP, NUL and x"


def test_font_metrics_of_the_text_are_computed_only_once() -> None:
    setting = BlockStyle(QApplication.font(), 300.0)
    assert setting.metrics is setting.metrics
    cells, _ = first_block("")
    assert cells.rows[0].height == setting.row_height


@pytest.mark.parametrize("text", ["עולם two ab", "two עולם x", "שלום 123 עולם", "a ע b", "שָׁלוֹם ab", "a مرحبا 1 b"])
def test_letters_in_a_line_of_mixed_reading_direction_do_not_overlap_on_screen(text: str) -> None:
    cells, text_width = first_block(text)
    (row,) = cells.rows
    low, high = np.sort(np.stack((row.cells.begins, row.cells.ends)), axis=0)
    order = np.lexsort((high, low))
    assert np.allclose(low[order][1:], high[order][:-1], atol=0.6), "the cells lie side by side"
    widths = high - low
    assert (widths > 0.1).all()
    assert abs(widths.sum() - text_width) < 2


def test_an_edit_recomputes_the_layout_of_only_the_changed_rows() -> None:
    document, layout = shown_document("many words " * 60, 300.0)
    before = layout.cells_of(document.firstBlock()).rows
    document.model.replace(document.model.length, document.model.length, "x")
    after = layout.cells_of(document.firstBlock()).rows
    assert len(after) == len(before) > 4
    assert [row.cells for row in after[:-1]] == [row.cells for row in before[:-1]]
    assert after[-1].cells is not before[-1].cells
