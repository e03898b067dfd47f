"""What tables hold beyond counts: what steps were chosen by, and the scores of tokens at each time they were set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.formats.rows import Row
from bpe_core.history.columns import Scores
from bpe_core.history.history import NOTHING, TIED, Columns, History, Reasons

KINDS = ("|b1", "|i1", "<i2", "<i4", "<i8", "<f4", "<f8")  # of numbers, as numpy writes them
BEYOND = 1e300  # what is not smaller stands for infinity
MOST_REASONS = 20

Number = int | float | bool


# --- Reasons ----------------------------------------------------------------------------


def kinds_of(history: History) -> dict[str, str]:
    """The kind of numbers in each column of reasons."""
    return {name: column.dtype.newbyteorder("<").str for name, column in history.reasons.items()}


def columns_for(kinds: Mapping[str, Any]) -> list[str]:
    """The columns that a table has for them; whether a step was tied has one in every table."""
    return [name for name in kinds if name != TIED]


def checked_kinds(value: object, where: str) -> dict[str, str]:
    """Columns that a file says it has beyond those of all tables."""
    if value is None:
        return {}
    sound = isinstance(value, dict) and len(value) <= MOST_REASONS
    if not sound or not all(kind in KINDS and _may_name(name, kind) for name, kind in value.items()):  # type: ignore[attr-defined]
        raise FormatError(f"{where}: what it says of the reasons of steps is damaged.")
    return dict(value)  # type: ignore[call-overload, no-any-return]


def _may_name(name: object, kind: object) -> bool:
    if not isinstance(name, str) or not name.isidentifier() or len(name) > 40:
        return False
    return kind == "|b1" if name == TIED else name not in Row._fields


def checked_number(value: object, kind: str, where: str) -> Number:
    """A number of this kind as JSON has it, where what is no number stands for nothing."""
    if value is None and kind[1] == "f":
        return math.nan
    if kind[1] == "b" and isinstance(value, bool):
        return value
    if kind[1] == "f" and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value) if abs(value) < BEYOND else math.copysign(math.inf, value)
    if kind[1] == "i" and isinstance(value, int) and not isinstance(value, bool):
        limits = np.iinfo(kind)
        if limits.min <= value <= limits.max:
            return value
    raise FormatError(f"{where}: {str(value)[:40]!r} is not such a number as its step was chosen by.")


def as_reasons(kinds: Mapping[str, str], values: Mapping[str, Sequence[Number]]) -> Reasons:
    return {name: np.array(values[name], np.dtype(kind).newbyteorder("=")) for name, kind in kinds.items()}


# --- Scores -----------------------------------------------------------------------------


def since_of(history: History) -> list[int] | None:
    """After how many steps the scores were set anew; None where there are none."""
    return None if history.scores is None else [int(steps) for steps in history.scores.since]


def scores_by_token(history: History) -> list[list[float | None]]:
    """The scores of each token, the earliest first, as numbers of 32 bits are written; None for what has none."""
    found: list[list[float | None]] = [[] for _ in history.alphabet.symbols]
    if history.scores is not None:
        alive = np.arange(len(found))
        for since, row in zip(history.scores.since, history.scores.rows, strict=True):
            left = np.setdiff1d(alive, history.scores.dropped[:since])
            for id, score in zip(left.tolist(), row, strict=True):
                found[id].append(_finite(score))
    return found


def _finite(score: np.float32) -> float | None:
    """A score as JSON can hold it: of what is not used at all, which is not dropped yet, it is beyond all numbers."""
    if np.isneginf(score):
        return -BEYOND
    return float(str(score)) if np.isfinite(score) else None


def scores_from(since: object, by_token: Sequence[object], columns: Columns, where: str) -> Scores | None:
    """The scores again, if each row of them has a number for every token that was left then."""
    if since is None:
        return None
    damaged = FormatError(f"{where}: the scores of its tokens are damaged.")
    if not isinstance(since, list) or not since or not all(type(steps) is int for steps in since):
        raise damaged
    if since[0] != 0 or since != sorted(since) or since[-1] > len(columns.left) or (columns.right != NOTHING).any():
        raise damaged
    dropped_at = dict(zip(columns.left.tolist(), range(len(columns.left)), strict=True))
    rows: list[list[float]] = [[] for _ in since]
    for id, scores in enumerate(by_token):
        gone = dropped_at.get(id, len(columns.left))
        expected = sum(1 for steps in since if steps <= gone)
        if not isinstance(scores, list) or len(scores) != expected:
            raise damaged
        for row, score in zip(rows, scores, strict=False):
            row.append(float(checked_number(score, "<f4", where)))
    return Scores(tuple(since), tuple(np.array(row, np.float32) for row in rows), columns.left.astype(np.int32))
