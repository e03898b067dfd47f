"""The classes that describe a method in older plug-ins.

Such a plug-in has a `FormerEntry` with facts, and a module with a `Method`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.methods.facts import FIRST_SIZE, MethodFacts, Single, Wording
from bpe_core.methods.kit import method as today
from bpe_core.methods.kit.learner import UNLIMITED as UNLIMITED
from bpe_core.methods.kit.learner import Candidate as Candidate
from bpe_core.methods.kit.learner import CompiledWay, Way
from bpe_core.methods.kit.learner import GoneThrough as GoneThrough
from bpe_core.methods.kit.learner import Learner as Learner
from bpe_core.methods.kit.reasons import Reason
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.segmentation import Segmenter
from bpe_core.support.former_names import former_classes


@dataclass(frozen=True)
class FormerEntry:
    """The description of a method in the form of older plug-ins.

    `module` names the module that contains the `METHOD` object.
    """

    title: str
    explanation: str
    module: str
    needs: Mapping[str, Any] = field(default_factory=dict)
    wording: Wording = field(default_factory=Wording)
    usual_sizes: tuple[str, ...] = ()
    single: Single | None = None
    single_by: str = ""
    asks_for_line_ends: bool = False
    serves_languages: bool = False
    can_be_steered: bool = False
    first_size: int = FIRST_SIZE
    listed_as: str = ""
    size_decides: bool = False


@dataclass(frozen=True)
class Method:
    """The declaration of a method in the form that older plug-ins use."""

    reason: str
    nothing_to_learn: str
    tokens_at_first: Callable[[WordTable, Recipe], Alphabet]
    steps_planned: Callable[[Recipe, Alphabet], int]
    segmenter: Callable[[History, Cutting], Segmenter]
    plain: Way
    reasons: Callable[[Recipe], tuple[Reason, ...]] = lambda recipe: ()
    why: str = "tokens"
    compiled: CompiledWay | None = None
    has_ranks: bool = False
    learns_by_ranks: bool = False
    has_seeds: bool = False
    has_continuations: bool = False
    looks_tokens_up: bool = False
    cost_of_token: float = 0.0
    joins_runs: bool = False
    counts_apart: bool = False
    starts_anew: bool = False
    turns: Callable[[History], Mapping[int, str]] = lambda history: {}
    forbids: Callable[[bytes, Recipe], str] = lambda text, recipe: ""
    what_is_wrong: Callable[[History], str] = lambda history: ""


_FACTS = ("title", "explanation", "needs", "wording", "usual_sizes", "single", "asks_for_line_ends", "serves_languages")
_MORE_FACTS = ("can_be_steered", "first_size", "listed_as", "size_decides")
_WORK = ("reason", "nothing_to_learn", "tokens_at_first", "steps_planned", "reasons", "turns", "forbids")
_MORE_WORK = ("what_is_wrong", "has_ranks", "learns_by_ranks", "has_seeds", "has_continuations", "looks_tokens_up")
_TRAITS = ("cost_of_token", "joins_runs", "counts_apart", "starts_anew")


def method_of_today(listed: FormerEntry) -> MethodFacts:
    """Convert the method of an older plug-in to a method of the current class.

    Raise BpeError if its module has no `METHOD`.
    """
    module = import_module(listed.module)
    if not hasattr(module, "METHOD"):
        raise BpeError("a method must be an object of a class that derives from bpe_core.methods.kit.method.Method")
    work: Method = module.METHOD
    own: dict[str, Any] = {name: getattr(listed, name) for name in (*_FACTS, *_MORE_FACTS)}
    for name in (*_WORK, *_MORE_WORK, *_TRAITS):
        value = getattr(work, name)
        own[name] = staticmethod(value) if callable(value) else value
    own |= {"plain": work.plain, "compiled": work.compiled, "cutter": staticmethod(work.segmenter)}
    if listed.single_by:
        own["single_of"] = lambda self, recipe: None if getattr(recipe, listed.single_by) is None else listed.single
    made: MethodFacts = type("MethodOfBefore", (_base_of(work),), own)()
    return made


def _base_of(work: Method) -> type[today.Method]:
    """Return the current base class for a method of an older plug-in.

    The base class decides how boundaries are explained. The plug-in's field `why` says which explanation it wants.
    """
    from bpe_core.methods.registry import METHODS, USUAL

    usual = type(METHODS[USUAL])
    derived: type[today.Method] = type("ExplainedByRanks", (usual,), {"presets": {}, "specification": None})
    return derived if work.why == "ranks" else today.Method


__getattr__ = former_classes(__name__, Listed="FormerEntry")
