"""Tests of two commands that write the same file: the second command stops and changes no file."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.support.atomic import reserve

PLAN = 'sizes = [260]\n[corpora]\nbook = ["book.txt"]\n[recipes.bytes]\npreset = "gpt2"\n'
COMMANDS = {
    "count book.txt -o counts.parquet": "counts.parquet",
    "count book.txt --partition-size 10 -o counts": "counts",
    "count book.txt --list words.csv": "words.csv",
    "sweep plan.toml -o results.csv -o runs.bpex": "runs.bpex",
    "sweep plan.toml --summary summary.csv": "summary.csv",
    "extend merges.csv --corpus book.txt --by 2 -o new/": "new",
    "export --merges merges.csv ./tokenizer.json": "tokenizer.json",
    "ranks merges.csv --corpus book.txt -o ranks.svg": "ranks.svg",
    "compress book.txt": "book.txt.gage",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_is_refused_while_another_process_writes_the_same_output_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("book.txt").write_text("the lowest price is lower than the last one\n" * 9, encoding="utf-8")
    Path("plan.toml").write_text(PLAN, encoding="utf-8")
    assert run(["train", "book.txt", "--merges", "5", "-o", "merges.csv", "--quiet"]) == 0
    before, place = sorted(tmp_path.iterdir()), tmp_path / COMMANDS[command]
    with reserve(place):
        assert run(command.split()) == 1
        assert (
            f"Could not write {tmp_path / COMMANDS[command]}: another process is writing it." in capsys.readouterr().err
        )
    assert sorted(tmp_path.iterdir()) == before
    assert run(command.split()) == 0, capsys.readouterr()
    assert place.exists()
