"""The values that decide which step is chosen, apart from the count. Tables and charts show them as reasons."""

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
ALL = NOTHING  # the value of LANGUAGE if a step served all languages
THERE = "there"  # the count of the step's pair in the texts of the served language

Told = Mapping[str, Any]  # the reasons of a step by name, or the columns of many steps


@dataclass(frozen=True)
class Reason:
    """A value, other than the count, by which steps are chosen. It has a title and a text for tables and charts."""

    title: str
    tip: str
    of: tuple[
        str, ...
    ]  # the names of the columns from which the value is computed; if a column is missing, no value is shown
    value: Callable[[Any, Told], Any]  # computes the value from a count and the reasons, or from whole columns
    written: Callable[[int, Told], str]  # writes the value for a user
    widest: str = "999,999"  # the widest text, which decides the width of columns
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
            lambda count, reasons: reasons[name],
            lambda count, reasons: written(reasons[name]),
            **more,
        )

    def is_known(self, reasons: Told) -> bool:
        return reasons.keys() >= {*self.of}

    def text(self, count: int, reasons: Told) -> str:
        return self.written(count, reasons) if self.is_known(reasons) else ""

    def values(self, history: History) -> npt.NDArray[Any]:
        """Return the value of each step, as a sort key for the steps. NaN becomes the smallest value."""
        if not self.is_known(history.reasons):
            return np.zeros(len(history))
        values = np.asarray(self.value(history.columns.count, history.reasons))
        return np.nan_to_num(values, nan=-np.inf) if values.dtype.kind == "f" else values


def reasons_in_words(recipe: Recipe, one: Step | Candidate) -> list[tuple[str, str]]:
    """Return the values, apart from the count, by which a step or a candidate was judged.

    Each value is a pair (title, text).
    """
    texts = ((reason.title, reason.text(one.count, one.reasons)) for reason in Method.of(recipe).reasons(recipe))
    return [(title, text) for title, text in texts if text]
