"""Which of the palette's colours each token gets: that of its bytes, wherever and whenever it is met.

A token keeps its colour through time, across texts, pages and runs, for it depends on nothing but the bytes that
it covers. So two neighbours may have the same colour: what parts them are their edges.

The bytes are hashed all at once: the hash of a stretch is a difference of two sums that grow along the text, divided
by a power of the base. (All is counted modulo 2**64, where an odd number can be divided by.)
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from app.window.text.model import NO_TOKEN, Tokens
from app.window.text.scales import COLOURS as COLOURS
from app.window.text.scales import UNCOLOURED as UNCOLOURED
from app.window.text.scales import Scale

_BASE = np.uint64(0x100000001B3)
_INVERSE = np.uint64(pow(0x100000001B3, -1, 2**64))
_SCATTER = np.uint64(0x9E3779B97F4A7C15)

Int64s = npt.NDArray[np.int64]
Int8s = npt.NDArray[np.int8]


def colour_of(data: bytes) -> int:
    """The colour of a token that stands for these bytes.

    >>> colour_of(b"the") == colour_of(b"the") != colour_of(b"teh")
    True
    """
    return int(colours_of(data, Tokens(np.array([0, len(data)], np.int64), np.zeros(1, np.int64)))[0])


def colours_of(data: bytes, tokens: Tokens) -> Int8s:
    """The colour of each of these neighbouring tokens of a text. What is no token yet may be long, and is not read."""
    colours, known = np.full(len(tokens.ids), UNCOLOURED, np.int8), np.flatnonzero(tokens.ids != NO_TOKEN)
    if len(known):
        breaks = (np.flatnonzero(np.diff(known) > 1) + 1).tolist() if len(known) < len(colours) else []
        for start, stop in pairwise([0, *breaks, len(known)]):
            first, end = int(known[start]), int(known[stop - 1]) + 1
            colours[first:end] = _hashed(data, tokens.edges[first : end + 1])
    return colours


def _hashed(data: bytes, edges: npt.NDArray[np.int64]) -> Int8s:
    """The colour of each stretch between two neighbours of these edges."""
    first, last = int(edges[0]), int(edges[-1])
    values = np.frombuffer(data, np.uint8)[first:last].astype(np.uint64) + np.uint64(1)
    powers, inverses = (_powers(base, last - first + 1) for base in (_BASE, _INVERSE))
    sums = np.zeros(last - first + 1, np.uint64)
    np.cumsum(values * powers[:-1], out=sums[1:])
    starts, stops = edges[:-1] - first, edges[1:] - first
    hashes = (sums[stops] - sums[starts]) * inverses[starts]
    hashes = (hashes ^ (hashes >> np.uint64(29))) * _SCATTER
    return ((hashes >> np.uint64(33)) % np.uint64(COLOURS)).astype(np.int8)


def coloured_tokens(
    tokens_between: Callable[[int, int], Tokens], data: bytes, start: int, stop: int, scale: Scale | None = None
) -> tuple[Tokens, Int8s]:
    """The tokens that share a byte with a stretch of the text, with the colours of their bytes, or by a scale."""
    if start >= stop:
        return Tokens(np.array([start], np.int64), np.empty(0, np.int64)), np.empty(0, np.int8)
    tokens = tokens_between(start, stop)
    return tokens, colours_of(data, tokens) if scale is None else scale.colours_of(tokens)


def _powers(base: np.uint64, count: int) -> npt.NDArray[np.uint64]:
    powers = np.full(count, base, np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)
