"""Tests of answers that are printed as tables for papers: the table is valid with any character in its cells."""

from __future__ import annotations

import hashlib
import io
import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bpe_core as bpe
from bpe_core.asking import Answer
from bpe_core.command_line.main import run
from bpe_core.insight.exercise_rules import EXERCISES
from bpe_core.studies.handout import recipe_of
from bpe_core.support.data_table import DataTable
from bpe_core.support.paper_tables import in_latex
from bpe_core.support.rounding import with_deviation
from bpe_core.sweep.results import read_results
from tests.shared import ROOT

CELLS = st.lists(st.text(alphabet="ab&%$#_{}~^\\|␣… é", min_size=1, max_size=6), min_size=1, max_size=4)
SPECIAL = re.compile(r"(?<!\\)[&%$#_]")


def cells_in(row: str, divider: str) -> int:
    """Count the cells of a row. A divider that follows an odd number of backslashes does not end a cell."""
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


def test_the_caption_of_a_latex_table_names_the_recipe_and_the_tie_rule_and_the_version(
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


def test_answers_can_be_written_as_latex_tables_or_markdown_tables() -> None:
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


def test_the_caption_of_a_markdown_table_gives_the_first_digits_of_the_sha256_checksum_of_a_file(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(SENTENCE)
    first_digits = hashlib.sha256(text.read_bytes()).hexdigest()[:16]
    assert f"SHA-256 begins with {first_digits}" in caption(capsys, "ranks", table, "--corpus", text)


def test_the_caption_of_a_benchmark_table_contains_the_checksum_of_the_measured_text(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(SENTENCE)
    first_digits = hashlib.sha256(text.read_bytes()).hexdigest()[:16]
    assert first_digits in caption(capsys, "benchmark", table, "--texts", text)


def test_a_table_caption_for_a_session_without_texts_gives_the_checksum_of_the_counted_words(
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


def test_the_caption_of_a_table_says_that_texts_from_standard_input_have_no_checksum(
    table: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(SENTENCE.encode())))
    assert "Texts without a checksum" in caption(capsys, "benchmark", table, "--texts", "-")


def test_the_caption_of_a_markdown_table_gives_all_random_seeds(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "Seed 7." in caption(capsys, "ways", table, "lowest", "--seed", "7")
    half = bpe.Mixture((bpe.Group("", sample=bpe.Sample(fraction="1/2", of="lines", seed=3)),))
    sampled = tmp_path / "sampled.json"
    bpe.train([f"{SENTENCE}\n" * 20], "gpt2", merges=3, mixture=half).save(sampled)
    assert "sample of the texts with seed 3" in caption(capsys, "lengths", sampled)


def test_the_paper_option_writes_a_csv_file_and_a_latex_file_next_to_the_figure(table: Path, tmp_path: Path) -> None:
    figure = tmp_path / "lengths.svg"
    assert run(["lengths", str(table), "-o", str(figure), "--paper", "--manifest", str(tmp_path / "made.json")]) == 0
    assert figure.with_suffix(".csv").read_text().splitlines()[0] == "bytes,tokens"
    latex = figure.with_suffix(".tex").read_text()
    assert r"\includegraphics[width=\linewidth]{lengths}" in latex
    assert "ties first-seen" in latex
    assert '"lengths.tex"' in (tmp_path / "made.json").read_text()


def test_the_paper_option_without_a_figure_file_is_refused(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["lengths", str(table), "--paper"]) != 0
    assert "name the figure with -o" in capsys.readouterr().err


PLAN = """
sizes = [260, 262]
seeds = [1, 2]
sample = "60%"
sample_of = "lines"
[corpora]
poem = ["poem.txt"]
[recipes.plain_recipe]
preset = "gpt2"
"""


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert run([*words]) == 0
    return capsys.readouterr().out


def markdown_cells(table: str) -> list[list[str]]:
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    return [line.strip("| ").replace("\\|", "¦").split(" | ") for line in lines]


def test_a_sweep_can_print_its_mean_values_as_a_table_for_a_paper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "tests/texts/poem.txt").read_bytes()
    (tmp_path / "poem.txt").write_bytes(text)
    (tmp_path / "plan.toml").write_text(PLAN)
    asked = ["sweep", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "out.csv")]
    rows = json.loads(printed(capsys, *asked, "--json"))
    output = printed(capsys, *asked, "--markdown")
    caption = output.splitlines()[0]
    assert hashlib.sha256(text).hexdigest()[:16] in caption
    assert "plain_recipe: " in caption
    assert "Seeds 1, 2." in caption
    assert "Sample of 60.0000% of the lines." in caption
    heading, *cells = markdown_cells(output)
    assert heading[:5] == ["recipe", "corpus", "ties", "vocabulary size", "bytes/token"]
    assert [row[4] for row in cells] == [
        with_deviation(row["bytes_per_token_mean"], row["bytes_per_token_deviation"]) for row in rows
    ]
    latex = printed(capsys, *asked, "--latex")
    assert latex.startswith(r"\begin{table}")
    assert r"plain\_recipe" in latex
    assert "plain_recipe" not in latex
    results = printed(capsys, "sweep-results", str(tmp_path / "out.csv"), "--markdown")
    named = f"SHA-256 begins with {hashlib.sha256((tmp_path / 'out.csv').read_bytes()).hexdigest()[:16]}"
    for part in ("Recipes: plain_recipe.", "Texts: ", "Tie rules: ", "Seeds: 1, 2.", named):
        assert part in results.splitlines()[0]
    seeds = [str(row["seed"]) for row in read_results(tmp_path / "out.csv").records()]
    assert [row[3] for row in markdown_cells(results)[1:]] == seeds
    cached = markdown_cells(printed(capsys, *asked, "--cached", "--markdown"))
    assert len(cached) == 3  # the heading and a run for each seed


def test_the_caption_of_grades_names_the_exercise_and_its_rules_and_the_checksum_of_the_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("low lower lowest, new newer newest " * 3)
    bpe.train(text, recipe_of(EXERCISES["cs336"], 263)).save(tmp_path / "merges.txt")
    asked = ["grade", str(tmp_path / "merges.txt"), "--corpus", str(text), "--as", "cs336", "--vocab-size", "263"]
    caption = printed(capsys, *asked, "--markdown").splitlines()[0]
    for part in (
        "CS336, assignment 1",
        "263 tokens",
        "largest-text",
        hashlib.sha256(text.read_bytes()).hexdigest()[:16],
    ):
        assert part in caption


def test_the_count_command_prints_a_table_for_papers_with_the_recipe_and_the_checksum_of_the_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("low low low|er low|er a_b")
    asked = ["count", str(text), "--preset", "english", "--top", "2"]
    known = json.loads(printed(capsys, *asked, "--json"))["first"]
    output = printed(capsys, *asked, "--markdown")
    assert "pattern english" in output
    assert "SHA-256" in output
    heading, *cells = markdown_cells(output)
    assert heading == ["text", "count", "share"]
    assert [int(row[1]) for row in cells] == [row["count"] for row in known]
    assert [row[0].replace("␣", " ").replace("¦", "|") for row in cells] == [row["word"] for row in known]
    listed = tmp_path / "words.csv"
    assert printed(capsys, *asked, "--list", str(listed), "--markdown") == output
    assert len(listed.read_text().splitlines()) > 3
    assert r"\toprule" in printed(capsys, *asked, "--latex")
    assert run([*asked, "--latex", "-o", str(tmp_path / "counts.parquet")]) == 1
    assert "Leave out -o." in capsys.readouterr().err


def test_the_bench_command_prints_paper_tables_with_the_recipe_and_the_text_checksum(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("low lower lowest")
    path = tmp_path / "merges.csv"
    bpe.train("low lower lowest", "gpt2", merges=3).save(path)
    for form, row in (("--latex", "library & ms & MB/s"), ("--markdown", "| library | ms | MB/s |")):
        output = printed(capsys, "bench", str(path), "--texts", str(text), form)
        assert row in output
        assert hashlib.sha256(text.read_bytes()).hexdigest()[:16] in output
        assert "259 tokens, pattern gpt2" in output
