"""What a method of learning offers, and what every learner can be asked.

A method is a folder beside `bpe/` whose `method.py` holds a `METHOD`, and a row in `recipes/methods.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import Scores
from bpe_core.history.history import COUNT_ALONE, Columns, EndReason, History, Reasons, Step
from bpe_core.kernels.readiness import Policy
from bpe_core.methods.listing import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.segmentation import Segmenter

if TYPE_CHECKING:
    from bpe_core.methods.kit.runs import Inside

EVERY_LENGTH = 2**62  # a limit to the length of tokens that limits nothing
UNLIMITED = 2**60  # work that no call reaches

# --- Learners ---------------------------------------------------------------------------


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
        """The number of steps so far."""

    @property
    def reasons(self) -> Reasons:
        """What the steps so far were chosen by besides their counts; columns grow and never change."""

    @property
    def scores(self) -> Scores | None:
        """The log-probabilities of the tokens, where the method has any."""

    @property
    def gone_through(self) -> GoneThrough | None:
        """How far it is, where the number of steps is not known: in bytes where a text is read once, or in tokens."""

    def learn(self, columns: Columns, stop_at: int, work: int) -> EndReason:
        """Fill rows up to `stop_at`, returning early after about this much work; an empty reason: it can go on."""

    def candidates(self, wanted: int) -> list[Candidate]:
        """Return the steps that would be made next, best first."""


@runtime_checkable
class LooksAhead(Protocol):
    """A learner that has to search before its next steps are known."""

    def look_ahead(self, work: int) -> bool:
        """Search for about this much work; return whether `candidates` are now what leaves next."""


# The words, the tokens at first, the recipe, and a history whose steps are made before any other.
LearnerMaker = Callable[[WordTable, Alphabet, Recipe, History | None], Learner]


@dataclass(frozen=True)
class Way:
    """One way to learn by a method; all ways make the same steps."""

    learner: LearnerMaker
    bytes_a_cell: int  # of memory for each byte of the distinct words, and for each word


@dataclass(frozen=True)
class CompiledWay(Way):
    kernels: Policy  # measured in bytes of distinct words


# --- What steps are chosen by -----------------------------------------------------------


Told = Mapping[str, Any]  # the reasons of a step or a candidate by name; or the columns of many steps


@dataclass(frozen=True)
class Reason:
    """Something that steps are chosen by besides the count, as tables and charts show it."""

    title: str
    tip: str
    of: tuple[str, ...]  # the reasons it is computed from; without them nothing is shown
    value: Callable[[Any, Told], Any]  # of a count and its reasons, or of all counts and their columns
    written: Callable[[int, Told], str]  # the same as a person reads it
    widest: str = "999,999"  # a text that it needs room for
    is_number: bool = True
    is_measure: bool = True  # the next step is the one that has most of it

    @classmethod
    def of_column(cls, name: str, tip: str, written: Callable[[Any], str] = "{:,}".format, **more: Any) -> Reason:
        """Return the reason that is one column, called by its name; `written` writes a value of it."""
        return cls(
            name.capitalize(),
            tip,
            (name,),
            lambda count, told: told[name],
            lambda count, told: written(told[name]),
            **more,
        )

    def is_known(self, told: Told) -> bool:
        return told.keys() >= {*self.of}

    def text(self, count: int, told: Told) -> str:
        return self.written(count, told) if self.is_known(told) else ""

    def values(self, history: History) -> npt.NDArray[Any]:
        """Return its value for every step, to sort by; what is not a number comes first."""
        if not self.is_known(history.reasons):
            return np.zeros(len(history))
        found = np.asarray(self.value(history.columns.count, history.reasons))
        return np.nan_to_num(found, nan=-np.inf) if found.dtype.kind == "f" else found


# --- Methods ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Method:
    reason: str  # what the best step is chosen by
    nothing_to_learn: str  # a sentence for a text that holds no first step
    tokens_at_first: Callable[[WordTable, Recipe], Alphabet]
    steps_planned: Callable[[Recipe, Alphabet], int]
    segmenter: Callable[[History, Cutting], Segmenter]
    plain: Way
    reasons: Callable[[Recipe], tuple[Reason, ...]] = lambda recipe: ()
    why: str = "tokens"  # how cuts are explained: see `insight.explanation.explain`
    compiled: CompiledWay | None = None
    has_ranks: bool = False  # each boundary of a text is dissolved once and for all
    learns_by_ranks: bool = False  # the same for the words it learns from, which insight is drawn from
    has_seeds: bool = False  # its alphabet may hold whole pieces of words, behind the base symbols
    has_continuations: bool = False  # a character inside a word is another base symbol than at its beginning
    looks_tokens_up: bool = False  # a text is cut by which tokens there are, whatever they were made of
    cost_of_token: float = 0.0  # taken off each log-probability, so that the fewest tokens are the best path
    joins_runs: bool = False  # first within words, then words that are one token: see `segmenting.word_runs`
    counts_apart: bool = False  # a count says how many tokens its merge makes: `aaa` holds a+a once
    starts_anew: bool = False  # with each block of a text: several steps may join the same pair, each for its block
    words_at_first: Callable[[WordTable, Recipe], Inside] | None = None  # learned from up to its first turn
    turns: Callable[[History], Mapping[int, str]] = lambda history: {}  # after which steps it learns in another way
    forbids: Callable[[bytes, Recipe], str] = lambda text, recipe: (
        ""
    )  # what a token with this text would do; or nothing
    what_is_wrong: Callable[[History], str] = lambda history: ""  # why a history from a file cannot be of the method

    @classmethod
    def of(cls, recipe: Recipe) -> Method:
        method: Method = import_module(METHODS[recipe.method].module).METHOD
        return method


def told_reasons(recipe: Recipe, one: Step | Candidate) -> list[tuple[str, str]]:
    """Return what a step or a candidate is chosen by besides the count, as far as it is known: title and value."""
    told = ((reason.title, reason.text(one.count, one.reasons)) for reason in Method.of(recipe).reasons(recipe))
    return [(title, text) for title, text in told if text]


def first_turn(history: History) -> int:
    """Return up to which step a history was learned from other words than the rest; 0 where there is none."""
    method = Method.of(history.recipe)
    return 0 if method.words_at_first is None else min(method.turns(history), default=0)


def has_ranks(history: History) -> bool:
    """Return whether each boundary of a text is dissolved once and for all, by one step."""
    return _only_joins_in_order(history) and Method.of(history.recipe).has_ranks


def learns_by_ranks(history: History) -> bool:
    """Return whether it is so in the words that a history was learned from."""
    return _only_joins_in_order(history) and Method.of(history.recipe).learns_by_ranks


def _only_joins_in_order(history: History) -> bool:
    return history.joining is None and history.recipe.tau is None


def steps_in_words(history: History) -> str:
    """Return the number of its steps in words; of tokens where a file lists tokens only."""
    return history.recipe.wording.counted(len(history)) if len(history) else f"{history.vocabulary_size:,} tokens"
