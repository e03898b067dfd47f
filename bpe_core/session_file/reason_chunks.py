"""What steps were chosen by, a column each, in pieces that fit into rows; and back.

>>> rows = list(reason_chunks({"loss": np.arange(600.0)}, 512))  # from the piece on that holds this step
>>> [(name, place, kind, len(numbers)) for name, place, kind, numbers in rows]
[('loss', 1, '<f8', 704)]
>>> list(reason_chunks({"loss": np.arange(600.0)}, 0))[1] == rows[0]
True
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from bpe_core.errors import FormatError
from bpe_core.formats.beyond_counts import KINDS
from bpe_core.history.history import Reasons
from bpe_core.session_file.checksums import MERGES_IN_A_PART

ReasonChunk = tuple[str, int, str, bytes]  # a column's name, which piece of it, the kind of its numbers, they


def reason_chunks(reasons: Reasons, written: int) -> Iterator[ReasonChunk]:
    """The pieces that hold the steps behind the first so many, as large as the parts that are lost or kept."""
    for name, column in reasons.items():
        kind = column.dtype.newbyteorder("<")
        for place in range(written // MERGES_IN_A_PART, -(-len(column) // MERGES_IN_A_PART)):
            piece = column[place * MERGES_IN_A_PART : (place + 1) * MERGES_IN_A_PART]
            yield name, place, kind.str, piece.astype(kind).tobytes()


def reasons_in(chunks: Iterable[ReasonChunk], learned: int, where: str) -> Reasons:
    """The columns again, if their pieces fit together and there is a number for each step."""
    kinds: dict[str, str] = {}
    pieces: dict[str, list[bytes]] = {}
    for name, place, kind, numbers in chunks:
        is_next = place == len(pieces.setdefault(name, []))
        if kind not in KINDS or kinds.setdefault(name, kind) != kind or not is_next:
            raise FormatError(f"{where}: what its steps were chosen by is damaged.")
        pieces[name].append(numbers)
    return {name: _column(b"".join(found), np.dtype(kinds[name]), learned, where) for name, found in pieces.items()}


def _column(numbers: bytes, kind: np.dtype[np.generic], learned: int, where: str) -> npt.NDArray[np.generic]:
    if len(numbers) != learned * kind.itemsize:
        raise FormatError(f"{where}: what its steps were chosen by has not one number for each of them.")
    return np.frombuffer(numbers, kind).astype(kind.newbyteorder("="))
