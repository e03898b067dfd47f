"""The tokens of a text after every merge, stored as one number for each boundary between two bytes.

The rank of a boundary is the index of the merge that removes it. After k merges, the boundaries with a rank of k or
more remain, and the tokens lie between them. So a text is encoded only once. The ranks then show the tokens after
any step.

    >>> low = Boundaries(b"low", np.array([PATTERN_CUT, 1, 0, PATTERN_CUT], np.int32))  # merges o+w, then l+ow
    >>> [low.tokens(at).spans().tolist() for at in (1, 2)]
    [[[0, 1, 108], [1, 3, 256]], [[0, 3, 257]]]

Base symbols that cover no byte, such as word markers, are stored separately as `HiddenSymbols`. Each hidden symbol
has an offset and lies before the byte at this offset. A hidden symbol at the end of a word belongs to the symbol
before it. Every other hidden symbol belongs to the symbol after it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bpe_core.kernels import NEVER as NEVER
from bpe_core.kernels import PATTERN_CUT as PATTERN_CUT
from bpe_core.segmenting.segmentation import NO_TOKEN, Segmentation, Tokens
from bpe_core.support.arrays import Bools, Int32s, Int64s

INSIDE = -1  # a byte inside a base symbol, where no boundary is

GLUED_WHILE_PENDING = 32  # up to this many new bytes are shown as part of the token before them
_WINDOW = 1024  # bytes examined first in a search for the next boundary
NONE_JOINED = -1  # a hidden symbol that stands alone


@dataclass(frozen=True, eq=False)
class Groups:
    places: Int64s
    ids: Int64s  # the token, if the group is a token by itself
    with_left: Int64s  # the last known merge that joins the group to the token on the left, or NONE_JOINED
    with_right: Int64s
    goes_left: Bools  # whether the word begins before the place of the group and ends at this place

    @property
    def are_alone(self) -> Bools:
        alone: Bools = np.maximum(self.with_left, self.with_right) == NONE_JOINED
        return alone


@dataclass(frozen=True, eq=False)
class HiddenSymbols:
    """The base symbols of one text that cover no byte, in the order of the text.

    If the text is edited, the hidden symbols after the edit move with the text. If a part of the text is split again,
    new hidden symbols replace the hidden symbols of this part.
    """

    places: Int64s  # the byte after each symbol
    ids: Int32s
    before: Int32s  # the rank of the boundary before each symbol
    behind: Int32s

    @classmethod
    def none(cls) -> HiddenSymbols:
        return cls(np.empty(0, np.int64), *(np.empty(0, np.int32) for _ in range(3)))

    def __len__(self) -> int:
        return len(self.places)

    def between(self, start: int, stop: int) -> HiddenSymbols:
        low, high = self._indices(start, stop)
        return self._part(slice(low, high))

    def spliced(self, start: int, removed: int, added: int) -> HiddenSymbols:
        low, high = self._indices(start, start + removed)
        return _concatenate(self._part(slice(low)), self._part(slice(high, None))._moved(added - removed))

    def replaced(self, start: int, stop: int, new: HiddenSymbols) -> HiddenSymbols:
        """Return a copy in which `new` replaces the hidden symbols of the words from `start` to `stop`.

        Offsets in `new` count from `start`.
        """
        low, high = self._indices(start, stop)
        old = self._part(slice(low, high))
        before = old._part((old.places == start) & old.goes_left)
        behind = old._part((old.places == stop) & ~old.goes_left) if stop > start else old._part(slice(0))
        return _concatenate(self._part(slice(low)), before, new._moved(start), behind, self._part(slice(high, None)))

    @cached_property
    def goes_left(self) -> Bools:
        """Return a mask of the hidden symbols that belong to the symbol before them.

        A hidden symbol, such as a marker, covers no byte of the text. It belongs to the symbol before it if its word
        begins at an earlier offset and ends at the offset of the hidden symbol.
        """
        indices = np.arange(len(self))
        places_first = np.searchsorted(self.places, self.places)
        places_last = np.searchsorted(self.places, self.places, side="right") - 1
        starts, ends = (np.flatnonzero(ranks == np.int32(PATTERN_CUT)) for ranks in (self.before, self.behind))
        last_start = np.append(-1, starts)[np.searchsorted(starts, indices, side="right")]
        next_end = np.append(ends, len(self))[np.searchsorted(ends, indices)]
        return (last_start < places_first) & (next_end <= places_last)

    @cached_property
    def _begins_place(self) -> Bools:
        begins = np.ones(len(self), np.bool_)
        begins[1:] = self.places[1:] != self.places[:-1]
        return begins

    def alone(self, at: int) -> Int64s:
        """Return the offset of each token that, after `at` merges, consists only of hidden symbols.

        A hidden symbol, such as a marker, covers no byte of the text.
        """
        stand = self.before >= np.int32(at)
        if self._begins_place.all():
            return self.places[np.flatnonzero(stand & (self.behind >= np.int32(at)))]
        firsts = np.flatnonzero(stand | self._begins_place)
        lasts = np.append(firsts[1:], len(self)) - 1
        return self.places[firsts[np.flatnonzero(stand[firsts] & (self.behind[lasts] >= np.int32(at)))]]

    def groups(self, at: int, alphabet_size: int) -> Groups:
        begins = (self.before >= np.int32(at)) | self._begins_place
        firsts = np.flatnonzero(begins)
        if not len(firsts):
            nothing = np.empty(0, np.int64)
            return Groups(nothing, nothing, nothing, nothing, nothing > 0)
        lasts = np.append(firsts[1:], len(self)) - 1
        inner = np.maximum.reduceat(np.where(begins, np.int32(NONE_JOINED), self.before), firsts).astype(np.int64)
        left = self.before[firsts].astype(np.int64)
        right = self.behind[lasts].astype(np.int64)
        return Groups(
            self.places[firsts],
            np.where(inner == NONE_JOINED, self.ids[firsts].astype(np.int64), inner + alphabet_size),
            np.where(left < at, np.maximum(left, inner), NONE_JOINED),
            np.where(right < at, np.maximum(right, inner), NONE_JOINED),
            self.goes_left[lasts],
        )

    def _indices(self, start: int, stop: int) -> tuple[int, int]:
        low, high = np.searchsorted(self.places, np.array([start, stop + 1]))
        return int(low), int(high)

    def _part(self, which: slice | Bools) -> HiddenSymbols:
        return HiddenSymbols(*(getattr(self, field.name)[which] for field in fields(self)))

    def _moved(self, distance: int) -> HiddenSymbols:
        return HiddenSymbols(self.places + distance, self.ids, self.before, self.behind)


def _concatenate(*parts: HiddenSymbols) -> HiddenSymbols:
    return HiddenSymbols(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(parts[0])))


class PlacedSymbols(NamedTuple):
    """The base symbols of a text in order, with their offsets. A special token counts as a symbol."""

    ids: Int32s
    ranks: Int32s  # the rank of the boundary before each symbol
    starts: Int64s  # offsets of each symbol in the given text; a marker covers no byte
    stops: Int64s


class Boundaries(Segmentation):
    """The boundaries of one text, each with the merge that removes it. Offsets are in bytes.

    This class is the `Segmentation` of byte-pair encoding.

    `ranks` has a number for each byte and for the end of the text. The number is the index of the merge that removes
    the boundary before this byte, or one of three constants:

    NEVER        no merge removes the boundary
    PATTERN_CUT  a word begins or ends there
    INSIDE       no base symbol begins there, so there is no boundary

    A symbol such as a marker may cover no byte of the text. Then several boundaries lie before the same byte, but
    `ranks` has only one number for them: PATTERN_CUT if two words meet there, otherwise the highest rank. `hidden`
    holds the ranks of the other boundaries.

    `symbols` has the base symbol that begins at each byte, or NO_TOKEN. `symbols` is None if each byte is its own
    symbol.
    """

    def __init__(
        self,
        data: bytes,
        ranks: Int32s,
        symbols: Int32s | None = None,
        hidden: HiddenSymbols | None = None,
        alphabet_size: int = 256,
    ) -> None:
        if len(ranks) != len(data) + 1:
            raise ValueError(f"{len(ranks)} ranks do not fit {len(data)} bytes")
        self.data = data
        self.ranks = ranks
        self.symbols = symbols
        self.alphabet_size = alphabet_size
        self.hidden = hidden or HiddenSymbols.none()
        self.pending: tuple[int, int] | None = None

    @classmethod
    def unknown(cls, data: bytes) -> Boundaries:
        ranks = np.full(len(data) + 1, INSIDE, np.int32)
        ranks[0] = ranks[-1] = PATTERN_CUT
        boundaries = cls(data, ranks)
        boundaries.pending = (0, len(data)) if data else None
        return boundaries

    @classmethod
    def of_bytes(cls, data: bytes, ranks: Int32s, symbol_of_byte: Int32s, alphabet_size: int) -> Boundaries:
        """Return the boundaries of a text in which each byte is one base symbol."""
        are_themselves = bool((symbol_of_byte == np.arange(256)).all())
        symbols = None if are_themselves else symbol_of_byte[np.frombuffer(data, np.uint8)]
        return cls(data, ranks, symbols, alphabet_size=alphabet_size)

    @classmethod
    def of_symbols(cls, data: bytes, symbols: PlacedSymbols, alphabet_size: int) -> Boundaries:
        ranks = np.full(len(data) + 1, INSIDE, np.int32)
        np.maximum.at(ranks, symbols.starts, symbols.ranks)
        behind = np.append(symbols.ranks[1:], np.int32(PATTERN_CUT))[: len(symbols.ranks)]
        ranks[symbols.starts[symbols.ranks == np.int32(PATTERN_CUT)]] = PATTERN_CUT
        ranks[symbols.stops[behind == np.int32(PATTERN_CUT)]] = PATTERN_CUT
        ranks[0] = ranks[-1] = PATTERN_CUT
        covering = symbols.stops > symbols.starts
        begins = np.full(len(data), NO_TOKEN, np.int32)
        begins[symbols.starts[covering]] = symbols.ids[covering]
        which = np.flatnonzero(~covering)
        hidden = HiddenSymbols(symbols.starts[which], symbols.ids[which], symbols.ranks[which], behind[which])
        return cls(data, ranks, begins, hidden, alphabet_size)

    @property
    def length(self) -> int:
        return len(self.data)

    # -- changes ---------------------------------------------------------------------------

    def splice(self, start: int, removed: int, added: bytes) -> None:
        """Update the boundaries after an edit of the text.

        At first, the new bytes are not yet split into tokens. If there are only a few new bytes, they are counted as
        part of the token before them. So the colours of the text do not flicker during typing.
        """
        stop = start + removed
        behind = max(self.ranks[start], self.ranks[stop])
        seam = np.full(len(added) + 1, INSIDE, np.int32)
        if len(added) > GLUED_WHILE_PENDING:
            seam[0] = seam[-1] = PATTERN_CUT
        else:
            seam[-1] = behind
        self.data = b"".join((self.data[:start], added, self.data[stop:]))
        self.ranks = np.concatenate((self.ranks[:start], seam, self.ranks[stop + 1 :]))
        self.ranks[0] = self.ranks[-1] = PATTERN_CUT
        if self.symbols is not None:
            unknown = np.full(len(added), NO_TOKEN, np.int32)
            self.symbols = np.concatenate((self.symbols[:start], unknown, self.symbols[stop:]))
        self.hidden = self.hidden.spliced(start, removed, len(added))
        self.pending = changed_range(self.pending, start, removed, len(added))

    def put(self, start: int, answer: Boundaries) -> None:
        stop = start + answer.length
        self.ranks[start : stop + 1] = answer.ranks
        self.ranks[0] = self.ranks[-1] = PATTERN_CUT
        if self.symbols is not None or answer.symbols is not None:
            self.symbols = self._named_symbols()
            self.symbols[start:stop] = answer._named_symbols()
        self.hidden = self.hidden.replaced(start, stop, answer.hidden)
        if self.pending and start <= self.pending[0] and self.pending[1] <= stop:
            self.pending = None

    # -- tokens ----------------------------------------------------------------------------

    def tokens(self, at: int) -> Tokens:
        return self.with_empty(self.tokens_between(0, self.length, at), at, of_neighbours=True)

    def tokens_between(self, start: int, stop: int, at: int) -> Tokens:
        if start >= stop:
            return Tokens(np.array([start], np.int64), np.empty(0, np.int64))
        first = self._start_of_token(start, at)
        end = self._end_of_token(stop - 1, at)
        edges = np.append(self._starts_between(first, end, at), end)
        return Tokens(edges, self._ids(edges, at))

    def with_empty(self, tokens: Tokens, at: int, *, of_neighbours: bool = False) -> Tokens:
        if not len(self.hidden):
            return tokens
        first = int(tokens.edges[0])
        end = int(tokens.edges[-1])
        groups = self.hidden.between(first, end).groups(at, self.alphabet_size)
        wanted = groups.are_alone
        if not of_neighbours:
            wanted &= ~((groups.places == first) & groups.goes_left) & ~((groups.places == end) & ~groups.goes_left)
        places = groups.places[wanted]
        indices = np.searchsorted(tokens.edges, places)
        return Tokens(np.insert(tokens.edges, indices, places), np.insert(tokens.ids, indices, groups.ids[wanted]))

    def edges(self, at: int) -> Int64s:
        edges = np.flatnonzero(self.ranks >= np.int32(at))  # no merge removes the boundary at the end of the text
        if len(self.hidden):
            edges = np.sort(np.concatenate((edges, self.hidden.alone(at))), kind="stable")  # fast for two sorted halves
        return edges

    def count(self, at: int) -> int:
        return self._count(self.ranks[:-1] >= np.int32(at)) + len(self.hidden.alone(at))

    def count_unknown(self, at: int, id: int) -> int:
        return (
            0 if self.symbols is None else int(np.count_nonzero(self.symbols == np.int32(id)))
        )  # this token is never joined

    def _count(self, starts: Bools) -> int:
        return int(np.count_nonzero(starts if self.symbols is None else starts & (self.symbols != NO_TOKEN)))

    def _starts_between(self, start: int, stop: int, at: int) -> Int64s:
        return np.flatnonzero(self.ranks[start:stop] >= np.int32(at)) + start

    def _start_of_token(self, byte: int, at: int) -> int:
        stop = byte + 1
        window = _WINDOW
        while not len(starts := self._starts_between(max(0, stop - window), stop, at)):
            stop = stop - window
            window = 2 * window
        return int(starts[-1])

    def _end_of_token(self, byte: int, at: int) -> int:
        start = byte + 1
        window = _WINDOW
        while not len(starts := self._starts_between(start, start + window, at)):
            start = start + window
            window = 2 * window
        return int(starts[0])

    def _ids(self, edges: Int64s, at: int) -> Int64s:
        """Return the ids of the tokens between `edges`.

        The highest rank of a boundary inside a token is the number of the merge that made the token, so it gives the
        id.
        """
        first = int(edges[0])
        end = int(edges[-1])
        if self.pending and self.pending[0] <= first and end <= self.pending[1]:  # a shortcut for long ranges
            return np.full(len(edges) - 1, NO_TOKEN, np.int64)
        inside = self.ranks[first:end].copy()
        starts = edges[:-1] - first
        inside[starts] = INSIDE  # the start of a token is not inside it
        last_merge = np.maximum.reduceat(inside, starts).astype(np.int64)
        if len(self.hidden):
            groups = self.hidden.between(first, end).groups(at, self.alphabet_size)
            to_right = np.searchsorted(edges, groups.places, side="right") - 1  # the token that starts or is there
            to_left = np.searchsorted(edges, groups.places) - 1  # the token that ends there or covers it
            for token, joined in ((to_right, groups.with_right), (to_left, groups.with_left)):
                which = (joined >= 0) & (token >= 0) & (token < len(starts))
                np.maximum.at(last_merge, token[which], joined[which])
        symbols = np.frombuffer(self.data, np.uint8) if self.symbols is None else self.symbols
        ids = np.where(last_merge >= 0, last_merge + self.alphabet_size, symbols[edges[:-1]].astype(np.int64))
        if self.pending:
            ids[(edges[:-1] >= self.pending[0]) & (edges[1:] <= self.pending[1])] = NO_TOKEN
        return ids

    def _named_symbols(self) -> Int32s:
        return np.frombuffer(self.data, np.uint8).astype(np.int32) if self.symbols is None else self.symbols

    def all_symbols(self) -> PlacedSymbols:
        """Return every base symbol of the text in order. Symbols that cover no byte are included."""
        symbols = self._named_symbols()
        hidden = self.hidden
        starts = np.flatnonzero(symbols != NO_TOKEN)
        places = np.flatnonzero(self.ranks != INSIDE)  # a symbol ends at the next of these
        stops = places[np.searchsorted(places, starts, side="right")]
        ranks = self.ranks[starts]
        following = np.searchsorted(starts, hidden.places)
        are_followed = following < len(starts)
        ranks[following[are_followed]] = hidden.behind[are_followed]  # the last of several hidden symbols decides
        return PlacedSymbols(
            np.insert(symbols[starts], following, hidden.ids),
            np.insert(ranks, following, hidden.before),
            np.insert(starts, following, hidden.places),
            np.insert(stops, following, hidden.places),
        )


def joined(parts: list[PlacedSymbols]) -> PlacedSymbols:
    if not parts:
        return PlacedSymbols(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.int64), np.zeros(0, np.int64))
    if len(parts) == 1:
        return parts[0]
    return PlacedSymbols(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def changed_range(old: tuple[int, int] | None, start: int, removed: int, added: int) -> tuple[int, int]:
    """Return the smallest range that covers both the new bytes of an edit and the changed range `old`.

    The edit moves the text after it. Therefore the ends of `old` are moved first.
    """
    if old is None:
        return start, start + added

    def moved(position: int, inside: int) -> int:
        if position <= start:
            return position
        return position + added - removed if position >= start + removed else inside

    return min(start, moved(old[0], start)), max(start + added, moved(old[1], start + added))
