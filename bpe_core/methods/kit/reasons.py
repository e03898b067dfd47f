"""The reasons of steps besides the count, as tables and charts show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import NOTHING, History, Step
from bpe_core.methods.kit.learner import Candidate
from bpe_core.methods.kit.method import Method
from bpe_core.recipes.recipe import Recipe

LANGUAGE = "language"  # the reason of a step that served one of several languages: its place among them
ALL = NOTHING  # in place of that, where a step served all
THERE = "there"  # how often its pair occurred in what it served

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


def told_reasons(recipe: Recipe, one: Step | Candidate) -> list[tuple[str, str]]:
    """Return what a step or a candidate is chosen by besides the count, as far as it is known: title and value."""
    told = ((reason.title, reason.text(one.count, one.reasons)) for reason in Method.of(recipe).reasons(recipe))
    return [(title, text) for title, text in told if text]
