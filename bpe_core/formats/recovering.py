"""The recovery of merges from ranks. Some files list only tokens, without the two parts that each token was made of.

The recovery merges the base symbols of a token, but uses only tokens of lower rank. If two pieces remain, they are the
parts of the token. If fewer or more pieces remain, no merge can have made the token.

If every token has two parts, the recovered merges split every text as the ranks do. The reason is this: the merges
between two boundaries depend only on the text between them. So two pieces that form a token are always the recovered
parts of this token.

    >>> ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"abc": 4, b"cab": 5, b"abcc": 6}
    >>> Recovery(ranks).pieces(b"abc"), Recovery(ranks).pieces(b"cab")
    ([b'ab', b'c'], [b'c', b'ab'])
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Generic, TypeVar

import numpy as np

from bpe_core.errors import TooLarge
from bpe_core.history.alphabet import Alphabet, Symbol
from bpe_core.history.columns import Int64s
from bpe_core.history.laid_texts import ArrayOfTexts
from bpe_core.kernels.readiness import use_machine_code
from bpe_core.kernels.stored_code import OPENING
from bpe_core.support.arrays import Bools, Int32s
from bpe_core.support.result_cache import cached

Text = TypeVar("Text", bytes, str)

BYTES_A_TOKEN = 20  # about: its text, and its offset
NO_LIMIT = 2**62
NOTHING = -1  # no part; also the moment at which a base symbol exists
NEVER = 2**62  # the moment of a token that is never made
TURN_BITS = 32  # bits for a token's own rank, below the bits of the rank that it waits for
SHORT = 40  # symbols; in a shorter token, looking at all pieces is faster than a heap
MOST_LOOKED_AT = 2**21  # the most symbols of all longer tokens together: some seconds; real tables never come near


class Recovery(Generic[Text]):
    def __init__(self, ranks: Mapping[Text, int]) -> None:
        self._ranks: Mapping[Text, int] = ranks
        check_lengths(ranks)

    def pieces(self, token: Text, limit: int | None = None) -> list[Text]:
        """Merge the symbols of a token into tokens of lower rank.

        Return the pieces that remain when no further merge is possible.

        With `limit`, the merges may make only tokens with a rank below `limit`.
        """
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
        """Return the same pieces as `pieces`, but faster for a long token.

        The time of this method grows more slowly than the square of the token's length.
        """
        end: int = len(token)
        after = [*range(1, end + 1)]  # the end of the piece that begins at each offset; 0: no piece begins there
        before = [*range(-1, end - 1)]  # the beginning of the piece before the one at each offset
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
                continue  # one of the two has been merged in the meantime
            after[start] = stop
            after[middle] = 0
            if stop < end:
                before[stop] = start
            enter(start)
            if start:
                enter(before[start])
        starts = [start for start in range(end) if after[start]]
        return [token[start : after[start]] for start in starts]


def lengths_of(tokens: Collection[bytes] | Collection[str]) -> Int64s:
    return tokens.lengths if isinstance(tokens, ArrayOfTexts) else np.fromiter(map(len, tokens), np.int64, len(tokens))


def check_lengths(tokens: Collection[bytes] | Collection[str]) -> None:
    if isinstance(tokens, ArrayOfTexts) and len(tokens.data) <= MOST_LOOKED_AT:
        return
    lengths = lengths_of(tokens)
    if lengths[lengths > SHORT].sum() > MOST_LOOKED_AT:
        raise TooLarge(
            f"The tokens are too long to find the merge of each token: tokens of more than {SHORT} symbols have "
            f"over {MOST_LOOKED_AT:,} symbols in total. Open a file that lists the merges."
        )


@dataclass
class RecoveredMerges(Generic[Text]):
    """The merges that were recovered from ranks, in the order in which they happen."""

    given: Sequence[Text]  # all tokens
    places: Int64s  # positions of the tokens that merges make
    pairs: Int64s
    late: Int64s  # positions of the tokens made of a piece with a higher rank than their own
    unmade: Int64s  # positions of the tokens that no merge makes
    first_id: int  # the id, in `pairs`, of the first token that merges make

    @property
    def tokens(self) -> list[Text]:
        return self._at(self.places)

    @property
    def out_of_turn(self) -> list[Text]:
        return self._at(self.late)

    @property
    def lost(self) -> list[Text]:
        return self._at(self.unmade)

    def _at(self, places: Int64s) -> list[Text]:
        return [self.given[place] for place in places.tolist()]

    def pairs_for_alphabet(self, symbols: int) -> Int64s:
        """Return the merges as pairs of ids, for an alphabet that has `symbols` symbols.

        In `pairs`, the alphabet has `first_id` symbols. Additional symbols come after these symbols. So the id of each
        token that a merge makes grows by the number of additional symbols.
        """
        more = symbols - self.first_id
        return self.pairs + more * (self.pairs >= self.first_id) if more else self.pairs


def with_seeds(alphabet: Alphabet, tokens: Sequence[tuple[bytes, bytes]]) -> Alphabet:
    """Add to the alphabet, as seeds, the tokens that no merge makes.

    Each token is a pair of texts: its text in the file, and the text that it represents.
    """
    return Alphabet((*alphabet.symbols, *(Symbol(text, read, "seed") for text, read in tokens))) if tokens else alphabet


def recover(tokens: Sequence[Text], base: Mapping[Text, int], first_id: int) -> RecoveredMerges[Text]:
    """Return the merges that make the given tokens, which are sorted by rank.

    `base` maps each base symbol to its id. The base symbols are not among the tokens. `first_id` is the id of the first
    merge.

    >>> letters = {letter: i for i, letter in enumerate("abcxyzpqr")}
    >>> found = recover(["ab", "abc", "xyz", "yz", "pqr"], letters, 9)
    >>> found.tokens, found.pairs.tolist()
    (['ab', 'abc', 'yz', 'xyz'], [[0, 1], [9, 2], [4, 5], [3, 11]])
    >>> found.out_of_turn, found.lost
    (['xyz'], ['pqr'])
    """
    parts = parts_by_kernels(tokens) or _parts_plainly(tokens)
    return _recovered(parts, _ids_in(base, parts.symbols), first_id)


def recovered_among(texts: ArrayOfTexts[Text], symbols: Int64s, tokens: Int64s) -> RecoveredMerges[Text] | None:
    """Recover the merges of some tokens by machine code. `tokens` holds the indices of the tokens in `texts`.

    `symbols` holds the index of each base symbol in `texts`, in the order of ids. A symbol with the index -1 is never
    merged.

    Return None if there are no tokens, or if machine code cannot recover these merges. Then plain Python must do it.
    """
    if not len(tokens) or not use_machine_code(BYTES_A_TOKEN * len(tokens), OPENING):
        return None
    given = texts.only(tokens)
    check_lengths(given)
    from bpe_core.formats.compiled_recovering import halves_among  # loads machine code

    merging = np.flatnonzero(symbols != NOTHING)
    first = symbols[merging]
    halves = halves_among(texts, first, tokens)
    if halves is None:
        return None
    place_of: Int32s = np.full(len(texts) + 1, NOTHING, np.int32)  # the last row represents no token
    place_of[first] = np.arange(len(first))
    place_of[tokens] = np.arange(len(first), len(first) + len(tokens), dtype=np.int32)
    left, right = place_of.take(halves.left), place_of.take(halves.right)
    parts = Parts(texts.only(first), given, left, right, halves.is_late)
    return _recovered(parts, merging, len(symbols))


def _ids_in(base: Mapping[Text, int], symbols: Sequence[Text]) -> Int64s:
    return np.array([base.get(symbol, NOTHING) for symbol in symbols], np.int64)


def _recovered(parts: Parts[Text], base: Int64s, first_id: int) -> RecoveredMerges[Text]:
    """Return the merges that make the tokens from their parts.

    `base` holds the id of each symbol, or -1 for a symbol without an id.
    """
    tokens = parts.tokens
    if (in_turn := parts.pairs(base, first_id)) is not None:
        nowhere = np.zeros(0, np.int64)
        return RecoveredMerges(tokens, np.arange(len(tokens)), in_turn, nowhere, nowhere, first_id)
    symbols = len(parts.symbols)
    places = parts.in_order(base)
    id_of: Int64s = np.full(symbols + len(tokens), NOTHING)
    id_of[:symbols] = base
    id_of[symbols + places] = np.arange(first_id, first_id + len(places))
    is_lost = id_of[symbols:] == NOTHING
    # The tokens without two parts, and tokens made of a token that no merge makes.
    unmade = np.concatenate([np.flatnonzero(is_lost & (parts.left < 0)), np.flatnonzero(is_lost & (parts.left >= 0))])
    return RecoveredMerges(
        given=tokens,
        places=places,
        pairs=id_of[np.stack([parts.left[places], parts.right[places]], axis=1)],
        late=np.flatnonzero(parts.is_late),
        unmade=unmade,
        first_id=first_id,
    )


def _parts_plainly(tokens: Sequence[Text]) -> Parts[Text]:
    ranks = {token: rank for rank, token in enumerate(tokens)}
    symbols: list[Text] = sorted({token[place : place + 1] for token in tokens for place in range(len(token))})
    place_of = {text: place for place, text in enumerate(chain(symbols, tokens))}
    recovery = Recovery(ranks)
    halves = np.full((2, len(tokens)), NOTHING, np.int32)
    is_late = np.zeros(len(tokens), np.bool_)
    for rank, token in enumerate(tokens):
        pieces = recovery.pieces(token)
        if len(pieces) != 2:
            pieces = Recovery(_Without(ranks, token)).pieces(token, NO_LIMIT)
            is_late[rank] = len(pieces) == 2
        if len(pieces) == 2:
            halves[:, rank] = [place_of[piece] for piece in pieces]
    return Parts(symbols, tokens, halves[0], halves[1], is_late)


@dataclass(frozen=True, eq=False)
class Parts(Generic[Text]):
    """The two parts of each token.

    A part is an index into one list, which holds all symbols and then all tokens. The index -1 stands for a
    missing part.
    """

    symbols: Sequence[Text]
    tokens: Sequence[Text]
    left: Int32s
    right: Int32s
    is_late: Bools  # tokens made of a part with a higher rank

    def pairs(self, base: Int64s, first_id: int) -> Int64s | None:
        """Return the ids of the two parts of each token. `base` holds the id of each symbol, or -1.

        Return None if a token has no parts, if one of its parts comes after the token, or if a symbol has the id -1.
        """
        if self.is_late.any() or (self.left < 0).any() or (base < 0).any():
            return None
        id_of = np.arange(first_id - len(base), first_id + len(self.tokens))
        id_of[: len(base)] = base
        return id_of.take(np.stack([self.left, self.right])).T

    def in_order(self, base: Int64s) -> Int64s:
        """Return the indices of the tokens that merges can make, in the order in which they are made.

        This is the order of their ranks, with one exception: if a part of a token has a higher rank than the token,
        the token comes after this part.
        """
        turns = np.arange(len(self.tokens)) << TURN_BITS
        late = np.flatnonzero(self.is_late)
        behind = np.maximum(np.maximum(self.left[late], self.right[late]) - len(self.symbols), 0).astype(np.int64)
        turns[late] = (behind << TURN_BITS) + late + 1
        made = np.flatnonzero(self.left >= 0)
        # most tokens are in order already, so sorting is fast
        made = made[np.argsort(turns[made], kind="stable")]
        is_odd = np.concatenate((base < 0, self.is_late | (self.left < 0)))
        if not (is_odd[self.left[made]] | is_odd[self.right[made]]).any():
            return made  # the usual case: no part comes late or is missing
        moment = self._rows_of_making(base, made)
        order = made[np.argsort(moment[made], kind="stable")]
        order = order[moment[order] < NEVER]
        is_crowd = np.bincount(moment[order], minlength=1)[moment[order]] > 1
        order[is_crowd] = self._one_by_one(made[np.isin(made, order[is_crowd])], turns)
        return order

    def _rows_of_making(self, base: Int64s, made: Int64s) -> Int64s:
        """Return the first row of `made` at which each token can exist. It is NEVER if no merge can make the token.

        `made` holds the indices of the tokens that merges make, in the order of their ranks. A token can exist from
        its own row on, but not before both its parts exist.
        """
        symbols = len(self.symbols)
        moments = np.full(symbols + len(self.tokens), NEVER)
        moments[:symbols] = np.where(base < 0, NEVER, NOTHING)
        moments[symbols + made] = np.arange(len(made))
        lengths = lengths_of(self.tokens)
        shortest_first = made[np.argsort(lengths[made], kind="stable")]  # a part is shorter than the token made of it
        for some in np.split(shortest_first, np.flatnonzero(np.diff(lengths[shortest_first])) + 1):
            of_parts = np.maximum(moments[self.left[some]], moments[self.right[some]])
            moments[symbols + some] = np.maximum(moments[symbols + some], of_parts)
        return moments[symbols:]

    def _one_by_one(self, some: Int64s, turns: Int64s) -> list[int]:
        """Return the tokens in `some` in the order in which they can be made.

        If a part of a token is also in `some`, the token follows this part. All other parts exist already.
        """
        symbols = len(self.symbols)
        is_waited_for = set((symbols + some).tolist())
        columns = (column[some].tolist() for column in (turns, self.left, self.right))
        turn, left, right = (dict(zip(some.tolist(), column, strict=True)) for column in columns)
        waiting: dict[int, list[int]] = {}  # the tokens that wait for a part, by that part
        made: list[int] = []
        for first in some.tolist():
            ready = [(turn[first], first)]
            while ready:
                _, place = heapq.heappop(ready)
                missing = next((part for part in (left[place], right[place]) if part in is_waited_for), None)
                if missing is not None:
                    waiting.setdefault(missing, []).append(place)
                    continue
                is_waited_for.remove(symbols + place)
                made.append(place)
                for waiter in waiting.pop(symbols + place, ()):
                    heapq.heappush(ready, (turn[waiter], waiter))
        return made


def parts_by_kernels(tokens: Sequence[Text]) -> Parts[Text] | None:
    """Find the parts of many tokens with compiled code.

    Return None if plain Python should do this work, because there are few tokens, because machine code cannot be used,
    or because a token has fewer than two symbols.
    """
    if not tokens or not use_machine_code(BYTES_A_TOKEN * len(tokens), OPENING) or lengths_of(tokens).min() < 2:
        return None
    check_lengths(tokens)
    from bpe_core.formats.compiled_recovering import parts_of  # loads machine code

    symbols, left, right, is_late = cached("parts", tokens, lambda: parts_of(tokens))
    return Parts(symbols, tokens, left, right, is_late)


class _Without(dict[Text, int]):
    def __init__(self, ranks: Mapping[Text, int], token: Text) -> None:
        super().__init__()
        self._ranks: Mapping[Text, int] = ranks
        self._token: Text = token

    def get(self, key: Text, default: int) -> int:  # type: ignore[override]
        return default if key == self._token else self._ranks.get(key, default)
