"""The joining of neighbouring tokens by priority, the best pair first.

>>> find = {97 << 32 | 98: (1, 257), 98 << 32 | 99: (0, 256)}.get  # b+c comes before a+b
>>> join_neighbours(list(b"abcab"), find)
((97, 256, 257), (1, 2, 2), 257, None)
>>> join_neighbours(list(b"abcab"), find, limit=257)
((97, 256, 97, 98), (1, 2, 1, 1), 256, 257)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from random import Random

import numpy as np

from bpe_core.history.history import History
from bpe_core.history.joining import NO_PRIORITY, MergePriorities, PairRows
from bpe_core.history.token_texts import written
from bpe_core.segmenting.word_tokens import ALWAYS
from bpe_core.support.arrays import Bools

MOST_REMEMBERED = 1 << 18  # pairs, or parts of long words

Found = tuple[int, int]  # a priority, and the joined token
Find = Callable[[int], Found | None]  # takes two neighbours as one number, the left one 32 bits above


def join_neighbours(
    symbols: Sequence[int], find: Find, limit: int = ALWAYS, chance: Random | None = None, dropout: float = 0.0
) -> tuple[tuple[int, ...], tuple[int, ...], int, int | None]:
    """Join the best pair of neighbours again and again, until no pair makes a token with an index below `limit`.

    If pairs are equally good, the leftmost pair is joined. If `chance` is given, each join is skipped with the
    probability `dropout`. A skipped join is tried again after the next join.

    Return four values: the tokens, their lengths in symbols, the newest token that a join made, and the oldest token
    that a join would have made without the limit. The last value is None if the limit prevented no join.
    """
    end = len(symbols)
    ids = list(symbols)
    after = list(range(1, end + 1))  # the end of the token that begins here; 0 if none begins
    before = list(range(-1, end - 1))  # the beginning of the token before the one that begins here
    heap: list[tuple[int, int, int, int]] = []  # possible pairs: priority, beginning, end, token
    left_out: list[tuple[int, int, int, int]] = []
    newest = 0
    missed = ALWAYS

    def enter(start: int) -> None:
        nonlocal missed
        middle = after[start]
        if middle < end and (joined := find(ids[start] << 32 | ids[middle])) is not None:
            priority, token = joined
            if token < limit:
                heappush(heap, (priority, start, after[middle], token))
            elif token < missed:
                missed = token

    for start in range(end - 1):
        enter(start)
    while heap:
        place = heappop(heap)
        _, start, stop, token = place
        middle = after[start]
        if not start < middle < end or after[middle] != stop:
            continue  # another pair has taken one of the two tokens since
        if chance is not None:
            if chance.random() < dropout:
                left_out.append(place)
                continue
            while left_out:
                heappush(heap, left_out.pop())
        ids[start] = token
        after[start] = stop
        after[middle] = 0
        if token > newest:
            newest = token
        if stop < end:
            before[stop] = start
        enter(start)
        if start:
            enter(before[start])
    starts = [start for start in range(end) if after[start]]
    lengths = tuple(after[start] - start for start in starts)
    return tuple(ids[start] for start in starts), lengths, newest, None if missed == ALWAYS else missed


class TokensByPair(dict[int, Found | None]):
    """A cache that maps each pair of tokens to the token that joins them.

    A pair is looked up in a sorted table of pairs when a text first needs it.
    """

    def __init__(self, pairs: PairRows) -> None:
        super().__init__()
        keys = pairs.left << 32 | pairs.right
        self._rows = np.argsort(keys, kind="stable")
        self._keys = keys[self._rows]
        self._tokens = pairs.token

    def __missing__(self, key: int) -> Found | None:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        place = int(np.searchsorted(self._keys, key, side="right")) - 1
        joined = None
        if place >= 0 and self._keys[place] == key:
            row = int(self._rows[place])
            joined = row, int(self._tokens[row])
        self[key] = joined
        return joined


class TokensByText(dict[int, Found | None]):
    """A cache that maps each pair of tokens to the token that joins them.

    When a text first needs a pair, the joined text of its two tokens is looked up.
    """

    def __init__(self, find: Callable[[int, int], Found | None], alone: Bools) -> None:
        super().__init__()
        self._joined = find
        self._alone = alone

    def __missing__(self, key: int) -> Found | None:
        if len(self) >= MOST_REMEMBERED:
            self.clear()
        left = key >> 32
        right = key & 0xFFFFFFFF
        joined = None if self._alone[left] or self._alone[right] else self._joined(left, right)
        self[key] = joined
        return joined


def by_all_texts(history: History, joining: MergePriorities) -> Callable[[int, int], Found | None]:
    """Return a function, in plain Python, that finds the token whose text is the joined text of two neighbours.

    The function gives the same results as `text_pairs.JoinedTexts.found`. It is fast enough for tables with few tokens.
    """
    assert joining.priorities is not None
    texts = written(history)
    token_of = dict[bytes, Found]()
    for id, (text, priority) in enumerate(zip(texts, joining.priorities.tolist(), strict=True)):
        if priority != NO_PRIORITY:
            known = token_of.setdefault(text, (priority, id))
            token_of[text] = min(known, (priority, id))
    return lambda left, right: token_of.get(texts[left] + texts[right])
