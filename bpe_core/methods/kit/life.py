"""The life of a token, as every method describes it: its parts, its count over time, and the words that hold it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

MOST_WORDS = 200

Steps = tuple[tuple[int, int], ...]  # the count from each of these numbers of steps on
Held = list[tuple[bytes, int]]  # each word, and the token's count in all its occurrences; the largest first


@dataclass(frozen=True)
class Holders:
    """The words that hold a token or a pair: the first MOST_WORDS with their counts, and the totals."""

    words: tuple[tuple[bytes, int], ...] = ()
    number: int = 0
    count: int = 0

    @classmethod
    def of(cls, held: Held) -> Holders:
        return cls(tuple(held[:MOST_WORDS]), len(held), sum(count for _, count in held))


@dataclass(frozen=True)
class Reachability:
    """An answer to whether a text can produce a token; `witness` is a text whose tokens hold it."""

    kind: Literal["reachable", "unreachable", "not learned yet", "not found"]
    witness: str | None = None
    pieces: tuple[int, ...] = ()  # the tokens of its own symbols


@dataclass(frozen=True)
class TokenLife:
    """One token, looked at from the state after `at` steps."""

    token: int
    at: int
    children: tuple[int, ...]  # the tokens made from it, up to `at`
    reached: Reachability
    curve: Steps = ()  # its count from its birth on; empty where no words are known
    pair_curve: Steps = ()  # the count of its pair, until its birth
    takers: tuple[tuple[int, int], ...] = ()  # the steps that took occurrences, with how many; the most first
    words: Holders = Holders()  # that hold it now
    paid: Holders = Holders()  # that held the pair or token of its own step
    files: dict[str, int] = field(default_factory=dict)  # the count of its step by files or groups
    told: tuple[str, ...] = ()  # sentences that its method adds

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
        """Return whether larger tokens have taken all its occurrences."""
        return self.is_born and self.curve[0][1] > 0 and self.count == 0 and bool(self.takers)
