"""What the plain and the compiled learner have in common."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from bpe_core.history.history import Columns

EVERY_LENGTH = 2**62  # a token length limit that limits nothing


@dataclass(frozen=True)
class PairCount:
    """A pair that could be merged now."""

    left: int
    right: int
    count: int
    first_position: int  # comparable within one training run only


class Stop(Enum):
    """Why a learner returned."""

    GOING = "as far as it was told to go"
    NO_PAIRS = "no pairs"
    TOO_RARE = "too rare"


class Learner(Protocol):
    """Something that chooses and applies merges, one after the other."""

    tokens_at_start: int
    has_pairs: bool  # before the first merge, however rare

    @property
    def learned(self) -> int:
        """Merges so far."""

    def learn(self, columns: Columns, stop_at: int, work: int) -> Stop:
        """Fill rows up to `stop_at`, returning early after about so much work."""

    def top_pairs(self, wanted: int) -> list[PairCount]:
        """The pairs that would be merged next, best first, as things stand."""
