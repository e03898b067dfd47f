r"""The blocks of a text, and the form of a compressed block in the program that Philip Gage published in 1994.

A byte that represents a pair must not occur in the block. So a block ends before it holds too many different bytes.
There is also a maximum length: in a longer block, a new table would save more bytes than it costs.

    >>> [(block.start, block.stop) for block in blocks_of(b"abcabdabc", size=4, most=3)]
    [(0, 4), (4, 8), (8, 9)]
    >>> [(block.start, block.stop) for block in blocks_of(b"abcabdabc", size=9, most=3)]
    [(0, 5), (5, 8), (8, 9)]

A written block is its table, the length of its data, and the data. The table lists the 256 bytes in order. If a byte
represents a pair, its entry is this pair. The entry of any other byte is the byte itself, and most of these entries are
skipped. The entries are written in groups, and each group begins with a number:

| number | what follows it |
|---|---|
| 0 to 127 | one more entry than this number |
| 128 to 255 | skip as many entries as this number minus 127; then one entry follows, if any is left |

The length of the data is two bytes, the higher byte first, so no block is longer than 65,535 bytes.

    >>> write_block({255: (97, 97)}, b"\xffab").hex(" ")  # 128 bytes left out, byte 128, 126 left out, aa; 3 bytes
    'ff 80 fd 61 61 00 03 ff 61 62'
    >>> size_of_table({255}), size_of_table(set())
    (5, 3)
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import Reasons
from bpe_core.kernels import MOST_AT_ONCE as MOST_AT_ONCE
from bpe_core.support.arrays import enlarge

LONGEST = 65_535  # bytes of a block
SIZE_OF_LENGTH = 2

Pairs = Mapping[int, tuple[int, int]]  # from the byte that represents a pair to the pair


class CompressedBlock(NamedTuple):
    start: int  # offset in the text
    stop: int
    pairs: Pairs  # in the order of their steps
    data: bytes  # the bytes after all replacements


class Stretch(NamedTuple):
    """A part of a block's table: the number of bytes without an entry, and then the bytes with entries."""

    left_out: int
    listed: range


def stretches(standing: Collection[int]) -> Iterator[Stretch]:
    """Divide the table of a block into stretches, so that the table takes as few bytes as possible in a file.

    The table covers all 256 bytes. A stretch consists of neighbouring bytes without entries, and then of neighbouring
    bytes with entries. The bytes in `standing` represent pairs, and must have entries.
    """
    byte = 0
    while byte < 256:
        end = _first_pair_byte(standing, byte)
        listed = range(end, min(end + 1, 256)) if end > byte else range(byte, _end_of_listed(standing, byte))
        yield Stretch(end - byte, listed)
        byte = listed.stop


def _first_pair_byte(standing: Collection[int], byte: int) -> int:
    stop = min(byte + MOST_AT_ONCE, 256)
    return next((end for end in range(byte, stop) if end in standing), stop)


def _end_of_listed(standing: Collection[int], byte: int) -> int:
    """Return the end of the group of entries that begins with `byte` in a block's table.

    The bytes in `standing` represent pairs, so they have entries. A single byte between two of them also gets an entry,
    because this makes the table shorter. A group has at most MOST_AT_ONCE entries.
    """
    end = byte + 1
    last = byte + MOST_AT_ONCE
    while end < last and (end in standing or (end + 1 in standing and end + 1 < last)):
        end += 1
    return end


def size_of_table(standing: Collection[int]) -> int:
    return len(standing) + sum(1 + len(stretch.listed) for stretch in stretches(standing))


def size_of_block(standing: Collection[int], data: int) -> int:
    return size_of_table(standing) + SIZE_OF_LENGTH + data


def write_block(pairs: Pairs, data: bytes) -> bytes:
    written = bytearray()
    for left_out, listed in stretches(pairs):
        written.append(left_out + 127 if left_out else len(listed) - 1)
        for byte in listed:
            written += bytes(pairs.get(byte, (byte,)))
    return bytes(written) + len(data).to_bytes(SIZE_OF_LENGTH, "big") + data


class Block(NamedTuple):
    start: int  # offset of the first byte
    stop: int  # offset after the last byte


def blocks_of(text: Sequence[object], size: int, most: int) -> Iterator[Block]:
    """Yield the blocks of a text. A block has at most `size` bytes, and at most `most` different bytes.

    The text may also be a sequence of other symbols, which are counted in place of bytes.
    """
    start = 0
    while start < len(text):
        stop = end_of_block(text[start : start + size], most) + start
        yield Block(start, stop)
        start = stop


def end_of_block(text: Sequence[object], most: int) -> int:
    if len(set(text)) <= most:
        return len(text)
    seen = set[object]()
    for place, symbol in enumerate(text):
        seen.add(symbol)
        if len(seen) > most:
            return place
    return len(text)


ROOM_AT_FIRST = 1_024  # steps
BLOCKS_LOOKED_AT = 100  # how many blocks are searched for candidates

KINDS: dict[str, npt.DTypeLike] = {
    "block": np.int32,  # numbered from 0 through all texts
    "byte": np.int16,  # the byte that represents the pair in this block
    "size": np.int64,  # bytes of all blocks after the step: tables, lengths and data
}


def with_room(reasons: Reasons, rows: int) -> Reasons:
    """Return columns that have room for at least `rows` rows. The old arrays do not change."""
    room = len(reasons["block"])
    return reasons if rows <= room else {name: enlarge(column, max(rows, 2 * room)) for name, column in reasons.items()}


def no_reasons() -> Reasons:
    return {name: np.empty(ROOM_AT_FIRST, kind) for name, kind in KINDS.items()}
