"""Tests of reading UTF-8. A text is divided only between two characters, and invalid bytes are reported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import EncodingError
from bpe_core.kernels.utf8 import valid_until
from bpe_core.text.corpus import Corpus
from bpe_core.text.reading.source import SHOWN_PER_SOURCE
from bpe_core.text.reading.utf8 import first_invalid, length_of_whole_characters, pieces_of
from tests.core.corpus_files import documents, read, sentence, write

NEARLY_UTF8 = st.lists(
    st.sampled_from(
        [b"a", "é".encode(), "€".encode(), "😀".encode(), b"\x80", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xff"]
    )
    | st.sampled_from([b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xe0\x80\x80"])
    | st.binary(max_size=3)
).map(b"".join)


@given(NEARLY_UTF8)
def test_the_utf_8_check_finds_the_same_first_invalid_byte_as_python(data: bytes) -> None:
    try:
        data.decode()
        expected = -1
    except UnicodeDecodeError as error:
        expected = error.start
    assert first_invalid(data) == first_invalid(memoryview(data)) == first_invalid(bytearray(data)) == expected


@given(before=st.integers(0, 70), data=NEARLY_UTF8, after=st.integers(0, 70))
def test_machine_code_finds_the_first_utf_8_error_even_after_a_long_ascii_text(
    before: int, data: bytes, after: int
) -> None:
    whole = b"x" * before + data + b"y" * after
    until = valid_until(np.frombuffer(bytearray(whole), np.uint8))
    bad = first_invalid(whole)
    assert first_invalid(whole[:until]) == -1
    assert until == len(whole) if bad < 0 else until <= bad


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(0, 30))
def test_valid_utf_8_is_divided_only_between_characters(text: str, length: int) -> None:
    data = text.encode()
    cut = length_of_whole_characters(data[:length])
    assert length - 3 <= cut <= length or cut == len(data)
    assert first_invalid(data[:cut]) == -1


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(4, 9))
def test_reading_a_text_in_portions_returns_every_byte_once(text: str, size: int) -> None:
    data = text.encode()
    pieces = [*pieces_of(data, size, 0)]
    parts = [bytes(piece.data) for piece in pieces]
    assert b"".join(parts) == data
    assert [piece.ends_document for piece in pieces] == [False] * (len(pieces) - 1) + [True] * bool(pieces)
    assert all(len(part) <= size and first_invalid(part) == -1 for part in parts)


@given(data=NEARLY_UTF8, padding=st.integers(0, 70), size=st.integers(1, 70))
def test_invalid_bytes_are_replaced_or_skipped_in_the_same_way_for_every_chunk_size(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, padding: int, size: int
) -> None:
    data = b"x" * padding + data.replace(b"\0", b"")
    path = write(tmp_path_factory.mktemp("bad"), "a.txt", b"start" + data)
    assert "".join(read(path, size, on_invalid="replace")) == "start" + data.decode("utf-8", "replace")
    assert "".join(read(path, size, on_invalid="skip")) == "start" + data.decode("utf-8", "ignore")
    bad = first_invalid(data)
    if bad < 0:
        assert "".join(read(path, size)) == "start" + data.decode()
    else:
        assert f"at offset {bad + 5:,}." in sentence(path, error=EncodingError)


def test_an_invalid_byte_is_reported_with_its_offset_and_possible_solutions(tmp_path: Path) -> None:
    path = write(tmp_path, "latin.txt", b"a" * 5_000_000 + "né".encode("latin-1") + b"!")
    assert sentence(path, error=EncodingError) == (
        f"{path} is not valid UTF-8: byte 0xE9 at offset 5,000,001. "
        "Give the encoding it was written in (such as cp1252), or choose to replace or skip invalid bytes."
    )


def test_an_incomplete_character_at_the_end_of_a_file_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path, "cut.txt", "x" * 100 + "€")
    path.write_bytes(path.read_bytes()[:-1])
    assert "byte 0xE2 at offset 100" in sentence(path)


@pytest.mark.parametrize(
    ("choice", "text", "report"),
    [
        ("replace", "a�b��c�", "3 places that are not UTF-8 were replaced by �, the first at byte 1"),
        ("skip", "ab�c", "4 bytes that are not UTF-8 were left out, the first at byte 1"),
    ],
)
def test_replaced_or_skipped_bytes_of_a_file_are_counted_and_reported(
    tmp_path: Path, choice: str, text: str, report: str
) -> None:
    path = write(tmp_path, "a.txt", b"a\xffb\xff" + "�".encode() + b"c\xe2\x82")
    corpus = Corpus.from_files(path, on_invalid=choice)  # type: ignore[arg-type]
    assert documents(corpus) == [text]
    assert [(skipped.source, skipped.sentence) for skipped in corpus.skipped] == [(str(path), report)]


def test_a_file_of_only_invalid_bytes_has_no_text_when_bytes_are_skipped(tmp_path: Path) -> None:
    assert read(write(tmp_path, "a.txt", b"\xff\xff\xff"), on_invalid="skip") == []


def test_many_reports_about_one_file_are_summarized(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", (b"\xff" + b"a" * 63) * 200)
    corpus = Corpus.from_files(path, on_invalid="skip")
    documents(corpus, 64)
    assert len(corpus.skipped) == SHOWN_PER_SOURCE + 1
    assert corpus.skipped[-1].sentence == f"and {200 - SHOWN_PER_SOURCE} more"


WHILE_ANOTHER_THREAD_LOADS = """
import builtins, threading, time
from bpe_core.text.reading.utf8 import first_invalid
load, half_loaded = builtins.__import__, threading.Event()
def slowly(name, *rest):
    if name == "bpe_core.kernels.memory" and not half_loaded.is_set():
        half_loaded.set()
        time.sleep(0.2)
    return load(name, *rest)
builtins.__import__ = slowly
threading.Thread(target=lambda: slowly("bpe_core.kernels.utf8")).start()
half_loaded.wait()
print(first_invalid(memoryview(bytearray(b"sound\\xff"))))
"""


def test_a_reading_thread_waits_while_a_different_thread_loads_the_kernels() -> None:
    """In an earlier version, a thread ended with an error if only half of the kernels were loaded."""
    done = subprocess.run(
        [sys.executable, "-c", WHILE_ANOTHER_THREAD_LOADS], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("5\n", "")
