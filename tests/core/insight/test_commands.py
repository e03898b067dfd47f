"""Tests of the commands that answer questions about a merge table: their output and their error messages."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bpe_core.asking import ask_about
from bpe_core.command_line.main import run
from bpe_core.counting.count_words import count_words
from bpe_core.figures.figure import LineFigure
from bpe_core.figures.painter import picture
from bpe_core.figures.sheet import LINES, Paper
from bpe_core.formats import read_history
from bpe_core.measures.bits_per_byte import bits_per_byte
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.questions.benchmark import Benchmark
from bpe_core.questions.lab import Lab
from bpe_core.questions.sizes import Sizes
from bpe_core.studies.making import train
from bpe_core.text.corpus import Corpus

TEXT = "the lowest price is lower than the last one\n"
OTHER = "a lower price and a slow flower\n"


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for path, text in zip(paths, (TEXT * 3, OTHER * 2), strict=True):
        path.write_text(text)
    return [str(path) for path in paths]


@pytest.fixture
def table(tmp_path: Path, files: list[str]) -> str:
    path = tmp_path / "merges.json"
    assert run(["train", *files, "--merges", "30", "--output", str(path), "--quiet"]) == 0
    return str(path)


def test_the_why_command_names_a_reason_for_every_split(
    table: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", "the slowest", "--merges", table, "--at", "12", "--json", "--corpus", *files]) == 0
    report = json.loads(capsys.readouterr().out)
    starts = [start for start, _, _ in Tokenizer(read_history(table)).spans("the slowest", 12)]
    assert [row["byte"] for row in report["rows"]] == starts[1:]
    assert all(row["reason"].endswith(".") for row in report["rows"])
    assert run(["why", "the slowest", "--merges", table]) == 0
    assert "A word ends here, and tokens never cross" in capsys.readouterr().out


def test_the_why_command_recognizes_special_tokens_on_request(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = str(tmp_path / "special.csv")
    train = ["train", *files, "--special", "<|end|>", "--vocab-size", "270", "--min-frequency", "1", "--output", table]
    assert run(train) == 0
    capsys.readouterr()
    kinds = []
    for choice in ([], ["--allow-special"]):
        assert run(["why", "low<|end|>er", "--merges", table, "--json", *choice]) == 0
        kinds.append("special" in capsys.readouterr().out)
    assert kinds == [False, True]


def test_the_why_command_shows_the_merges_of_each_word(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["why", "the low", "--merges", table, "--steps"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["before", "any", "merge", "t", "|", "h", "|", "e"]
    assert sum("before any merge" in line for line in lines) == 2


def test_the_why_command_reports_no_split_for_a_text_that_is_a_single_token(
    table: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["why", "t", "--merges", table]) == 0
    assert capsys.readouterr().out.split("\n")[0] == "This text is not split."
    assert run(["why", "the slowest", "--merges", table]) == 0
    assert "is not split" not in capsys.readouterr().out


def test_the_ties_command_lists_ties_and_compares_a_different_tie_rule(
    table: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ties", "--merges", table, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    history = read_history(table)
    assert [row["step"] for row in report["rows"]] == [merge.step for merge in history if merge.tied]
    assert run(["ties", table]) == 0
    assert f"{len(report['rows'])} of 30 merges" in capsys.readouterr().out
    what_if = ["ties", "--merges", table, "--what-if", "largest-text", "--text", "the lowest"]
    assert run(what_if) == 1
    assert "--corpus" in capsys.readouterr().err
    assert run([*what_if, "--corpus", *files]) == 0
    out = capsys.readouterr().out
    assert "differ from step" in out
    assert "first-seen:" in out


def test_the_token_command_reports_the_history_of_a_token(
    table: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["token", "lowx", "--merges", table, "--json", "--corpus", *files]) == 1
    assert "No token is written 'lowx'" in capsys.readouterr().err
    assert run(["token", "low", "--merges", table, "--json", "--corpus", *files]) == 0
    report = json.loads(capsys.readouterr().out)
    low = Tokenizer(read_history(table))
    assert report["count"] == sum(low.encode(text).count(report["id"]) for text in (TEXT * 3, OTHER * 2)) > 0
    assert {word for word, _ in report["words"]} <= set((TEXT + OTHER).replace(" ", "| ").strip().split("|"))
    places = [sentence for sentence in report["sentences"] if "[low]" in sentence]
    assert {Path(sentence.partition(":")[0]).name for sentence in places} <= {"a.txt", "b.txt"} != set()
    assert report["reachability"]["kind"] == "reachable"
    assert run(["token", "#104", "--merges", table, "--corpus", *files]) == 0
    assert "a base symbol" in capsys.readouterr().out
    output = Path(table).with_name("life.csv")
    assert run(["token", "low", "--merges", table, "--corpus", *files, "-o", str(output)]) == 0
    with output.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["of"] == "token"]
    for row in rows:
        ids = [id for text in (TEXT * 3, OTHER * 2) for id in low.encode(text, at=int(row["after_step"]))]
        assert ids.count(report["id"]) == int(row["count"])


def test_the_race_command_reports_the_counts_of_pairs_after_each_step(
    table: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["race", "--merges", table, "--pair", "l", "o", "--step", "2", "--json", "--corpus", *files]) == 0
    report = json.loads(capsys.readouterr().out)
    first, last = report["rows"][0], report["rows"][-1]
    assert (first["left_text"], first["right_text"]) == ("l", "o")
    assert first["count"] == (TEXT * 3 + OTHER * 2).count("lo")
    assert last["won_at"] == 2
    assert run(["race", "--merges", table, "--pair", "l", "o", "--corpus", *files]) == 0
    assert "leads with" in capsys.readouterr().out
    assert run(["race", "--merges", table, "--pair", "o", "w", "--corpus", *files]) == 0
    report = capsys.readouterr().out
    assert "o + w is first among these pairs with 12, but l + o is merged next." in report
    assert "leads" not in report, "it was never the first of all"
    assert run(["race", "--merges", table, "--never-won"]) == 0
    assert run(["race", table]) == 1
    assert "--corpus" in capsys.readouterr().err
    assert run(["race", "--merges", table, "--step", "31", "--corpus", *files]) == 1
    assert "no step 31" in capsys.readouterr().err


def test_the_lab_command_counts_unknown_tokens_separately() -> None:
    known, unknown = (train([text], "words", unknown="unk", merges=2) for text in ("low low wide", "low low low"))
    sentences = ask_about(Lab, {"all": known, "few": unknown}, text="wide low").sentences
    assert any(sentence.startswith("B ") and sentence.endswith("(3 unknown)") for sentence in sentences)
    (measured,) = (sentence for sentence in sentences if sentence.startswith("B  ") and "tokens/pretoken" in sentence)
    assert measured.endswith("; 3 of the tokens are unknown")
    assert not any(sentence.startswith("A ") and "unknown" in sentence for sentence in sentences)


def test_tokens_per_word_and_tokens_per_pretoken_are_different_measures() -> None:
    """The pattern splits "isn't it?" into four pretokens. Blanks divide the text into two words."""
    study = train(["isn't it?"], "gpt2", merges=1)
    by_word = ask_about(Benchmark, {"one": study}, texts=["isn't it?"]).columns
    sizes = ask_about(Sizes, {"one": study}, measure="tokens_per_word")  # the name of the measure in older versions
    assert (by_word["words"][0], by_word["tokens_per_word"][0]) == (2, by_word["tokens"][0] / 2)
    assert (sizes.columns["pretokens"][0], sizes.columns["tokens_per_pretoken"][0]) == (4, 9 / 4)
    assert "words" not in sizes.columns
    assert sizes.figure is not None
    assert sizes.figure.title == "Tokens per pretoken by size."


def test_the_sizes_command_measures_the_corpus_and_single_files_and_a_held_out_text(
    table: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held_out = tmp_path / "c.txt"
    held_out.write_text("slower lowlands")
    arguments = ["sizes", "--merges", table, "--corpus", *files, "--held-out", str(held_out)]
    arguments += ["--measure", "tokens_per_word"]  # an older name
    assert run([*arguments, "--each", "--csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert len(rows) == 3 * 31
    assert all(float(row["bytes_per_token"]) == int(row["bytes"]) / int(row["tokens"]) for row in rows)
    assert run([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    history = read_history(table)
    last = [row["bytes_per_token"] for row in report["rows"] if row["text"] == " ".join(files)][-1]
    assert last == pytest.approx(len((TEXT * 3 + OTHER * 2).encode()) / int(history.columns.tokens_left[-1]))
    assert run(["sizes", "--merges", table, "--corpus", str(tmp_path), "--include", "?.txt", "--each", "--json"]) == 0
    lines = dict.fromkeys(row["text"][-5:] for row in json.loads(capsys.readouterr().out)["rows"])
    assert [*lines] == ["a.txt", "b.txt", "c.txt"]
    assert run(arguments) == 0
    assert "bytes/token" in capsys.readouterr().out
    assert run([*arguments, "--power", "0"]) == 1
    assert run([*arguments, "--bits", "--csv"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    recipe, both = history.recipe, (Corpus.from_files(files), Corpus.from_files(held_out))
    learned, unseen = (count_words(corpus, recipe) for corpus in both)
    bits = bits_per_byte(learned, unseen, history)
    assert [float(row["bits_per_byte"]) for row in rows] == bits.bits.tolist()
    assert run([*arguments, "--bits", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [row["bits_per_byte"] for row in report["rows"]] == bits.bits.tolist()
    assert f"{min(bits.bits):.4f} bits per byte" in report["sentences"][0]
    assert len(report["rows"]) == len(rows) == len(history) + 1


def test_the_command_named_paid_divides_the_count_of_a_merge_among_words_and_files(
    table: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["paid", "--merges", table, "--step", "1", "--json", "--corpus", *files]) == 0
    report = json.loads(capsys.readouterr().out)
    count = int(read_history(table).columns.count[0])
    assert report["count"] == sum(row["count"] for row in report["rows"]) == sum(report["parts"].values()) == count
    assert run(["paid", "--merges", table, "--step", "1", "--corpus", *files]) == 0
    assert "%" in capsys.readouterr().out


def test_the_encode_command_writes_the_ids_of_files(
    table: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "ids.npy"
    assert run(["encode", "--merges", table, *files, "--output", str(output), "--width", "int32", "--at", "9"]) == 0
    tokenizer = Tokenizer(read_history(table))
    expected = [id for text in (TEXT * 3, OTHER * 2) for id in tokenizer.encode(text, at=9)]
    assert np.load(output).tolist() == expected
    assert f"Wrote {len(expected):,} ids as int32" in capsys.readouterr().out
    assert run(["encode", "--merges", table, *files, "--output", str(tmp_path / "ids.bin"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [Path(file["name"]).name for file in report["files"]] == ["a.txt", "b.txt"]
    assert Corpus.from_files(files).total_size == sum(file["bytes"] for file in report["files"])
    assert run(["encode", "--merges", table, *files, "--output", str(tmp_path / "ids.txt")]) == 1
    assert ".npy or .bin" in capsys.readouterr().err


def test_a_step_after_the_last_step_of_a_table_is_refused(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["why", "low"], ["ties"]):
        assert run([*arguments, "--merges", table, "--at", "31"]) == 1
        assert "from 0 to the number of steps" in capsys.readouterr().err


def test_the_lab_command_splits_one_text_by_all_tokenizers_at_one_vocabulary_size(
    table: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = str(tmp_path / "words.json")
    assert run(["train", files[1], "--merges", "12", "--output", words, "--quiet"]) == 0
    asked = ["lab", table, words, "--size", "265", "--text", "the slowest", "--corpus", *files]
    assert run([*asked, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    for split_by_table, path in zip(report["tables"], (table, words), strict=True):
        history = read_history(path)
        assert split_by_table["step"] == history.step_of_size(265)
        assert split_by_table["ids"] == Tokenizer(history).encode("the slowest", at=split_by_table["step"])
    assert {row["bytes"] for row in report["rows"]} == {len(3 * TEXT + 2 * OTHER)}
    assert run([*asked, "--json", "--words"]) == 0
    words = json.loads(capsys.readouterr().out)["rows"]
    assert words[0]["text"] in {"␣lower", "the", "␣the", "␣last", "␣price", "␣lowest"}
    assert run(asked) == 0
    shown = capsys.readouterr().out
    assert "places of the text are split differently." in shown
    assert "A and B" in shown
    assert "‖" in shown
    assert run([*asked, "--measure", "bytes_per_token", "--output", str(tmp_path / "one.svg")]) == 0
    drawn = (tmp_path / "one.svg").read_text(encoding="utf-8")
    assert "Bytes per token" in drawn
    assert "Tokens per pretoken" not in drawn
    assert run(["diff", table]) == 1
    assert "needs 2 tokenizers, not 1" in capsys.readouterr().err


def test_the_lab_command_prints_one_column_of_tokens_for_each_table(
    table: str, files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = str(tmp_path / "words.json")
    assert run(["train", files[1], "--merges", "12", "--output", words, "--quiet"]) == 0
    asked = ["lab", table, words, "--size", "265", "--columns"]
    assert run([*asked, "--text", "the slowest, naïve", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    for letter, path in zip("AB", (table, words), strict=True):
        history = read_history(path)
        spans = Tokenizer(history).spans("the slowest, naïve", at=history.step_of_size(265))
        assert sum(len(row[letter].split("|")) for row in rows) == len(spans)
    assert "".join(row["text"] for row in rows) == "the␣slowest,␣na<0xC3><0xAF>ve"
    assert [row["start"] for row in rows] == sorted({row["start"] for row in rows})
    assert run(asked) == 1
    assert "give the text with --text" in capsys.readouterr().err


def test_the_lab_command_leaves_out_tokenizers_that_cannot_be_shown_at_the_chosen_size(
    table: str, files: list[str], tmp_path: Path
) -> None:
    small = train([TEXT], "words", merges=12)
    large = {"one": train([TEXT], "gpt2", merges=30), "other": train([OTHER], "gpt2", merges=30)}
    asked: dict[str, Any] = {"text": "the slowest", "size": 260}
    alone, beside = ask_about(Lab, large, **asked), ask_about(Lab, large | {"small": small}, **asked)
    (left_out,) = (sentence for sentence in beside.sentences if sentence.startswith("C"))
    assert left_out == f"C  small cannot be 260: {small.history.vocabulary_size} at most, so it is not compared."
    assert [sentence for sentence in beside.sentences if sentence != left_out] == [*alone.sentences]
    words = ask_about(Lab, large | {"small": small}, **asked, words=True)
    assert ("B" in words.columns, "C" in words.columns) == (True, False)


def test_the_benchmark_reports_that_vocabularies_have_different_sizes() -> None:
    small, large = (train([TEXT], "gpt2", merges=merges) for merges in (2, 5))
    size_sentence = (
        "The vocabularies have different sizes (258 to 261 tokens). A larger vocabulary needs fewer tokens for the same"
    )
    assert any(
        size_sentence in sentence
        for sentence in ask_about(Benchmark, {"small": small, "large": large}, texts=[TEXT]).sentences
    )
    assert size_sentence not in " ".join(
        ask_about(Benchmark, {"small": small, "as large": small}, texts=[TEXT]).sentences
    )


def test_the_curve_of_a_tokenizer_with_many_unknown_tokens_has_hollow_dots_and_an_explanation() -> None:
    known, unknown = (train([text], "words", unknown="unk", merges=2) for text in ("low low wide", "low low low"))
    figure = ask_about(Lab, {"all": known, "few": unknown}, measure="bytes_per_token").figure
    assert isinstance(figure, LineFigure)
    assert [line.is_hollow for line in figure.lines] == [False, True]
    assert (
        "B is drawn hollow, because more than 1% of the tokens are unknown, which makes it look better."
        in figure.sentence
    )
    drawn = picture(figure, Paper(is_alone=True)).decode()
    hollow = 'fill="none" stroke="' + LINES[1]
    assert drawn.count("<polyline") == 2, "the curve of A, and its sample in the legend"
    assert drawn.count(hollow) == len(figure.lines[1].x) + 1


def test_the_lab_command_with_a_single_table_counts_the_tokens_of_a_text(
    table: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["lab", table, "--text", "the slowest", "--corpus", *files]) == 0
    shown = capsys.readouterr().out
    assert "the | ␣s" in shown
    assert "bytes/token" in shown
    assert "differently" not in shown
    assert "alike" not in shown
