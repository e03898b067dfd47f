"""The leading pairs of a run. They are the candidates for the next step, with the best pair first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bpe_core.history.columns import SINGLE
from bpe_core.history.history import COUNT_ALONE
from bpe_core.methods.kit.learner import Candidate

MOST_LEADING = 60  # pairs


@dataclass(frozen=True)
class LeadingPairs:
    at: int  # the number of steps before them
    pairs: tuple[Candidate, ...]  # the candidates for the next step, the best first

    def as_values(self) -> dict[str, Any]:
        """Return the pairs as values that JSON can hold.

        >>> LeadingPairs(3, (Candidate(104, 101, 7),)).as_values()
        {'at': 3, 'pairs': [[104, 101, 7, {}]]}
        """
        rows = [
            [pair.left, pair.right, pair.count, {name: _plain(value) for name, value in pair.reasons.items()}]
            for pair in self.pairs
        ]
        return {"at": self.at, "pairs": rows}

    @classmethod
    def of_values(cls, values: object, tokens: int) -> LeadingPairs | None:
        """Make leading pairs from `values`, the result of `as_values`. Return None if the values are not valid.

        The indices of the tokens in a pair must be less than `tokens`.

        >>> LeadingPairs.of_values({"at": 3, "pairs": [[104, 101, 7, {}]]}, 259)
        LeadingPairs(at=3, pairs=(Candidate(left=104, right=101, count=7, reasons=mappingproxy({})),))
        >>> LeadingPairs.of_values({"at": 3, "pairs": [[104, 900, 7, {}]]}, 259) is None
        True
        """
        rows = values.get("pairs") if isinstance(values, dict) else None
        at = values.get("at") if isinstance(values, dict) else None
        if not isinstance(rows, list) or len(rows) > MOST_LEADING or type(at) is not int:
            return None
        pairs = [_candidate(row, tokens) for row in rows]
        known = tuple(pair for pair in pairs if pair is not None)
        return cls(at, known) if len(known) == len(pairs) else None


def _candidate(row: object, tokens: int) -> Candidate | None:
    if not isinstance(row, list) or len(row) != 4:
        return None
    *numbers, reasons = row
    if not all(type(number) is int for number in numbers) or not isinstance(reasons, Mapping):
        return None
    left, right, count = numbers
    is_known = 0 <= left < tokens and (0 <= right < tokens or right in SINGLE.values())
    known = {name: math.nan if value is None else value for name, value in reasons.items()}
    are_numbers = all(isinstance(value, int | float) for value in known.values())
    return Candidate(left, right, count, known or COUNT_ALONE) if is_known and are_numbers else None


def _plain(value: Any) -> Any:
    """Convert a value to a number that JSON can hold. NaN, which stands for an unknown value, becomes None."""
    number = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(number, float) and math.isnan(number) else number
