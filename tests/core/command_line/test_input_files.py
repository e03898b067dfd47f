"""Tests that a command never overwrites its input file with its output or its manifest, unless it edits this file."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest

from bpe_core.command_line.main import run

MADE = (
    "train book.txt --merges 20 -o merges.csv",
    "train book.txt --merges 20 -o run.bpex",
    "export --merges merges.csv tokenizer.json",
)
REFUSED = (
    "share run.bpex -o run.bpex",
    "pin tokenizer.json -o ./tokenizer.json",
    "ranks merges.csv --corpus book.txt -o merges.csv",
    "train book.json --merges 3 -o book.json",
    "train book.json --merges 3 -o link.json",
    "train book.json --merges 3 -o other-name.json",
    "train book.txt --merges 3 -o other.csv --manifest book.txt",
    "train book.txt --merges 3 -o other.csv --manifest other.csv",
    "trim merges.csv --least-used 2 --corpus book.txt -o merges.csv --manifest merges.csv",
    "trim merges.csv --least-used 2 --corpus book.json -o other.csv --map book.json",
)
posix_only = pytest.mark.skipif(os.name != "posix", reason="elsewhere names are made of characters")


@pytest.fixture(autouse=True)
def input_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text("the lowest price is lower than the last one\n" * 9, encoding="utf-8")
    Path("book.json").write_text('["the lowest price", "is lower than the last one"]', encoding="utf-8")
    for command in MADE:
        assert run(command.split()) == 0


def contents() -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in Path().iterdir()}


@posix_only
@pytest.mark.parametrize("command", REFUSED)
def test_commands_refuse_to_replace_their_input_files(capsys: pytest.CaptureFixture[str], command: str) -> None:
    Path("link.json").symlink_to("book.json")
    Path("other-name.json").hardlink_to("book.json")
    before = contents()
    assert run(command.split()) == 1
    errors = capsys.readouterr().err
    assert re.search(r"is (the input file|the result itself). Choose another name for the output\.$", errors)
    assert contents() == before


def test_the_output_of_the_trim_command_may_replace_the_input_table() -> None:
    before = contents()
    command = "trim merges.csv --least-used 2 --corpus book.txt -o merges.csv --manifest how.json"
    assert run(command.split()) == 0
    assert contents()["merges.csv"] != before["merges.csv"]


def test_the_sweep_command_prints_an_example_plan_without_an_input_file() -> None:
    assert run(["sweep", "--example", "-o", "results.csv"]) == 0


def test_the_manifest_of_a_shared_page_names_the_session_of_its_run() -> None:
    assert run(["share", "run.bpex", "-o", "page.html", "--manifest", "how.json"]) == 0
    assert [file["path"] for file in json.loads(Path("how.json").read_bytes())["inputs"]] == ["run.bpex"]


@posix_only
def test_circular_links_and_file_names_that_are_not_valid_unicode_cause_no_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("loop.csv").symlink_to("loop.csv")
    for command in ("train book.txt --merges 3 -o loop.csv", "count book.txt -o loop.csv/counts.parquet"):
        assert run(command.split()) in (0, 1)
        assert "Traceback" not in capsys.readouterr().err
    name = os.fsdecode(b"n\n\xff")
    assert run(["train", "book.txt", "--merges", "3", "-o", f"{name}.csv", "--manifest", f"{name}.json"]) == 0
    assert json.loads(Path(f"{name}.json").read_bytes())["results"][0]["path"] == f"{name}.csv"


@posix_only
def test_files_with_names_that_are_not_valid_unicode_are_named_in_files_and_lines_of_json(
    capfd: pytest.CaptureFixture[str],
) -> None:
    name = os.fsdecode(b"n\xff")
    for file in ("book.txt", "tokenizer.json", "run.bpex"):
        shutil.copy(file, f"{name}{Path(file).suffix}")
    assert run(["pin", f"{name}.json", "-o", "pins.json"]) == 0
    assert run(["check", "--pins", "pins.json"]) == 0
    assert run(["exercise", f"{name}.txt", "--sizes", "262", "--write", "class"]) == 0
    assert r"n\udcff" in Path("class/questions.md").read_text(encoding="utf-8")
    capfd.readouterr()
    assert run(["follow", f"{name}.bpex", "--once"]) == 0
    assert json.loads(capfd.readouterr().out.splitlines()[-1])["name"] == f"{name}.bpex"


@posix_only
@pytest.mark.parametrize("command", ["folder", "grade --corpus book.txt"])
def test_an_overlong_folder_name_is_reported(capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run([command.split()[0], "x" * 5_000, *command.split()[1:]]) == 1
    assert re.search("x is not a folder|name too long", capsys.readouterr().err)
