"""A module that recovers merges with compiled code. One call of a kernel finds the parts of all tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bpe_core.history.alphabet import RawTexts
from bpe_core.history.laid_texts import ArrayOfTexts, LaidTexts, concatenate
from bpe_core.history.text_table import build_table, with_own_buffer
from bpe_core.kernels.splits import NO_RANK, SYMBOL, Halves, ShortBuffer, Texts, find_halves, join_halves
from bpe_core.segmenting.text_pairs import joinable_pairs
from bpe_core.support.arrays import Bools, Bytes, Int32s, Int64s
from bpe_core.text.characters import code_points

FEW = 40  # the most symbols for which comparing all pairs is faster than a table of all texts
_WIDE = 0x80  # the first code that UTF-8 writes by several bytes


def parts_of(tokens: Sequence[str] | Sequence[bytes]) -> tuple[list[Any], Int32s, Int32s, Bools]:
    """Return all base symbols, the left part and the right part of each token, and a mask of late tokens.

    The given tokens must be sorted by rank, the lowest rank first. A token is late if one of its parts has a higher
    rank.
    """
    are_bytes = isinstance(tokens[0], bytes)
    if are_bytes:
        raw = tokens if isinstance(tokens, RawTexts) else RawTexts.of(tokens)  # type: ignore[arg-type]  # all are bytes
        data = raw.data
        starts = edges = raw.starts
        letters = _bytes_in(data)
    else:
        laid = tokens if isinstance(tokens, LaidTexts) else LaidTexts.of(tokens)  # type: ignore[arg-type]  # all are text
        data = laid.data
        starts = laid.starts
        edges = laid.edges
        wide = code_points(data[data >= _WIDE].tobytes().decode())  # usually few; looking at all takes longer
        is_there = np.zeros(int(wide.max(initial=_WIDE)) + 1, np.bool_)
        is_there[wide] = True
        letters = _bytes_in(data[data < _WIDE]) + np.flatnonzero(is_there).tolist()
    symbols: list[Any] = [bytes([symbol]) if are_bytes else chr(symbol) for symbol in letters]
    first, begin = concatenate([symbol if isinstance(symbol, bytes) else symbol.encode() for symbol in symbols])

    texts = build_table(np.concatenate((first, data)), np.concatenate((begin, begin[-1] + starts[1:])))
    so_far, halves = _initial_tables(texts, np.arange(len(symbols)), np.arange(len(symbols), len(texts.firsts)))
    done = find_halves(so_far, halves, _room(are_bytes))
    if done < len(tokens):
        place_of = np.zeros(letters[-1] + 1, np.int32)
        place_of[letters] = np.arange(len(letters))
        cells = place_of[data if are_bytes else code_points(laid.together)]
        _find_parts_by_merging(texts, so_far, halves, done, cells, edges, len(symbols))
    return symbols, halves.left, halves.right, halves.is_late


def halves_among(texts: ArrayOfTexts[Any], symbols: Int64s, tokens: Int64s) -> Halves | None:
    """Return the two parts of each token as indices of texts.

    Return None if a symbol has no text, or if the parts of many tokens can only be found by merging symbols.

    >>> texts = LaidTexts.of(["lo", "low", "w", "o", "l"])
    >>> halves_among(texts, np.array([4, 3, 2]), np.array([0, 1])).right.tolist()
    [3, 2]
    """
    so_far, halves = _initial_tables(texts.table, symbols, tokens)
    return halves if find_halves(so_far, halves, _room(isinstance(texts, RawTexts))) == len(tokens) else None


def _room(are_bytes: bool) -> ShortBuffer:
    codes = np.arange(256)
    begins = np.full(256, True) if are_bytes else codes & 0xC0 != 0x80
    return ShortBuffer(begins, np.zeros(FEW + 1, np.int32), np.zeros(FEW, np.int32))


def _initial_tables(texts: Texts, symbols: Int64s, tokens: Int64s) -> tuple[Texts, Halves]:
    """Return a table of all texts, and a table of the tokens' parts, in which no part is known yet."""
    ranks = np.full(len(texts.firsts), NO_RANK, np.int32)
    ranks[symbols], ranks[tokens] = SYMBOL, np.arange(len(tokens), dtype=np.int32)
    halves = np.full((2, len(tokens)), -1, np.int32), np.zeros((2, len(tokens)), np.bool_)
    so_far = with_own_buffer(texts)._replace(hints=np.zeros_like(texts.hints))
    return so_far, Halves(tokens.astype(np.int32), ranks, *halves[0], *halves[1])


def _bytes_in(data: Bytes) -> list[int]:
    """Return the distinct bytes of the data in ascending order.

    For speed, the function deletes the bytes of the data from a string of all 256 bytes, and returns the deleted bytes.
    """
    return sorted({*range(256)}.difference(bytes(range(256)).translate(None, data.tobytes())))


def _find_parts_by_merging(
    texts: Texts, so_far: Texts, halves: Halves, done: int, cells: Int32s, edges: Int64s, symbols: int
) -> None:
    """Find the two parts of every token after the first `done` tokens.

    If no quicker way finds the parts of a token, its symbols are merged.
    """
    from bpe_core.kernels.encode import JOINED

    # few tables need this module, and loading it takes long
    from bpe_core.segmenting.compiled_encoder import joining_table, room_for

    left, right, whole = joinable_pairs(texts)
    table = joining_table(symbols, np.zeros(0, np.int64), left, right, whole - np.int32(symbols), whole)
    room, _ = room_for(int(np.diff(edges).max()), 0, JOINED)
    join_halves(so_far, table, room, cells, edges, halves, done)
