"""What the plain and the compiled learner have in common."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

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


@cache
def byte_order() -> npt.NDArray[np.int64]:
    """Each byte's place when bytes are sorted by their printable stand-ins.

    Bytes that print as themselves come first, then the others, each group in byte order;
    so the space (32) comes after all letters.

    >>> byte_order()[[33, 126, 161, 0, 32]].tolist()
    [0, 93, 94, 188, 220]
    """
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in set(printable)]
    places = np.empty(256, np.int64)
    places[printable + others] = np.arange(256)
    return places
