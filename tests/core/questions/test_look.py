"""Tests of the question that shows the tokens of a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.command_line import asking
from bpe_core.command_line.main import run
from bpe_core.questions.look import BROKEN, LONG_ONE, MIXED, UNKNOWN

LOOK: Any = bpe.look


def test_the_look_question_lists_the_tokens_of_the_text_in_order() -> None:
    study = bpe.train(["low lower lowest"], "gpt2", merges=3, min_frequency=1)
    answer = LOOK(study, text="low é")
    assert answer.columns["id"] == study.encode("low é")
    assert answer.columns["text"][:1] == ["low"]
    assert answer.columns["odd"][-2:] == [BROKEN, BROKEN]
    assert answer.columns["start"][-1] == 4
    assert answer.sentences == ("4 tokens of 5 characters, 6 bytes, 1.50 bytes a token.", answer.sentences[1])


def test_the_look_question_marks_unusual_tokens() -> None:
    words = bpe.train(["aб " * 9 + "b" * 80 + " b"], "words", merges=90, min_frequency=1, special_tokens=("<s>",))
    answer = LOOK(words, text="aб x " + "b" * 80)
    assert {UNKNOWN, MIXED, LONG_ONE} <= {name for names in answer.columns["odd"] for name in names.split(", ")}
    assert any("Decoding gives another text" in sentence for sentence in answer.sentences)
    assert any("special token" in sentence for sentence in LOOK(words, text="b <s>").sentences)
    assert LOOK(words, text="").sentences == ("0 tokens of 0 characters, 0 bytes.",)


def test_the_look_command_writes_colours_only_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert asking.coloured(["a", "b"]) == "a | b"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = asking.coloured(["a", "b"])
    assert shown.startswith("\x1b[")
    assert shown.endswith("b\x1b[0m")
    monkeypatch.setenv("NO_COLOR", "1")
    assert asking.coloured(["a", "b"]) == "a | b"


def test_the_bench_command_compares_the_ids_with_the_tokenizers_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the lowest price is lower than the last\n" * 300, encoding="utf-8")
    table = tmp_path / "tokenizer.json"
    bpe.train([text.read_text(encoding="utf-8")], "gpt2", merges=40).save(table)
    assert run(["bench", str(table), "--texts", str(text), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["bytes"] == text.stat().st_size
    assert report["differing"] == 0
    assert next(iter(report["seconds"])) == "bpe-explorer"
    assert all(value > 0 for value in report["seconds"].values())
    assert len(report["seconds"]) == 2
    assert run(["bench", str(table)]) == 0
    assert "are the same" in capsys.readouterr().out
