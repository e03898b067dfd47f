"""Tests of messages with names and values from files: long names are shortened, and no name can control a terminal."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from bpe_core.errors import LONGEST_SENTENCE, BpeError, FormatError
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.writing import write_session
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.files import readers_of
from bpe_core.text.reading.opening import shown
from bpe_core.text.reading.source import ReadingOptions, SkipLog
from tests.core.learning import train
from tests.core.session_file.sessions import session

ACTING = "\x1b]0;title\x07\x1b[31m\u202egnp\u2066.txt"
posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such names")


@posix_only
def test_control_characters_of_a_file_name_are_escaped_in_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, table = tmp_path / ACTING, tmp_path / (ACTING + ".csv")
    text.write_text("low lower lowest " * 3)
    assert run(["train", str(text), "--merges", "2", "--output", str(table)]) == 0
    assert run(["train", str(text) + "missing"]) == 1
    assert run(["decode", "--merges", str(text), "1"]) == 1
    assert run(["encode", "low", "--merges", str(table), "--at", "99"]) == 1
    assert run(["report", str(table), "--output", str(tmp_path / ACTING) + ".html"]) == 0
    assert run(["decode", "--merges", str(table), "--unknown\x1b[31m"]) == 2
    assert run(["encode", str(text), "--merges", str(table), "--output", str(tmp_path / ACTING) + ".bin"]) == 0
    message = "".join(capsys.readouterr())
    assert "\\x1b[31m" in message
    assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(message)
    assert "\n" not in shown("a\nb")


def test_error_messages_are_shortened_to_a_maximum_length() -> None:
    sentence = str(BpeError("a" * 30_000_000 + " What to do: this."))
    assert len(sentence) <= LONGEST_SENTENCE
    assert sentence.endswith("What to do: this.")
    assert len(str(BpeError("\x1b" * 1000))) <= LONGEST_SENTENCE
    path = "/".join(["a folder of the person"] * 200)
    assert str(BpeError(f"{path}/text.txt is empty.")).endswith("a folder of the person/text.txt is empty.")


@pytest.mark.parametrize("damage", ["DROP TABLE runs", "garbage"])
def test_the_error_for_a_damaged_session_contains_no_message_of_sqlite(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "one.bpex"
    write_session(session(), path)
    data = bytearray(path.read_bytes())
    if damage == "garbage":
        data[5000:] = b"\x81" * (len(data) - 5000)
        path.write_bytes(data)
    else:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute(damage)
    with pytest.raises(FormatError, match="is damaged") as error:
        read_session(path)
    assert not [word for word in ("sqlite", "malformed", "no such table", "btree") if word in str(error.value).lower()]


@pytest.mark.parametrize("name", ["text.gz", "text.xz", "text.bz2"])
def test_messages_of_a_decompressor_are_not_shown_for_a_damaged_file(tmp_path: Path, name: str) -> None:
    packers = {"text.gz": gzip, "text.xz": lzma, "text.bz2": bz2}
    data = packers[name].compress(random.Random(1).randbytes(5_000))
    path = tmp_path / name
    path.write_bytes(data[:900] + b"\xff" * 900 + data[1800:])
    kind = name.removeprefix("text.")
    with pytest.raises(
        BpeError, match=rf"is not valid .*{kind[:2]}.* data, or is damaged\. If the file is not compressed"
    ):
        train(Corpus.from_files([path], on_invalid="skip"), Recipe.preset("gpt2", merges=2))


def test_a_text_file_that_changes_while_being_read_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    for change in (b"low lower", b"low lower " * 400_000):
        path.write_bytes(b"low lower " * 300_000)
        corpus = Corpus.from_files([path])
        path.write_bytes(change)
        train(corpus, Recipe.preset("gpt2", merges=2))
        assert ["was changed while it was read" in skipped.sentence for skipped in corpus.skipped] == [True]


def test_a_text_file_truncated_while_being_read_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"low lower " * 300_000)
    log = SkipLog()
    reader = readers_of([path], ["*"], ReadingOptions(), log)[0]
    pieces = iter(reader.pieces(100_000, log))
    next(pieces)
    os.truncate(path, 500_000)
    assert sum(len(piece.data) for piece in pieces) < 500_000
    assert ["was changed while it was read" in skipped.sentence for skipped in log.reports()] == [True]
