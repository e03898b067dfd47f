"""The check of the messages in an Arrow file before Arrow unpacks them.

A message has a table of fields in the FlatBuffers format, and then buffers. Each buffer begins with the size that it
claims to have after unpacking.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple

from bpe_core.support.foreign import DamagedPart
from bpe_core.support.limits import MOST_TIMES, is_bomb, size_text
from bpe_core.support.wording import count_text

MARK = b"ARROW1"
STREAM_MARK = b"\xff\xff\xff\xff"
SCHEMA, DICTIONARY, BATCH = 1, 2, 3  # kinds of messages
_LONGEST = 2**26  # bytes of a message without its body
_BUFFER, _BLOCK = 16, 24  # bytes of the entry that says where a message is


class Message(NamedTuple):
    kind: int
    stored: int  # bytes of its body
    unpacked: int
    end: int  # its offset in the file


def refuse_bomb_at(raw: BinaryIO, place: int) -> None:
    """Raise DamagedPart if an Arrow message claims that it needs far too much memory when it is unpacked.

    The messages at the offset `place` are checked: dictionaries, if there are any, and the batch of rows after them.
    Afterwards, the position in the file is the same as before, so that Arrow can read on from there.
    """
    before = raw.tell()
    while (message := message_at(raw, place)) is not None:
        if is_bomb(message.unpacked, message.stored):
            sizes = f"{count_text(message.stored, 'byte')} to {size_text(message.unpacked)}"
            raise DamagedPart(f"the data at byte {place:,} claims to unpack from {sizes}")
        if message.kind != DICTIONARY:
            break
        place = message.end
    raw.seek(before)


def limited_batches(batches: Iterable[Any], stored: int) -> Iterator[Any]:
    """Yield the batches of rows. The caller keeps all of them in memory.

    `stored` is the size of the file in bytes. Raise DamagedPart if the batches together are far too large for a
    file of this size.
    """
    unpacked = 0
    for batch in batches:
        unpacked += batch.nbytes
        if is_bomb(unpacked, stored):
            raise DamagedPart(f"it unpacks to more than {MOST_TIMES} times its size")
        yield batch


def message_at(raw: BinaryIO, place: int) -> Message | None:
    """Return the message at an offset. Return None if there is none. Arrow itself then reports the error."""
    try:
        start = place + 4
        size = _number(_bytes_at(raw, place, 4), 0, "<i")
        if size == -1:  # the mark; versions before 0.15 had none
            start = place + 8
            size = _number(_bytes_at(raw, place + 4, 4), 0, "<i")
        if not 0 < size < _LONGEST:
            return None
        whole = _Table.root(_bytes_at(raw, start, size))
        kind = whole.number(1, "<B")
        stored = whole.number(3, "<q")
        if stored < 0 or kind not in (SCHEMA, DICTIONARY, BATCH):
            return None
        header = whole.table(2)
        batch = header.table(1) if kind == DICTIONARY and header is not None else header
        unpacked = 0
        if kind in (DICTIONARY, BATCH) and batch is not None and batch.table(3) is not None:  # it is compressed
            unpacked = sum(_unpacked(raw, start + size, place) for place in batch.structures(2, _BUFFER))
        return Message(kind, stored, unpacked, start + size + stored)
    except struct.error:
        return None


def blocks_of(raw: BinaryIO) -> tuple[list[int], list[int]]:
    """Return the offsets of the dictionaries and of the batches in a file that ends with a footer.

    Return empty lists if the footer cannot be read.
    """
    try:
        end = raw.seek(0, 2) - len(MARK) - 4
        size = _number(_bytes_at(raw, end, 4), 0, "<i")
        footer = _Table.root(_bytes_at(raw, end - size, size))
        dictionaries, batches = ([_number(block, 0, "<q") for block in footer.structures(n, _BLOCK)] for n in (2, 3))
        return dictionaries, batches
    except (struct.error, ValueError, OSError):
        return [], []


def _unpacked(raw: BinaryIO, body: int, buffer: bytes) -> int:
    offset, length = struct.unpack("<qq", buffer)
    if length < 8:
        return 0
    claimed = _number(_bytes_at(raw, body + offset, 8), 0, "<q")
    return length if claimed < 0 else claimed


def _bytes_at(raw: BinaryIO, place: int, size: int) -> bytes:
    if place < 0:
        raise struct.error
    raw.seek(place)
    return raw.read(size)


def _number(data: bytes, place: int, kind: str) -> int:
    if place < 0:
        raise struct.error
    return int(struct.unpack_from(kind, data, place)[0])


class _Table:
    def __init__(self, data: bytes, place: int) -> None:
        self._data = data
        self._place = place
        self._fields = place - _number(data, place, "<i")

    @classmethod
    def root(cls, data: bytes) -> _Table:
        return cls(data, _number(data, 0, "<I"))

    def _place_of(self, field: int) -> int:
        """Return the offset of a field in the data. Return 0 if the table lacks the field."""
        entry = 4 + 2 * field
        known = entry < _number(self._data, self._fields, "<H")
        offset = _number(self._data, self._fields + entry, "<H") if known else 0
        return self._place + offset if offset else 0

    def number(self, field: int, kind: str) -> int:
        place = self._place_of(field)
        return _number(self._data, place, kind) if place else 0

    def table(self, field: int) -> _Table | None:
        place = self._place_of(field)
        return _Table(self._data, place + _number(self._data, place, "<I")) if place else None

    def structures(self, field: int, size: int) -> Iterator[bytes]:
        place = self._place_of(field)
        if place:
            start = place + _number(self._data, place, "<I")
            for number in range(_number(self._data, start, "<I")):
                structure = self._data[start + 4 + number * size : start + 4 + (number + 1) * size]
                if len(structure) < size:
                    raise struct.error
                yield structure
