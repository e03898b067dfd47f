"""The background thread that trains a tokenizer, in short batches of steps.

When it is asked to pause, the thread ends but the trainer is kept. The next thread continues with the same
trainer.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from app.worker.job import Job
from app.worker.window_first import wait_for_window
from bpe_core.counting.words import WordTable
from bpe_core.editing.extending import Extended, extend_on
from bpe_core.errors import Cancelled, SizeDoesNotFit
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts, with_names
from bpe_core.methods.kit.layout import count_symbols
from bpe_core.methods.kit.leading import LeadingPairs
from bpe_core.methods.kit.trainer import Batch, Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import CancelCheck, Work

BATCH_SECONDS = 0.016
NEWS_SECONDS = 0.03  # the window does not draw more often
LEADING_SECONDS = 0.1
AHEAD_SECONDS = 0.2  # time for which a stopped run waits for its next order
RATE_WINDOW_SECONDS = 1.0


@dataclass(frozen=True)
class ReadyTrainer:
    """A trainer that is ready to learn. It belongs to one run, and only one thread at a time may use it."""

    trainer: Trainer
    names: TokenTexts
    words: WordTable
    symbol_counts: npt.NDArray[np.int64]  # how often each base symbol occurs in the corpus
    leading: LeadingPairs


@dataclass(frozen=True)
class SizeMismatch:
    """The reason why no vocabulary can have the chosen size, with a recipe for a possible size."""

    sentence: str
    problem: str  # the sentence without advice
    fitting: Recipe


@dataclass(frozen=True)
class TrainingProgress:
    history: History
    leading: LeadingPairs | None
    merges_per_second: float = 0.0
    seconds_left: float | None = None  # None if unknown
    is_over: bool = False  # the thread has left the trainer; `history.end_reason` says whether it can go on


@dataclass(frozen=True, eq=False)
class TableToExtend:
    old: History  # the table, with an id for each token
    first_id: int | None = None  # the first id of new tokens
    held_out: tuple[Path, ...] = ()  # texts for which the saving is reported


@dataclass(frozen=True, eq=False)
class ExtendedTable:
    extended: Extended
    words: WordTable
    names: TokenTexts


def make_trainer(
    tables: Callable[[], WordTable], recipe: Recipe, history: History | None, cancelled: CancelCheck
) -> ReadyTrainer | SizeMismatch:
    """Return a trainer that learns from counted words.

    If `history` is not None, the trainer first repeats the merges of the history.

    Return a SizeMismatch if no vocabulary can have the size of the recipe.
    """
    words = tables()
    try:
        trainer = Trainer(words, recipe, history=history, cancelled=cancelled)
    except SizeDoesNotFit as error:
        return SizeMismatch(str(error), error.problem, recipe.with_changes(vocab_size=error.fitting))
    if cancelled():
        raise Cancelled("Cancelled.")
    counts = count_symbols(words, trainer.alphabet, recipe)
    return ReadyTrainer(trainer, token_texts_of(trainer.history), words, counts, trainer.leading())


def extend_table(
    tables: Callable[[], WordTable], recipe: Recipe, table_to_extend: TableToExtend, cancelled: CancelCheck
) -> ExtendedTable:
    """Return a table that is extended by learning from counted words.

    Use this for tables whose steps cannot be repeated.
    """
    words = tables()
    extended = extend_on(words, table_to_extend.old, recipe, table_to_extend.first_id, Work(cancelled=cancelled))
    return ExtendedTable(extended, words, token_texts_of(extended.history))


def token_texts_of(history: History) -> TokenTexts:
    """Return the texts of all tokens of a history. Pause while the window is busy."""
    names = TokenTexts(history.alphabet, with_names(history.recipe))
    names.grow(history, between=wait_for_window)
    return names


class TrainingJob(Job):
    """A job that makes steps until the training ends, enough steps are made, or the job is asked to pause."""

    def __init__(self, trainer: Trainer, names: TokenTexts, rate: float | None, *, merges: int | None = None) -> None:
        super().__init__("training")
        self._trainer = trainer
        self._names = names
        self._left = merges
        self._merges_per_second = rate  # None is as fast as possible
        self._news = threading.Event()  # wakes a thread that waits for its next merge
        self._recent: deque[tuple[float, int]] = deque()
        self._time_left = TimeLeft()

    def set_pace(self, merges_per_second: float | None) -> None:
        self._merges_per_second = merges_per_second
        self._news.set()

    def stop(self) -> None:
        super().stop()
        self._news.set()

    def work(self) -> None:
        sent = leading_sent = 0.0
        while not self.is_stopping and self._left != 0:
            batch = self._advance()
            now = time.monotonic()
            self._recent.append((now, batch.stop))
            if batch.finished:
                break
            if now - sent >= NEWS_SECONDS:
                leading = None
                if now - leading_sent >= LEADING_SECONDS:
                    leading = self._trainer.leading()
                    leading_sent = now
                far = self._trainer.progress()
                left = self._time_left.seconds(now, far.done, (far.total or 0) - far.done)
                self.post(TrainingProgress(self._history_with_texts(), leading, self._rate(now), left))
                sent = now
            self._wait_for_the_next(now)
        patience_ends = time.monotonic() + AHEAD_SECONDS
        self._trainer.look_ahead(lambda: self.is_stopping or time.monotonic() > patience_ends)
        self.post(TrainingProgress(self._history_with_texts(), self._trainer.leading(), is_over=True))

    def _advance(self) -> Batch:
        wanted = self._left
        rate = self._merges_per_second
        if rate is not None:
            wanted = max(1, round(rate * BATCH_SECONDS)) if wanted is None else min(wanted, 1)
        batch = self._trainer.advance(max_merges=wanted, seconds=BATCH_SECONDS)
        if self._left is not None:
            self._left -= batch.stop - batch.start
        return batch

    def _history_with_texts(self) -> History:
        """Compute the readable texts of the history's new tokens. Then return the history.

        The texts are computed on the thread of the job, so that the window does not wait for them.
        """
        history = self._trainer.history
        self._names.grow(history, between=wait_for_window)
        return history

    def _wait_for_the_next(self, since: float) -> None:
        while self._left != 0:
            self._news.clear()  # cleared before the flags are read, or a flag set in between would be missed
            rate = self._merges_per_second
            if rate is None or self.is_stopping:
                return
            due = since + max(1 / rate, BATCH_SECONDS)
            if not self._news.wait(max(0.0, due - time.monotonic())):
                return

    def _rate(self, now: float) -> float:
        while len(self._recent) > 2 and now - self._recent[0][0] > RATE_WINDOW_SECONDS:
            self._recent.popleft()
        (first, start) = self._recent[0]
        (last, stop) = self._recent[-1]
        return (stop - start) / (last - first) if last > first else 0.0


LOOKED_BACK = 3.0  # seconds that the estimate looks back
STEADY = 2.0  # if the rates of both halves differ by more than this factor, there is no estimate


class TimeLeft:
    """An estimator of the time left.

    The first merges touch nearly every word and are slow, and the last merges are quick.
    If a run gets faster and faster, any estimate would be many times too long. Then there is no estimate.

    >>> left = TimeLeft()
    >>> [left.seconds(float(now), 100 * now, 1_000 - 100 * now) for now in range(6)]
    [None, None, None, 7.0, 6.0, 5.0]
    >>> left = TimeLeft()
    >>> [left.seconds(float(now), 2**now, 2**20 - 2**now) for now in range(12)] == [None] * 12
    True
    """

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def seconds(self, now: float, made: int, to_make: int) -> float | None:
        """Return the number of seconds left, or None if it is unknown.

        At the time `now`, `made` merges have been made, and `to_make` merges are left.
        """
        self._seen.append((now, made))
        while len(self._seen) > 2 and now - self._seen[1][0] >= LOOKED_BACK:
            self._seen.popleft()
        began, at_first = self._seen[0]
        if now - began < LOOKED_BACK:
            return None
        middle, halfway = min(self._seen, key=lambda seen: abs(seen[0] - (began + now) / 2))
        if not began < middle < now:
            return None
        slower, faster = sorted(((halfway - at_first) / (middle - began), (made - halfway) / (now - middle)))
        if faster == 0 or faster > STEADY * slower:
            return None
        return to_make * (now - began) / (made - at_first)
