"""The player, which moves the time slider through the steps of a run.

If many steps in a row change nothing in the text shown, the player skips them.

After the training of a small run, the player shows its steps from the beginning. Until the training ends, the slider
stays at the first step. In a branch, it stays at the step where the branch begins. A run that takes longer is shown
during its training. Any action of a user stops the player.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from PySide6.QtCore import QObject, Qt, Signal

from app.session.run import Phase, Run
from app.session.runs import Runs
from app.session.time import TimeCursor, timer

TICK_MILLISECONDS = 16
SMALL_TOKENS = 1_000_000  # tokens before the first step; larger runs are shown live
LONGEST_TICK = 0.1  # most seconds that a tick counts as: after a busy moment, no visible step is skipped
PATIENCE_MILLISECONDS = 3_000  # a run that takes longer was not learned at once
FIRST_LOOK = 0.4  # share of the first step's time that is over when playing begins
EVENT_SECONDS = 0.9  # seconds of animation for a step made by hand
HOLD_SECONDS = 0.3  # the longest wait for views that prepare the next moment; slower views fall behind
LONGEST_IDLE = 1.5  # most seconds without a change in the text shown
SKIP_SHOWN_SECONDS = 1.5  # seconds for which the skipped steps are named
LEAST_EVENT_SECONDS = 0.33  # faster steps cannot be followed, and must not flash


@dataclass(frozen=True)
class Step:
    """A move of the time slider to a neighbouring step. The slider stays at this step for at least `seconds`."""

    before: int
    after: int
    seconds: float


class Player(QObject):
    """A player that moves, pauses and holds the time slider.

    The signal `stepped` reports only steps that are slow enough to be seen.
    """

    changed = Signal()
    stepped = Signal(Step)
    about_to_play = Signal()  # a walk begins: a listener may call `skip_idle`

    def __init__(self, runs: Runs, cursor: TimeCursor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.speed: float | None = None  # steps a second; None is as fast as possible
        self.prepares: list[Callable[[int], bool]] = []  # each returns whether a moment is ready
        self.follows_training = True
        self.has_motion = True
        self.is_paused = False
        self._runs = runs
        self._cursor = cursor
        self._places: Sequence[int] = (0,)  # the moments of the walk
        self._schedule = Schedule(0, 0)
        self._elapsed = 0.0
        self._at = 0
        self._index = 0
        self._skipped = (0, 0)
        self._skipped_at = -math.inf
        self._ticked = self._stepped_at = 0.0
        self._next: int | None = None  # the moment that is being prepared
        self._held = 0.0  # seconds of waiting by now; all views shall show the same moment
        self._seen = cursor.position
        self._is_wanted = False  # whether the next run shall be played
        self._run: Run | None = None  # the run to play when it has ended
        self._start = 0  # the step from which that run is played
        self._shown: Run | None = None
        self._clock = timer(self, TICK_MILLISECONDS, self._tick, repeats=True)
        self._clock.setTimerType(Qt.TimerType.PreciseTimer)
        self._patience = timer(self, PATIENCE_MILLISECONDS, self._give_up)
        runs.changed.connect(self._follow_runs)
        cursor.moved.connect(self._follow_cursor)
        cursor.live_changed.connect(self._follow_cursor)
        cursor.end_moved.connect(lambda _: self.changed.emit())

    # -- state -----------------------------------------------------------------------------

    @property
    def is_playing(self) -> bool:
        return self._clock.isActive()

    @property
    def can_play(self) -> bool:
        return self._cursor.end > 0

    @property
    def is_at_end(self) -> bool:
        return self._cursor.position >= self._cursor.end

    @property
    def skipped(self) -> tuple[int, int] | None:
        """Return the first and the last of the steps that were skipped a moment ago, or None."""
        is_news = self.is_playing and time.monotonic() - self._skipped_at < SKIP_SHOWN_SECONDS
        return self._skipped if is_news else None

    # -- actions -----------------------------------------------------------------------------

    def toggle(self) -> None:
        self.pause() if self.is_playing else self.play()

    def play(self) -> None:
        """Play from the current step, or from the start if the slider is at the end.

        If the player was paused at the current step, it continues with the steps that it had chosen to show.
        """
        if not self.can_play:
            return
        if self.is_at_end:
            self._cursor.go_to(0)
        start = self._cursor.position
        if not (self.is_paused and start == self._at and self._places[-1] == self._cursor.end):
            self._begin_to_play(start)
        self._cursor.go_to(start)
        self._at = start
        self.is_paused = False
        self._ticked = time.monotonic()
        self._clock.start()
        self.changed.emit()

    def pause(self) -> None:
        self._halt(is_paused=True)

    def skip(self) -> None:
        self._halt()
        self._cursor.go_live()

    def pause_for_person(self) -> None:
        """Pause because the user is doing something else. Afterwards, playing does not start automatically."""
        self._is_wanted = False
        self._give_up()
        self._halt(is_paused=self.is_playing or self.is_paused)

    def set_speed(self, speed: float | None) -> None:
        if speed == self.speed:
            return
        self.speed = speed
        if self.is_playing or self.is_paused:
            self._begin_to_play(self._cursor.position)
        self.changed.emit()

    def skip_idle(self, changes: Iterable[int]) -> None:
        """Skip long runs of steps that change nothing in the text shown.

        `changes` are the steps that change something.
        """
        if self.is_playing or self.is_paused:
            places = steps_without_idle(changes, self._at, self._places[-1], self.speed)
            if len(places) <= self._places[-1] - self._at:  # else nothing is skipped, and the speed stays
                self._plan(places)

    def forget_changes(self) -> None:
        """Forget which steps are skipped, because a different text is shown.

        The next call of `play` chooses the skipped steps again.
        """
        self._places = (self._at,)

    def play_next_run(self) -> None:
        """Plan to play the next run after its training. Only a small run that is trained quickly is played."""
        self._is_wanted = self.follows_training and self.speed is None

    def replay(self) -> None:
        """Play the run shown from the beginning, like a run that has just been trained.

        Do nothing if the user does not want trained runs to be played.
        """
        if self.follows_training and self.speed is None:
            self._cursor.go_to(0)
            self.play()

    # -- the clock -------------------------------------------------------------------------

    def _begin_to_play(self, start: int) -> None:
        self._at = start
        self._plan(range(start, self._cursor.end + 1))
        self.about_to_play.emit()

    def _plan(self, places: Sequence[int]) -> None:
        self._places, self._schedule = places, Schedule(0, len(places) - 1, self.speed)
        self._elapsed = FIRST_LOOK / self._schedule.pace(0.0)
        self._index = 0
        self._next = None
        self._held = 0.0

    def _tick(self) -> None:
        now = time.monotonic()
        passed = min(now - self._ticked, LONGEST_TICK)
        self._elapsed += passed
        self._ticked = now
        index = int(self._schedule.place(self._elapsed)) if self._next is None else self._next
        self._next, place = index, min(self._places[index], self._cursor.end)
        if self._held <= HOLD_SECONDS and not all(is_ready(place) for is_ready in self.prepares):
            self._held += passed
            return
        self._next = None
        self._held = 0.0 if self._held <= HOLD_SECONDS else self._held
        if index != self._index:
            for before, after in pairwise(self._places[self._index : index + 1]):
                if after - before > 1:
                    self._skipped = (before + 1, after)
                    self._skipped_at = now
            self._index = index
            self._at = place
            self._cursor.go_to(place)
        if index >= self._schedule.end:
            self.skip()

    def _halt(self, *, is_paused: bool = False) -> None:
        before = self.is_playing, self.is_paused
        self._clock.stop()
        self.is_paused = is_paused
        if before != (False, is_paused):
            self.changed.emit()

    # -- following -------------------------------------------------------------------------

    def _follow_cursor(self) -> None:
        position = self._cursor.position
        before = self._seen
        self._seen = position
        if (self.is_playing or self.is_paused) and (position != self._at or self._cursor.live):
            self._forget_run()
            self._halt()  # the user moved the cursor
        if position == before:
            return
        now = time.monotonic()
        since = now - self._stepped_at
        self._stepped_at = now
        seconds = self._seconds_to_the_next()
        if self.has_motion and abs(position - before) == 1 and min(seconds, since) >= LEAST_EVENT_SECONDS:
            self.stepped.emit(Step(before, position, seconds))
        self.changed.emit()

    def _seconds_to_the_next(self) -> float:
        if self.is_playing:
            return min(EVENT_SECONDS, 0.95 / self._schedule.pace(self._elapsed))
        if self._cursor.live and self._shown is not None and self._shown.is_busy:
            return min(EVENT_SECONDS, 0.95 / self.speed) if self.speed else 0.0
        return EVENT_SECONDS

    def _follow_runs(self) -> None:
        run = self._runs.shown
        if run is not self._shown:
            self._shown = run
            self._forget_run()
            self._halt()
            fork = None if run is None else run.begins_with
            self._start = 0 if fork is None else len(fork)
            self._run = run if self._is_wanted or fork is not None else None
            self._is_wanted = False
        if run is None or run is not self._run:
            return
        if run.phase is Phase.LEARNING and not self._patience.isActive():
            self._hold_at_first_step(run)
        elif run.phase is Phase.ENDED:
            self._play_learned_run(run)
        elif not run.is_busy:
            self._give_up()

    def _hold_at_first_step(self, run: Run) -> None:
        """Keep the slider at the first step while a small run is trained."""
        if run.history is None or run.history.tokens_at_start > SMALL_TOKENS or self.speed is not None:
            self._run = None
            return
        self._patience.start()
        self._cursor.go_to(self._start)

    def _play_learned_run(self, run: Run) -> None:
        is_held = self._patience.isActive() and self._is_held
        self._forget_run()
        if is_held and run.learned <= self._start:
            self._cursor.go_live()
        elif is_held and self.follows_training:  # else the fork is shown until the user plays
            self.play()

    def _give_up(self) -> None:
        """Give up playing the run from its first step, because the training took too long or was stopped.

        If the slider still waits at the first step, it moves to the newest step and follows the training.
        """
        is_held = self._run is not None and self._is_held
        self._forget_run()
        if is_held:
            self._cursor.go_live()

    @property
    def _is_held(self) -> bool:
        return not self._cursor.live and self._cursor.position == self._start

    def _forget_run(self) -> None:
        self._run = None
        self._patience.stop()


WHOLE_SECONDS = 18.5  # seconds that playing takes for any history; about twenty with learning
FIRST_PER_SECOND = 1.0  # the speed at the beginning
_HALVINGS = 60  # enough halvings of the searched range to exhaust the precision of a float


@dataclass(frozen=True)
class Schedule:
    """A schedule of steps. The speed is steady, or it is slow at first and then grows.

    >>> played = Schedule(0, 256)
    >>> [int(played.place(second)) for second in (0, 1, 3, 10, 18.49)]
    [0, 1, 4, 36, 255]
    >>> int(Schedule(10, 256, speed=2.0).place(5))
    20
    """

    start: int
    end: int
    speed: float | None = None  # steps a second; None is a growing speed, to end in about 20 seconds

    @property
    def seconds(self) -> float:
        steps = self.end - self.start
        return steps / self.speed if self.speed else min(WHOLE_SECONDS, steps / FIRST_PER_SECOND)

    def place(self, seconds: float) -> float:
        """Return the position after `seconds` as a fractional step: 7.5 is halfway from step 7 to step 8."""
        if seconds >= self.seconds:
            return float(self.end)
        if self.speed:
            return self.start + self.speed * seconds
        return self.start + FIRST_PER_SECOND * _distance_at(self._growth, seconds)

    def seconds_to(self, step: int) -> float:
        """Return the number of seconds until a step is reached."""
        way = (step - self.start) / (self.speed or FIRST_PER_SECOND)
        return way if self.speed or self._growth < 1e-9 else math.log1p(way * self._growth) / self._growth

    def pace(self, seconds: float) -> float:
        return self.speed or FIRST_PER_SECOND * math.exp(self._growth * seconds)

    @cached_property
    def _growth(self) -> float:
        """Return the growth rate of the speed. With this rate, the last step is reached at the planned time."""
        wanted = (self.end - self.start) / FIRST_PER_SECOND
        if wanted <= self.seconds:
            return 0.0
        low = 0.0
        high = 1 / self.seconds
        while _distance_at(high, self.seconds) < wanted:
            high *= 2
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if _distance_at(middle, self.seconds) < wanted else (low, middle)
        return low


def _distance_at(growth: float, seconds: float) -> float:
    """Return the distance that a movement with growing speed covers in the given time.

    The speed is 1 at first, and it grows exponentially at the rate `growth`.
    """
    return seconds if growth < 1e-9 else math.expm1(growth * seconds) / growth


def steps_without_idle(changes: Iterable[int], start: int, end: int, speed: float | None = None) -> list[int]:
    """Return the steps from `start` to `end`.

    If many steps in a row change nothing, return only the last of them.

    >>> steps_without_idle([1, 2, 80, 81], 0, 100, speed=1)
    [0, 1, 2, 79, 80, 81, 99, 100]
    """
    places = list(range(start, end + 1))
    marks = sorted({start, end, *(change for change in changes if start < change < end)})
    while True:
        schedule = Schedule(0, len(places) - 1, speed)
        index_of = {place: index for index, place in enumerate(places)}
        idle = set[int]()
        for first, last in pairwise(marks):
            here = index_of[first]
            there = index_of[last]
            if there - here > 2 and schedule.seconds_to(there) - schedule.seconds_to(here) > LONGEST_IDLE:
                idle.update(range(first + 1, last - 1))
        if not idle:
            return places
        places = [place for place in places if place not in idle]
