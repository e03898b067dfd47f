"""The opened tables of large files, which are stored so that a file opens faster the next time.

Recovering the merges of a large file takes longer than everything else that opening does. The result depends only on
the file, its name, its sidecar files and this program. So it is stored below a hash of these, beside the machine code.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import regex

from bpe_core.formats.base import Beside, Flaw, OpenedTable
from bpe_core.history.history import History
from bpe_core.history.packed import packed, unpacked
from bpe_core.kernels.stored_code import base
from bpe_core.support.kept_results import KeptResults, hash_of
from bpe_core.support.version import program_state

MOST_FILES = 100
MOST_BYTES = 200_000_000  # on the disk
_HEAD_BYTES = 8


def opened_once(
    data: bytes, name: str, format: str, beside: Beside, opening: Callable[[Beside], OpenedTable]
) -> OpenedTable:
    """Return the opened table of a file, and store it for the next time.

    Parameters
    ----------
    data, name
        The content of the file, and its name in messages.
    format
        The name of the format that reads the file.
    beside
        A function that returns the content of a sidecar file.
    opening
        A function that opens the file. It is called with a function like `beside` if nothing valid is stored.
    """
    place = base()
    kept = KeptResults(None if place is None else place / "opened", most_files=MOST_FILES, most_bytes=MOST_BYTES)
    key = hash_of(program_state(), regex.__version__, format, name, data)
    stored = kept.read(key)
    if stored is not None and (table := _read(stored, beside)) is not None:
        return table
    read_beside: dict[str, str | None] = {}

    def noted(sidecar: str) -> bytes | None:
        content = beside(sidecar)
        read_beside[sidecar] = None if content is None else hash_of(content)
        return content

    table = opening(noted)
    if table.words is None:
        kept.store(key, _written(table, read_beside))
    return table


def _written(table: OpenedTable, read_beside: dict[str, str | None]) -> bytes:
    notes = [(isinstance(note, Flaw), note) for note in table.notes]
    head = json.dumps({"format": table.format, "notes": notes, "beside": read_beside}).encode()
    return len(head).to_bytes(_HEAD_BYTES, "little") + head + packed(table.history)


def _read(stored: bytes, beside: Beside) -> OpenedTable | None:
    """Return the stored table. Return None if a sidecar file has changed."""
    end = _HEAD_BYTES + int.from_bytes(stored[:_HEAD_BYTES], "little")
    head = json.loads(stored[_HEAD_BYTES:end])
    for sidecar, known in head["beside"].items():
        content = beside(sidecar)
        if known != (None if content is None else hash_of(content)):
            return None
    notes = tuple(Flaw(note) if is_flaw else note for is_flaw, note in head["notes"])
    return OpenedTable(History(**unpacked(stored[end:])), head["format"], notes)
