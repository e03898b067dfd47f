"""A table that lies compressed by gzip, as CLIP's does, read as if it lay there as it is."""

from __future__ import annotations

import zlib
from pathlib import Path

from bpe_core.errors import FormatError, TooLarge

MARK = b"\x1f\x8b"
LOOK = 2**20  # bytes of a beginning
LARGEST = 2**28  # bytes that come out of one; a table becomes some three times smaller


def unpacked(data: bytes, name: str) -> bytes:
    """What was compressed, if it was.

    >>> import gzip
    >>> unpacked(gzip.compress(b"l o"), "merges.txt.gz"), unpacked(b"l o", "merges.txt")
    (b'l o', b'l o')
    """
    if not data.startswith(MARK):
        return data
    member = zlib.decompressobj(wbits=31)
    try:
        found = member.decompress(data, LARGEST + 1)
    except zlib.error as error:
        raise FormatError(f"{name} is gzip data that is damaged: {error}.") from error
    if len(found) > LARGEST:
        raise TooLarge(f"{name} unpacks to more than {LARGEST:,} bytes; a larger merge table is not read.")
    if not member.eof:
        raise FormatError(f"{name} is gzip data that ends too early; it was not copied whole.")
    return found


def beginning(data: bytes) -> bytes:
    """The same of the beginning of a file, as far as it goes."""
    if not data.startswith(MARK):
        return data
    try:
        return zlib.decompressobj(wbits=31).decompress(data, LOOK)
    except zlib.error:
        return data


def content_of(path: Path | str) -> bytes:
    return unpacked(Path(path).read_bytes(), str(path))
