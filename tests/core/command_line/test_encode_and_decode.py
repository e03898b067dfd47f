"""The commands encode and decode: ids out of text, and text out of ids."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from tests.core.command_line.conftest import TEXT, program
from tests.shared import ROOT


def test_encode_prints_ids(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["encode", "--merges", str(table), "the", "lowest"]) == 0
    assert capsys.readouterr().out == "258 261 262\n"


def test_encode_at_a_merge(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["encode", "--merges", str(table), "--at", "1", "--pieces", "the lowest"]) == 0
    assert capsys.readouterr().out == "th | e | ␣ | l | o | w | e | s | t\n"
    assert run(["encode", "--merges", str(table), "--at", "8", "the"]) == 1
    assert "has 7 merges" in capsys.readouterr().err


def test_encode_as_json(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["encode", "--merges", str(table), "--json", "the é"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "ids": [258, 32, 195, 169],
        "tokens": ["the", " ", "<0xC3>", "<0xA9>"],
    }


def test_special_tokens_count_only_when_allowed(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = str(tmp_path / "merges.csv")
    assert run(["train", str(text), "--merges", "0", "--special", "<|end|>", "--output", output, "--quiet"]) == 0
    assert run(["encode", "--merges", output, "a<|end|>"]) == 0
    assert run(["encode", "--merges", output, "--allow-special", "a<|end|>"]) == 0
    assert capsys.readouterr().out == "97 60 124 101 110 100 124 62\n97 256\n"


@pytest.mark.parametrize("special", [[], ["--allow-special"]])
def test_what_is_encoded_decodes_byte_for_byte(table: Path, special: list[str]) -> None:
    text = TEXT + "日本 \u2028 <0x41>\r\n\n  \x00"
    encoded = program("encode", "--merges", str(table), *special, input=text)
    assert (encoded.returncode, encoded.stderr) == (0, "")
    decoded = subprocess.run(
        [sys.executable, "-m", "bpe_core", "decode", "--merges", str(table)],
        input=encoded.stdout.encode(),
        capture_output=True,
        cwd=ROOT,
    )
    assert decoded.stdout == text.encode()


def test_decode_as_json_shows_half_characters(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["decode", "--merges", str(table), "--json", "258", "195"]) == 0
    assert json.loads(capsys.readouterr().out) == {"text": "the\ufffd", "bytes": "74 68 65 c3"}


@pytest.mark.parametrize("ids", ["999", "-- -1", "1e3", "9" * 30])
def test_decode_refuses_what_is_no_id(table: Path, ids: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["decode", "--merges", str(table), *ids.split()]) == 1
    complaint = capsys.readouterr().err
    assert complaint.startswith("bpe-explorer: ")
    assert complaint.count("\n") == 1
