"""Tests of the commands `compress` and `expand`: the printed sizes, the chosen file names and the error messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.methods.kit import compressors
from tests.shared import text_of


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "book.txt"
    path.write_bytes(text_of("prose").encode())
    return path


def test_the_expand_command_restores_the_file_that_the_compress_command_compressed(
    book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compress", "book.txt"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:2] == ["original", f"{book.stat().st_size:,}"]
    assert lines[1].split()[:2] == ["compressed", f"{Path('book.txt.gage').stat().st_size:,}"]
    assert lines[2].startswith("zlib")
    assert "bytes are tables" in "".join(lines)
    assert lines[-1] == "Wrote book.txt.gage."
    assert run(["expand", "book.txt.gage", "-o", "again.txt"]) == 0
    assert "the checksum agrees" in capsys.readouterr().out
    assert Path("again.txt").read_bytes() == book.read_bytes()


def test_the_compress_and_expand_commands_report_the_sizes_as_json(
    book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressors, "ZSTD_MODULES", ())
    assert run(["compress", "book.txt", "-o", "b.gage", "--block-size", "900", "--min-frequency", "3", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["output"], report["compressed_size"]) == ("b.gage", Path("b.gage").stat().st_size)
    assert report["blocks"] >= book.stat().st_size / 900
    assert list(report["others"]) == ["zlib"]
    assert run(["expand", "b.gage", "--json", "-o", "c.txt"]) == 0
    assert json.loads(capsys.readouterr().out) == {"output": "c.txt", "size": book.stat().st_size}


def test_the_compress_command_reports_a_missing_package_and_blocks_with_all_byte_values(
    book: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compressors, "ZSTD_MODULES", ())
    Path("full").write_bytes(bytes(range(256)) * 4)
    assert run(["compress", "full", "--block-bytes", "256"]) == 0
    output = capsys.readouterr().out
    assert "In 1 block all 256 byte values occur" in output
    assert "zstd is not installed" in output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["compress", "book.txt", "-o", "book.txt"], "is the input file"),
        (["compress", "missing.txt"], "Could not read missing.txt"),
        (["compress", "taken"], "The file taken.gage exists already"),
        (["compress", "book.txt", "--block-size", "70000"], "block_size can be at most 65,535"),
        (["expand", "book.txt"], "does not end in .gage"),
        (["expand", "taken.gage"], "The file taken exists already"),
        (["expand", "taken.gage", "-o", "other"], "was not written by `bpe-explorer compress`"),
    ],
)
def test_invalid_uses_of_the_compress_and_expand_commands_are_reported_in_an_error_message(
    arguments: list[str], sentence: str, book: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("taken").write_bytes(b"low")
    Path("taken.gage").write_bytes(b"low")
    assert run(arguments) == 1
    assert sentence in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == ["book.txt", "taken", "taken.gage"]
