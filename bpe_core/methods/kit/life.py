"""The life of a token, as every method describes it: its parts, its count at each step, and the words that hold it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

MOST_WORDS = 200

Steps = tuple[tuple[int, int], ...]  # pairs of a step and the count from that step on
Held = list[tuple[bytes, int]]  # each word with the token's count in it, the largest first


@dataclass(frozen=True)
class Holders:
    """The words that hold a token or a pair: the first MOST_WORDS words with their counts, and the totals."""

    words: tuple[tuple[bytes, int], ...] = ()
    number: int = 0
    count: int = 0

    @classmethod
    def of(cls, held: Held) -> Holders:
        return cls(tuple(held[:MOST_WORDS]), len(held), sum(count for _, count in held))


@dataclass(frozen=True)
class Reachability:
    """The result of a search for a text that is encoded with a certain token. `witness` is such a text."""

    kind: Literal["reachable", "unreachable", "not learned yet", "not found"]
    witness: str | None = None
    pieces: tuple[int, ...] = ()  # the tokens that the token's own text is split into


@dataclass(frozen=True)
class TokenLife:
    """The facts about a token after `at` steps: its counts, the larger tokens made from it, and its words."""

    token: int
    at: int
    children: tuple[int, ...]  # the tokens made from this token, up to step `at`
    reached: Reachability
    curve: Steps = ()  # the token's count from its birth on; empty if no words are known
    pair_curve: Steps = ()  # the count of the token's pair, until the birth of the token
    takers: tuple[
        tuple[int, int], ...
    ] = ()  # steps that made larger tokens from the token, with counts; the largest count first
    words: Holders = Holders()  # the words that hold the token now
    paid: Holders = Holders()  # the words that held the pair of the token's step
    files: dict[str, int] = field(default_factory=dict)  # the count of the token's step in each file or group
    told: tuple[str, ...] = ()  # sentences that the method adds

    def count_at(self, at: int) -> int:
        return next((count for step, count in reversed(self.curve) if step <= at), 0)

    @property
    def count(self) -> int:
        return self.count_at(self.at)

    @property
    def peak(self) -> int:
        return max((count for _, count in self.curve), default=0)

    @property
    def is_born(self) -> bool:
        return bool(self.curve) and self.curve[0][0] <= self.at

    @property
    def is_scaffold(self) -> bool:
        """Return whether the token no longer occurs, because larger tokens have replaced all its occurrences."""
        return self.is_born and self.curve[0][1] > 0 and self.count == 0 and bool(self.takers)
