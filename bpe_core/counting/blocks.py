"""A stream of texts that is divided into blocks.

A block is a part of the stream that can be split into words without the neighbouring blocks. The words of all blocks
are the words of the stream. A block ends where a text ends, or at an offset inside a text where the pattern always
splits. The block goes on to this offset, even if it is far away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from bpe_core.errors import TooLarge
from bpe_core.support.arrays import Bytes, Int64s
from bpe_core.support.limits import check_room, refuse_bomb
from bpe_core.text.reading.source import Bytes as GivenBytes
from bpe_core.text.reading.source import Chunk

LARGEST_BLOCK = 2**31 - 2**16  # offsets in a block are 32-bit numbers
PADDING = 64  # bytes after the text that may be read
SHORTER_STRETCHES = "Check that the file is text. If it is, choose another pattern, or count line by line."

FindCut = Callable[[Bytes, int, int], int]  # finds the last safe offset to cut at inside data[start:stop], or -1


class Block:
    """A part of a stream of texts, in a buffer that grows and is reused for later parts."""

    def __init__(self, room: int) -> None:
        self._usual_room = room
        self._allocate(room)
        self.begin(0)

    def begin(self, first: int) -> None:
        """Empty the block. `first` is the offset in the stream at which the new content of the block begins."""
        if len(self.data) > 4 * self._usual_room + PADDING:
            self._allocate(self._usual_room)  # the memory of one long text must not be kept
        self.first = first
        self.length = 0
        self.text_ends: list[int] = []

    def append(self, data: GivenBytes, inner_ends: Int64s | None = None) -> None:
        if inner_ends is not None:
            self.text_ends += (inner_ends + self.length).tolist()
        length = self.length + len(data)
        if length + PADDING > len(self.data):
            self._grow(length)
        self._view[self.length : length] = data
        self.length = length

    def end_text(self) -> None:
        if self.length > self.start_of_open_text:
            self.text_ends.append(self.length)

    def move_rest(self, cut: int, into: Block) -> None:
        """Move the data from offset `cut` on into another block. The last text of this block then ends at `cut`."""
        into.begin(self.first + cut)
        into.append(self._view[cut : self.length])
        self.length = cut
        self.end_text()

    @property
    def start_of_open_text(self) -> int:
        return self.text_ends[-1] if self.text_ends else 0

    def _grow(self, length: int) -> None:
        """Make room for `length` bytes and half as many more, because a long text comes in many parts.

        Raise TooLarge if the block would become too large.
        """
        if length > LARGEST_BLOCK:
            raise TooLarge(
                f"With this pattern, a single word may have more than {LARGEST_BLOCK:,} bytes, which is too much for "
                "memory. Check that the file is text. If it is, choose another pattern."
            )
        room = min(length + length // 2, LARGEST_BLOCK)
        check_room(room, "A very long part of a text, which may be a single word with this pattern,", SHORTER_STRETCHES)
        held = self._view[: self.length]
        self._allocate(room)
        self._view[: self.length] = held

    def _allocate(self, room: int) -> None:
        self.data: Bytes = np.empty(room + PADDING, np.uint8)
        self._view = self.data.data


def in_blocks(
    chunks: Iterable[Chunk], size: int, find_cut: FindCut, fresh: Callable[[], Block], first: int = 0
) -> Iterator[Block]:
    """Split a stream into blocks of about `size` bytes.

    `find_cut` finds the offset at which a block can end. `fresh` returns an unused block. `first` is the number of
    bytes before the stream.
    """
    block = fresh()
    full = size
    searched = 0
    block.begin(first)
    for chunk in chunks:
        block.append(chunk.data, chunk.inner_ends)
        if chunk.ends_document:
            block.end_text()
        if block.length < full:
            continue
        cut = _place_to_cut(block, searched, find_cut)
        if cut == 0:
            refuse_bomb(2 * block.length, chunk.bytes_read)
            full = 2 * block.length
            searched = block.length
            continue
        rest = fresh()
        block.move_rest(cut, rest)
        yield block
        block = rest
        full = size + rest.length
        searched = 0
    block.end_text()
    if block.length:
        yield block


def _place_to_cut(block: Block, searched: int, find_cut: FindCut) -> int:
    open_text = block.start_of_open_text
    longest_character = 4
    start = max(open_text, searched - longest_character)
    cut = find_cut(block.data, start, block.length) if start < block.length else -1
    if open_text == block.length or cut < 0:
        return open_text
    return cut
