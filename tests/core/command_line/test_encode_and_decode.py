"""Tests of the commands `encode` and `decode`."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from tests.core.command_line.conftest import TEXT, program
from tests.shared import ROOT


@pytest.fixture
def standard_input(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """Return a function that sets the bytes that a command of this process reads from standard input."""
    return lambda given: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))


@pytest.fixture
def encode(
    table: Path, standard_input: Callable[[bytes], None], capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Return a function that encodes texts, or the bytes of standard input, and returns the output of the command."""

    def output(*arguments: str, given: bytes = b"") -> str:
        standard_input(given)
        assert run(["encode", "--merges", str(table), *arguments]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out

    return output


def test_the_encode_command_prints_ids(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["encode", "--merges", str(table), "the", "lowest"]) == 0
    assert capsys.readouterr().out == "258 261 262\n"


def test_the_encode_command_with_a_step_uses_only_merges_up_to_that_step(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["encode", "--merges", str(table), "--at", "1", "--pieces", "the lowest"]) == 0
    assert capsys.readouterr().out == "th | e | ␣ | l | o | w | e | s | t\n"
    assert run(["encode", "--merges", str(table), "--at", "8", "the"]) == 1
    assert "has 7 merges" in capsys.readouterr().err


def test_the_encode_command_writes_ids_and_tokens_as_json(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["encode", "--merges", str(table), "--json", "the é"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "ids": [258, 32, 195, 169],
        "tokens": ["the", " ", "<0xC3>", "<0xA9>"],
    }


def test_the_encode_command_recognizes_special_tokens_only_if_they_are_allowed(
    text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / "merges.csv")
    assert run(["train", str(text), "--merges", "0", "--special", "<|end|>", "--output", output, "--quiet"]) == 0
    assert run(["encode", "--merges", output, "a<|end|>"]) == 0
    assert run(["encode", "--merges", output, "--allow-special", "a<|end|>"]) == 0
    assert capsys.readouterr().out == "97 60 124 101 110 100 124 62\n97 256\n"


@pytest.mark.parametrize("special", [[], ["--allow-special"]])
def test_decoding_the_printed_ids_restores_the_exact_bytes_of_the_text(table: Path, special: list[str]) -> None:
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


def test_the_decode_command_shows_incomplete_characters_as_replacement_characters_in_json(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["decode", "--merges", str(table), "--json", "258", "195"]) == 0
    assert json.loads(capsys.readouterr().out) == {"text": "the\ufffd", "bytes": "74 68 65 c3"}


@pytest.mark.parametrize("ids", ["999", "-- -1", "1e3", "9" * 30])
def test_the_decode_command_refuses_arguments_other_than_ids(
    table: Path, ids: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["decode", "--merges", str(table), *ids.split()]) == 1
    complaint = capsys.readouterr().err
    assert complaint.startswith("bpe-explorer: ")
    assert complaint.count("\n") == 1


LINES = "the lowest\n\nso\r\n<|end|> naïve 日本\n  the"


def test_the_encode_command_can_encode_each_input_line_separately(encode: Callable[..., str]) -> None:
    texts = LINES.replace("\r", "").split("\n")
    alone = [encode(text) if text else "\n" for text in texts]
    assert encode("--lines", given=LINES.encode()) == "".join(alone)


def test_the_encode_command_can_print_json_or_tokens_for_each_input_line(encode: Callable[..., str]) -> None:
    answers = encode("--lines", "--json", given=LINES.encode()).splitlines()
    assert [json.loads(line)["ids"] for line in answers][:2] == [[258, 261, 262], []]
    assert json.loads(answers[3])["tokens"][-2:] == ["<0x9C>", "<0xAC>"]
    assert encode("--lines", "--pieces", "--at", "1", given=b"the\n") == "th | e\n"


def test_the_encode_command_prints_the_ids_of_a_line_before_the_next_line_arrives(table: Path) -> None:
    command = [sys.executable, "-m", "bpe_core", "encode", "--merges", str(table), "--lines"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for text, ids in (("the lowest", "258 261 262\n"), ("th", "256\n")):
            process.stdin.write(f"{text}\n")
            process.stdin.flush()
            assert process.stdout.readline() == ids
        process.stdin.close()
        assert process.wait() == 0


def test_the_encode_command_does_not_divide_a_long_input_line(encode: Callable[..., str]) -> None:
    long = b"the " * 200_000
    first, second = encode("--lines", given=long + b"\nso").splitlines()
    assert len(first.split()) == len(encode(given=long).split())
    assert second == encode("so").strip()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["so"], "--lines encodes the lines of standard input"),
        (["--output", "ids.npy"], "--lines encodes the lines of standard input"),
        (["--encoding", "utf-16"], "Lines cannot be split in utf-16. Convert the text to UTF-8 first."),
        (["--encoding", "klingon"], "There is no encoding called 'klingon'."),
        ([], "Line 2 of standard input is not utf-8: the byte 0xEF at offset 2 begins no valid character"),
    ],
)
def test_undecodable_input_lines_are_reported_in_an_error_message(
    arguments: list[str],
    sentence: str,
    table: Path,
    standard_input: Callable[[bytes], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    standard_input("so\nnaïve\n".encode("latin-1"))
    assert run(["encode", "--merges", str(table), "--lines", *arguments]) == 1
    assert sentence in capsys.readouterr().err


def test_undecodable_bytes_of_input_lines_are_replaced_or_skipped_on_request(
    encode: Callable[..., str],
) -> None:
    given = "so\nna\xefve\n".encode("latin-1")
    latin = encode("--lines", "--encoding", "latin-1", given=given)
    assert latin.splitlines()[1] == encode("naïve").strip()
    skipped = encode("--lines", "--on-invalid", "skip", given=given)
    assert skipped.splitlines()[1] == encode("nave").strip()


def test_the_decode_command_warns_if_encoding_the_decoded_text_gives_different_ids(
    table: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Only the text goes to standard output, because scripts read standard output."""
    assert run(["decode", "--merges", str(table), "258"]) == 0
    assert capfdbinary.readouterr() == (b"the", b"")
    assert run(["decode", "--merges", str(table), "116", "104", "101"]) == 0
    out, warnings = capfdbinary.readouterr()
    assert out == b"the"
    assert warnings.decode().splitlines() == [
        "Encoding this text gives other ids. At position 0, 258 instead of 116 104 101. "
        "Merge 1 joins t + h. `canonical` shows all places."
    ]
    assert run(["decode", "--merges", str(table), "195", "--json"]) == 0
    assert "“<0xC3>” is not a text in UTF-8".encode() in capfdbinary.readouterr().err
