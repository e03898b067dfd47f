"""Session files (.bpex). A session file holds everything that is open in a window, as an SQLite database.

values.SavedSession                      a session as a frozen value
reading.read_session("harbour.bpex")     reads and checks a file, and returns a SavedSession
writing.write_session(session, path)     writes a whole file, which replaces the old file
newest_steps.read_newest_steps(path)     reads the small file of the newest steps of a run, beside its session
writing.SessionWriter(path).update(...)  writes only the changes since the previous call
"""

from __future__ import annotations

import re
from pathlib import Path

EXTENSION = ".bpex"
HEADER = b"SQLite format 3\0"


def is_session_file(path: Path | str) -> bool:
    """Return whether a file is a session.

    A file that begins like an SQLite database is a session. For any other file the name decides, except that a file
    that can be read as a merge table is not a session. A pipe is never opened.
    """
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
    """Split SESSION#NUMBER into the name of a session and the number of a run. The number is None for any other name.

    If a file with the whole name exists, the name is not split.

    >>> run_of("book.bpex#2"), run_of("book.bpex")
    (('book.bpex', 2), ('book.bpex', None))
    """
    match = re.fullmatch(r"(.+)#(\d{1,9})", path, re.DOTALL)
    return (path, None) if match is None or Path(path).exists() else (match[1], int(match[2]))
