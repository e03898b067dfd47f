"""Chosen pairs followed through the whole training: their counts, who led when, what cut them down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.manifests import RESULT, SESSION
from app.session.run import NO_RUN, Run
from app.session.session import Session
from app.window.parts.lines import NO_LINES, ChartLines, NamedLine
from app.window.parts.watched import Exact, Watched
from bpe_core import History
from bpe_core.exact.of_texts import race as exact_race
from bpe_core.exact.tokens import TokenColumns
from bpe_core.insight.race import Race, Runner, best_that_never_won, most_dramatic, race
from bpe_core.insight.ranked_words import RankedWords
from bpe_core.learning.methods import METHODS, Method, learns_by_ranks
from bpe_core.progress import CancelCheck, never_cancelled

FOLLOW_MILLISECONDS = 120
FOLLOWED = 5  # pairs that are shown while none is chosen
MOST_CHOSEN = 8
MOST_CUTS = 4
LOG_RATIO = 20  # of the last moment shown to the first; from there on, time is drawn on a logarithmic scale

Pair = tuple[int, int]


@dataclass(frozen=True)
class RunnerFacts:
    """One pair and how it fared."""

    pair: Pair
    name: str
    now: int
    peak: int
    born: int
    won_at: int | None
    cuts: tuple[tuple[int, str, int], ...]  # step, token made there, occurrences lost


@dataclass(frozen=True, eq=False)
class RaceFacts:
    """The race as of one moment."""

    runners: tuple[RunnerFacts, ...]
    lines: ChartLines
    leads: tuple[tuple[int, str], ...]  # from this state on, that one leads
    result: Race


class RaceModel(QObject, Watched):
    """While nobody chose any pairs, those of the next merges run; at the end those that lived through most."""

    chart = "race"
    changed = Signal()
    refused = Signal(str)  # why a pair could not be added

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.facts: RaceFacts | None = None
        self.chosen: list[Pair] = []
        self._runs, self._cursor, self._aside = session.runs, session.cursor, session.aside
        self._run: Run | None = None
        self.refresh_on(FOLLOW_MILLISECONDS, session.cursor.moved, session.runs.changed)

    @property
    def has_a_race(self) -> bool:
        """Whether pairs are joined one after the other."""
        run = self._runs.shown
        if run is None or run.history is None:
            return run is None or Method.of(run.recipe).learns_by_ranks
        return learns_by_ranks(run.history)

    @property
    def hint(self) -> str:
        """What is said where nothing runs."""
        run = self._runs.shown
        if run is not None and not self.has_a_race:
            method = METHODS[run.recipe.method]
            if run.history is not None and run.history.joining is not None:
                return "This table joins pairs in an order of its own, not as tokens were born: no pairs run here."
            return (
                "Here pairs run against each other where words are joined pair by pair, which is not how "
                f"{method.title} learns. The first of these charts shows what is {method.wording.done} next, and the "
                "page of a token how often it stood in the corpus when."
            )
        return f"The pairs of the next {(NO_RUN if run is None else run.wording).steps} run here when training begins."

    @property
    def command(self) -> tuple[str, ...]:
        runners = () if self.facts is None else self.facts.runners
        pairs = (word for one in runners for word in ("--pair", *(f"#{id}" for id in one.pair)))
        return ("chart", "race", SESSION, *pairs, "-o", RESULT) if runners else ()

    def exact(self) -> Exact:
        facts, run = self.facts, self._runs.shown
        if facts is None or not facts.runners or run is None or run.history is None:
            return super().exact()
        history, numbers, runners = run.history, run.shown_numbers, facts.result.runners
        return lambda cancelled: exact_race(runners, TokenColumns.for_history(history, numbers))

    @property
    def chart_choices(self) -> dict[str, object]:
        run = self._runs.shown
        return {"steps": (NO_RUN if run is None else run.wording).steps.capitalize()}

    @property
    def lines(self) -> ChartLines:
        return self.facts.lines if self.facts is not None else NO_LINES

    def add(self, entered: str) -> None:
        """A pair as it is written in the merge table: `␣t + he`, or with blanks as they are."""
        run = self._runs.shown
        left, sign, right = entered.partition(" + ")
        if run is None or run.names is None or not sign:
            self.refused.emit("Write a pair as two tokens with a plus between them, such as “␣t + he”.")
            return
        pair = []
        for text in (left, right):
            id = run.names.id_of(text)
            id = run.names.id_of(text.strip()) if id is None else id
            if id is None:
                self.refused.emit(f"No token of this run is written “{text.strip()}”.")
                return
            pair.append(id)
        self.choose([*self.chosen, (pair[0], pair[1])])

    def follow(self, pair: Pair) -> None:
        """Let this one run, too, against those that are chosen or about to be merged."""
        self._add([pair])

    def keep(self) -> None:
        """Go on with the pairs that are shown now, whatever the moment."""
        if self.facts is not None:
            self.choose([runner.pair for runner in self.facts.runners])

    def add_unlucky(self) -> None:
        """The pairs that came in second most often and never won."""
        run = self._runs.shown
        if run is not None and run.history is not None:
            self._add([one.pair for one in best_that_never_won(run.history, 3)])

    def choose(self, pairs: Sequence[Pair]) -> None:
        """Follow these; none: those of the next merges."""
        self.chosen = list(dict.fromkeys(pairs))[-MOST_CHOSEN:]
        self.refresh_soon()

    def travel_to(self, step: int) -> None:
        self._cursor.go_to(step)

    def refresh(self) -> None:
        run = self._runs.shown
        self._forget_other_runs_pairs(run)
        self._rest_as_long(self._aside, "race", run)
        ranked = self._runs.ranked.of(run) if run is not None else None
        if run is None or ranked is None or run.names is None or run.history is None:
            self._take(None)
            return
        at, names = self._cursor.position, run.names.text
        pairs = self.chosen or _next_pairs(run.history, at)
        self._aside.ask("race", lambda task: race_facts(ranked(), pairs, at, names, task.cancelled), self._take)

    def _add(self, pairs: Sequence[Pair]) -> None:
        run = self._runs.shown
        if run is not None and run.history is not None:
            self._forget_other_runs_pairs(run)
            running = [runner.pair for runner in self.facts.runners] if self.facts is not None else []
            self.choose([*(self.chosen or _next_pairs(run.history, self._cursor.position) or running), *pairs])

    def _forget_other_runs_pairs(self, run: Run | None) -> None:
        if run is not self._run:
            self._run, self.chosen = run, []  # ids mean something else in another run

    def _take(self, facts: RaceFacts | None) -> None:
        self.facts = facts
        self.changed.emit()


def _next_pairs(history: History, at: int) -> list[Pair]:
    """Those of the next merges; near the end, of the last ones. At the very end none is next."""
    first = min(at, max(0, len(history) - FOLLOWED)) if at < len(history) else len(history)
    return [history.pair(row) for row in range(first, min(first + FOLLOWED, len(history)))]


def race_facts(
    ranked: RankedWords,
    pairs: Sequence[Pair],
    at: int,
    names: Sequence[str],
    cancelled: CancelCheck = never_cancelled,
) -> RaceFacts:
    """Of these pairs; of none: of those that lived through most."""
    pairs = pairs or most_dramatic(ranked, FOLLOWED, cancelled=cancelled)
    result = race(ranked, pairs, cancelled=cancelled)
    end = len(ranked.history)
    runners = tuple(_runner_facts(runner, at, names, ranked.base) for runner in result.runners)
    lines = tuple(_line(runner, shown.name, end) for runner, shown in zip(result.runners, runners, strict=True))
    return RaceFacts(
        runners,
        _zoomed(lines, result, end, at, METHODS[ranked.history.recipe.method].wording.steps.capitalize()),
        _leads(result, runners),
        result,
    )


def _zoomed(lines: tuple[NamedLine, ...], result: Race, end: int, at: int, steps: str) -> ChartLines:
    """The part of the history in which something happens to these pairs, and the moment shown."""
    first = min([at, *(runner.born for runner in result.runners)])
    last = max([at, *(runner.won_at or end for runner in result.runners)])
    margin = max(1, (last - first) // 10)
    return ChartLines(
        lines,
        steps,
        "Count of the pair",
        is_log_x=last > LOG_RATIO * (first + margin),
        is_stairs=True,
        marked_x=float(at),
        first_x=float(max(0, first - margin)) if last <= LOG_RATIO * (first + margin) else 0.0,
        last_x=float(min(end, last + margin)),
    )


def _runner_facts(runner: Runner, at: int, names: Sequence[str], base: int) -> RunnerFacts:
    return RunnerFacts(
        pair=runner.pair,
        name=" + ".join(names[id] for id in runner.pair),
        now=runner.count_at(at),
        peak=runner.peak,
        born=runner.born,
        won_at=runner.won_at,
        cuts=tuple((cut.step, names[base + cut.step - 1], cut.lost) for cut in runner.cuts[:MOST_CUTS]),
    )


def _line(runner: Runner, name: str, end: int) -> NamedLine:
    """The stairs of a count: where it begins, each fall, and where the history ends."""
    x = np.concatenate([[runner.born], runner.falls + 1, [max(end, runner.born)]]).astype(np.float64)
    y = np.append(runner.counts, runner.counts[-1]).astype(np.float64)
    won = ((float(runner.won_at - 1), float(runner.count_at(runner.won_at - 1)), "merged"),) if runner.won_at else ()
    return NamedLine(name, x, y, won)


def _leads(result: Race, runners: tuple[RunnerFacts, ...]) -> tuple[tuple[int, str], ...]:
    return tuple((lead.at, runners[lead.leader].name if lead.leader is not None else "") for lead in result.leads)
