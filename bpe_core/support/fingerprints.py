"""The fingerprint of a file: its size and its SHA-256. They show whether the file has changed."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from bpe_core.errors import FormatError
from bpe_core.support.atomic import files_in
from bpe_core.support.progress import CancelCheck, never_cancelled


def fingerprint_of(path: Path, cancelled: CancelCheck = never_cancelled) -> tuple[int, str]:
    """Return the size and the SHA-256 of a file. For a folder, hash the names and contents of all its files."""
    if path.is_dir():
        whole = hashlib.sha256()
        size = 0
        for name, file in sorted(files_in(path).items(), key=lambda row: Path(row[0])):
            length, digest = fingerprint_of(file, cancelled)
            whole.update(f"{name}\0{digest}\n".encode(errors="surrogateescape"))
            size += length
        return size, whole.hexdigest()
    try:
        with open(path, "rb") as data:
            return os.fstat(data.fileno()).st_size, hashlib.file_digest(data, "sha256").hexdigest()
    except OSError as error:
        raise FormatError(f"Could not read {path}: {error.strerror or error}.") from error
