"""Tests of merge tables in Markdown for people and in Parquet for data frames."""

from __future__ import annotations

import io
from typing import Any

import pytest

from bpe_core.errors import FormatError
from bpe_core.formats import FORMATS
from bpe_core.formats.rows import Row, merge_rows
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.formats.samples import content, learn_preset, same_merges, write_and_open
from tests.core.learning import train

PARQUET, MARKDOWN = FORMATS["parquet"], FORMATS["markdown"]


def test_each_row_of_a_markdown_table_shows_a_merge_and_its_count() -> None:
    history = learn_preset("gpt2", merges=50)
    text = content(history, "markdown").decode()
    assert MARKDOWN.recognizes(text.encode())
    rows = [line for line in text.split("\n") if line.startswith("| ") and line[2:3].isdigit()]
    assert len(rows) == 50
    plain = next(merge for merge in history if max(merge.left, merge.right) < 128)  # two letters of ASCII
    left, right = (f"`{chr(id).replace(' ', '␣')}`" for id in (plain.left, plain.right))
    assert rows[plain.step - 1].startswith(f"| {plain.step} | {left} | {right} | ")
    assert [int(row.split(" | ")[6]) for row in rows] == history.columns.count.tolist()
    assert MARKDOWN.differences(text.encode(), history) == []
    damaged = text.replace(rows[7], rows[8])
    assert MARKDOWN.differences(damaged.encode(), history) == ["Row 8 differs."]


def test_opening_a_markdown_table_is_refused() -> None:
    with pytest.raises(FormatError, match="such tables cannot be read"):
        MARKDOWN.open(content(learn_preset("gpt2", merges=5), "markdown"), "table.md")


def test_tokens_with_a_bar_or_a_quote_do_not_break_a_markdown_row() -> None:
    history = train(Corpus.from_texts(["a|b a|b `x `x |` |`"]), Recipe.preset("words", merges=10))
    rows = content(history, "markdown").decode().split("\n")
    bars = {line.replace("\\|", "").count("|") for line in rows if line.startswith("|")}
    assert bars == {10}


@pytest.mark.parametrize(
    ("preset", "changes"), [("gpt2", {"special_tokens": ("<|end|>",)}), ("words", {"marker": "glued"}), ("words", {})]
)
def test_a_parquet_table_is_read_back_unchanged(preset: str, changes: dict[str, Any]) -> None:
    pytest.importorskip("pyarrow", reason="the package pyarrow is not installed")
    history = learn_preset(preset, **changes)
    back = write_and_open(history, "parquet").history
    assert same_merges(back, history)
    assert back.recipe == history.recipe
    assert list(back) == list(history)


def test_pyarrow_reads_the_columns_of_a_parquet_table() -> None:
    pytest.importorskip("pyarrow", reason="the package pyarrow is not installed")
    import pyarrow.parquet as parquet

    history = learn_preset("gpt2")
    table = parquet.read_table(io.BytesIO(content(history, "parquet")))
    assert table.column_names == [column for column in Row._fields if column != "kind"]
    assert table.to_pylist() == [
        {column: value for column, value in row._asdict().items() if column != "kind"} for row in merge_rows(history)
    ]


def test_a_damaged_parquet_table_is_refused() -> None:
    pytest.importorskip("pyarrow", reason="the package pyarrow is not installed")
    whole = content(learn_preset("gpt2", merges=20), "parquet")
    for damaged in (whole[:-9], whole[: len(whole) // 2], b"PAR1" + b"\0" * 50 + whole[-200:]):
        with pytest.raises(FormatError, match="table"):
            PARQUET.open(damaged, "table")
