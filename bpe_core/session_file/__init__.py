"""Session files (.bpex): everything that is open in a window, in one SQLite database.

values.SavedSession                      a session as a frozen value
reading.read_session("harbour.bpex")     -> SavedSession, checked
writing.write_session(session, path)     a whole file, which takes the old one's place
writing.SessionWriter(path).update(...)  again and again: writes what differs, appends merges
"""

from __future__ import annotations

import re
from pathlib import Path

EXTENSION = ".bpex"
HEADER = b"SQLite format 3\0"


def is_session_file(path: Path | str) -> bool:
    """Recognize a session by its first bytes, or by its name unless it is another table. No pipe is opened."""
    try:
        if Path(path).is_file():
            with open(path, "rb") as file:
                if file.read(len(HEADER)) == HEADER:
                    return True
            from bpe_core.formats import is_table  # nearly all sessions are recognized by their first bytes

            return is_session_name(path) and not is_table(path)  # its beginning is damaged
    except OSError:
        pass
    return is_session_name(path)


def is_session_name(path: Path | str) -> bool:
    return Path(path).suffix.lower() == EXTENSION


def run_of(path: str) -> tuple[str, int | None]:
    """Split SESSION#NUMBER into the session's name and the number of a run; a file of the whole name is itself.

    >>> run_of("book.bpex#2"), run_of("book.bpex")
    (('book.bpex', 2), ('book.bpex', None))
    """
    found = re.fullmatch(r"(.+)#(\d{1,9})", path, re.DOTALL)
    return (path, None) if found is None or Path(path).exists() else (found[1], int(found[2]))
