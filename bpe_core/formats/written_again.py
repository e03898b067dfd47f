"""Whether a file is, byte for byte, what would be written of what it says.

Then each of its cells is right, and who reads it need not look at them one by one: it takes the few columns that the
others follow from, and what is written of these again tells of all. Where anything is otherwise, a file is read row by
row, which finds the place and the sentence.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from bpe_core.errors import BpeError
from bpe_core.formats.base import Format, OpenedTable


class _OtherwiseError(Exception):
    """What is written is not what stands there."""


class _Beside(io.RawIOBase):
    """A file that is written only as long as it is what stands there already."""

    def __init__(self, data: bytes) -> None:
        self._data, self.place = memoryview(data), 0

    def writable(self) -> bool:
        return True

    def write(self, some: Any) -> int:
        begin, self.place = self.place, self.place + len(some)
        if self._data[begin : self.place] != some:
            raise _OtherwiseError
        return len(some)


def read_at_once(format: Format, data: bytes, believed: Callable[[], OpenedTable | None]) -> OpenedTable | None:
    """What a file says, believed first, if it is what would be written of that; None where rows must be looked at."""
    try:
        found = believed()
        if found is None:
            return None
        beside = _Beside(data)
        format.write(found.history, beside, numbers=found.numbers)  # type: ignore[arg-type]
    except (BpeError, _OtherwiseError):
        return None
    return found if beside.place == len(data) else None
