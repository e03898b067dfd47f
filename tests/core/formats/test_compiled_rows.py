"""Tests of the kernels for table rows: they write the same bytes as plain Python, and parse the rows of a file."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.formats import FORMATS
from bpe_core.formats.merge_table import MergeTable, fill_rows
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, Columns, History, Int64s
from bpe_core.recipes.recipe import Recipe
from tests.machine_code import machine_code

TABLES = ("csv", "tsv", "json")
BYTES = b'ab ,"\\<0x41>\t\n\x00\x7f\xc3\xa9\xf0\x9f\x98\x80'  # characters that some formats escape
COUNTS = st.sampled_from([NOTHING, 0, 9, 10, 2**40, 2**63 - 1])


@st.composite
def histories(draw: st.DrawFn) -> History:
    """Draw a history whose base symbols are bytes, with random pairs and counts."""
    steps = draw(st.integers(1, 12))
    rows: list[tuple[int, ...]] = []
    for step in range(steps):
        ids = st.sampled_from([*BYTES, *range(256, 256 + step)])
        other = draw(st.tuples(ids, ids, COUNTS.filter(lambda count: count >= 0)) | st.just((NOTHING,) * 3))
        rows.append((draw(ids), draw(ids), draw(COUNTS), *other, draw(COUNTS)))
    columns = Columns(*np.array(rows).T)
    recipe = Recipe.preset("gpt2", merges=steps, special_tokens=draw(st.sampled_from([(), ("<|end|>",)])))
    return History(recipe, Alphabet.of_bytes(), columns)


@given(history=histories(), name=st.sampled_from(TABLES), data=st.data())
def test_kernels_write_table_rows_with_the_same_bytes_as_plain_python_does(
    history: History, name: str, data: st.DataObject
) -> None:
    numbers = data.draw(
        st.none() | st.permutations(range(history.index_count)).map(_with_missing_values), label="numbers"
    )
    assert _table_bytes(history, name, numbers, by_kernels=True) == _table_bytes(
        history, name, numbers, by_kernels=False
    )


@given(history=histories(), name=st.sampled_from(TABLES))
def test_kernels_parse_the_rows_of_a_table_file(history: History, name: str) -> None:
    table, format = _table_bytes(history, name, None, by_kernels=False), FORMATS[name]
    assert isinstance(format, MergeTable)
    cells = format.parse_parts(table, "table").cells()
    assert cells is not None
    for column in Columns._fields:
        assert cells.numbers(column).tolist() == getattr(history.columns, column).tolist()


def test_the_check_of_parsed_table_rows_refuses_incomplete_rows() -> None:
    assert not fill_rows(np.array([True] * 3), 2)
    assert not fill_rows(np.array([False] * 3), 1)


def _with_missing_values(numbers: Sequence[int]) -> Int64s:
    return np.array([number if number % 7 else NOTHING for number in numbers])


def _table_bytes(history: History, name: str, numbers: Int64s | None, *, by_kernels: bool) -> bytes:
    file = io.BytesIO()
    with machine_code(is_used=by_kernels):
        FORMATS[name].write(history.numbered(numbers), file)
    return file.getvalue()
