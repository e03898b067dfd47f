"""The rows that still stand in the pages of a damaged SQLite file, whatever became of the ways that lead to them.

Every page is looked at for itself, as SQLite's own `.recover` does; the format is that of sqlite.org/fileformat2.html.
Nothing here is believed: a row may be one that was damaged, and is held against its checksum by who asks.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

Value = int | float | str | bytes | None
Row = tuple[int | None, tuple[Value, ...]]  # the number of a row, where its table has such

TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR = 0x0D, 0x0A, 0x02  # the kinds of page that hold rows
HEADER_BYTES = 100  # at the beginning of the first page
MOST_RESERVED = 64  # bytes at the end of each page
USUAL_PAGE = 4096
MOST_TIMES = 2  # as many bytes as the file has are in all its rows at most
INTEGER_BYTES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def rows_in(data: bytes) -> Iterator[Row]:
    size = int.from_bytes(data[16:18], "big")
    size = 65536 if size == 1 else size
    if not 512 <= size <= 65536 or size & (size - 1):
        size = USUAL_PAGE
    usable = size - (data[20] if len(data) > 20 and data[20] <= MOST_RESERVED else 0)
    left = MOST_TIMES * len(data)  # rows of a sound file do not share their bytes; a stranger's may all name the same
    for start in range(0, len(data), size):
        for row in _rows_of_page(data, start, size, usable):
            left -= sum(len(value) for value in row[1] if isinstance(value, str | bytes))
            if left < 0:
                return
            yield row


def _rows_of_page(data: bytes, start: int, size: int, usable: int) -> Iterator[Row]:
    page = data[start : start + size]
    header = HEADER_BYTES if start == 0 else 0
    if len(page) < header + 12 or page[header] not in (TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR):
        return
    kind = page[header]
    first = header + (12 if kind == INDEX_INTERIOR else 8)
    (count,) = struct.unpack_from(">H", page, header + 3)
    for place in range(first, min(first + 2 * count, len(page) - 1), 2):
        (cell,) = struct.unpack_from(">H", page, place)
        try:
            yield _row(data, page, cell, kind, size, usable)
        except (IndexError, ValueError, struct.error):
            continue  # this one is lost; the next may not be


def _row(data: bytes, page: bytes, cell: int, kind: int, size: int, usable: int) -> Row:
    place = cell + (4 if kind == INDEX_INTERIOR else 0)
    length, place = _number(page, place)
    row = None
    if kind == TABLE_LEAF:
        row, place = _number(page, place)
    if length > len(data):
        raise ValueError("longer than the file")
    here = _bytes_here(length, kind, usable)
    payload = page[place : place + here]
    if here < length:
        (following,) = struct.unpack_from(">I", page, place + here)
        payload += _overflow(data, following, length - here, size, usable)
    return row, _values(payload, length)


def _bytes_here(length: int, kind: int, usable: int) -> int:
    most = usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23
    if length <= most:
        return length
    least = (usable - 12) * 32 // 255 - 23
    rest = least + (length - least) % (usable - 4)
    return rest if rest <= most else least


def _overflow(data: bytes, following: int, length: int, size: int, usable: int) -> bytes:
    """Read the rest of a row from a chain of pages; each holds something, so even a circle of pages ends."""
    pieces = []
    while length > 0:
        start = (following - 1) * size
        if following < 1 or start + 4 > len(data):
            raise ValueError("a chain that leads nowhere")
        piece = data[start + 4 : start + 4 + min(length, usable - 4)]
        if not piece:
            raise ValueError("a page that is truncated")
        pieces.append(piece)
        length -= len(piece)
        following = int.from_bytes(data[start : start + 4], "big")
    return b"".join(pieces)


def _values(payload: bytes, length: int) -> tuple[Value, ...]:
    if len(payload) != length:
        raise ValueError("a row that is truncated")
    end, place = _number(payload, 0)
    kinds = []
    while place < end:
        kind, place = _number(payload, place)
        kinds.append(kind)
    values = []
    for kind in kinds:
        value, place = _value(payload, place, kind)
        values.append(value)
    if place != length:
        raise ValueError("a row that is not filled")
    return tuple(values)


def _value(payload: bytes, place: int, kind: int) -> tuple[Value, int]:
    if kind in (0, 8, 9):
        return (None if kind == 0 else kind - 8), place
    if kind == 7:
        return struct.unpack_from(">d", payload, place)[0], place + 8
    length = INTEGER_BYTES[kind] if kind in INTEGER_BYTES else (kind - 12) // 2
    end = place + length
    if length < 0 or end > len(payload):
        raise ValueError("a value that is truncated")
    found = payload[place:end]
    if kind in INTEGER_BYTES:
        return int.from_bytes(found, "big", signed=True), end
    return (found if kind % 2 == 0 else found.decode()), end


def _number(data: bytes, place: int) -> tuple[int, int]:
    number = 0
    for count in range(8):
        byte = data[place + count]
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            return number, place + count + 1
    return number << 8 | data[place + 8], place + 9
