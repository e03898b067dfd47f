"""What an audit found as rows: for a person, for a spreadsheet, for a script."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from bpe_core.atomic import write_atomically
from bpe_core.errors import OutputError
from bpe_core.history.history import History, Int64s
from bpe_core.insight.audit import Audit
from bpe_core.token_texts import TokenTexts

COLUMNS = ("id", "token", "hex", "characters", "times", "criteria", "reason", "only in")
ENDINGS = (".csv", ".tsv", ".json")


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


def cells(row: AuditRow) -> list[str]:
    """As a table of texts holds it.

    >>> cells(AuditRow(300, "␣the", "20 74 68 65", 4, None, ("rare", "long"), "", ""))
    ['300', '␣the', '20 74 68 65', '4', '', 'rare, long', '', '']
    """
    count = "" if row.count is None else str(row.count)
    return [
        str(row.id),
        row.token,
        row.hex,
        str(row.characters),
        count,
        ", ".join(row.criteria),
        row.reason,
        row.only_in,
    ]


def write_rows(rows: Iterable[AuditRow], path: Path) -> None:
    """As the ending of the name says."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise OutputError(f"A list of tokens is written as {', '.join(ENDINGS)}; end the name {path} in one of them.")
    with write_atomically(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        if ending == ".json":
            json.dump([row._asdict() for row in rows], text, ensure_ascii=False, indent=1)
        else:
            writer = csv.writer(text, delimiter="\t" if ending == ".tsv" else ",", lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(map(cells, rows))
        text.detach()
