"""Pictures one after the other in one PNG file that browsers play.

The extension of PNG by animation is three kinds of chunks: `acTL` tells how many pictures there are, `fcTL` before each
how long it is shown, and `fdAT` holds the data of all but the first, numbered in one row with `fcTL`.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence

SIGNATURE = b"\x89PNG\r\n\x1a\n"
FOR_EVER = 0


def animated(pngs: Sequence[bytes], milliseconds: Sequence[int]) -> bytes:
    """PNG files of the same size and kind as one, each shown for so long."""
    parts = [SIGNATURE]
    number = 0
    for place, (png, pause) in enumerate(zip(pngs, milliseconds, strict=True)):
        chunks = list(chunks_of(png))
        header = next(data for kind, data in chunks if kind == b"IHDR")
        if place == 0:
            parts += [_chunk(b"IHDR", header), _chunk(b"acTL", struct.pack(">II", len(pngs), FOR_EVER))]
        width, height = struct.unpack(">II", header[:8])
        control = struct.pack(">IIIIIHHBB", number, width, height, 0, 0, pause, 1000, 0, 0)
        parts.append(_chunk(b"fcTL", control))
        number += 1
        for kind, data in chunks:
            if kind == b"IDAT" and place == 0:
                parts.append(_chunk(b"IDAT", data))
            elif kind == b"IDAT":
                parts.append(_chunk(b"fdAT", struct.pack(">I", number) + data))
                number += 1
    parts.append(_chunk(b"IEND", b""))
    return b"".join(parts)


def chunks_of(png: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The kind of each chunk and what it holds."""
    place = len(SIGNATURE)
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        yield kind, png[place + 8 : place + 8 + length]
        place += 12 + length


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
