"""The splitting of runs of words by steps that join pairs and drop tokens, applied in their order.

Steps that do nothing in a word are skipped: the next step is the lowest one after the last that joins two neighbours
or drops a token of the word. Afterwards supermerges join words that are one token.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import groupby, pairwise
from typing import NamedTuple

from bpe_core.history.history import NOTHING, History
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.word_runs import WITHIN, stages_of
from bpe_core.segmenting.word_tokens import ALWAYS, WordCut
from bpe_core.splitting.splitter import Splitter

REMEMBERED_WORDS = 1 << 16


class Changes(NamedTuple):
    """The tokens of a word through the history, each list with the number of steps from which it holds."""

    since: list[int]
    ids: list[tuple[int, ...]]


class DroppingRuns:
    def __init__(self, history: History) -> None:
        self._joins: dict[tuple[int, int], list[int]] = {}  # the steps within words that join a pair
        self._supermerges: dict[tuple[int, int], int] = {}
        self._drops: dict[int, list[int]] = {}  # the steps that drop a token
        self._parts = parts_left(history)
        self._tokens: list[int] = history.ids.tolist()
        self._lengths: list[int] = history.token_lengths().tolist()
        self._words = Splitter(Recipe(pattern=METHODS[history.recipe.method].pattern_inside(history.recipe))).words
        self._known: dict[str, Changes] = {}
        pairs = zip(history.columns.left.tolist(), history.columns.right.tolist(), strict=True)
        for row, ((left, right), stage) in enumerate(zip(pairs, stages_of(history).tolist(), strict=True)):
            if right == NOTHING:
                self._drops.setdefault(left, []).append(row)
            elif stage == WITHIN:
                self._joins.setdefault((left, right), []).append(row)
            else:
                self._supermerges[left, right] = row

    def changes(self, word: str) -> Changes:
        known = self._known.get(word)
        if known is None:
            if len(self._known) >= REMEMBERED_WORDS:
                self._known = {}
            known = self._known[word] = self._followed(list(word.encode()))
        return known

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
            return [id for one in ids for id in (self._parts[row] if one == token else (one,))]
        found = list[int]()
        place = 0
        while place < len(ids):
            joins = place + 1 < len(ids) and row in self._joins.get((ids[place], ids[place + 1]), ())
            found.append(token if joins else ids[place])
            place += 1 + joins
        return found

    def cut(self, run: bytes, at: int) -> WordCut:
        ids = list[int]()
        since = 0
        until = ALWAYS
        words: list[tuple[int, ...]] = []
        for word in self._words(run.decode()):
            changes = self.changes(word)
            place = bisect_right(changes.since, at) - 1
            words.append(changes.ids[place])
            since = max(since, changes.since[place])
            until = min([until, *changes.since[place + 1 : place + 2]])
        for is_whole, stretch in groupby(words, lambda word: len(word) == 1):
            tokens = [id for word in stretch for id in word]
            while is_whole and (ready := self._ready(tokens)):
                row, place = min(ready)
                if row >= at:
                    until = min(until, row + 1)
                    break
                since = max(since, row + 1)
                tokens[place : place + 2] = [self._tokens[row]]
            ids += tokens
        ends = list[int]()
        end = 0
        for id in ids:
            end += self._lengths[id]
            ends.append(end)
        return WordCut(ids, ends, since, until)

    def _ready(self, tokens: list[int]) -> list[tuple[int, int]]:
        return [
            (self._supermerges[pair], place) for place, pair in enumerate(pairwise(tokens)) if pair in self._supermerges
        ]


def parts_left(history: History) -> dict[int, list[int]]:
    """Map each step that drops a token to the tokens that replace it."""
    found = dict[int, list[int]]()
    in_use = [True] * history.first_special
    for row, (token, right) in enumerate(zip(history.ids.tolist(), history.columns.right.tolist(), strict=True)):
        in_use[token] = right != NOTHING
        if right == NOTHING:
            found[row] = fallen_apart(history, token, in_use)
    return found


def fallen_apart(history: History, token: int, in_use: list[bool]) -> list[int]:
    """Return the tokens that replace a dropped token: its bytes or its halves; a dropped half is split as well."""
    if METHODS[history.recipe.method].falls_into_bytes(history.recipe):
        return history.symbols_of(token)
    halves = history.parts(token) or ()
    return [id for half in halves for id in ([half] if in_use[half] else fallen_apart(history, half, in_use))]
