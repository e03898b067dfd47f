"""The tables of named patterns, kept beside the kernels that read them: to make one takes half as long as a command.

They are written by the process that makes the kernels, and made anew with these when a source changes that either is
made from. Their names tell the version of `regex`, whose classes of characters they hold: of another they are not read.
"""

from __future__ import annotations

import hashlib

import numpy as np

from bpe_core.installed import version_of
from bpe_core.text.patterns import NAMED_PATTERNS
from bpe_core.text.scanner.kinds import CODE_POINTS
from bpe_core.text.scanner.machine import ScanTable

UNITS = (("file", False), ("file", True), ("line", False))  # and whether by an older Unicode; the others are rare

_CHECKSUM = hashlib.sha256
_CHECKSUM_BYTES = 32


def kept_table(pattern: str, unit: str, older: bool) -> ScanTable | None:
    """The table, if it was kept."""
    from bpe_core.kernels import kept

    place = kept.place_of_code() if kept.is_sound() and not kept.is_making() else None
    if place is None or (unit, older) not in UNITS:
        return None
    try:
        return unpacked((place / _name(pattern, unit, older)).read_bytes(), NAMED_PATTERNS[pattern].drops_whitespace)
    except OSError:
        return None


def keep_tables() -> None:
    """Write all of them beside the kernels that this process makes."""
    from bpe_core.kernels import kept
    from bpe_core.text.scanner import table_for

    place = kept.place_of_code()
    if place is None or not kept.is_making():
        return
    for pattern in NAMED_PATTERNS:
        for unit, older in UNITS:
            if table := table_for(pattern, unit, older=older):
                (place / _name(pattern, unit, older)).write_bytes(packed(table))


def packed(table: ScanTable) -> bytes:
    """How many entries there are, the entries, where stretches of characters of one kind begin, their kinds."""
    starts = np.flatnonzero(np.diff(table.kind_of_code_point, prepend=table.kind_of_code_point[0] + 1))
    kinds = table.kind_of_code_point[starts]
    data = np.concatenate([[len(table.entries)], table.entries, starts, kinds]).astype("<i4").tobytes()
    return _CHECKSUM(data).digest() + data


def unpacked(content: bytes, drops_blanks: bool) -> ScanTable | None:
    """The table; None where the content is not what was packed.

    >>> from bpe_core.text.scanner import table_of
    >>> content = packed(table_of(r"[a-z]+"))
    >>> unpacked(content, False).cuts(b"low, new"), unpacked(content[:-1], False)
    ([0, 3, 5, 8], None)
    """
    data = content[_CHECKSUM_BYTES:]
    if _CHECKSUM(data).digest() != content[:_CHECKSUM_BYTES]:
        return None
    count, *_ = numbers = np.frombuffer(data, "<i4")
    starts, kinds = numbers[count + 1 :].reshape(2, -1)
    kind_of_code_point = np.repeat(kinds.astype(np.uint8), np.diff(starts, append=CODE_POINTS))
    kind_of_code_point.flags.writeable = False
    entries = numbers[1 : count + 1].astype(np.uint16)
    return ScanTable(entries, kind_of_code_point, tuple(sorted(set(kinds.tolist()))), drops_blanks)


def _name(pattern: str, unit: str, older: bool) -> str:
    return f"{pattern}.{unit}{'.older' if older else ''}.by-regex-{version_of('regex')}.table"
