"""Tests of the command `train`: its output, the files it writes, and its options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.formats import read_history
from bpe_core.recipes.recipe import Recipe
from tests.core.command_line.conftest import TEXT


@pytest.mark.parametrize("ending", ["csv", "tsv", "json"])
def test_each_table_format_written_by_the_train_command_is_read_back(text: Path, tmp_path: Path, ending: str) -> None:
    output = tmp_path / f"merges.{ending}"
    assert run(["train", str(text), "--preset", "english", "--vocab-size", "300", "--output", str(output)]) == 0
    history = read_history(output)
    assert history.recipe == Recipe.preset("english", vocab_size=300)
    assert [(merge.left, merge.right, merge.count) for merge in history][:2] == [(116, 104, 3), (32, 108, 3)]
    assert (len(history), history.end_reason) == (7, "too rare")


def test_the_train_command_prints_the_number_of_merges_and_why_training_ended(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "merges.csv"
    assert run(["train", str(text), "--preset", "english", "--output", str(output)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("Learned 7 merges in ")
    assert "a vocabulary of 263" in printed.out
    assert "No pair reaches the minimum count any more." in printed.out
    assert printed.out.endswith(f"Wrote {output}.\n")
    assert printed.err == ""  # not a terminal: no progress


def test_the_train_command_prints_nothing_with_the_quiet_option(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert capsys.readouterr() == ("", "")


def test_the_train_command_prints_a_summary_as_json(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / "merges.json")
    assert run(["train", str(text), "--preset", "english", "--output", output, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary.pop("seconds") >= 0
    assert summary == {
        "output": output,
        "merges": 7,
        "vocabulary_size": 263,
        "end_reason": "too rare",
        "tokens_at_start": len(TEXT),
        "tokens_left": len(TEXT) - 3 - 3 - 2 * 5,
    }


def test_the_train_command_without_an_output_file_prints_the_merges(
    text: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", str(text), "--preset", "english", "--merges", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "1 t + h → th 3 times, as often as ␣ + l",
        "2 ␣ + l → ␣l 3 times",
    ]


def test_the_train_command_without_an_output_file_prints_the_merges_as_json(
    text: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert run(["train", str(text), "--preset", "english", "--merges", "2", "--json"]) == 0
    whole = json.loads(capsysbinary.readouterr().out)
    assert [merge["token"] for merge in whole["merges"]] == ["th", " l"]


def test_options_of_the_train_command_override_its_preset_and_are_stored_in_the_recipe(
    text: Path, tmp_path: Path
) -> None:
    output = tmp_path / "merges.json"
    choices = ["--vocab-size", "270", "--min-frequency", "1", "--ties", "largest-text", "--regex", r"\w+|\W"]
    specials = ["--special", "<|end|>", "--special", "price"]
    assert run(["train", str(text), "--preset", "cl100k", *choices, *specials, "--output", str(output)]) == 0
    assert read_history(output).recipe == Recipe.preset(
        "cl100k",
        vocab_size=270,
        min_frequency=1,
        ties="largest-text",
        pattern="custom",
        custom_pattern=r"\w+|\W",
        special_tokens=("<|end|>", "price"),
    )


def test_command_line_options_override_the_choices_of_a_recipe_file(text: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.json"
    recipe.write_text(Recipe.preset("words", marker="glued").to_json())
    output = tmp_path / "merges.json"
    assert run(["train", str(text), "--recipe", str(recipe), "--merges", "3", "--output", str(output)]) == 0
    assert read_history(output).recipe == Recipe.preset("words", marker="glued", merges=3)


def test_the_train_command_reads_a_field_of_json_lines_and_skips_bad_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"body": "ab ab"}\n{"text": "ab"}\n{"body": "ab"}\n')
    output = tmp_path / "merges.csv"
    arguments = ["train", str(rows), "--preset", "words", "--field", "body", "--output", str(output)]
    assert run(arguments) == 1
    assert "line 2" in capsys.readouterr().err
    assert not output.exists()
    assert run([*arguments, "--on-bad-row", "skip"]) == 0
    assert [merge.count for merge in read_history(output)] == [3]
    assert "line 2" in capsys.readouterr().err


def test_the_train_command_reads_only_the_included_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "one.txt").write_text("ab ab")
    (tmp_path / "texts" / "two.md").write_text("cd cd cd")
    output = tmp_path / "merges.json"
    assert (
        run(["train", str(tmp_path / "texts"), "--include", "*.txt", "--preset", "words", "--output", str(output)]) == 0
    )
    assert [merge.count for merge in read_history(output)] == [2]


def test_the_train_command_accepts_forbidden_and_forced_pairs_as_texts(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The written table stores the interventions, and training by its recipe gives the same merges again."""
    table = tmp_path / "branch.json"
    train = ["train", str(text), "--preset", "english"]
    steered = [*train, "--forbid", "th+e@3", "--force", "#256+a@5"]
    assert run([*steered, "--quiet", "--output", str(table)]) == 0
    branch = read_history(table)
    assert [*map(str, branch.recipe.interventions)] == ["forbid:256+101@3", "force:256+97@5"]
    assert (256, 101) not in branch.pairs()
    assert (branch.pair(4), branch[4].count) == ((256, 97), 1)
    recipe = tmp_path / "recipe.json"
    recipe.write_text(branch.recipe.to_json())
    assert run(["train", str(text), "--recipe", str(recipe)]) == 0
    assert run(steered) == 0
    again, lines = capsys.readouterr().out.split("    1  t + h")[1:]
    assert again == lines
    assert "th + a → tha                      1 time, by hand" in lines
    for wrong, sentence in (
        (["--forbid", "th+e@1"], "No token is written 'th'"),
        (["--forbid", "t+h@90"], "There is no step 90 for --forbid t+h: without this option the run has 7 steps."),
        (["--force", "z+z@2"], "occurs nowhere in the text"),
    ):
        assert run([*train, *wrong]) == 1
        assert sentence in capsys.readouterr().err
