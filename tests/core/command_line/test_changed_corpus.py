"""Tests of commands whose corpus changes while it is read. Each command must report the change."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.text.reading.opening import ByteStream
from tests.shared import ROOT

WARNING = "was changed while it was read"


@pytest.mark.parametrize(
    "command",
    [
        "train TEXT --merges 3",
        "encode TEXT --merges TABLE --output ids.npy",
        "sizes --merges TABLE --corpus TEXT",
        "race --merges TABLE --corpus TEXT --step 1",
        "paid --merges TABLE --corpus TEXT --step 1",
        "ties --merges TABLE --corpus TEXT --what-if lowest-ids",
        "why low --merges TABLE --corpus TEXT",
        "token #258 --merges TABLE --corpus TEXT",
    ],
    ids=lambda command: command.partition(" ")[0],
)
def test_a_corpus_file_that_changes_while_being_read_is_reported_once(
    command: str,
    tmp_path: Path,
    table: Path,
    text: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    words = [{"TEXT": str(text), "TABLE": str(table)}.get(word, word) for word in command.split()]
    assert run(words) == 0
    assert WARNING not in capsys.readouterr().err
    monkeypatch.setattr(ByteStream, "has_changed", True)
    assert run(words) == 0
    assert capsys.readouterr().err.count(f"{text} {WARNING}") == 1


def test_every_command_reads_its_corpus_with_the_function_that_reports_skipped_files() -> None:
    """If a command does not use the function `corpora.open_texts`, it reports neither skipped nor changed files."""
    reading_files = []
    for path in (ROOT / "bpe_core" / "command_line").rglob("*.py"):
        names = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        if "from_files" in names:
            reading_files.append(path.name)
    assert reading_files == ["corpora.py"]
