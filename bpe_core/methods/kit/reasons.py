"""The reasons of steps besides the count, for tables and charts."""

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

LANGUAGE = "language"  # the reason of a step that served one of several languages: the index of the language
ALL = NOTHING  # the value of LANGUAGE if a step served all
THERE = "there"  # the count of its pair in the texts of the served language

Told = Mapping[str, Any]  # the reasons of a step by name, or the columns of many steps


@dataclass(frozen=True)
class Reason:
    """A value besides the count by which steps are chosen, with its title and text for tables and charts."""

    title: str
    tip: str
    of: tuple[str, ...]  # the names of the columns it is computed from; without them nothing is shown
    value: Callable[[Any, Told], Any]  # computes it from a count and the reasons, or from whole columns
    written: Callable[[int, Told], str]  # writes the value for a person
    widest: str = "999,999"  # the widest text, by which tables make room
    is_number: bool = True
    is_measure: bool = True  # whether the next step is the one with the largest value

    @classmethod
    def of_column(cls, name: str, tip: str, written: Callable[[Any], str] = "{:,}".format, **more: Any) -> Reason:
        """Return a reason that shows the values of one column. The name of the column is the title.

        `written` converts a value to text.
        """
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
        """Return the value of every step, for sorting. NaN becomes the smallest value."""
        if not self.is_known(history.reasons):
            return np.zeros(len(history))
        found = np.asarray(self.value(history.columns.count, history.reasons))
        return np.nan_to_num(found, nan=-np.inf) if found.dtype.kind == "f" else found


def told_reasons(recipe: Recipe, one: Step | Candidate) -> list[tuple[str, str]]:
    """Return the titles and texts of the known reasons of a step or a candidate, without the count."""
    told = ((reason.title, reason.text(one.count, one.reasons)) for reason in Method.of(recipe).reasons(recipe))
    return [(title, text) for title, text in told if text]
