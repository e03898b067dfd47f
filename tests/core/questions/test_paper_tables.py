"""Tests of answers that are printed as tables for papers: any character in a cell leaves the table correct."""

from __future__ import annotations

import hashlib
import io
import re
from pathlib import Path

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


SENTENCE = "low lower lowest, new newer newest"


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "merges.csv"
    bpe.train(SENTENCE, "gpt2", merges=3).save(path)
    return path


def caption(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    assert run([*map(str, words), "--markdown"]) == 0
    return capsys.readouterr().out.splitlines()[0]


def test_the_caption_names_the_checksum_of_a_file_as_sha256sum_prints_it(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(SENTENCE)
    first_digits = hashlib.sha256(text.read_bytes()).hexdigest()[:16]
    assert f"SHA-256 begins with {first_digits}" in caption(capsys, "ranks", table, "--corpus", text)


def test_the_caption_of_a_comparison_names_the_measured_texts(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(SENTENCE)
    first_digits = hashlib.sha256(text.read_bytes()).hexdigest()[:16]
    assert first_digits in caption(capsys, "benchmark", table, "--texts", text)


def test_the_caption_names_the_words_of_a_session_that_lacks_its_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("low low")
    run(["train", str(text), "--preset", "words", "--merges", "1", "-o", str(tmp_path / "run.bpex")])
    capsys.readouterr()
    first_digits = hashlib.sha256(b"low\t2\n").hexdigest()[:16]
    assert f"2 words, 1 different, whose SHA-256 begins with {first_digits}" in caption(
        capsys, "ranks", tmp_path / "run.bpex"
    )


def test_the_caption_says_that_measured_standard_input_has_no_checksum(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SENTENCE.encode())))
    assert "Texts without a checksum" in caption(capsys, "benchmark", table, "--texts", "-")


def test_the_caption_names_the_seed_of_a_question_and_the_seed_of_a_sample(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Seed 7." in caption(capsys, "ways", table, "lowest", "--seed", "7")
    half = bpe.Mixture((bpe.Group("", sample=bpe.Sample(fraction="1/2", of="lines", seed=3)),))
    sampled = tmp_path / "sampled.json"
    bpe.train([f"{SENTENCE}\n" * 20], "gpt2", merges=3, mixture=half).save(sampled)
    assert "sample of the texts by seed 3" in caption(capsys, "lengths", sampled)


def test_a_figure_for_a_paper_has_its_rows_and_its_caption_beside_it(table: Path, tmp_path: Path) -> None:
    figure = tmp_path / "lengths.svg"
    assert run(["lengths", str(table), "-o", str(figure), "--paper", "--manifest", str(tmp_path / "made.json")]) == 0
    assert figure.with_suffix(".csv").read_text().splitlines()[0] == "bytes,tokens"
    latex = figure.with_suffix(".tex").read_text()
    assert r"\includegraphics[width=\linewidth]{lengths}" in latex
    assert "ties first-seen" in latex
    assert '"lengths.tex"' in (tmp_path / "made.json").read_text()


def test_files_for_a_paper_need_a_figure(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lengths", str(table), "--paper"]) != 0
    assert "name the figure with -o" in capsys.readouterr().err
