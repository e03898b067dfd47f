"""The interventions of a user in a run. An intervention forbids a pair from a step on, or forces the pair at a step.

An intervention names tokens by their indices in this run. So it has the same effect each time the run is learned. In
JSON, in forms and in commands an intervention is written as a single word:

>>> Intervention.parsed("forbid:116+104@12")
Intervention(step=12, act='forbid', left=116, right=104)
>>> str(Intervention(7, "force", 256, 101))
'force:256+101@7'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, NamedTuple

from bpe_core.errors import RecipeError

Act = Literal["forbid", "force"]

MOST_INTERVENTIONS = 100_000
_SPELLED = r"(forbid|force):([0-9]{1,9})\+([0-9]{1,9})@([0-9]{1,9})"


class Intervention(NamedTuple):
    step: int
    act: Act
    left: int
    right: int

    def __str__(self) -> str:
        return f"{self.act}:{self.left}+{self.right}@{self.step}"

    @classmethod
    def parsed(cls, spelled: str) -> Intervention:
        match = re.fullmatch(_SPELLED, spelled)
        if match is None:
            raise RecipeError(
                f"{spelled[:60]!r} is not an intervention. Write forbid:116+104@12 to keep the ids 116 and 104 from "
                "merging from step 12 on, or force:116+104@12 to merge them at step 12."
            )
        act, left, right, step = match.groups()
        return cls(int(step), act, int(left), int(right))  # type: ignore[arg-type]  # the expression matches no other

    def after(self, steps: int) -> Intervention | None:
        """Return the same intervention for a new run, whose first step is step `steps` + 1 of this run.

        Return None if the intervention has no effect on these later steps.
        """
        if self.step > steps:
            return self._replace(step=self.step - steps)
        return self._replace(step=1) if self.act == "forbid" else None

    def with_ids(self, numbers_of: Callable[[Sequence[int]], Iterable[int]]) -> Intervention:
        """Return the same intervention with ids in place of indices.

        The function `numbers_of` converts indices to ids.
        """
        left, right = map(int, numbers_of(self.pair))
        return self._replace(left=left, right=right)

    @property
    def pair(self) -> tuple[int, int]:
        return self.left, self.right


def checked_interventions(values: object) -> tuple[Intervention, ...]:
    """Parse interventions and sort them by step. Raise RecipeError for interventions that contradict each other."""
    if not isinstance(values, (list, tuple)) or len(values) > MOST_INTERVENTIONS:
        raise RecipeError(
            f"The interventions must be a list of at most {MOST_INTERVENTIONS:,} texts such as forbid:116+104@12."
        )
    parsed = {value if isinstance(value, Intervention) else Intervention.parsed(str(value)) for value in values}
    checked = tuple(sorted(parsed))
    forced: dict[int, Intervention] = {}
    for intervention in checked:
        if intervention.step < 1:
            raise RecipeError(f"{intervention} is at step 0; the first step is 1.")
        if intervention.act == "force" and forced.setdefault(intervention.step, intervention) != intervention:
            raise RecipeError(
                f"{forced[intervention.step]} and {intervention} both force a pair at the same step; keep one of them."
            )
    for intervention in checked if forced else ():
        clash = next(
            (other for other in forced.values() if other.pair == intervention.pair and other.step >= intervention.step),
            None,
        )
        if intervention.act == "forbid" and clash is not None:
            raise RecipeError(f"{clash} forces a pair that {intervention} forbids earlier; remove one of them.")
    return checked


def forced_at(interventions: Iterable[Intervention]) -> dict[int, tuple[int, int]]:
    return {intervention.step: intervention.pair for intervention in interventions if intervention.act == "force"}


def forbidden_from(interventions: Iterable[Intervention], step: int) -> set[tuple[int, int]]:
    return {
        intervention.pair
        for intervention in interventions
        if intervention.act == "forbid" and intervention.step <= step
    }
