"""How a stretch of the token text is laid out: what is invisible gets a name, each letter a cell."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from app.window.text.view.block_layout import BlockLayout, Typesetting, VisibleText, utf16_length


def test_invisible_characters_are_named() -> None:
    assert [box.label for box in VisibleText("\x00\r\u200b\x9f").boxes] == ["NUL", "CR", "ZWSP", "U+009F"]
    family = "👩\u200d👧"
    assert VisibleText(family).boxes == [], "a joiner does its work"
    assert [box.label for box in VisibleText(family, all_invisible=True).boxes] == ["ZWJ"]


@given(st.text(st.sampled_from("ab  \x00\u200b😀\u0301ש\t") | st.characters(codec="utf-8"), max_size=40), st.booleans())
def test_places_in_the_text_and_in_what_is_laid_out_map_both_ways(text: str, all_invisible: bool) -> None:
    visible = VisibleText(text, all_invisible=all_invisible)
    units = [visible.units_of(character) for character in range(len(text) + 1)]
    assert units == sorted(set(units)), "every character has room of its own"
    assert units[-1] == utf16_length(visible.text)
    assert [visible.character_of(unit) for unit in units] == list(range(len(text) + 1))


def test_a_setting_is_measured_once() -> None:
    setting = Typesetting(QApplication.font(), 300.0)
    assert setting.metrics is setting.metrics
    assert BlockLayout("", setting, right_to_left=False, goes_on=False).height == setting.row_height


@pytest.mark.parametrize("text", ["עולם two ab", "two עולם x", "שלום 123 עולם", "a ע b", "שָׁלוֹם ab", "a مرحبا 1 b"])
@pytest.mark.parametrize("right_to_left", [False, True])
def test_where_the_reading_direction_turns_each_letter_has_its_cell(text: str, right_to_left: bool) -> None:
    layout = BlockLayout(text, Typesetting(QApplication.font(), 500.0), right_to_left=right_to_left, goes_on=False)
    (row,) = layout.rows
    begins, ends = layout.cells(row)
    low, high = np.sort(np.stack((begins, ends)), axis=0)
    order = np.lexsort((high, low))
    assert np.allclose(low[order][1:], high[order][:-1], atol=0.6), "the cells lie side by side"
    widths = high - low
    assert (widths > 0.1).all()
    assert abs(widths.sum() - row.line.naturalTextWidth()) < 2
