"""A way to split words by a list of steps, which are applied in order. A step joins a pair or drops a token.

Steps that change nothing in a word are skipped. The next step is the first later step that joins two neighbours in
the word or drops one of its tokens.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from typing import NamedTuple

from bpe_core.history.alphabet import Spelling
from bpe_core.history.dropped import replacements_by_step
from bpe_core.history.history import NOTHING, History
from bpe_core.segmenting.word_runs import WITHIN, stages_of
from bpe_core.segmenting.word_tokens import ALWAYS, WordCut

REMEMBERED_WORDS = 1 << 16


class Changes(NamedTuple):
    """The tokens of one word after each step that changes them.

    `ids[i]` are the tokens of the word from `since[i]` steps on, until the number of steps reaches `since[i + 1]`.
    """

    since: list[int]
    ids: list[tuple[int, ...]]


class DroppingWords:
    def __init__(self, history: History) -> None:
        self._history = history
        self._joins: dict[tuple[int, int], list[int]] = {}  # the steps within words that join a pair
        self._drops: dict[int, list[int]] = {}  # the steps that drop a token
        self._parts = replacements_by_step(history)
        self._tokens: list[int] = history.indices.tolist()
        self._lengths: list[int] = history.token_lengths().tolist()
        self._known: dict[bytes, Changes] = {}
        pairs = zip(history.columns.left.tolist(), history.columns.right.tolist(), strict=True)
        for row, ((left, right), stage) in enumerate(zip(pairs, stages_of(history).tolist(), strict=True)):
            if right == NOTHING:
                self._drops.setdefault(left, []).append(row)
            elif stage == WITHIN:
                self._joins.setdefault((left, right), []).append(row)

    @cached_property
    def spelling(self) -> Spelling:
        return Spelling(self._history.alphabet, self._history.recipe)

    def changes(self, word: bytes) -> Changes:
        known = self._known.get(word)
        if known is None:
            if len(self._known) >= REMEMBERED_WORDS:
                self._known = {}
            known = self._known[word] = self._followed(self.spelling.symbols(word))
        return known

    def cut(self, word: bytes, at: int) -> WordCut:
        changes = self.changes(word)
        place = bisect_right(changes.since, at) - 1
        ids = changes.ids[place]
        until = changes.since[place + 1] if place + 1 < len(changes.since) else ALWAYS
        starts = self.starts(word)
        return WordCut(ids, [starts[stop] for stop in self.stops(ids)], changes.since[place], until)

    def starts(self, word: bytes) -> list[int]:
        """Return the offset of each base symbol in the bytes of a word, and the end of the word."""
        return [*accumulate(self.spelling.widths(word, self.spelling.symbols(word)), initial=0)]

    def stops(self, ids: Sequence[int]) -> list[int]:
        """Return the end of each token, counted in base symbols."""
        return [*accumulate(self._lengths[id] for id in ids)]

    def _followed(self, ids: list[int]) -> Changes:
        since = [0]
        states = [tuple(ids)]
        last = -1
        while True:
            ready = [row for pair in pairwise(ids) for row in self._next(self._joins.get(pair), last)]
            ready += [row for id in ids for row in self._next(self._drops.get(id), last)]
            if not ready:
                return Changes(since, states)
            last = min(ready)
            ids = self._after(ids, last)
            since.append(last + 1)
            states.append(tuple(ids))

    @staticmethod
    def _next(rows: list[int] | None, last: int) -> list[int]:
        return [] if rows is None else rows[(place := bisect_right(rows, last)) : place + 1]

    def _after(self, ids: list[int], row: int) -> list[int]:
        token = self._tokens[row]
        if row in self._parts:
            return [id for present in ids for id in (self._parts[row] if present == token else (present,))]
        tokens = list[int]()
        place = 0
        while place < len(ids):
            joins = place + 1 < len(ids) and row in self._joins.get((ids[place], ids[place + 1]), ())
            tokens.append(token if joins else ids[place])
            place += 1 + joins
        return tokens
