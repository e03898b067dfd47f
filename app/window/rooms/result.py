"""The result of a run that a user has watched to its end: a sentence, three numbers, and interesting steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.run import Phase, Run
from app.session.session import Session
from app.session.time import timer
from app.window.parts.wording import with_direction_marks
from app.window.rooms.my_word import LARGEST_CORPUS
from app.window.time.step_in_words import ShownToken
from bpe_core.history.history import NOTHING, History
from bpe_core.insight.pairs import Loss, largest_loss
from bpe_core.methods.kit.histories import learns_by_ranks
from bpe_core.questions.compression import symbols_per_token
from bpe_core.studies.study import Study
from bpe_core.support.arrays import Int64s
from bpe_core.support.numbered_symbols import WIDTH
from bpe_core.support.progress import Work
from bpe_core.support.wording import count_text

TOPIC = "training_result"
LONG_WORDS = ("none", "superwords")  # patterns whose words may hold several words
LOOK_MILLISECONDS = 900  # pause at the moment before a step, so that its change is visible


@dataclass(frozen=True)
class Result:
    sentence: str
    numbers: tuple[tuple[str, str], ...]  # three numbers, each with its meaning
    longest: tuple[str, int]  # the longest token, and the step that made it
    loss: Loss | None  # known if the leading pairs are known
    loser: str = ""  # the pair that lost
    taker: str = ""  # the new token that took one of its halves
    largest: tuple[str, int, int] | None = None  # else: token of the largest change, step, change


def result_of(study: Study | None, symbols: Int64s, work: Work) -> Result:
    assert study is not None  # a run that has learned something has a study
    history = study.history
    names = study.inside.by_index.texts

    def written_as(id: int) -> str:
        return with_direction_marks(ShownToken.of(history, names, id).text)

    written = [id for id in history.vocabulary.tolist() if id != history.alphabet.unknown_id]
    lengths = names.lengths
    if history.recipe.base_symbols:  # names of symbols have any lengths
        lengths = [len(raw) // WIDTH for raw in names.raw]
    longest = max(written, key=lengths.__getitem__)
    row = history.row_of(longest)
    loss = None
    if _is_small(study) and learns_by_ranks(history):
        loss = largest_loss(study.inside.ranked(work=work), cancelled=work.cancelled)
    result = Result(
        sentence=sentence_of(history),
        numbers=(_steps(history), _whole_words(study, lengths[longest], work), *_shortening(history, symbols)),
        longest=(written_as(longest), 1 + (-1 if row is None else row)),
        loss=loss,
    )
    if loss is not None:
        pair = map(written_as, loss.pair)
        taker = written_as(int(history.indices[loss.step - 1]))
        return replace(result, loser=" + ".join(pair), taker=taker)
    step = int(np.argmax(np.abs(history.tokens_saved)))
    return replace(result, largest=(written_as(int(history.indices[step])), step + 1, int(-history.tokens_saved[step])))


def sentence_of(history: History) -> str:
    """Return a sentence about the whole run.

    It says how the number of tokens in the corpus changed, or how many steps changed the vocabulary.
    """
    wording = history.recipe.wording
    first = history.vocabulary_size_at(0)
    kept = len(history.vocabulary)
    tokens = f"{int(history.tokens_after[-1]):,}"
    if history.only_joins:
        return f"The corpus had {count_text(history.tokens_at_start, 'token')} at first, and has {tokens} now."
    if first < kept:
        drops = int(np.count_nonzero(history.columns.right == NOTHING))
        joins = len(history) - drops
        changed = (
            f"At first there were {count_text(first, 'token')}. Then {joins:,} {wording.choice}s were {wording.done}"
        )
        changed += f", and {count_text(drops, 'token was', 'tokens were')} dropped again" if drops else ""
    else:
        changed = f"Of {first:,} {wording.choice}s, the best {kept:,} are left"
    return f"{changed}. With this vocabulary the corpus has {tokens} tokens."


def _steps(history: History) -> tuple[str, str]:
    wording = history.recipe.wording
    return f"{len(history):,}", wording.step if len(history) == 1 else wording.steps


def _is_small(study: Study) -> bool:
    return study.inside.own_words is not None and study.inside.own_words.total_bytes <= LARGEST_CORPUS


def _whole_words(study: Study, longest: int, work: Work) -> tuple[str, str]:
    """Return the number of words that consist of a single token, with an explanation.

    If counting these words would take long, return the length of the longest token instead.
    """
    words = study.inside.own_words
    if words is None or not _is_small(study) or study.history.recipe.pattern in LONG_WORDS:
        return f"{longest:,}", f"{_unit(study.history)} in the longest token"
    _, starts = study.inside.cut(work=work).by_word(len(study.history))
    return f"{int((np.diff(starts) == 1).sum()):,}", (
        f"of {count_text(len(words), 'different word is', 'different words are')} one token"
    )


def _unit(history: History) -> str:
    return "symbols" if history.recipe.base_symbols else "characters"


def _shortening(history: History, symbols: Int64s) -> list[tuple[str, str]]:
    ratio = symbols_per_token(history, symbols)
    if ratio is None:
        return []
    unit = "bytes" if history.recipe.base == "bytes" else "letters"
    unit = "symbols" if history.recipe.base_symbols else unit
    return [(f"{ratio[-1]:.2f}", f"{unit} per token, {ratio[0]:.2f} at first")]


class WatchedResult(QObject):
    """A model of the result of a finished training run, which the window shows after the run's last step.

    The result appears only in Watch, the part of the window where users follow a training run. Elsewhere, and at any
    earlier step, `result` is None.
    """

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.result: Result | None = None
        self.run: Run | None = None  # the run of the result
        self.is_watched: Callable[[], bool] = lambda: False
        self._runs = session.runs
        self._cursor = session.cursor
        self._background = session.background
        self._playing = session.playing
        self._step, self._see_soon = 0, timer(self, LOOK_MILLISECONDS, self._make_step)
        for signal in (session.runs.changed, session.cursor.moved, session.playing.changed):
            signal.connect(lambda *_: self.follow())

    def follow(self) -> None:
        run = self._runs.shown
        cursor = self._cursor
        is_over = run is not None and run.phase is Phase.ENDED and run.words is not None
        is_over = is_over and cursor.position >= cursor.end > 0 and not self._playing.is_playing
        if not is_over or run is None or not self.is_watched():
            self._take(None, None)
        elif run is not self.run:
            self._take(run, None)
            find = partial(result_of, self._runs.studies.of(run), run.symbol_counts)
            self._background.run(TOPIC, lambda task: find(Work(cancelled=task.cancelled)), partial(self._take, run))

    @property
    def size(self) -> int | None:
        """Return the vocabulary size of the run with the result. If there is no result, return None."""
        return None if self.run is None or self.run.history is None else self.run.history.vocabulary_size

    @property
    def why_another_size(self) -> str:
        """Return a sentence that says why the vocabulary does not have the requested size.

        If it has this size, return an empty string.
        """
        run = self.run
        size = self.size
        wanted = None if run is None else run.recipe.vocab_size
        if run is None or size is None or wanted is None or size == wanted:
            return ""
        return f"The vocabulary has {count_text(size, 'token')} and not {wanted:,}: {run.sentence}"

    def show_step(self, step: int) -> None:
        """Move the time slider to the step before `step`. After a short pause, move it to `step`."""
        self._playing.pause_for_person()
        self._step = step
        self._cursor.go_to(step - 1)
        self._see_soon.start()

    def forbid(self) -> None:
        """Begin a branch that forbids one merge: the merge that took the most occurrences from another pair."""
        run = self.run
        result = self.result
        if run is not None and run.history is not None and result is not None and result.loss is not None:
            self._runs.branch(run, result.loss.step, "forbid", run.history.pair(result.loss.step - 1))

    def _make_step(self) -> None:
        if self._cursor.position == self._step - 1:
            self._cursor.go_to(self._step)

    def _take(self, run: Run | None, result: Result | None) -> None:
        if (result is None or run is self.run) and (run, result) != (self.run, self.result):
            self.run = run
            self.result = result
            self.changed.emit()
