"""The tokens of a text at every merge, kept as one number for each place between two bytes.

The rank of a boundary is the index of the merge that dissolves it. The tokens as they stood
after k merges lie between the boundaries whose rank is k or more, so travelling through the
history is one comparison.

    >>> ranks = np.array([CUT, 1, 0, CUT], np.int32)  # "low" with merges o+w, then l+ow
    >>> boundaries = BoundaryRanks(3)
    >>> boundaries.put(0, 3, ranks, None)
    >>> boundaries.starts_between(0, 3, at=1).tolist(), boundaries.starts_between(0, 3, at=2).tolist()
    ([0, 1], [0])
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from app.window.text.hidden_symbols import HiddenSymbols

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

NEVER = 2**31 - 1  # no merge dissolves this boundary
CUT = 2**31 - 2  # the pattern, or a special token, cuts here
INSIDE = -1  # within a base symbol: never a boundary
NO_TOKEN = -1  # the id of bytes that belong to no token, or to none yet

GLUED_WHILE_PENDING = 32  # this many new bytes are shown as part of the token before them
_WINDOW = 1024  # bytes looked at first when searching for the next boundary


@dataclass(frozen=True)
class Tokens:
    """Some neighbouring tokens: where they start, where the last one ends, and their ids."""

    edges: Int64s  # one more than there are tokens
    ids: Int64s

    def __len__(self) -> int:
        return len(self.ids)


class BoundaryRanks:
    """The ranks for one text; an edit splices them, and an answer from the engine is put in their place."""

    def __init__(self, length: int = 0) -> None:
        self.alphabet_size = 256
        self.forget(length)

    def forget(self, length: int) -> None:
        """Nothing is known about a text of this many bytes."""
        self.ranks: Int32s = np.full(length + 1, INSIDE, np.int32)
        self.ranks[0] = self.ranks[-1] = CUT
        self.symbols: Int32s | None = None  # base symbol at each byte; None where it is the byte itself
        self.hidden = HiddenSymbols.none()
        self.pending: tuple[int, int] | None = (0, length) if length else None

    @property
    def length(self) -> int:
        return len(self.ranks) - 1

    # -- changes ---------------------------------------------------------------------------

    def splice(self, start: int, removed: int, added: int) -> None:
        """Follow an edit: what stands behind it moves, what is new waits for an answer.

        A few new bytes are shown as part of the token before them, so that typing does not
        flicker; many stand alone, as no token, until they are known.
        """
        behind = max(self.ranks[start], self.ranks[start + removed])
        if added == 0:
            seam = np.array([behind], np.int32)
        else:
            alone = added > GLUED_WHILE_PENDING
            seam = np.full(added + 1, INSIDE, np.int32)
            seam[0] = CUT if alone else INSIDE
            seam[-1] = CUT if alone else behind
        self.ranks = np.concatenate((self.ranks[:start], seam, self.ranks[start + removed + 1 :]))
        self.ranks[0] = self.ranks[-1] = CUT
        if self.symbols is not None:
            unknown = np.full(added, NO_TOKEN, np.int32)
            self.symbols = np.concatenate((self.symbols[:start], unknown, self.symbols[start + removed :]))
        self.hidden = self.hidden.spliced(start, removed, added)
        self.pending = _shifted_hull(self.pending, start, removed, added)

    def put(
        self, start: int, stop: int, ranks: Int32s, symbols: Int32s | None, hidden: HiddenSymbols | None = None
    ) -> None:
        """The engine's answer for the words from byte `start` to `stop`: `stop - start + 1` ranks."""
        if len(ranks) != stop - start + 1:
            raise ValueError(f"{len(ranks)} ranks do not fit {stop - start} bytes")
        self.ranks[start : stop + 1] = ranks
        self.ranks[0] = self.ranks[-1] = CUT
        if start == 0 and stop == self.length:
            self.symbols = None if symbols is None else symbols.astype(np.int32)
        elif self.symbols is not None and symbols is not None:
            self.symbols[start:stop] = symbols
        elif self.symbols is not symbols:
            raise ValueError("either every answer for a text names its base symbols, or none does")
        self.hidden = self.hidden.replaced(start, stop, hidden or HiddenSymbols.none())
        if self.pending and start <= self.pending[0] and self.pending[1] <= stop:
            self.pending = None

    # -- tokens ----------------------------------------------------------------------------

    def starts_between(self, start: int, stop: int, at: int) -> Int64s:
        """Where tokens start, for starts from `start` up to but without `stop`."""
        return np.flatnonzero(self.ranks[start:stop] >= np.int32(at)) + start

    def start_of_token(self, byte: int, at: int) -> int:
        """Where the token that holds this byte starts."""
        stop, window = byte + 1, _WINDOW
        while True:
            start = max(0, stop - window)
            found = self.starts_between(start, stop, at)
            if len(found):
                return int(found[-1])
            window *= 2

    def end_of_token(self, byte: int, at: int) -> int:
        """Where the token that holds this byte ends."""
        window = _WINDOW
        while True:
            found = self.starts_between(byte + 1, min(len(self.ranks), byte + 1 + window), at)
            if len(found):
                return int(found[0])
            window *= 2

    def tokens_between(self, start: int, stop: int, at: int, read: Callable[[int, int], bytes]) -> Tokens:
        """All tokens that share a byte with `start` to `stop`."""
        if start >= stop:
            return Tokens(np.array([start], np.int64), np.empty(0, np.int64))
        first = self.start_of_token(start, at)
        end = self.end_of_token(stop - 1, at)
        edges = np.append(self.starts_between(first, end, at), end)
        return Tokens(edges, self._ids(edges, at, read))

    def _ids(self, edges: Int64s, at: int, read: Callable[[int, int], bytes]) -> Int64s:
        """A token is what its last merge made: the highest rank among the boundaries inside it."""
        first, end = int(edges[0]), int(edges[-1])
        inside = self.ranks[first:end].copy()
        starts = edges[:-1] - first
        inside[starts] = INSIDE  # its own start is not inside a token
        last_merge = np.maximum.reduceat(inside, starts).astype(np.int64)
        if len(self.hidden):
            runs = self.hidden.between(first, end).runs(at, self.alphabet_size)
            for edge, joined in ((edges[:-1], runs.with_right), (edges[1:], runs.with_left)):
                which = (joined >= 0) & (runs.places >= edge[0]) & (runs.places <= edge[-1])
                np.maximum.at(last_merge, np.searchsorted(edge, runs.places[which]), joined[which])
        if self.symbols is not None:
            base = self.symbols[edges[:-1]].astype(np.int64)
        else:
            base = np.frombuffer(read(first, end), np.uint8)[starts].astype(np.int64)
        ids = np.where(last_merge >= 0, last_merge + self.alphabet_size, base)
        if self.pending:
            ids[(edges[:-1] >= self.pending[0]) & (edges[1:] <= self.pending[1])] = NO_TOKEN
        return ids

    def with_hidden(self, tokens: Tokens, at: int, *, of_neighbours: bool = False) -> Tokens:
        """The same with the hidden symbols among them that stand alone: tokens whose two edges are the same.

        At both ends may stand some that go with the words before and behind: `of_neighbours` counts them in.
        """
        first, end = int(tokens.edges[0]), int(tokens.edges[-1])
        runs = self.hidden.between(first, end).runs(at, self.alphabet_size)
        wanted = runs.are_alone
        if not of_neighbours:
            wanted &= ~((runs.places == first) & runs.goes_left) & ~((runs.places == end) & ~runs.goes_left)
        places = runs.places[wanted]
        indices = np.searchsorted(tokens.edges, places)
        return Tokens(np.insert(tokens.edges, indices, places), np.insert(tokens.ids, indices, runs.ids[wanted]))

    def edges(self, at: int) -> Int64s:
        """Where all tokens start, hidden ones too, and where the last one ends."""
        edges = np.append(self.starts_between(0, self.length, at), self.length)
        if len(self.hidden):
            edges = np.sort(np.concatenate((edges, self.hidden.alone(at))), kind="stable")  # which merges sorted halves
        return edges

    def largest_id(self, at: int) -> int:
        """An id that none is larger than."""
        bases = 0 if self.symbols is None or not self.length else int(self.symbols.max())
        return max(self.alphabet_size + at, bases, int(self.hidden.ids.max(initial=0)))

    # -- counts ----------------------------------------------------------------------------

    def count(self, at: int) -> int:
        """How many tokens there are."""
        starts = self.ranks[: self.length] >= np.int32(at)
        count = int(np.count_nonzero(starts if self.symbols is None else starts & self._are_tokens(self.length)))
        return count + len(self.hidden.alone(at))

    def count_words(self) -> int:
        """How many words the pattern made of the text."""
        cuts = self.ranks[: self.length] == np.int32(CUT)
        return int(np.count_nonzero(cuts if self.symbols is None else cuts & self._are_tokens(self.length)))

    def _are_tokens(self, stop: int) -> npt.NDArray[np.bool_]:
        assert self.symbols is not None
        return self.symbols[:stop] != NO_TOKEN


def _shifted_hull(old: tuple[int, int] | None, start: int, removed: int, added: int) -> tuple[int, int]:
    """The smallest range that holds the new bytes and all that was waiting before, where it is now."""
    if old is None:
        return start, start + added

    def moved(position: int, inside: int) -> int:
        if position <= start:
            return position
        return position + added - removed if position >= start + removed else inside

    return min(start, moved(old[0], start)), max(start + added, moved(old[1], start + added))
