"""Tests of answers that are printed as tables for papers: any character in a cell leaves the table correct."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.asking import Answer
from bpe_core.command_line.main import run
from bpe_core.support.data_table import DataTable
from bpe_core.support.paper_tables import in_latex

CELLS = st.lists(st.text(alphabet="ab&%$#_{}~^\\|␣… é", min_size=1, max_size=6), min_size=1, max_size=4)
SPECIAL = re.compile(r"(?<!\\)[&%$#_]")


def cells_in(row: str, divider: str) -> int:
    """Count the cells of a row. A divider after an odd number of backslashes is part of a cell."""
    bare = re.sub(r"\\.", "", row)
    return bare.count(divider)


@given(CELLS)
def test_each_row_of_a_latex_table_has_as_many_cells_as_the_heading(texts: list[str]) -> None:
    table = Answer(DataTable({"text": texts, "count": list(range(len(texts)))})).to_latex("A caption.")
    rows = table.split("\\midrule\n")[1].split("    \\bottomrule")[0].splitlines()
    assert [cells_in(row, "&") for row in rows] == [1] * len(texts)


@given(CELLS)
def test_each_row_of_a_markdown_answer_has_as_many_cells_as_the_heading(texts: list[str]) -> None:
    rows = Answer(DataTable({"text": texts, "count": list(range(len(texts)))})).to_markdown("A caption.").splitlines()
    assert [cells_in(row, "|") for row in rows[2:]] == [3] * (len(texts) + 2)


@given(st.text(alphabet="ab&%$#_{}~^\\␣"))
def test_text_in_a_latex_table_has_every_special_character_escaped(text: str) -> None:
    written = in_latex(text)
    assert not SPECIAL.search(written.replace(r"\textbackslash{}", ""))


def test_the_caption_of_a_latex_table_names_recipe_tie_rule_and_version(
    tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path_factory.mktemp("paper") / "merges.csv"
    bpe.train("low lower lowest", "gpt2", merges=3).save(path)
    assert run(["lengths", str(path), "--latex"]) == 0
    output = capsys.readouterr().out
    assert "259 tokens, pattern gpt2" in output
    assert "ties first-seen" in output
    assert "BPE Explorer" in output
    assert output.count(r"\\") == 5  # the heading and four rows


def test_an_answer_can_be_written_as_a_latex_and_as_a_markdown_table() -> None:
    answer = bpe.lengths(bpe.train("low lower lowest", "gpt2", merges=3))
    assert answer.to_latex("Lengths.").startswith("\\begin{table}")
    assert answer.to_markdown().splitlines()[0] == answer.sentences[0]
