"""Opening a tokenizer that was made elsewhere."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from app.worker.token_names import TokenNames
from bpe_core import FormatError, MergeHistory, TooLarge
from bpe_core.formats import open_table

MOST_TOKEN_BYTES = 2**28  # of all tokens together: as many are kept twice to name them
RENUMBERED = "The file numbers its tokens in an order of its own; its numbers are shown until it learns more merges."


@dataclass(frozen=True)
class Imported(Message):
    """What a file held."""

    path: Path
    format: str
    history: MergeHistory
    names: TokenNames
    notes: tuple[str, ...]
    numbers: npt.NDArray[np.int64] | None  # the file's own, where they are not our ids


class ImportJob(Job):
    """Recognizes a file by its content, checks it and names its tokens."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, path: Path) -> None:
        super().__init__(mailbox, stamp)
        self._path = path

    def work(self) -> None:
        if self._path.exists() and not self._path.is_file():  # whoever writes into a pipe may never begin
            raise FormatError(f"{self._path} is no file.")
        opened = open_table(self._path)
        history = opened.history
        _refuse_what_cannot_be_named(history, self._path)
        names = TokenNames(history.alphabet)
        names.grow(history)
        if not self.stopping:
            notes = opened.notes if opened.numbers is None else (*opened.notes, RENUMBERED)
            self.post(Imported(self.stamp, self._path, opened.format, history, names, notes, opened.numbers))


def _refuse_what_cannot_be_named(history: MergeHistory, path: Path) -> None:
    """A few dozen merges that each double a token could fill any memory."""
    lengths = [len(symbol.text) for symbol in history.alphabet.symbols]
    room = MOST_TOKEN_BYTES
    for left, right in zip(history.columns.left.tolist(), history.columns.right.tolist(), strict=True):
        lengths.append(lengths[left] + lengths[right])
        room -= lengths[-1]
        if room < 0:
            raise TooLarge(
                f"{path}, merge {len(lengths) - len(history.alphabet):,}: the tokens up to it are longer than "
                f"{MOST_TOKEN_BYTES:,} bytes together; such a table cannot be shown."
            )
