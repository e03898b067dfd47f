"""Helpers for tests of reading: write a file, read the file, and return texts or the error message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bpe_core.errors import CorpusError
from bpe_core.text.corpus import Corpus

TEXT = "Ünïcode 😀 text\r\nwith ſeveral lines\n" * 50


def write(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of each file in a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def documents(corpus: Corpus, size: int = 1 << 20) -> list[str]:
    """Return the texts of a corpus. Check that each chunk is valid, non-empty and at most `size` bytes long."""
    texts: list[str] = []
    parts: list[bytes] = []
    for chunk in corpus.chunks(size):
        data = bytes(chunk.data)
        data.decode()
        assert 0 < len(data) <= max(size, 256)
        parts.append(data)
        if chunk.ends_document:
            texts.append(b"".join(parts).decode())
            parts = []
    assert not parts, "the last chunk must end its document"
    return texts


def read(path: Path | str | list[Path | str], size: int = 1 << 20, **choices: Any) -> list[str]:
    return documents(Corpus.from_files(path, **choices), size)


def sentence(path: Any, *, error: type[CorpusError] = CorpusError, **choices: Any) -> str:
    """Return the message of the error that is raised when the path is read."""
    with pytest.raises(error) as caught:
        read(path, **choices)
    return str(caught.value)
