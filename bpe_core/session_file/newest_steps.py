"""The newest steps of a growing run, in a small file beside its session.

A session also holds all words, so a training run saves it only every few seconds. This file holds only the steps and
the leading pairs, so it is written ten times a second. A program that follows the run reads it. The file is removed
when the run ends, and it is not needed to continue a run.

    a line of JSON      the names of the texts, and the leading pairs
    the history         as `bpe_core.history.packed` writes it
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bpe_core.errors import BpeError, FormatError
from bpe_core.formats.rebuilding import check_steps, checked_alphabet
from bpe_core.history.columns import joined_lengths
from bpe_core.history.history import History
from bpe_core.history.packed import packed, unpacked
from bpe_core.history.token_texts import check_budget
from bpe_core.methods.kit.leading import LeadingPairs
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.choice import LARGEST_VOCABULARY

ENDING = ".steps"
SECONDS_BETWEEN = 0.1
TIMES_THE_WRITING = 66  # pause after each writing, so that writing takes less than 2 % of the time
LARGEST = 2**30  # bytes that are read
LONGEST_ARRAY = 8 * LARGEST_VOCABULARY


@dataclass(frozen=True, eq=False)
class NewestSteps:
    history: History
    leading: LeadingPairs | None
    names: tuple[str, ...]  # of the texts


def steps_file(session: Path) -> Path:
    """Return the path of the file with the newest steps of a session. It is a hidden file on most systems."""
    return session.with_name(f".{session.name}{ENDING}")


class StepsWriter:
    """A writer of the newest steps.

    A failed write does not end the training run, because the session also holds the steps.
    """

    def __init__(self, session: Path, names: Sequence[str]) -> None:
        self._path = steps_file(session)
        self._beside = self._path.with_name(self._path.name + ".new")  # until it is complete
        self._names = list(names)
        self._next = 0.0  # by the monotonic clock
        self.remove()  # a killed training may have left it

    def write_if_due(self, trainer: Trainer) -> None:
        """Write the steps of a trainer, unless they were last written only a moment ago."""
        if time.monotonic() >= self._next:
            self.write(trainer)

    def write(self, trainer: Trainer) -> None:
        history = trainer.history
        if history.scores is not None or not len(history):  # scores are as large as the session
            return
        began = time.monotonic()
        about = {"names": self._names, "leading": trainer.leading().as_values()}
        with contextlib.suppress(OSError):
            self._beside.write_bytes(json.dumps(about).encode() + b"\n" + packed(history))
            os.replace(self._beside, self._path)
        ended = time.monotonic()
        self._next = ended + max(SECONDS_BETWEEN, TIMES_THE_WRITING * (ended - began))

    def remove(self) -> None:
        for path in (self._path, self._beside):
            with contextlib.suppress(OSError):
                path.unlink()


def read_newest_steps(path: Path) -> NewestSteps:
    """Read a file with the newest steps. Raise FormatError if another program has changed it."""
    with open(path, "rb") as file:
        head = file.readline(LARGEST)
        data = file.read(LARGEST)
    try:
        about = json.loads(head)
        given = unpacked(data, LONGEST_ARRAY)
        return _checked(about, given, path.name)
    except BpeError:
        raise
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        raise FormatError(f"{path.name} does not hold the steps of a training.") from error


def _checked(about: dict[str, object], given: dict[str, object], where: str) -> NewestSteps:
    history = History(**given)  # type: ignore[arg-type]  # the steps are checked below
    recipe = history.recipe
    columns = history.columns
    is_whole = len({len(column) for column in columns} | {len(column) for column in history.reasons.values()}) == 1
    if not is_whole or history.scores is not None or history.joining is not None or history.numbers is not None:
        raise FormatError(f"{where} does not hold the steps of a training.")
    alphabet = checked_alphabet(list(history.alphabet.symbols), recipe, where)
    wide = [np.asarray(column, np.int64) for column in columns]
    check_steps(wide, alphabet, recipe, lambda row: f"{where}, step {row + 1:,}")
    joins = columns.right >= 0
    lengths = joined_lengths([len(text) for text in alphabet.texts], columns.left[joins], columns.right[joins])
    check_budget(lengths, len(alphabet), where)
    if wrong := Method.of(recipe).what_is_wrong(history):
        raise FormatError(f"{where}: {wrong}.")
    names = about.get("names")
    leading = LeadingPairs.of_values(about.get("leading"), history.index_count)
    return NewestSteps(history, leading, tuple(map(str, names)) if isinstance(names, list) else ())
