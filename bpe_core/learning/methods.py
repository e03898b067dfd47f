"""The methods that learn a vocabulary: a row a method, by the name a recipe calls it.

A new method is a folder beside `bpe/` whose `method.py` holds what a `Method` asks for, and a row here.
Nobody else names one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from bpe_core.records import dataclass

if TYPE_CHECKING:  # recipes ask which methods there are
    import numpy.typing as npt

    from bpe_core.alphabet import Alphabet
    from bpe_core.counting.words import WordTable
    from bpe_core.history.history import History
    from bpe_core.kernels.policy import Policy
    from bpe_core.learning.protocol import Learner
    from bpe_core.recipe import Recipe
    from bpe_core.segmenting.cutting import Cutting
    from bpe_core.segmenting.segmentation import Segmenter


@dataclass(frozen=True)
class Wording:
    """What is said of a method's steps, wherever a person reads of them."""

    step: str = "merge"
    done: str = "merged"  # what was done to the one that was chosen
    choice: str = "pair"  # what it was chosen among
    best: str = ""  # why it was chosen, such as "with the highest score"; nothing of the one that occurs most

    @property
    def steps(self) -> str:
        return f"{self.step}s"

    def counted(self, number: int) -> str:
        """So many steps.

        >>> Wording().counted(1), Wording("drop").counted(1_200)
        ('1 merge', '1,200 drops')
        """
        return f"{number:,} {self.step if number == 1 else self.steps}"

    @staticmethod
    def of(recipe: Recipe) -> Wording:
        """What the steps of its method are called."""
        return METHODS[recipe.method].wording


def has_ranks(history: History) -> bool:
    """Whether each boundary of a text is dissolved once and for all, by one step."""
    return history.joining is None and Method.of(history.recipe).has_ranks


def learns_by_ranks(history: History) -> bool:
    """Whether it is so in the words that a history was learned from."""
    return history.joining is None and Method.of(history.recipe).learns_by_ranks


def told_by(history: History) -> str:
    """How much a history tells: its steps; where it came from a file that tells tokens only, how many those are."""
    return Wording.of(history.recipe).counted(len(history)) if len(history) else f"{history.vocabulary_size:,} tokens"


@dataclass(frozen=True)
class Listed:
    """What can be said of a method before it is imported, which happens when it is first needed."""

    title: str
    explanation: str
    module: str  # whose METHOD it is
    needs: Mapping[str, Any] = field(default_factory=dict)  # what a recipe cannot choose otherwise beside it
    wording: Wording = Wording()
    usual_sizes: tuple[str, ...] = ()  # of vocabularies that serve well
    asks_for_line_ends: bool = False  # what it learns hangs on which words end lines
    can_be_steered: bool = False  # a person may forbid or force a pair at a step, and go on from a table
    size_decides: bool = False  # the steps depend on how large the vocabulary shall be at last, from early on


METHODS = {
    "bpe": Listed(
        "Byte-pair encoding",
        "Joins the pair that occurs most, again and again.",
        "bpe_core.learning.bpe.method",
        can_be_steered=True,
        usual_sizes=(
            "8–16,000 for small data",
            "30–50,000 for English",
            "32–37,000 for translation",
            "50–100,000 for many languages",
            "50,000 or more for code",
        ),
    ),
    "gage": Listed(
        "Gage's compressor",
        "Block by block, puts a byte that does not occur for the pair that occurs most, until none pays.",
        "bpe_core.learning.gage.method",
        {"base": "bytes", "pattern": "none", "marker": "none"},
        Wording("replacement", "replaced", "pair", "the one that occurs most in this block"),
    ),
    "wordpiece": Listed(
        "WordPiece",
        "Joins pairs inside words, and cuts a word by the longest token that fits, from the left.",
        "bpe_core.learning.wordpiece.method",
        dict(base="characters", marker="continuation", unknown="unk"),
        can_be_steered=True,
        usual_sizes=(
            "8–16,000 for small data",
            "30,000 for English, as BERT has",
            "120,000 for a hundred languages, as multilingual BERT has",
        ),
    ),
    "unigram": Listed(
        "Unigram",
        "Begins with many pieces of words, and drops again and again what the corpus needs least.",
        "bpe_core.learning.unigram.method",
        needs=dict(base="characters", marker="prefix"),
        usual_sizes=(
            "8,000 for small data",
            "32,000 for English, as T5 has",
            "250,000 for a hundred languages, as XLM-R has",
        ),
        wording=Wording("drop", "dropped", "piece", "the one the corpus needs least"),
        asks_for_line_ends=True,
        size_decides=True,
    ),
    "mingram": Listed(
        "MinGram",
        "Joins a tenth more pairs than asked for, cuts by the fewest tokens, and drops what is used least.",
        "bpe_core.learning.mingram.method",
        needs=dict(base="characters", marker="prefix"),
        usual_sizes=("8,000 for small data", "32,000 for English", "250,000 for a hundred languages"),
        wording=Wording("drop", "dropped", "piece", "the one that is used least"),
        size_decides=True,
    ),
}


