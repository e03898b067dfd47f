"""Very many rows that are laid out alike: cells that are numbers or known texts, each behind a text of its own.

>>> rows = Rows([Column("- ", np.array([1, 0]), [b"low", b"new"]), Column(": ", np.array([7, 8]))], ";")
>>> laid(rows)
b'- new: 7;- low: 8;'
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.formats.rows import KERNELS


class Column(NamedTuple):
    """What it says in each row: a number that is not negative, or which of the texts."""

    before: str  # each cell
    values: npt.NDArray[np.int32] | npt.NDArray[np.int64]
    texts: Sequence[bytes] | None = None


class Rows(NamedTuple):
    """As many as each column has values."""

    columns: Sequence[Column]
    behind: str  # each row


def laid(rows: Rows) -> bytes:
    """All of them, one behind the other."""
    if KERNELS.chooses(len(rows.columns[0].values)):
        from bpe_core.formats.compiled_rows import laid_rows  # loads machine code

        return laid_rows(rows)
    signs = ["%d" if column.texts is None else "%b" for column in rows.columns]
    parts = [column.before.replace("%", "%%") + sign for column, sign in zip(rows.columns, signs, strict=True)]
    template = f"{''.join(parts)}{rows.behind.replace('%', '%%')}".encode()
    return b"".join([template % row for row in zip(*map(_cells, rows.columns), strict=True)])


def _cells(column: Column) -> Sequence[int | bytes]:
    values: list[int] = column.values.tolist()
    return values if column.texts is None else [column.texts[one] for one in values]
