"""The tokens of a text at every moment of its history: one number for each boundary.

The rank of a boundary is the index of the merge that dissolves it; the tokens after k merges
lie between the boundaries whose rank is k or more. So a text is encoded once, and travelling
through the history is one comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.segmenting.merging import NEVER as NEVER

PATTERN_CUT = 2**31 - 2  # the pattern, or a special token, cuts here
INSIDE = -1  # within a base symbol: never a boundary
NO_SYMBOL = -1  # no base symbol starts at this byte

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]


class Symbols(NamedTuple):
    """The base symbols of a text, one after the other; a special token counts as one of them."""

    ids: Int32s
    ranks: Int32s  # of the boundary before each symbol
    starts: Int64s  # the bytes each covers in the text as it was given; a marker covers none
    stops: Int64s


class Hidden(NamedTuple):
    """Base symbols that cover no byte, in order: markers, and all but the last of what normalization made of one."""

    places: Int64s  # the byte before which each stands
    ids: Int32s
    before: Int32s  # the rank of the boundary between each and the symbol before it
    behind: Int32s  # the same for the symbol behind it


@dataclass(frozen=True, eq=False)
class Tokens:
    """Some tokens in order."""

    starts: Int64s
    stops: Int64s
    ids: Int32s


@dataclass(frozen=True, eq=False)
class Boundaries:
    """The boundaries of one text, in bytes of the text as it was given.

    `ranks` has one number for each byte, and one more for the end: the index of the merge that
    dissolves the boundary before that byte. NEVER: none does; PATTERN_CUT: words meet there (or a
    word and what belongs to none); INSIDE: no base symbol begins there, so there is no boundary.
    Where symbols that cover no byte make several boundaries fall on one byte, it is PATTERN_CUT if
    words meet there, else the highest rank; `hidden` knows the others. `symbols` has the base symbol
    that covers each byte and those behind it, NO_SYMBOL where none begins; it is None where each byte
    is its own symbol.
    """

    ranks: Int32s
    symbols: Int32s | None
    alphabet_size: int
    _data: bytes = b""  # the text, where each byte is its own symbol
    _spelled: Symbols | None = None  # where that is not so

    @classmethod
    def of_bytes(cls, data: bytes, ranks: Int32s, symbol_of_byte: Int32s, alphabet_size: int) -> Boundaries:
        """Of a text each byte of which is a symbol, and belongs to a word."""
        if bool((symbol_of_byte == np.arange(256)).all()):
            return cls(ranks, None, alphabet_size, _data=data)
        places = np.arange(len(data) + 1)
        symbols = symbol_of_byte[np.frombuffer(data, np.uint8)]
        spelled = Symbols(symbols, ranks[:-1], places[:-1], places[1:])
        return cls(ranks, symbols, alphabet_size, _spelled=spelled)

    @classmethod
    def of_symbols(cls, length: int, symbols: Symbols, alphabet_size: int) -> Boundaries:
        """Of a text of so many bytes, spelled in whatever symbols."""
        ranks = np.full(length + 1, INSIDE, np.int32)
        np.maximum.at(ranks, symbols.starts, symbols.ranks)
        are_first = symbols.ranks == np.int32(PATTERN_CUT)
        are_last = np.append(are_first[1:], True)[: len(are_first)]
        ranks[symbols.starts[are_first]] = ranks[symbols.stops[are_last]] = PATTERN_CUT
        ranks[0] = ranks[-1] = PATTERN_CUT
        covering = symbols.stops > symbols.starts
        begins = np.full(length, NO_SYMBOL, np.int32)
        begins[symbols.starts[covering]] = symbols.ids[covering]
        return cls(ranks, begins, alphabet_size, _spelled=symbols)

    @cached_property
    def all_symbols(self) -> Symbols:
        """Every base symbol of the text, those that cover no byte too."""
        if self._spelled is not None:
            return self._spelled
        places = np.arange(len(self._data) + 1)
        ids = np.frombuffer(self._data, np.uint8).astype(np.int32)
        return Symbols(ids, self.ranks[:-1], places[:-1], places[1:])

    @cached_property
    def hidden(self) -> Hidden:
        """The symbols that cover no byte."""
        if self._spelled is None:
            return Hidden(np.zeros(0, np.int64), *(np.zeros(0, np.int32) for _ in range(3)))
        symbols = self._spelled
        which = np.flatnonzero(symbols.starts == symbols.stops)
        behind = np.append(symbols.ranks[1:], np.int32(PATTERN_CUT))
        return Hidden(symbols.starts[which], symbols.ids[which], symbols.ranks[which], behind[which])

    def tokens(self, at: int) -> Tokens:
        """The tokens as they stood after `at` merges."""
        symbols = self.all_symbols
        firsts = np.flatnonzero(symbols.ranks >= np.int32(at))
        if not len(firsts):
            return Tokens(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int32))
        inside = np.where(symbols.ranks >= np.int32(at), np.int32(INSIDE), symbols.ranks)
        last_merge = np.maximum.reduceat(inside, firsts)  # a token is what its last merge made
        ids = np.where(last_merge >= 0, last_merge + np.int32(self.alphabet_size), symbols.ids[firsts])
        lasts = np.append(firsts[1:], len(symbols.ids)) - 1
        return Tokens(symbols.starts[firsts], symbols.stops[lasts], ids)

    def starts(self, at: int) -> Int64s:
        """The byte at which each token starts."""
        return self.tokens(at).starts

    def ids(self, at: int) -> Int32s:
        """The tokens' ids: what `encode` gives."""
        return self.tokens(at).ids

    def spans(self, at: int) -> Int64s:
        """One row a token: where it starts, where it stops, its id."""
        tokens = self.tokens(at)
        return np.stack((tokens.starts, tokens.stops, tokens.ids.astype(np.int64)), axis=1)


def joined(parts: list[Symbols]) -> Symbols:
    """The symbols of several parts of a text, one after the other."""
    if not parts:
        return Symbols(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))
    if len(parts) == 1:
        return parts[0]
    return Symbols(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
