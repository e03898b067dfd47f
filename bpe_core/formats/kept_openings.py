"""A store of the tables of large files, so that a file opens faster the next time.

When a large file is opened, most of the time is spent on recognizing its format and recovering its merges. The result
depends only on the file, its name, its sidecar files and this program. It is stored under a hash of the file, its name
and this program, in the folder that also holds the machine code. The hashes of the sidecar files are stored with it. If
a sidecar file has changed, the stored result is not used. A stored table is found before the code that reads its format
is loaded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

from bpe_core.formats.base import Beside, Flaw, OpenedTable
from bpe_core.history.history import History
from bpe_core.history.packed import packed, unpacked
from bpe_core.kernels.stored_code import base
from bpe_core.support.kept_results import KeptResults, hash_of
from bpe_core.support.version import package_state, program_state

MOST_FILES = 100
MOST_BYTES = 200_000_000  # on the disk
MOST_HASHED = 1 << 26  # bytes of a file
PART = 1 << 20  # bytes that are read at once
_HEAD_BYTES = 8


def open_once(path: Path, name: str, beside: Beside, opening: Callable[[Beside], OpenedTable]) -> OpenedTable:
    """Return the opened table of a file. Store the table, so that the file opens faster when it is opened again.

    Parameters
    ----------
    path, name
        The file, and its name in messages.
    beside
        A function that returns the content of a sidecar file.
    opening
        A function that recognizes and opens the file. It is called only if no valid table is stored. Its argument
        is a function that returns the content of a sidecar file, as `beside` does.
    """
    place = base()
    kept = KeptResults(None if place is None else place / "opened", most_files=MOST_FILES, most_bytes=MOST_BYTES)
    key = _key(path, name)
    stored = kept.read(key) if key else None
    if stored is not None and (table := _read_stored(stored, beside)) is not None:
        return table
    read_beside: dict[str, str | None] = {}

    def noted(sidecar: str) -> bytes | None:
        content = beside(sidecar)
        read_beside[sidecar] = None if content is None else hash_of(content)
        return content

    table = opening(noted)
    if table.words is None and key and _key(path, name) == key:  # the file did not change while it was opened
        kept.store(key, _written(table, read_beside))
    return table


def _key(path: Path, name: str) -> str:
    """Return a hash of a file, its name and this program. Return an empty string if the file cannot be read.

    The hash of a very large file depends on its beginning, its size, and the time of its last change.
    """
    try:
        with open(path, "rb") as file:
            parts = islice(iter(partial(file.read, PART), b""), MOST_HASHED // PART)
            hashes = list(map(hash_of, parts))
            status = os.fstat(file.fileno())
    except (OSError, ValueError):
        return ""
    changed = status.st_mtime_ns if status.st_size > MOST_HASHED else 0
    state = repr((program_state(), package_state("regex"), status.st_size, changed))
    return hash_of(state, name, *hashes)


def _written(table: OpenedTable, read_beside: dict[str, str | None]) -> bytes:
    notes = [(isinstance(note, Flaw), note) for note in table.notes]
    head = json.dumps({"format": table.format, "notes": notes, "beside": read_beside}).encode()
    return len(head).to_bytes(_HEAD_BYTES, "little") + head + packed(table.history)


def _read_stored(stored: bytes, beside: Beside) -> OpenedTable | None:
    """Return the table that was stored when a file was opened. Return None if a sidecar file has changed since then."""
    end = _HEAD_BYTES + int.from_bytes(stored[:_HEAD_BYTES], "little")
    head = json.loads(stored[_HEAD_BYTES:end])
    for sidecar, known in head["beside"].items():
        content = beside(sidecar)
        if known != (None if content is None else hash_of(content)):
            return None
    notes = tuple(Flaw(note) if is_flaw else note for is_flaw, note in head["notes"])
    return OpenedTable(History(**unpacked(stored[end:])), head["format"], notes)
