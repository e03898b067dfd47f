"""Tests of the commands `export`, `convert` and `diff`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.formats import open_table, write_history
from bpe_core.recipes.recipe import Recipe
from bpe_core.text.corpus import Corpus
from tests.core.learning import train

TEXT = "the lowest price is lower than the last one, and the lower the better, is it not? thin then that\n" * 3


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "merges.csv"
    write_history(train(Corpus.from_texts([TEXT]), Recipe.preset("gpt2", merges=40)), path)
    return path


def test_the_export_command_reports_that_the_written_file_is_verified(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = table.with_name("tokenizer.json")
    assert run(["export", "--merges", str(table), str(out), "--check-with", "my own text"]) == 0
    printed = capsys.readouterr().out
    assert "Wrote 40 merges" in printed
    assert "verified: 1,0" in printed
    assert len(open_table(out).history) == 40


def test_the_export_command_can_write_only_the_first_merges_and_print_its_report_as_json(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = table.with_name("ours.tiktoken")
    assert run(["export", "--merges", str(table), "--at", "7", "--json", str(out)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["merges"], report["verified"], report["format"]) == (7, True, "tiktoken")
    assert any("pattern gpt2" in sentence for sentence in report["cannot_hold"])
    assert len(open_table(out).history) == 7


def test_the_export_command_refuses_a_table_that_the_format_cannot_hold(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = table.with_name("ours.codes")
    out.write_text("old")
    assert run(["export", "--merges", str(table), str(out)]) != 0
    assert "start" in capsys.readouterr().err
    assert out.read_text() == "old"


def test_converting_a_table_to_other_formats_and_back_loses_no_merge(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks, model, back = (table.with_name(name) for name in ("a.tiktoken", "b.minbpe.model", "c.csv"))
    assert run(["convert", str(table), str(ranks)]) == 0
    assert run(["convert", str(ranks), str(model), "--to", "minbpe"]) == 0
    assert run(["convert", str(model), str(back)]) == 0
    assert "does not say how text is split" in capsys.readouterr().out
    first, second = open_table(table).history, open_table(back).history
    assert first.columns.left.tolist() == second.columns.left.tolist()
    assert not second.has_counts


def test_the_convert_command_names_the_line_of_a_damaged_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / "codes"
    damaged.write_text("#version: 0.2\nl o\nlow er\n")
    assert run(["convert", str(damaged), str(tmp_path / "out.csv")]) != 0
    assert f"{damaged}, line 3: " in capsys.readouterr().err
    assert not (tmp_path / "out.csv").exists()


def test_the_diff_command_reports_the_first_different_merge_and_its_cause_and_different_splits(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = table.with_name("other.json")
    recipe = Recipe.preset("gpt2", merges=40, ties="smallest-text")
    write_history(train(Corpus.from_texts([TEXT]), recipe), other)
    assert run(["diff", str(table), str(other), "the lowest price"]) == 3
    printed = capsys.readouterr().out
    assert "The tables differ from merge " in printed
    assert "Likely cause (tie): A tie: " in printed
    assert "1 place of the text is split differently" in printed
    assert run(["diff", str(table), str(table)]) == 0


def test_the_diff_command_reports_the_comparison_as_json(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranks = table.with_name("a.tiktoken")
    assert run(["convert", str(table), str(ranks), "--at", "30"]) == 0
    capsys.readouterr()
    assert run(["diff", str(table), str(ranks), "the last", "--json"]) == 3
    report = json.loads(capsys.readouterr().out)
    assert (report["cause"], report["merges"], report["first_difference"]) == ("length", [40, 30], None)
    assert len(report["only_in_first"]) == 10
    assert len(report["text"]["first"]["ids"]) == len(report["text"]["first"]["tokens"])
