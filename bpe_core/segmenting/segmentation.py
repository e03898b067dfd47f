"""The interface of a segmentation, which is a text that can return its tokens after any number of steps.

Byte-pair encoding implements the interface with the ranks of boundaries (`boundaries.py`). Other methods have
their own classes. Code that needs only tokens uses the protocols of this module.
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
    """A range of tokens of a text with their offsets.

    A token may cover no byte. Bytes without a token have NO_TOKEN.
    """

    edges: Int64s  # the start of each token, and the end of the last
    ids: Int64s

    def __len__(self) -> int:
        return len(self.ids)

    def between(self, start: int, stop: int) -> Tokens:
        """Return the tokens that share a byte with the range from `start` to `stop`. All tokens must cover bytes."""
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
    """The interface of an object that finds the allowed special tokens in a text and splits the text by a history."""

    def ids(self, text: str, at: int, allowed: tuple[str, ...]) -> Int32s:
        """Return the ids of a text's tokens after `at` steps."""

    def segmentation(
        self, text: str, allowed: tuple[str, ...], cancelled: CancelCheck = never_cancelled
    ) -> Segmentation:
        """Return the segmentation of a text. The segmentation can return the tokens after any number of steps."""


class Segmentation(Protocol):
    """A text with its tokens after every step of a history. An edit of the text updates the tokens."""

    data: bytes  # the text
    pending: tuple[int, int] | None  # the range of bytes whose tokens are not known yet; None if all are known

    def tokens(self, at: int) -> Tokens:
        """Return all tokens after `at` steps. Tokens that cover no byte are included."""

    def tokens_between(self, start: int, stop: int, at: int) -> Tokens:
        """Return the tokens after `at` steps that share a byte with the range from `start` to `stop`."""

    def with_empty(self, tokens: Tokens, at: int, *, of_neighbours: bool = False) -> Tokens:
        """Return a range of tokens together with the tokens in this range that cover no byte.

        If `of_neighbours` is true, also add the tokens without bytes that belong to the words directly before and after
        the range.
        """

    def ahead_of(self, at: int) -> Ahead | None:
        """Return a function that does the long work for step `at`. The caller can run it in another thread.

        Return None if there is little work.
        """
        return None

    def edges(self, at: int) -> Int64s:
        """Return the start of every token and the end of the last token. Tokens that cover no byte are included."""
        return self.tokens(at).edges

    def count(self, at: int) -> int:
        return int(np.count_nonzero(self.tokens(at).ids != NO_TOKEN))

    def count_unknown(self, at: int, id: int) -> int:
        """Return the number of unknown tokens after `at` steps. `id` is the id of the unknown token."""
        return int(np.count_nonzero(self.tokens(at).ids == id))

    def splice(self, start: int, removed: int, added: bytes) -> None:
        """Update the segmentation after an edit of the text.

        The tokens after the edit move. The new bytes have no tokens until `put` is called.
        """

    def put(self, start: int, answer: Self) -> None:
        """Replace the tokens of a part of the text that begins at byte `start`.

        `answer` is the segmentation of this part.
        """
