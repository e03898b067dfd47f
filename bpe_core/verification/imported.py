"""Whether a tokenizer that was opened cuts texts as the library does that owns its format.

agreement = check_import("tokenizer.json", open_table("tokenizer.json"))
agreement.sentence     'agrees with tokenizers on 212 of 212 texts'
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from bpe_core.errors import LONGEST_SENTENCE, plain
from bpe_core.formats import FORMATS, OpenedTable
from bpe_core.formats.all_formats import files_beside
from bpe_core.formats.base import Format, Peer
from bpe_core.formats.unpacking import content_of
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.records import dataclass
from bpe_core.verification.apart import peer_of
from bpe_core.verification.checking import LISTED, Comparison

TEXTS = 400  # compared at most
PATIENCE = 2.0  # seconds after which no more texts are taken


@dataclass(frozen=True)
class Agreement:
    """What came of asking the library."""

    asked: str  # the library
    texts: int = 0  # compared
    agreeing: int = 0
    differences: tuple[str, ...] = ()  # the first few, a sentence each
    silence: str = ""  # why it could not be asked

    @property
    def sentence(self) -> str:
        """The result in one line."""
        if self.silence:
            return self.silence
        told = f"agrees with {self.asked} on {self.agreeing:,} of {self.texts:,} texts"
        return told if self.agreeing == self.texts else f"{told}; where not, its ids are others than those shown here"

    @property
    def notes(self) -> tuple[str, ...]:
        """The same for a list of notes, with what differs."""
        return (plain(self.sentence[0].upper() + self.sentence[1:] + "."), *self.differences)


def check_import(
    path: Path | str,
    opened: OpenedTable,
    *,
    patience: float = PATIENCE,
    cancelled: CancelCheck = never_cancelled,
    apart: bool = False,
) -> Agreement | None:
    """Encode hard texts in many scripts with both; None where no library owns the format.

    The library loads a large file `apart` where that must not hold other threads up.
    """
    format = FORMATS.get(opened.format)
    if format is None or not format.peer_name:
        return None
    with ExitStack() as stack:
        try:
            data, beside = content_of(path), files_beside(Path(path))
            peer = stack.enter_context(peer_of(format, data, opened.history, str(path), beside, apart=apart))()
        except Exception as error:  # whatever another library throws
            told = f"{format.peer_name} does not load the file, so nothing was compared: {error}"
            return Agreement(format.peer_name, silence=plain(told, LONGEST_SENTENCE))
        if peer is None:
            told = f"{format.peer_name} is not installed, or lacks a file, so the ids were not compared with its own"
            return Agreement(format.peer_name, silence=told)
        return _compared(format, opened, peer, patience, cancelled)


def _compared(format: Format, opened: OpenedTable, peer: Peer, patience: float, cancelled: CancelCheck) -> Agreement:
    numbers = np.arange(opened.history.id_count) if opened.numbers is None else opened.numbers
    comparison = Comparison(opened.history, opened, format, numbers)
    texts = agreeing = 0
    until = time.monotonic() + patience
    for sample in while_wanted(comparison.samples(""), cancelled, every=1):
        before = len(comparison.found)
        comparison.compare([sample], peer)
        texts += 1
        agreeing += len(comparison.found) == before
        if texts == TEXTS or time.monotonic() > until:
            break
    return Agreement(format.peer_name, texts, agreeing, tuple(comparison.found[:LISTED]))
