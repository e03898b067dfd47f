"""The interface for the different ways to split a word into tokens of a history."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Literal, Protocol

from bpe_core.methods.kit.lattices import Edge

Ids = tuple[int, ...]
Way = Literal["own", "longest", "fewest", "likeliest", "dropout", "sampled", "uniform"]


class Lattice(Protocol):
    """The base symbols of a word, and the tokens that could cover them."""

    @property
    def symbols(self) -> Sequence[int]: ...

    @property
    def edges(self) -> Sequence[Sequence[Edge]]:
        """Return a list for each symbol. It holds the (length, id) of each token that can begin at this symbol."""

    @property
    def ways(self) -> int:
        """Return the number of ways to cover the word with tokens."""


class Ways(Protocol):
    """All ways to split words by the tokens of a history."""

    @property
    def scores(self) -> Sequence[float] | None:
        """Return the log-probabilities of the tokens. Return None if they are unknown."""

    @property
    def known(self) -> tuple[Way, ...]:
        """Return the ways to split that this method offers."""

    def own(self, word: bytes) -> Ids:
        """Return the tokens into which the tokenizer itself splits a word."""

    def lattice(self, word: bytes) -> Lattice: ...

    def cut(self, way: Way, word: bytes) -> Ids:
        """Return the tokens into which the rule `way` splits a word. The rule must not be random."""

    def draw(self, way: Way, word: bytes, chance: Random) -> Ids: ...

    def log_probability(self, way: Way, word: bytes, ids: Ids) -> float | None:
        """Return the log-probability that `way`, which splits words at random, splits a word into exactly these tokens.

        Return None if it is unknown.
        """

    def shares(self, way: Way, word: bytes) -> dict[tuple[int, int], float] | None:
        """Return the probability of each token at each position in a random split of the word.

        The keys are pairs: the index of the token's first symbol, and the token's id. Return None if the probabilities
        are unknown.
        """

    def expected(self, way: Way, word: bytes) -> float | None:
        """Return the average number of tokens over random splits of a word. Return None if it is unknown."""

    def length(self, id: int) -> int:
        """Return the number of base symbols that a token covers."""
