"""What every learner can be asked, whatever its method chooses by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Protocol, runtime_checkable

from bpe_core.history.history import COUNT_ALONE, Columns, EndReason, Reasons
from bpe_core.history.scores import Scores
from bpe_core.records import dataclass


@dataclass(frozen=True)
class Candidate:
    """A step that could be made now."""

    left: int
    right: int  # NOTHING where the step would drop the left one
    count: int  # how often what it joins, or drops, stands in the corpus
    reasons: Mapping[str, Any] = field(default_factory=lambda: COUNT_ALONE)  # beside the count


class Learner(Protocol):
    """Something that chooses and makes steps, one after the other."""

    tokens_at_start: int
    has_candidates: bool  # before the first step, however rare

    @property
    def learned(self) -> int:
        """Steps so far."""

    @property
    def reasons(self) -> Reasons:
        """What the steps so far were chosen by besides their counts; a column is appended to, never changed."""

    @property
    def scores(self) -> Scores | None:
        """The log-probabilities of the tokens, where the method has any."""

    @property
    def gone_through(self) -> tuple[int, int] | None:
        """How many bytes of how many are done with, where a text is gone through once and the end is not known."""

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        """Fill rows up to `stop_at`, returning early after about so much work. Empty: it can go on."""

    def candidates(self, wanted: int) -> list[Candidate]:
        """The steps that would be made next, best first, as things stand."""


@runtime_checkable
class LooksAhead(Protocol):
    """A learner that has to find out what its next steps are before any can be made."""

    def look_ahead(self, work: int) -> bool:
        """Do about so much of that; whether it is done, so that `candidates` are what leaves next."""
