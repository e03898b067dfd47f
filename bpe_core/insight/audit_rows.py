"""What an audit found as rows: for a person, for a spreadsheet, for a script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from bpe_core.data_table import DataTable
from bpe_core.history.history import History, Int64s
from bpe_core.insight.audit import Audit
from bpe_core.token_texts import TokenTexts

ORDERS = ("id", "token", "length", "count", "criteria", "reason")


class AuditRow(NamedTuple):
    """One token."""

    id: int  # the number of the file that it came from
    token: str
    hex: str
    characters: int
    times: int | None  # in the corpus, where there is one
    criteria: tuple[str, ...]
    reason: str  # why it cannot be reached
    only_in: str  # the only file that it stands in


class AuditRows:
    """Makes the row of a token when it is asked for."""

    def __init__(self, history: History, found: Audit, numbers: Int64s | None, files: Sequence[str] = ()) -> None:
        self._texts = TokenTexts.of(history)
        self._found, self._numbers, self._files = found, numbers, files

    def row(self, id: int) -> AuditRow:
        found, reason = self._found, self._found.reasons.get(id)
        file = -1 if found.places is None or len(self._files) < 2 else int(found.places.files[id])
        return AuditRow(
            id=self.number(id),
            token=self._texts.text[id],
            hex=self._texts.raw[id].hex(" "),
            characters=int(found.lengths[id]),
            times=None if found.places is None else int(found.places.counts[id]),
            criteria=tuple(found.criteria_of(id)),
            reason="" if reason is None else reason.told(self._texts.text.__getitem__),
            only_in=self._files[file] if file >= 0 else "",
        )

    @property
    def texts(self) -> list[str]:
        """What is written on each token."""
        return self._texts.text

    def number(self, id: int) -> int:
        return id if self._numbers is None else int(self._numbers[id])

    def in_order(self, ids: Iterable[int], by: str, *, from_end: bool = False) -> list[int]:
        """These tokens by one of `ORDERS`, or from the end of that order; equals as they were."""
        return sorted(ids, key=self._key(by), reverse=from_end)

    def _key(self, by: str) -> Callable[[int], Any]:
        """Of a hundred thousand tokens the rows themselves would take too long."""
        found = self._found
        values: list[Any] | None = None
        if by == "token":
            values = self.texts
        elif by == "length":
            values = found.lengths.tolist()
        elif by == "count" and found.places is not None:
            values = found.places.counts.tolist()
        elif by == "criteria":
            values = ((1 << np.arange(len(found.meets))) @ np.array(list(found.meets.values()))).tolist()
        if values is not None:
            return values.__getitem__
        if by == "reason":
            files = [0] * len(found.lengths) if found.places is None else found.places.files.tolist()
            return lambda id: (found.reasons[id].kind if id in found.reasons else "", files[id])
        return self.number


def table_of(rows: Iterable[AuditRow]) -> DataTable:
    """The rows as columns, for a file.

    >>> table_of([AuditRow(300, "␣the", "20 74", 4, None, ("rare", "long"), "", "")]).columns["criteria"]
    [('rare', 'long')]
    """
    found = list(rows)
    return DataTable({name: [row[place] for row in found] for place, name in enumerate(AuditRow._fields)})
