"""A tokenizer in the lab: what it is called, and how it cuts the text at the size shown."""

from __future__ import annotations

import zlib
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from app.session.run import Run
from app.window.text.text_model import NO_TOKEN, TokenAt, Tokens
from bpe_core.history.history import History
from bpe_core.learning.methods import has_ranks
from bpe_core.recipes.methods import METHODS
from bpe_core.segmenting.segmentation import Segmentation
from bpe_core.support.arrays import Int64s

LETTERS = "ABCD"
MOST_LANES = len(LETTERS)


@dataclass(eq=False)
class Lane:
    """One of those side by side, with what is known of it by now."""

    letter: str
    run: Run
    history: History  # as it was when it was asked about
    title: str
    segmentation: Segmentation | None = None  # of the text shown
    at: int = -1  # the step after which the tokens are
    wanted: int = 0  # the step of the size shown
    cut: CutByLane | None = None

    @property
    def key(self) -> Hashable:
        """What makes its answers what they are."""
        return self.run.stamp, len(self.history)

    @property
    def is_behind(self) -> bool:
        """Whether the tokens shown are not yet those of the size shown."""
        return self.cut is None or self.at != self.wanted

    @property
    def answers_at_once(self) -> bool:
        """Whether a text that is encoded can be cut at another step in no time."""
        return has_ranks(self.history)

    @property
    def smallest(self) -> int:
        return min(self.history.vocabulary_size_at(0), self.history.vocabulary_size)

    @property
    def largest(self) -> int:
        return max(self.history.vocabulary_size_at(0), self.history.vocabulary_size)

    @property
    def size(self) -> int:
        """Of its vocabulary at the size shown, which it may not reach."""
        return self.history.vocabulary_size_at(self.wanted)

    @property
    def explanation(self) -> str:
        """How large it is and when it was, in a line."""
        title, steps = METHODS[self.history.recipe.method].title, len(self.history)
        return f"{title} · vocabulary {self.size:,} · step {self.wanted:,} of {steps:,}"

    @property
    def unknown(self) -> int:
        """How many of the tokens tell nothing but that the text is unknown there: few tokens are no merit then."""
        unknown = self.history.alphabet.unknown_id
        return 0 if self.cut is None or unknown is None else int(np.count_nonzero(self.cut.tokens.ids == unknown))

    def cut_at(self, at: int, tokens: Tokens, data: bytes) -> None:
        """Take the tokens of the whole text after so many steps."""
        self.at, self.cut = at, CutByLane.of(tokens, data)


@dataclass(frozen=True, eq=False)
class CutByLane:
    """The tokens of one text, coloured by what they read: in another lane the same stretch has the same colour."""

    data: bytes
    tokens: Tokens  # those that cover bytes
    count: int  # of all tokens, those that cover none, too

    @classmethod
    def of(cls, tokens: Tokens, data: bytes) -> CutByLane:
        covers = tokens.edges[1:] > tokens.edges[:-1]
        covering = Tokens(np.append(tokens.edges[:-1][covers], tokens.edges[-1]), tokens.ids[covers])
        return cls(data, covering, int(np.count_nonzero(tokens.ids != NO_TOKEN)))

    def tokens_between(self, start: int, stop: int) -> Tokens:
        """Those that share a byte with the range; instead of its id each has a number of what it reads."""
        edges, ids = self._between(start, stop)
        texts = (self.data[a:b] for a, b in pairwise(edges.tolist()))
        numbers = [
            NO_TOKEN if id == NO_TOKEN else zlib.crc32(text) for id, text in zip(ids.tolist(), texts, strict=True)
        ]
        return Tokens(edges, np.array(numbers, np.int64))

    def token_at(self, byte: int) -> TokenAt | None:
        if not 0 <= byte < len(self.data):
            return None
        edges, ids = self._between(byte, byte + 1)
        start, stop = edges.tolist()
        return TokenAt(start, stop, int(ids[0]), self.data[start:stop])

    def _between(self, start: int, stop: int) -> tuple[Int64s, Int64s]:
        edges = self.tokens.edges
        if start >= stop:
            return np.array([start], np.int64), np.empty(0, np.int64)
        first = int(np.searchsorted(edges, start, side="right")) - 1
        end = int(np.searchsorted(edges, stop))
        return edges[first : end + 1], self.tokens.ids[first:end]
