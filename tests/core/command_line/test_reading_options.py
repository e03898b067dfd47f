"""Tests of the options for reading texts, which every command that reads texts accepts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_core.command_line.main import run


def test_questions_and_training_read_the_same_field_of_json_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    texts, table = tmp_path / "a.jsonl", tmp_path / "merges.csv"
    rows = [{"id": "x", "turns": [{"said": "low lower lowest"}, {"said": "new newer"}]}, {"id": "broken"}]
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    reading_options = ["--field", "turns[].said", "--on-bad-row", "skip"]
    asked = ["--merges", str(table), "--corpus", str(texts)]
    assert run(["train", str(texts), *reading_options, "--merges", "6", "--output", str(table)]) == 0
    assert 'line 2: there is no field "turns", only "id"' in capsys.readouterr().err
    for question in (["token", "lo"], ["paid", "--step", "2"], ["sizes"], ["why", "low"]):
        command = [*question, *asked]
        assert run([*command, *reading_options]) == 0, command
        assert run(command) == 1, command
        assert "several columns that could hold its texts" in capsys.readouterr().err
    ids = ["encode", str(texts), "--merges", str(table), "--output", str(tmp_path / "ids.npy")]
    assert run([*ids, *reading_options]) == 0
    words = tmp_path / "words.tsv"
    words.write_text("low\t5\n lower\t2\n", encoding="utf-8")
    assert run(["train", str(words), "--word-list", "--merges", "3", "--output", str(table), "--json"]) == 0
