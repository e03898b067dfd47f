"""Merges recovered from ranks: for files that number tokens but do not say which two each was made of.

A token was made of the two pieces into which it falls when only the tokens of lower rank are merged. Where it falls
into fewer or more, no merge can have made it.

    >>> ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"abc": 4, b"cab": 5, b"abcc": 6}
    >>> Recovery(ranks).pieces(b"abc"), Recovery(ranks).pieces(b"cab")
    ([b'ab', b'c'], [b'c', b'ab'])

If every token falls into two pieces, merging by the rank of the joined text and by the recovered pairs give the same
tokens for every text: what happens between two boundaries depends on nothing outside them, so two pieces whose joined
text is a token are the pair that this token alone came to.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import numpy as np

from bpe_core.errors import TooLarge
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.columns import Int64s
from bpe_core.kernels.readiness import Policy
from bpe_core.support.arrays import Bools, Int32s
from bpe_core.support.found_once import once

Text = TypeVar("Text", bytes, str)

KERNELS = Policy("bpe_core.formats.compiled_recovering", small=10_000)  # tokens
NO_LIMIT = 2**62
TURN_BITS = 32  # below the rank a token waits for, its own; ranks have 31
SHORT = 40  # pieces; up to here looking at all of them is faster than a heap
MOST_LOOKED_AT = 2**21  # symbols of all longer tokens together: some seconds; tables of texts never come near


class Recovery(Generic[Text]):
    def __init__(self, ranks: Mapping[Text, int]) -> None:
        self._ranks: Mapping[Text, int] = ranks
        check_lengths(ranks)

    def pieces(self, token: Text, limit: int | None = None) -> list[Text]:
        """Merge all of lower rank in a token (or below `limit`), and return what is left."""
        limit = self._ranks[token] if limit is None else limit
        if len(token) <= SHORT:
            return self._by_looking_at_all(token, limit)
        return self._by_heap(token, limit)

    def _by_looking_at_all(self, token: Text, limit: int) -> list[Text]:
        get = self._ranks.get
        cuts = list(range(len(token) + 1))
        pairs = [get(token[i : i + 2], limit) for i in range(len(token) - 1)]
        while pairs:
            least = min(pairs)
            if least >= limit:
                break
            i = pairs.index(least)
            del cuts[i + 1], pairs[i]
            if i < len(pairs):
                pairs[i] = get(token[cuts[i] : cuts[i + 2]], limit)
            if i:
                pairs[i - 1] = get(token[cuts[i - 1] : cuts[i + 1]], limit)
        return [token[cuts[i] : cuts[i + 1]] for i in range(len(cuts) - 1)]

    def _by_heap(self, token: Text, limit: int) -> list[Text]:
        """Do the same for long tokens, whose time must not grow with the square of their length."""
        end: int = len(token)
        after = [*range(1, end + 1)]  # where the piece that begins here ends; 0: none begins here
        before = [*range(-1, end - 1)]  # where the piece before the one that begins here begins
        heap: list[tuple[int, int, int]] = []

        def enter(start: int) -> None:
            middle = after[start]
            if middle < end:
                rank = self._ranks.get(token[start : after[middle]], limit)
                if rank < limit:
                    heapq.heappush(heap, (rank, start, after[middle]))

        for start in range(end - 1):
            enter(start)
        while heap:
            _, start, stop = heapq.heappop(heap)
            middle = after[start]
            if not start < middle < end or after[middle] != stop:
                continue  # one of the two has been merged since
            after[start], after[middle] = stop, 0
            if stop < end:
                before[stop] = start
            enter(start)
            if start:
                enter(before[start])
        starts = [start for start in range(end) if after[start]]
        return [token[start : after[start]] for start in starts]


def check_lengths(tokens: Iterable[bytes] | Iterable[str]) -> None:
    if sum(length for length in map(len, tokens) if length > SHORT) > MOST_LOOKED_AT:
        raise TooLarge(
            f"The tokens are too long to find out of which two each was made: those of more than {SHORT} symbols "
            f"have more than {MOST_LOOKED_AT:,} together. Choose a format that lists the merges."
        )


@dataclass
class Recovered(Generic[Text]):
    """The merges behind ranks, in the order in which they happen."""

    tokens: list[Text] = field(default_factory=list)  # those that merges make
    pairs: list[tuple[int, int]] | Int64s = field(default_factory=list)
    out_of_turn: list[Text] = field(default_factory=list)  # made of a piece with a higher rank than their own
    lost: list[Text] = field(default_factory=list)  # made by no merge
    first_id: int = 0  # of what merges make, in `pairs`

    def pairs_behind(self, symbols: int) -> list[tuple[int, int]] | Int64s:
        """Return the same pairs for an alphabet of `symbols`, those behind the first ones being seeds."""
        if symbols == self.first_id:
            return self.pairs
        first, more = self.first_id, symbols - self.first_id
        return [(left + more * (left >= first), right + more * (right >= first)) for left, right in self.pairs]


def with_seeds(alphabet: Alphabet, tokens: Sequence[tuple[bytes, bytes]]) -> Alphabet:
    """Put tokens that no merge makes behind an alphabet, each as it is written and as it reads."""
    return Alphabet((*alphabet.symbols, *(Symbol(text, read, "seed") for text, read in tokens))) if tokens else alphabet


def recover(ranks: Mapping[Text, int], base: Mapping[Text, int], first_id: int) -> Recovered[Text]:
    """The merges that make the tokens.

    `ranks` stand lowest first, `base` are the ids of the base symbols, `first_id` is the first merge's.

    >>> letters = {letter: i for i, letter in enumerate("abcxyzpqr")}
    >>> found = recover({"ab": 0, "abc": 1, "xyz": 2, "yz": 3, "pqr": 4}, letters, 9)
    >>> found.tokens, found.pairs
    (['ab', 'abc', 'yz', 'xyz'], [(0, 1), (9, 2), (4, 5), (3, 11)])
    >>> found.out_of_turn, found.lost
    (['xyz'], ['pqr'])
    """
    tokens = [token for token in ranks if token not in base]
    parts = parts_by_kernels(tokens)
    if parts is not None and (in_turn := parts.pairs(base, first_id)) is not None:
        return Recovered(tokens, in_turn, first_id=first_id)
    made_of, late = _parts_plainly(ranks, tokens) if parts is None else parts.by_token()
    lost = [token for token in tokens if token not in made_of]
    found: Recovered[Text] = Recovered(first_id=first_id, out_of_turn=late, lost=lost)
    pairs: list[tuple[int, int]] = []
    turn = {token: ranks[token] << TURN_BITS for token in made_of}
    for token in late:
        behind = max(ranks.get(part, 0) for part in made_of[token])
        turn[token] = (behind << TURN_BITS) + ranks[token] + 1
    ids = dict(base)
    for token in _parts_first(made_of, turn, base) if late else made_of:
        left, right = made_of[token]
        if left in ids and right in ids:
            ids[token] = first_id + len(found.tokens)
            found.tokens.append(token)
            pairs.append((ids[left], ids[right]))
    found.pairs = pairs
    found.lost += [token for token in made_of if token not in ids]  # made of what no merge makes
    return found


def _parts_plainly(
    ranks: Mapping[Text, int], tokens: Sequence[Text]
) -> tuple[dict[Text, tuple[Text, Text]], list[Text]]:
    """Return the two parts of each token that has any, and the tokens made of a part with a higher rank."""
    recovery = Recovery(ranks)
    made_of: dict[Text, tuple[Text, Text]] = {}
    late: list[Text] = []
    for token in tokens:
        pieces = recovery.pieces(token)
        if len(pieces) != 2:
            pieces = Recovery(_Without(ranks, token)).pieces(token, NO_LIMIT)
            if len(pieces) == 2:
                late.append(token)
        if len(pieces) == 2:
            made_of[token] = (pieces[0], pieces[1])
    return made_of, late


@dataclass(frozen=True, eq=False)
class Parts(Generic[Text]):
    """The two parts of each token, as places among all symbols and, behind them, all tokens; -1 for none."""

    symbols: list[Text]
    tokens: list[Text]
    left: Int32s
    right: Int32s
    is_late: Bools  # made of a part with a higher rank

    def pairs(self, base: Mapping[Text, int], first_id: int) -> Int64s | None:
        """Return the ids of both by token; None where not every token is made in turn."""
        if self.is_late.any() or (self.left < 0).any() or any(symbol not in base for symbol in self.symbols):
            return None
        id_of = np.arange(first_id - len(self.symbols), first_id + len(self.tokens))
        id_of[: len(self.symbols)] = [base[symbol] for symbol in self.symbols]
        return id_of[np.stack([self.left, self.right], axis=1)]

    def by_token(self) -> tuple[dict[Text, tuple[Text, Text]], list[Text]]:
        texts = [*self.symbols, *self.tokens]
        rows = zip(self.tokens, self.left.tolist(), self.right.tolist(), strict=True)
        made_of = {token: (texts[left], texts[right]) for token, left, right in rows if left >= 0}
        return made_of, [self.tokens[row] for row in np.flatnonzero(self.is_late)]


def parts_by_kernels(tokens: Sequence[Text]) -> Parts[Text] | None:
    """Find the parts of many tokens of several symbols each; None where plain Python does."""
    if not tokens or not KERNELS.chooses(len(tokens)) or min(map(len, tokens)) < 2 or len(set(map(type, tokens))) > 1:
        return None
    check_lengths(tokens)
    from bpe_core.formats.compiled_recovering import parts_of  # loads machine code

    symbols, left, right, is_late = once("parts", tokens, lambda: parts_of(tokens))
    return Parts(symbols, list(tokens), left, right, is_late)


def _parts_first(
    made_of: Mapping[Text, tuple[Text, Text]], turn: Mapping[Text, int], base: Mapping[Text, int]
) -> Iterator[Text]:
    """Yield the tokens whose parts can be made, in turn, but each behind its parts."""
    known: set[Text] = set(base)
    waiting: dict[Text, list[Text]] = {}  # by a part that is not made yet, those whose turn is over
    for next_one in sorted(made_of, key=turn.__getitem__):
        ready = [(turn[next_one], next_one)]
        while ready:
            _, token = heapq.heappop(ready)
            left, right = made_of[token]
            missing = left if left not in known else right if right not in known else None
            if missing is not None:
                waiting.setdefault(missing, []).append(token)
                continue
            known.add(token)
            yield token
            for behind in waiting.pop(token, ()):
                heapq.heappush(ready, (turn[behind], behind))


class _Without(dict[Text, int]):
    def __init__(self, ranks: Mapping[Text, int], token: Text) -> None:
        super().__init__()
        self._ranks: Mapping[Text, int] = ranks
        self._token: Text = token

    def get(self, key: Text, default: int) -> int:  # type: ignore[override]
        return default if key == self._token else self._ranks.get(key, default)