# Of the words, the tokens at first, the recipe, and a history whose steps are made before any other.
LearnerMaker = Callable[["WordTable", "Alphabet", "Recipe", "History | None"], "Learner"]


@dataclass(frozen=True)
class Way:
    """One way to learn by a method; all ways make the same steps."""

    learner: LearnerMaker
    bytes_a_cell: int  # of memory for each byte of the distinct words, and for each word


@dataclass(frozen=True)
class CompiledWay(Way):
    """The fast one."""

    kernels: Policy  # measured in bytes of distinct words


Told = Mapping[str, Any]  # what a step or a candidate was chosen by, by name; or the columns of many steps


@dataclass(frozen=True)
class Reason:
    """One of the things that steps are chosen by besides the count, as tables and charts tell it."""

    title: str
    tip: str
    of: tuple[str, ...]  # what it is told from; without that nothing is said
    value: Callable[[Any, Told], Any]  # of a count and what is told beside it, or of all counts and their columns
    written: Callable[[int, Told], str]  # the same as a person reads it
    widest: str = "999,999"  # a text that it needs room for
    is_number: bool = True

    def is_told(self, told: Told) -> bool:
        return told.keys() >= {*self.of}

    def text(self, count: int, told: Told) -> str:
        return self.written(count, told) if self.is_told(told) else ""

    def values(self, history: History) -> npt.NDArray[Any]:
        """Of all steps, to sort by; what is not a number comes before all that is."""
        import numpy as np  # recipes ask which methods there are, and want no more

        if not self.is_told(history.reasons):
            return np.zeros(len(history))
        found = np.asarray(self.value(history.columns.count, history.reasons))
        return np.nan_to_num(found, nan=-np.inf) if found.dtype.kind == "f" else found


@dataclass(frozen=True)
class Method:
    """What a method has to offer."""

    reason: str  # what the best step is chosen by
    nothing_to_learn: str  # a sentence for a text that holds no first step
    tokens_at_first: Callable[[WordTable, Recipe], Alphabet]
    steps_planned: Callable[[Recipe, Alphabet], int]
    segmenter: Callable[[History, Cutting], Segmenter]
    plain: Way
    reasons: Callable[[Recipe], tuple[Reason, ...]] = lambda recipe: ()
    why: str = ""  # the module of `insight` whose `explain` says why a text is cut where it is
    compiled: CompiledWay | None = None
    has_ranks: bool = False  # each boundary of a text is dissolved once and for all
    learns_by_ranks: bool = False  # so it is in the words it learns from, which insight is drawn from
    has_seeds: bool = False  # whole pieces of words may stand in its alphabet, behind the base symbols
    has_continuations: bool = False  # a character inside a word is another base symbol than at its beginning
    drops: bool = False  # its steps may drop tokens
    looks_tokens_up: bool = False  # which tokens there are says how a text is cut, whatever they were made of
    cost_of_token: float = 0.0  # that is taken off each log-probability, so that the fewest tokens are the best path
    starts_anew: bool = False  # with each block of a text: several steps may join the same pair, each for its block
    what_is_wrong: Callable[[History], str] = lambda history: ""  # with one from a file: why it cannot be of the method

    @classmethod
    def of(cls, recipe: Recipe) -> Method:
        """The one that a recipe names."""
        method: Method = import_module(METHODS[recipe.method].module).METHOD
        return method
