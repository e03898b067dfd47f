"""Several tables of words as one: which of their words are the same, and in which order they were first seen.

>>> joined = join([WordColumns.of([b"low", b"new"]), WordColumns.of([b"new", b"lower"])])
>>> [rows.tolist() for rows in joined.rows], joined.words()
([[0, 1], [1, 2]], [b'low', b'new', b'lower'])
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.policy import Policy
from bpe_core.limits import check_room
from bpe_core.repeating import repeated

Int64s = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

KERNELS = Policy("bpe_core.counting.compiled_joining", small=300_000, small_when_loaded=5_000)  # in words
BYTES_A_WORD = 60  # of memory, besides its characters, while tables are joined


class WordColumns(NamedTuple):
    """Words end to end, with where each starts; one start more than there are words."""

    text: Bytes
    starts: Int64s

    @classmethod
    def of(cls, words: Sequence[bytes]) -> WordColumns:
        starts = np.zeros(len(words) + 1, np.int64)
        np.cumsum([len(word) for word in words], out=starts[1:])
        return cls(np.frombuffer(b"".join(words), np.uint8), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def words(self) -> list[bytes]:
        text, starts = self.text.tobytes(), self.starts.tolist()
        return [text[start:stop] for start, stop in pairwise(starts)]

    def where(self, wanted: npt.NDArray[np.bool_]) -> WordColumns:
        """Only the words that are wanted."""
        lengths = np.diff(self.starts)
        starts = np.zeros(int(wanted.sum()) + 1, np.int64)
        np.cumsum(lengths[wanted], out=starts[1:])
        return WordColumns(self.text[repeated(wanted, lengths)], starts)


class Joined(NamedTuple):
    """All different words, and for each table which of them its words are."""

    columns: WordColumns
    rows: list[Int64s]

    def words(self) -> list[bytes]:
        return self.columns.words()


def join(tables: Sequence[WordColumns]) -> Joined:
    """The words of these tables, each once, where it was first seen; those of one table differ from each other."""
    words = sum(map(len, tables))
    text = sum(len(table.text) for table in tables)
    check_room(BYTES_A_WORD * words + 2 * text, "Joining the tables of words", "Join fewer texts at a time.")
    if len(tables) == 1:
        return Joined(tables[0], [np.arange(words)])
    if KERNELS.allows(words):
        from bpe_core.counting.compiled_joining import join_by_kernels  # loads machine code

        return join_by_kernels(tables)
    return join_plainly(tables)


def join_plainly(tables: Sequence[WordColumns]) -> Joined:
    """The same in plain Python."""
    numbers: dict[bytes, int] = {}
    rows = []
    for table in tables:
        found = (numbers.setdefault(word, len(numbers)) for word in table.words())
        rows.append(np.fromiter(found, np.int64, len(table)))
    return Joined(WordColumns.of(list(numbers)), rows)
