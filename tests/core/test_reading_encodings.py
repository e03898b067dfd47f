"""Tests of texts that are not in UTF-8. A byte order mark reveals the encoding, or the user names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bpe_core.errors import EncodingError
from bpe_core.text.corpus import Corpus
from tests.core.corpus_files import TEXT, documents, read, sentence, write


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("size", [1, 64, 65, 1 << 20])
def test_a_byte_order_mark_determines_the_encoding(tmp_path: Path, encoding: str, size: int) -> None:
    path = write(tmp_path, "a.txt", TEXT.encode(encoding))
    assert "".join(read(path, size)) == TEXT
    assert Corpus.from_files(path).sources[0].encoding == encoding


@pytest.mark.parametrize("encoding", ["utf-16-be", "utf-32-be"])
def test_texts_with_big_endian_byte_order_marks_are_read(tmp_path: Path, encoding: str) -> None:
    assert read(write(tmp_path, "a.txt", ("\ufeff" + TEXT).encode(encoding))) == [TEXT]


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "“naïve” €" * 40),
        ("shift_jis", "吾輩は猫である。" * 40),
        ("gb18030", "红楼梦😀" * 40),
        ("utf-16-le", TEXT),
    ],
)
@pytest.mark.parametrize("size", [1, 67, 1 << 20])
def test_a_file_is_read_in_the_named_encoding(tmp_path: Path, encoding: str, text: str, size: int) -> None:
    path = write(tmp_path, "a.txt", text.encode(encoding))
    assert "".join(read(path, size, encoding=encoding)) == text


def test_a_byte_order_mark_takes_precedence_over_the_named_encoding(tmp_path: Path) -> None:
    first = write(tmp_path, "a.txt", "né".encode("cp1252"))
    second = write(tmp_path, "b.txt", "né".encode("utf-16"))
    assert read([first, second], encoding="cp1252") == ["né", "né"]


@pytest.mark.parametrize("size", [1, 64, 99, 1 << 20])
@pytest.mark.parametrize("text", ["x" * 300, "猫" * 150])
def test_bytes_that_are_invalid_in_the_chosen_encoding_are_reported_or_skipped_or_replaced(
    tmp_path: Path, size: int, text: str
) -> None:
    encoded = text.encode("shift_jis")
    path = write(tmp_path, "a.txt", encoded + b"\xff" + encoded)
    message = sentence(path, encoding="shift_jis", size=size, error=EncodingError)
    assert f"{path} is not valid shift_jis" in message
    assert "byte 0xFF at offset 300." in message
    assert "".join(read(path, size, encoding="shift_jis", on_invalid="skip")) == text * 2
    corpus = Corpus.from_files(path, encoding="shift_jis", on_invalid="replace")
    assert "".join(documents(corpus, size)) == text + "�" + text
    assert "the first at byte 300" in corpus.skipped[0].sentence


def test_truncated_utf_16_text_is_reported_or_skipped(tmp_path: Path) -> None:
    path = write(tmp_path, "a.txt", "long enough".encode("utf-16")[:-1])
    assert "not valid utf-16: truncated data, byte 0x68 at offset 22" in sentence(path, error=EncodingError)
    assert read(path, on_invalid="skip") == ["long enoug"]


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "hex", "a\0b", "ü"])
def test_an_unknown_encoding_name_is_refused(tmp_path: Path, encoding: str) -> None:
    message = sentence(write(tmp_path, "a.txt", "low"), encoding=encoding, error=EncodingError)
    assert f"no encoding named {encoding!r}" in message
