"""The interface of all learners, and the ways to make one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import Scores
from bpe_core.history.history import COUNT_ALONE, Columns, EndReason, History, Reasons
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.former_names import former_classes

EVERY_LENGTH = 2**62  # a limit to the length of tokens that limits nothing
UNLIMITED = 2**60  # work that no call reaches


@dataclass(frozen=True)
class Candidate:
    left: int
    right: int  # NOTHING where the step would drop the left token, ADDED where it would add it
    count: int  # how often what it joins, drops or adds occurs in the corpus
    reasons: Mapping[str, Any] = field(default_factory=lambda: COUNT_ALONE)  # besides the count


def with_token_counts(found: list[Candidate], counts: Sequence[int] | npt.NDArray[np.int64]) -> list[Candidate]:
    return [
        replace(one, reasons={"left_count": int(counts[one.left]), "right_count": int(counts[one.right])})
        for one in found
    ]


class GoneThrough(NamedTuple):
    done: int
    total: int
    unit: str = "bytes"
    whole: str = "the text"  # that a share is of


class Learner(Protocol):
    """Chooses and makes steps, one after the other."""

    tokens_at_start: int
    has_candidates: bool  # before the first step, however rare

    @property
    def learned(self) -> int:
        """Return the number of steps so far."""

    @property
    def reasons(self) -> Reasons:
        """Return the reasons of the steps so far, besides counts; the columns grow and never change."""

    @property
    def scores(self) -> Scores | None:
        """Return the log-probabilities of the tokens, where the method has any."""

    @property
    def gone_through(self) -> GoneThrough | None:
        """Return the progress if the number of steps is unknown: in bytes of a text read once, or in tokens."""

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        """Fill rows up to `stop_at`, returning early after about this much work; an empty reason: it can go on."""

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return the steps that would be made next, best first."""


@runtime_checkable
class LooksAhead(Protocol):
    """A learner that has to search before its next steps are known."""

    def look_ahead(self, work: int) -> bool:
        """Search for about this much work; return whether `candidates` are now what leaves next."""


class LearnerStart(NamedTuple):
    """A learner before its first step, and the tokens that it begins with."""

    alphabet: Alphabet
    learner: Learner


# The words, the tokens at first, the recipe, and a history whose steps are made before any other.
LearnerMaker = Callable[[WordTable, Alphabet, Recipe, History | None], Learner]


@dataclass(frozen=True)
class Way:
    """One way to learn by a method; all ways make the same steps."""

    learner: LearnerMaker
    bytes_a_cell: int  # of memory for each byte of the distinct words, and for each word


@dataclass(frozen=True)
class CompiledWay(Way):
    part: str  # of the machine code, that has all of its kernels
    begins_without: bool = False  # the plain way is fast enough for large texts, too, until machine code is there


__getattr__ = former_classes(__name__, Beginning="LearnerStart")
