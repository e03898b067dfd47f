"""Tests of the model of the merge table.

Growing, filtering, sorting and copying have the same results as plain Python.
"""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester

from app.session.merge_filter import NOT_HEX, MergeFilter
from app.window.merges.merge_table import MergeTableModel, columns_of
from bpe_core.history.token_texts import ranks, shown
from tests.gui.histories import random_history, run_with, set_history

HISTORY = random_history(700, seed=5)
COLUMNS = columns_of(HISTORY.recipe)
NAMES = run_with(HISTORY).names
assert NAMES is not None

FILTERS = st.one_of(
    st.builds(
        MergeFilter, st.text(alphabet="abeiot ␣<0x>", max_size=3), st.just("text"), st.booleans(), st.integers(1, 6)
    ),
    st.builds(MergeFilter, st.sampled_from(["^␣", "[aeiou]{2}", "t$", "("]), st.just("regex"), st.booleans()),
    st.builds(MergeFilter, st.sampled_from(["20", "65 66", "e", "zz"]), st.just("hex"), st.booleans()),
)


def model_of(merges: int) -> MergeTableModel:
    model = MergeTableModel()
    model.show_run(run_with(HISTORY.first(merges)))
    return model


def shown_merges(model: MergeTableModel) -> list[int]:
    return [model.merge_at(row) for row in range(model.rowCount())]


def test_the_merge_table_model_passes_the_model_tester_of_qt(qtmodeltester: ModelTester) -> None:
    model = model_of(0)
    qtmodeltester.check(model)
    run = model._run  # the one it was given; nobody else needs to ask it for that
    assert run is not None
    for merges in (1, 5, 300):
        set_history(run, HISTORY.first(merges))
        model.grow()
        qtmodeltester.check(model)
    model.set_filter(MergeFilter(ties_only=True))
    model.sort(4, Qt.SortOrder.DescendingOrder)
    qtmodeltester.check(model)


@given(st.lists(st.integers(0, 700), max_size=6), FILTERS)
def test_filling_a_merge_table_in_parts_gives_the_same_rows_as_filling_the_whole_table_at_once(
    ends: list[int], chosen: MergeFilter
) -> None:
    model = model_of(0)
    model.set_filter(chosen)
    run = model._run  # the one it was given; nobody else needs to ask it for that
    assert run is not None
    for end in sorted(ends):
        set_history(run, HISTORY.first(end))
        model.grow()
    at_once = model_of(max(ends, default=0))
    at_once.set_filter(chosen)
    assert shown_merges(model) == shown_merges(at_once)


def passes(chosen: MergeFilter, merge: int) -> bool:
    import re

    assert NAMES is not None
    raw = NAMES.raw[256 + merge]
    columns = HISTORY.columns
    if chosen.ties_only and columns.count[merge] != columns.runner_up_count[merge]:
        return False
    if len(raw) < chosen.min_length:
        return False
    if not chosen.needle or chosen.error:
        return True
    if chosen.kind == "hex":
        return bytes.fromhex(chosen.needle) in raw
    if chosen.kind == "regex":
        return re.search(chosen.needle, shown(raw)) is not None
    return chosen.needle.replace(" ", "␣") in shown(raw)


@given(FILTERS)
def test_a_merge_filter_shows_exactly_the_merges_that_match(chosen: MergeFilter) -> None:
    model = model_of(700)
    model.set_filter(chosen)
    assert shown_merges(model) == [merge for merge in range(700) if passes(chosen, merge)]


@given(st.sampled_from(range(len(COLUMNS))), st.booleans(), FILTERS)
def test_the_merge_table_sorts_by_any_column_and_equal_rows_stay_in_step_order(
    column: int, descending: bool, chosen: MergeFilter
) -> None:
    model = model_of(700)
    model.set_filter(chosen)
    model.sort(column, Qt.SortOrder.DescendingOrder if descending else Qt.SortOrder.AscendingOrder)
    assert NAMES is not None
    keys = list(COLUMNS[column].key(HISTORY, NAMES))
    wanted = sorted(
        (merge for merge in range(700) if passes(chosen, merge)), key=lambda merge: keys[merge], reverse=descending
    )
    assert shown_merges(model) == wanted  # sorted() is stable both ways round


def test_the_token_column_of_the_merge_table_sorts_by_bytes() -> None:
    model = model_of(700)
    model.sort(1)
    assert NAMES is not None
    tokens = [NAMES.raw[256 + merge] for merge in shown_merges(model)]
    assert tokens == sorted(tokens)


@given(FILTERS, st.integers(0, 699), st.booleans())
def test_the_merge_table_model_finds_the_row_of_a_merge(chosen: MergeFilter, merge: int, by_count: bool) -> None:
    model = model_of(700)
    model.set_filter(chosen)
    if by_count:
        model.sort(4)
    rows = shown_merges(model)
    if merge in rows:
        assert model.row_of(merge) == rows.index(merge)
    elif not by_count:
        assert model.row_of(merge) == sum(row < merge for row in rows) - 1


@pytest.mark.parametrize(("separator", "headers"), [("\t", True), (",", True), (",", False)])
def test_copied_rows_of_the_merge_table_can_be_parsed_as_csv(separator: str, headers: bool) -> None:
    model = model_of(700)
    text = model.as_text([0, 5, 699], separator, headers=headers)
    rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    assert len(rows) == 3 + headers
    if headers:
        assert rows[0][:4] == ["step", "left_id", "left_hex", "left_text"]
    shown = [model.data(model.index(699, column)) for column in range(4)]
    assert [rows[-1][place] for place in (0, 9, 3, 6)] == shown


@pytest.mark.parametrize(("needle", "is_right"), [("20 74", True), ("2074", True), ("2", False), ("xy", False)])
def test_a_merge_filter_reports_wrong_hexadecimal_digits(needle: str, is_right: bool) -> None:
    assert MergeFilter(needle, "hex").error == ("" if is_right else NOT_HEX)


def test_a_wrong_regular_expression_in_the_merge_filter_is_reported_and_hides_no_row() -> None:
    model = model_of(20)
    model.set_filter(MergeFilter("(", "regex"))
    assert "regular expression" in model.filter.error
    assert model.rowCount() == 20


def test_the_runner_up_cell_of_a_merge_without_a_runner_up_is_empty() -> None:
    model = model_of(700)
    assert model.data(model.index(699, 5)) == ""
    assert not model.is_tied(699)


def test_merges_after_the_shown_step_are_marked_as_not_made_yet() -> None:
    model = model_of(10)
    model.set_position(4)
    assert [model.is_after_step_shown(row) for row in range(10)] == [False] * 4 + [True] * 6


@given(st.lists(st.builds(bytes.__add__, st.sampled_from([b"", b"t" * 15, b"t" * 16]), st.binary(max_size=3))))
def test_token_texts_are_sorted_in_the_same_order_as_python_sorts_bytes(texts: list[bytes]) -> None:
    place_of = {text: place for place, text in enumerate(sorted(set(texts)))}
    assert ranks(texts).tolist() == [place_of[text] for text in texts]
