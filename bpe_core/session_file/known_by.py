"""What a session file is known by, for whoever reads none: the ending of its name, and how it begins."""

from __future__ import annotations

from pathlib import Path

EXTENSION = ".bpex"
HEADER = b"SQLite format 3\0"


def is_session_file(path: Path | str) -> bool:
    """Whether a file is meant as a session, judged by its name or its first bytes."""
    try:
        with open(path, "rb") as file:
            return file.read(len(HEADER)) == HEADER
    except OSError:
        return Path(path).suffix.lower() == EXTENSION
