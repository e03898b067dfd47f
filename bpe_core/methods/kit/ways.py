"""Other ways to split a word by the tokens that a method learned, as every method offers them."""

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
        """Return at each symbol the tokens that can begin there, each with its length and its id."""

    @property
    def ways(self) -> int:
        """Return in how many ways tokens cover the word."""


class Ways(Protocol):
    """All ways to split words by the tokens of a history."""

    @property
    def scores(self) -> Sequence[float] | None:
        """Return the logarithms of the tokens' probabilities, if they are known."""

    @property
    def known(self) -> tuple[Way, ...]:
        """Return the ways that there are."""

    def own(self, word: bytes) -> Ids:
        """Split as the tokenizer itself does."""

    def lattice(self, word: bytes) -> Lattice: ...

    def cut(self, way: Way, word: bytes) -> Ids:
        """Split by a way that leaves nothing to chance."""

    def draw(self, way: Way, word: bytes, chance: Random) -> Ids: ...

    def log_probability(self, way: Way, word: bytes, ids: Ids) -> float | None:
        """Return the logarithm of how likely a way draws this; None where that is not known."""

    def shares(self, way: Way, word: bytes) -> dict[tuple[int, int], float] | None:
        """Return how likely each token is drawn, by the index of its first symbol and its id."""

    def expected(self, way: Way, word: bytes) -> float | None:
        """Return how many tokens are drawn on average."""

    def length(self, id: int) -> int:
        """Return how many symbols a token covers."""
