"""The interface of all learners, and the ways to make a learner."""

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

EVERY_LENGTH = 2**62  # a maximum length of tokens that no token reaches
UNLIMITED = 2**60  # more work than any call does


@dataclass(frozen=True)
class Candidate:
    left: int
    right: int  # NOTHING if the step would drop the left token, ADDED if the step would add the left token
    count: int  # the count in the corpus of the pair or token
    reasons: Mapping[str, Any] = field(default_factory=lambda: COUNT_ALONE)  # reasons besides the count


def with_token_counts(candidates: list[Candidate], counts: Sequence[int] | npt.NDArray[np.int64]) -> list[Candidate]:
    return [
        replace(
            candidate, reasons={"left_count": int(counts[candidate.left]), "right_count": int(counts[candidate.right])}
        )
        for candidate in candidates
    ]


class GoneThrough(NamedTuple):
    done: int
    total: int
    unit: str = "bytes"
    whole: str = "the text"  # the name of the whole, for messages


class Learner(Protocol):
    """The interface of a learner, which chooses and makes steps one by one."""

    tokens_at_start: int
    has_candidates: bool  # whether a first step is possible, however rare its pair

    @property
    def learned(self) -> int:
        """Return the number of steps made so far."""

    @property
    def reasons(self) -> Reasons:
        """Return the values that decided which steps were made. The counts are not included.

        Each step has a row. Later steps do not change the rows of earlier steps.
        """

    @property
    def scores(self) -> Scores | None:
        """Return the log-probabilities of the tokens. Return None if the method has no log-probabilities."""

    @property
    def gone_through(self) -> GoneThrough | None:
        """Return the progress in bytes or tokens.

        Return None if the number of steps is known in advance, because then the steps show the progress.
        """

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        """Fill the rows of steps up to `stop_at`, but stop after about `work` units of work.

        Return the reason why the run ends. Return an empty string if more steps are possible.
        """

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return up to `wanted` steps that may be made next, the best step first."""


@runtime_checkable
class LooksAhead(Protocol):
    """A learner that must search before its next steps are known."""

    def look_ahead(self, work: int) -> bool:
        """Continue the search for the next steps, for about `work` units of work.

        Return True if the search has ended, so that `candidates` can return these steps.
        """


class LearnerStart(NamedTuple):
    """A learner before its first step, and the tokens that it begins with."""

    alphabet: Alphabet
    learner: Learner


# The arguments: the words, the first tokens, the recipe, and a history whose steps are made first.
LearnerMaker = Callable[[WordTable, Alphabet, Recipe, History | None], Learner]


@dataclass(frozen=True)
class Way:
    """An implementation of the learner of a method, in plain Python or in machine code.

    All implementations of a method make the same steps.
    """

    learner: LearnerMaker
    bytes_a_cell: int  # memory for each byte of the distinct words, and for each word


@dataclass(frozen=True)
class CompiledWay(Way):
    part: str  # the part of the machine code with all of its kernels
    begins_without: bool = False  # whether the plain way serves large texts until machine code is ready


__getattr__ = former_classes(__name__, Beginning="LearnerStart")
