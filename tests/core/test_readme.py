"""Tests of the README: its commands exist, and its examples give the shown results."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.counting.words import WordTable
from bpe_core.methods.bpe import reference as reference
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from tests.shared import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
MANUAL = ROOT / "resources" / "manual"
BY_HAND = (MANUAL / "method-bpe.md").read_text(encoding="utf-8")
WORDS_FOR_NUMBERS = {"Nine": 9, "Ten": 10, "Eleven": 11, "Twelve": 12}
LARGEST = 9_000  # bytes; longer texts belong in the manual


def blocks(language: str, text: str = README) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_readme_is_below_its_size_limit() -> None:
    assert len(README.encode()) <= LARGEST


def test_the_readme_names_and_counts_every_method() -> None:
    number, named = re.findall(r"\[(\w+): (byte-pair [^]]*)\]", README)[0]
    names = [name.strip().lower() for name in named.split(",")]
    ours = [METHODS[name].title.lower().replace(" byte-pair encoding", " bpe") for name in METHODS.own]
    assert sorted(names) == sorted(ours)
    assert WORDS_FOR_NUMBERS[number] == len(ours)


def test_the_readme_has_a_one_line_command_for_the_program_and_one_for_the_tests() -> None:
    first, second = blocks("sh")[:2]
    assert first == "python3 -m venv .venv && .venv/bin/pip install . && .venv/bin/bpe-explorer\n"
    assert second == "python3 -m venv .venv && .venv/bin/pip install -q -e '.[test]' && .venv/bin/python -m pytest\n"


def test_the_benchmark_of_the_readme_runs_without_the_real_texts(tmp_path: Path) -> None:
    assert "`python -m tests.benchmarks`" in README
    command = [sys.executable, "-m", "tests.benchmarks", "--only", "import", "--peers", "bpe-explorer", "--rounds", "1"]
    environment = {**os.environ, "BPE_SHARED": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a text of random words is measured" in done.stdout
    assert "import bpe_core" in done.stdout


def test_the_worked_example_in_the_readme_matches_the_reference() -> None:
    text = "aaabdaaabac"
    history = reference.train(WordTable.from_counts({text: 1}), Recipe.preset("raw-bytes", min_frequency=2))
    rows = re.findall(r"^\| (\d) \| `([^|]*)` \| ([^|]*) \| ([^|]*) \|$", BY_HAND, re.MULTILINE)
    assert [int(step) for step, *_ in rows] == [1, 2, 3, 4]
    texts = [chr(byte) for byte in range(256)]
    for step, shown, counted, joined in rows:
        at = int(step) - 1
        assert [texts[id] for id in reference.encode_word(text.encode(), history, at=at)] == shown.split()
        if at < len(history):
            merge = list(history)[at]
            pair = f"`{texts[merge.left]}`+`{texts[merge.right]}`"
            assert counted.startswith(f"{pair} {merge.count}")
            assert joined == pair
            texts.append(texts[merge.left] + texts[merge.right])
        else:
            assert (joined, history.end_reason) == ("stop", "too rare")
    ids = " ".join(map(str, reference.encode_word(text.encode(), history)))
    assert f"`{ids}`" in BY_HAND


@pytest.fixture
def folder_with_a_book(tmp_path: Path) -> Path:
    (tmp_path / "book.txt").write_text("the lowest price is lower than the last one\n" * 3, encoding="utf-8")
    plan = 'sizes = [260, 270]\ncorpora = {book = ["book.txt"]}\nrecipes = {bytes = {preset = "gpt2"}}'
    (tmp_path / "plan.toml").write_text(plan, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "law.txt").write_text("the law of the lowland is the law\n", encoding="utf-8")
    (tmp_path / "english").mkdir()
    (tmp_path / "english" / "low.txt").write_text("the low houses of the lowland\n", encoding="utf-8")
    (tmp_path / "german.txt").write_text("die niedrigen Häuser des Tieflands\n", encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("file", [ROOT / "README.md", MANUAL / "python.md"], ids=lambda file: file.name)
def test_python_examples_of_the_readme_run(file: Path, folder_with_a_book: Path) -> None:
    program = "\n".join(blocks("python", file.read_text(encoding="utf-8")))
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=folder_with_a_book, capture_output=True, text=True, encoding="utf-8", env=environment
    )
    assert done.returncode == 0, done.stderr


def test_commands_of_the_readme_run(folder_with_a_book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder_with_a_book)
    commands = [line for block in blocks("sh")[2:] for line in block.splitlines() if line.startswith("bpe-explorer")]
    assert len(commands) >= 5
    for command in commands:
        arguments = shlex.split(command, comments=True)[1:]
        arguments = ["5" if word == "500" else word for word in arguments]  # the text here is too short for 500 merges
        assert run(arguments) == 0, command
