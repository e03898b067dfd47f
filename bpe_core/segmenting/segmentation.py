"""The interface of a cut text: how it is cut after k steps, the one question that every tokenizer answers.

BPE answers by the ranks of boundaries (`boundaries.py`), other methods in their own way. Code that only
needs tokens uses these protocols, whatever finds the answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, Self

import numpy as np

from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.progress import CancelCheck, never_cancelled

Width = Literal["uint16", "uint32", "int32", "int64"]  # of an id in a file

NO_TOKEN = -1  # the id of bytes that belong to no token, or to none yet


@dataclass(frozen=True, eq=False)
class Tokens:
    """Neighbouring tokens by their places in the text, also those that cover no byte, and NO_TOKEN for what is none."""

    edges: Int64s  # where each starts and the last one ends: one more than there are tokens
    ids: Int64s

    def __len__(self) -> int:
        return len(self.ids)

    def between(self, start: int, stop: int) -> Tokens:
        """Return those that share a byte with `start` to `stop`, where all cover some."""
        if start >= stop:
            return Tokens(np.array([start], np.int64), np.empty(0, np.int64))
        first, end = int(np.searchsorted(self.edges, start, side="right")) - 1, int(np.searchsorted(self.edges, stop))
        return Tokens(self.edges[first : end + 1], self.ids[first:end])

    def spans(self) -> Int64s:
        """Return a row for each token: where it starts, where it stops, its id."""
        rows = np.stack((self.edges[:-1], self.edges[1:], self.ids), axis=1)
        return rows[np.flatnonzero(self.ids != NO_TOKEN)]


Ahead = Callable[[CancelCheck], None]


class Segmenter(Protocol):
    """Cuts texts by one history, as its method does. It recognises the special tokens that are allowed."""

    def ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        """Return the tokens after that many steps."""

    def segmentation(
        self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled
    ) -> Segmentation:
        """Return the tokens after every step, with their places."""


class Segmentation(Protocol):
    """One text with its tokens after every step of a history. It follows the text when that is edited."""

    data: bytes  # the text
    pending: tuple[int, int] | None  # the bytes that wait for an answer; None where all tokens are known

    def tokens(self, at: int) -> Tokens:
        """Return all tokens after that many steps, those that cover no byte too."""

    def tokens_between(self, start: int, stop: int, at: int) -> Tokens:
        """Return the tokens that share a byte with `start` to `stop`."""

    def with_empty(self, tokens: Tokens, at: int, *, of_neighbours: bool = False) -> Tokens:
        """Add the tokens that cover no byte; with `of_neighbours` also those at the ends that go with others."""

    def ahead_of(self, at: int) -> Ahead | None:
        """Return the work that the tokens at a step need, for another thread; None where there is hardly any."""
        return None

    def edges(self, at: int) -> Int64s:
        """Return where all tokens start, those that cover no byte too, and where the last one ends."""
        return self.tokens(at).edges

    def count(self, at: int) -> int:
        return int(np.count_nonzero(self.tokens(at).ids != NO_TOKEN))

    def count_unknown(self, at: int, id: int) -> int:
        """Return how many tokens have the id of the unknown token."""
        return int(np.count_nonzero(self.tokens(at).ids == id))

    def splice(self, start: int, removed: int, added: bytes) -> None:
        """Follow an edit: what follows it moves, what is new waits for an answer."""

    def put(self, start: int, answer: Self) -> None:
        """Take the words from byte `start` on from an answer for that part of the text."""
