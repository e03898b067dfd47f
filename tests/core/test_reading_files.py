"""Tests of reading one file: missing, empty and locked files and files without text are reported."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from tests import permissions
from tests.core.corpus_files import read, sentence, write


def test_a_missing_text_file_is_reported(tmp_path: Path) -> None:
    assert sentence(tmp_path / "gone.txt") == f"{tmp_path / 'gone.txt'} does not exist."


@pytest.mark.parametrize("content", [b"", "\ufeff".encode(), "\ufeff".encode("utf-16-le")])
def test_an_empty_text_file_is_reported(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, "empty.txt", content)
    assert sentence(path) == f"{path} is empty: there is no text in it."


@pytest.mark.skipif(os.name != "posix", reason="Windows locks files in another way")
def test_a_file_or_folder_without_read_permission_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path, "locked.txt", "low")
    path.chmod(0)
    with permissions.permissions_for_root():
        message = f"{path} cannot be opened: permission denied."
        assert sentence(path) == message
        assert sentence(tmp_path) == message


def test_a_refused_permission_while_opening_a_text_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path, "locked.txt", "low")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert sentence(path) == f"{path} cannot be opened: permission denied."


def test_an_invalid_path_of_a_text_file_is_reported(tmp_path: Path) -> None:
    assert "a\\x00b" in sentence("a\0b")
    assert "cannot be" in sentence("x" * 5000)


@pytest.mark.parametrize(
    ("content", "description"),
    [
        (b"\x89PNG\r\n\x1a\n", "a picture"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"PK\x03\x04", "a zip archive"),
        (gzip.compress(b"low", mtime=0), "gzip data; let its name end in .gz"),
        (b"low\0er", "byte 3 is zero"),
        ("low".encode("utf-16-le"), "give the encoding"),
    ],
)
def test_the_error_for_a_binary_file_names_the_kind_of_file(tmp_path: Path, content: bytes, description: str) -> None:
    path = write(tmp_path, "a.txt", content)
    message = sentence(path)
    assert message.startswith(f"{path} is not a text file: ")
    assert description in message


def test_a_zero_byte_deep_inside_a_text_is_read_as_a_character(tmp_path: Path) -> None:
    text = "a" * 100_000 + "\0b"
    assert read(write(tmp_path, "a.txt", text)) == [text]


def test_a_file_name_that_is_not_valid_unicode_can_be_shown_in_a_message(tmp_path: Path) -> None:
    message = sentence(str(tmp_path / os.fsdecode(b"caf\xe9.txt")))
    message.encode()
    assert message.endswith("does not exist.")
