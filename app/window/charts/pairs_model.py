"""The model of the leading pairs at the step shown.

At the end of a run, the pairs come from its trainer. For earlier steps, they are recomputed.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from heapq import nlargest

from PySide6.QtCore import QObject, Signal

from app.session.run import NO_PAIRS_YET, NO_RUN, Run
from app.session.session import Session
from app.session.time import timer
from app.window.parts.lazy_model import Asked, LazyModel
from app.window.time.step_in_words import ShownToken
from bpe_core.counting.words import WordTable
from bpe_core.history.history import NOTHING, History
from bpe_core.insight.pairs import compared_by, is_as_good, leading_pairs, measure_of, next_pair
from bpe_core.methods.facts import Wording
from bpe_core.methods.kit.leading import MOST_LEADING, LeadingPairs
from bpe_core.methods.kit.learner import Candidate
from bpe_core.methods.kit.reasons import Reason, reasons_in_words
from bpe_core.questions.pairs import Pairs
from bpe_core.support.progress import CancelCheck, never_cancelled

TOPIC = "leading_pairs"
REDRAW_MILLISECONDS = 33  # a picture of 60 bars takes 2 ms of the processor
REPLAY_PAUSE_MILLISECONDS = 60  # a dragged slider must rest this long before pairs are replayed
MOST_REPLAYED = 8  # moments whose pairs are kept
LONGEST_AHEAD = 0.2  # seconds; a slower replay is only made when it is needed


@dataclass(frozen=True)
class Bar:
    left: str
    right: str  # empty if the left token would be dropped or added
    count: int
    is_next: bool  # this pair will be chosen, or was
    is_tied: bool  # it is as good as the chosen one
    pair: tuple[int, int] = (-1, -1)  # the ids
    value: float = 0.0  # the number by which pairs are compared
    label: str = ""  # the value as a user reads it

    @property
    def is_leaving(self) -> bool:
        return not self.right and self.pair[1] == NOTHING

    @property
    def title(self) -> str:
        return f"{self.left} + {self.right}" if self.right else self.left


class PairsModel(QObject, LazyModel):
    """A model of the leading pairs. Its `bars` belong to the step `at`, which follows the time slider with a delay."""

    has_figure = True
    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.bars: tuple[Bar, ...] = ()
        self.at = 0
        self.learned: tuple[int, ...] = ()  # tokens shown instead of equal bars at the end
        self._shown: LeadingPairs | None = None
        self._was_behind = False  # whether it was behind at the last update
        self.run: Run | None = None
        runs = session.runs
        cursor = session.cursor
        self._runs = runs
        self._cursor = cursor
        self._background = session.background
        self._replayed = deque[tuple[Run, LeadingPairs]](maxlen=MOST_REPLAYED)
        self._began = self._took = 0.0  # the start of the last replay, and its duration in seconds
        self._playing = session.playing
        self._look_around_soon = timer(self, REPLAY_PAUSE_MILLISECONDS, self._replay_neighbours)
        self._replay_soon = timer(self, REPLAY_PAUSE_MILLISECONDS, self._replay)
        self.refresh_on(REDRAW_MILLISECONDS, runs.leading_changed, runs.changed, cursor.live_changed)
        runs.changed.connect(self._forget_removed_runs)
        session.playing.prepares.append(self._prepare)
        session.playing.changed.connect(self._follow)  # connected after the signal of a step to animate

    @property
    def is_waiting(self) -> bool:
        has_run = self._runs.shown is not None
        return super().is_waiting or (self.is_watched and has_run and self._pairs_of_step_shown() is None)

    @property
    def is_behind(self) -> bool:
        """Return whether the bars still show a different step than the time slider."""
        run = self._runs.shown
        is_live = run is not None and run.is_busy and self._cursor.live
        return bool(self.bars) and not is_live and self.at != self._cursor.position

    def _report_delay(self) -> None:
        if self.is_behind != self._was_behind:
            self._was_behind = self.is_behind
            self.changed.emit()

    @property
    def has_begun(self) -> bool:
        """Return whether the pairs of the run shown have been counted."""
        return self._runs.shown is not None and self._runs.shown.history is not None

    @property
    def lacks_words(self) -> bool:
        """Return whether the run shown has no words, so that its leading pairs are unknown."""
        run = self._runs.shown
        return run is not None and run.history is not None and run.words is None

    @property
    def has_steps(self) -> bool:
        run = self._runs.shown
        return run is not None and run.history is not None and len(run.history) > 0

    @property
    def is_followed(self) -> bool:
        """Return whether another process trains the run shown."""
        return self._runs.shown is not None and self._runs.shown.followed is not None

    @property
    def is_over(self) -> bool:
        """Return whether the training of the run shown has ended or stopped."""
        return self._runs.shown is not None and not self._runs.shown.is_busy

    @property
    def can_be_counted(self) -> bool:
        return self._runs.shown is not None and self._runs.shown.can_be_counted

    @property
    def current_question(self) -> Asked | None:
        """Return the question about all possible next steps, with its study. Return None if the run has no texts."""
        study = self._runs.studies.of(self._runs.shown)
        return None if study is None or study.texts is None else (Pairs(at=self._cursor.position), study)

    @property
    def new_token_text(self) -> str:
        """Return the text of the token that the last step added. Return an empty string if the step dropped a token."""
        run = self.run
        if run is None or run.history is None or run.names is None or not 0 < self.at <= len(run.history):
            return ""
        return (
            run.names.text[int(run.history.indices[self.at - 1])] if run.history.pair(self.at - 1)[1] != NOTHING else ""
        )

    @property
    def wording(self) -> Wording:
        return NO_RUN if self._runs.shown is None else self._runs.shown.wording

    @property
    def measure(self) -> str:
        """Return the name of the measure that chooses the next pair."""
        run = self._runs.shown
        leading = self._shown
        reason = None if run is None or leading is None else compared_by(run.recipe, leading.pairs)
        return "count" if reason is None else reason.title.lower()

    def _pairs_of_step_shown(self) -> LeadingPairs | None:
        return self._known_pairs(self._cursor.position)

    def _known_pairs(self, position: int) -> LeadingPairs | None:
        run = self._runs.shown
        if run is None:
            return LeadingPairs(0, ())
        is_at_end = self._cursor.live and position == self._cursor.position
        if run.leading.at == position or (is_at_end and run.trainer is not None):
            return run.leading
        if not run.is_busy and run.words is None:
            return LeadingPairs(position, ())
        return next((leading for of, leading in self._replayed if of is run and leading.at == position), None)

    def _prepare(self, position: int) -> bool:
        """Return whether the pairs of a step are known. If not, start to compute them."""
        if not self.is_watched or self._known_pairs(position) is not None:
            return True
        self._replay(position, is_ahead=True)
        return False

    def _follow(self) -> None:
        """Show the pairs of the slider's step.

        They appear immediately if they are known, unless the run is still growing. Otherwise they appear soon.
        """
        if self._cursor.position == self.at:
            return
        is_live = self._runs.shown is not None and self._runs.shown.is_busy
        if self.is_watched and not is_live and self._pairs_of_step_shown() is not None:
            self.refresh()
        else:
            self.refresh_soon()

    def refresh(self) -> None:
        leading = self._pairs_of_step_shown()
        if leading is not None:
            self._show(leading)
            self._look_around_soon.start()
            return
        if self.run is not self._runs.shown:  # the pairs belong to another run
            self._show(NO_PAIRS_YET)
        self._report_delay()
        self._replay_soon.start()

    def _show(self, leading: LeadingPairs) -> None:
        self.at = leading.at
        self._shown = leading
        self.run = self._runs.shown
        self.bars = _bars(self._runs.shown, leading)
        self.learned = learned_tokens(self.run, self.at) if self._are_bars_useless() else ()
        self._was_behind = self.is_behind
        self.changed.emit()

    def tokens_to_show(self) -> Iterator[ShownToken]:
        """Yield the learned tokens to show, one at a time, because there may be room for only a few."""
        run = self.run
        if run is not None and run.history is not None and run.names is not None:
            for id in self.learned:
                yield ShownToken.of(run.history, run.names, id)

    def _are_bars_useless(self) -> bool:
        """Return whether a chart with bars would be useless.

        This is the case at the end of a finished run, if no pair is left or if many pairs are equally good.
        """
        run = self.run
        bars = self.bars
        is_over = run is not None and run.history is not None and not run.is_busy and self.at == len(run.history) > 0
        if not bars:
            return is_over and run is not None and run.words is not None
        return is_over and len(bars) == MOST_LEADING and all(bar.is_tied and bar.right for bar in bars)

    def _forget_removed_runs(self) -> None:
        kept = (replayed for replayed in self._replayed if replayed[0] in self._runs.all)
        self._replayed = deque(kept, maxlen=MOST_REPLAYED)
        if self.run is not None and self.run not in self._runs.all and not self.is_watched:
            self._show(NO_PAIRS_YET)

    def _replay(self, at: int | None = None, *, is_ahead: bool = False) -> None:
        run = self._runs.shown
        at = self._cursor.position if at is None else at
        if self._background.is_busy(TOPIC) or run is None or self._known_pairs(at) is not None:
            return  # one replay at a time; its end starts the next
        if run.words is None or run.history is None:
            return
        words = run.words
        history = run.history.first(at)
        self._began = time.monotonic()
        self._background.run(
            TOPIC,
            lambda task: compute_leading_pairs(words, history, task.cancelled),
            partial(self._take, run, is_ahead),
            ended=self._replay_wanted_step,
        )

    def _take(self, run: Run, is_ahead: bool, leading: LeadingPairs) -> None:
        """Store computed pairs, and show them even if the slider has moved on.

        Pairs computed in advance are shown only if the slider is at their step by now.
        """
        self._took = time.monotonic() - self._began
        self._replayed.append((run, leading))
        if not is_ahead and run is self._runs.shown:
            self._show(leading)
        if not is_ahead or leading.at == self._cursor.position:
            self.refresh()

    def _replay_wanted_step(self) -> None:
        (self._replay_soon if self._pairs_of_step_shown() is None else self._look_around_soon).start()

    def _replay_neighbours(self) -> None:
        """Compute the pairs of the neighbouring steps in advance.

        They appear immediately if the user then goes to one of these steps.
        """
        run = self._runs.shown
        here = self._cursor.position
        can_wait = run is None or run.is_busy or self._playing.is_playing or self._took > LONGEST_AHEAD
        if can_wait or not self.is_watched or self._pairs_of_step_shown() is None:
            return
        around = (at for at in (here - 1, here + 1) if 0 <= at <= self._cursor.end and self._known_pairs(at) is None)
        if (at := next(around, None)) is not None:
            self._replay(at, is_ahead=True)


def compute_leading_pairs(words: WordTable, history: History, cancelled: CancelCheck = never_cancelled) -> LeadingPairs:
    """Return the leading pairs after the steps of a history, computed from the words.

    The trainer can continue at the same time.
    """
    pairs = leading_pairs(words, history, len(history), MOST_LEADING, cancelled=cancelled)
    return LeadingPairs(len(history), tuple(pairs))


def _bars(run: Run | None, leading: LeadingPairs) -> tuple[Bar, ...]:
    if run is None or run.names is None or not leading.pairs:
        return ()
    text = run.names.text
    reason = compared_by(run.recipe, leading.pairs)
    best = leading.pairs[0]
    following = next_pair(run.history, leading.at, leading.pairs)
    return tuple(
        Bar(text[pair.left], "" if pair.right < 0 else text[pair.right], pair.count,
            (pair.left, pair.right) == following, is_as_good(pair, best, run.recipe, reason), (pair.left, pair.right),
            measure_of(pair, reason), _label(pair, run, reason))
        for pair in leading.pairs
    )  # fmt: skip


def _label(pair: Candidate, run: Run, reason: Reason | None) -> str:
    """Return the text beside the bar of a pair.

    `reason` is the quantity that the chart measures, or None if the chart measures the count. The text is the pair's
    value of this quantity. If the value is unknown, the text is another value that matters for the choice of the pair.
    """
    if reason is None:
        return f"{pair.count:,}"
    return reason.text(pair.count, pair.reasons) or next((text for _, text in reasons_in_words(run.recipe, pair)), "")


MOST_SHOWN = 400
MOST_LOOKED_AT = 5_000  # most tokens that are looked at, counted from the end


def learned_tokens(run: Run | None, at: int) -> tuple[int, ...]:
    """Return the longest tokens among those that the last steps up to `at` made, the longest first."""
    if run is None or run.history is None or run.names is None:
        return ()
    ids = dict.fromkeys(run.history.indices[max(0, at - MOST_LOOKED_AT) : at].tolist())
    return tuple(nlargest(MOST_SHOWN, ids, key=run.names.lengths.__getitem__))
