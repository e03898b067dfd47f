"""A text in blocks, each of which gets a table of its own.

A byte that stands for a pair must not occur in what it is written into. So a block ends before it would hold
more than so many different bytes, and at a length at which a table of its own is worth its place.

    >>> [(block.start, block.stop) for block in blocks_of(b"abcabdabc", size=4, most=3)]
    [(0, 4), (4, 8), (8, 9)]
    >>> [(block.start, block.stop) for block in blocks_of(b"abcabdabc", size=9, most=3)]
    [(0, 5), (5, 8), (8, 9)]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from bpe_core.counting.words import WordTable
from bpe_core.recipe import Recipe


class Block(NamedTuple):
    """A stretch of a text that is compressed by itself."""

    start: int  # its first byte
    stop: int  # the byte behind its last


def blocks_of(text: bytes, size: int, most: int) -> Iterator[Block]:
    """The blocks of a text, none longer than `size`, none with more than `most` different bytes."""
    start = 0
    while start < len(text):
        stop = _end_of_block(text[start : start + size], most) + start
        yield Block(start, stop)
        start = stop


def _end_of_block(text: bytes, most: int) -> int:
    """How many bytes of a text are taken before one would be one byte too many."""
    if len(set(text)) <= most:
        return len(text)
    seen: set[int] = set()
    for place, byte in enumerate(text):
        seen.add(byte)
        if len(seen) > most:
            return place
    return len(text)


def blocks_of_words(words: WordTable, recipe: Recipe) -> Iterator[tuple[bytes, int]]:
    """The blocks of all texts that training looks at, and how often each text occurs."""
    for word, count in words:
        for block in blocks_of(word, recipe.block_size, recipe.block_bytes):
            yield word[block.start : block.stop], count


def free_byte(taken: set[int]) -> int | None:
    """The byte that stands for the next pair: the highest that neither occurs nor stands for another.

    >>> free_byte({255, 253}), free_byte(set(range(256)))
    (254, None)
    """
    return next((byte for byte in range(255, -1, -1) if byte not in taken), None)
