"""Functions that write and read the chunks of PNG files, for still and animated pictures."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"
FOR_EVER = 0  # how many times a film is played


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def chunks_of(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(SIGNATURE)
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        yield kind, png[place + 8 : place + 8 + length]
        place += 12 + length
