"""The interface of a cut text, by which every tokenizer says how a text is cut after k steps.

Byte-pair encoding answers by the ranks of boundaries (`boundaries.py`), other methods in their own way. Code that only
needs tokens uses these protocols.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, Self

import numpy as np

from bpe_core.support.arrays import Int32s, Int64s
from bpe_core.support.progress import CancelCheck, never_cancelled

Width = Literal["uint16", "uint32", "int32", "int64"]  # width of an id in a file

NO_TOKEN = -1  # the id of bytes that belong to no token, or whose token is not known yet


@dataclass(frozen=True, eq=False)
class Tokens:
    """Neighbouring tokens with their offsets, including tokens that cover no byte; NO_TOKEN fills the gaps."""

    edges: Int64s  # the start of each token, and the end of the last
    ids: Int64s

    def __len__(self) -> int:
        return len(self.ids)

    def between(self, start: int, stop: int) -> Tokens:
        """Return the tokens that share a byte with the range; all tokens must cover bytes."""
        if start >= stop:
            return Tokens(np.array([start], np.int64), np.empty(0, np.int64))
        first = int(np.searchsorted(self.edges, start, side="right")) - 1
        end = int(np.searchsorted(self.edges, stop))
        return Tokens(self.edges[first : end + 1], self.ids[first:end])

    def spans(self) -> Int64s:
        """Return a row for each token: start, stop and id."""
        rows = np.stack((self.edges[:-1], self.edges[1:], self.ids), axis=1)
        return rows[np.flatnonzero(self.ids != NO_TOKEN)]


Ahead = Callable[[CancelCheck], None]


class Segmenter(Protocol):
    """The interface of an object that cuts texts by a history, and finds the allowed special tokens."""

    def ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        """Return the ids of a text's tokens after `at` steps."""

    def segmentation(
        self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled
    ) -> Segmentation:
        """Return the segmentation of a text, which knows the tokens after every step."""


class Segmentation(Protocol):
    """A text with its tokens after every step of a history. It follows edits of the text."""

    data: bytes  # the text
    pending: tuple[int, int] | None  # the range of bytes whose tokens are not known yet; None if all are known

    def tokens(self, at: int) -> Tokens:
        """Return all tokens after `at` steps, including those that cover no byte."""

    def tokens_between(self, start: int, stop: int, at: int) -> Tokens:
        """Return the tokens that share a byte with `start` to `stop`."""

    def with_empty(self, tokens: Tokens, at: int, *, of_neighbours: bool = False) -> Tokens:
        """Add tokens that cover no byte; with `of_neighbours` also those at the ends that belong to tokens outside."""

    def ahead_of(self, at: int) -> Ahead | None:
        """Return the long work that a step needs, for another thread; None if there is little to do."""
        return None

    def edges(self, at: int) -> Int64s:
        """Return the start of every token, including those that cover no byte, and the end of the last."""
        return self.tokens(at).edges

    def count(self, at: int) -> int:
        return int(np.count_nonzero(self.tokens(at).ids != NO_TOKEN))

    def count_unknown(self, at: int, id: int) -> int:
        """Return how many tokens have this id, that of the unknown token."""
        return int(np.count_nonzero(self.tokens(at).ids == id))

    def splice(self, start: int, removed: int, added: bytes) -> None:
        """Follow an edit: the tokens after it move, and the new bytes wait for an answer."""

    def put(self, start: int, answer: Self) -> None:
        """Replace the words from byte `start` on by the answer for that part of the text."""
