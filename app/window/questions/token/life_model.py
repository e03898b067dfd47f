"""The life of the token that is looked at: its rise and fall, its words, who paid, where it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.corpus_texts import CorpusText, reading
from app.session.manifests import RESULT, SESSION
from app.session.run import NO_RUN, Run
from app.session.session import Session
from app.session.studies import Parts, parts_of
from app.session.time import timer
from app.window.parts.watched import Asked, Exact, Watched
from app.window.questions.token.life_facts import LifeFacts, Line, Steps, life_by_use, life_facts, life_without_words
from app.window.questions.token.model import TokenModel
from bpe_core.errors import BpeError
from bpe_core.figures.figure import Line as Curve
from bpe_core.figures.figure import LineFigure
from bpe_core.history.history import History
from bpe_core.insight.ranked_words import FileCounts, RankedWords
from bpe_core.learning.growing import makes_steps_again
from bpe_core.questions.paid import Paid
from bpe_core.questions.token import Token
from bpe_core.support.progress import CancelCheck, Work

FOLLOW_MILLISECONDS = 100
CONTEXT_PAUSE_MILLISECONDS = 250  # reading files waits until the eye rests
CONTEXT_SECONDS = 2.0
MOST_CONTEXTS = 10
NOT_COUNTED = "Let the run go on, so that its texts are counted again, to see where this token occurs."
IN_AUDIT = "How often it stands in the corpus is told by Ask > Audit."
NO_TEXT = "This table came without texts: Training > Count on My Corpus shows where this token occurs."


class LifeModel(QObject, Watched):
    """Follows the token looked at while somebody looks; what takes reading files comes a moment later."""

    has_figure = True
    changed = Signal()
    lines_changed = Signal()

    def __init__(self, session: Session, token: TokenModel) -> None:
        super().__init__(session)
        self.facts: LifeFacts | None = None
        self._run: Run | None = None  # of which the facts tell
        self.lines: tuple[Line, ...] = ()
        self.hint = ""
        self._token, self._runs, self._cursor = token, session.runs, session.cursor
        self._corpus, self._aside = session.corpus, session.aside
        self._parts: tuple[Run, Callable[[], tuple[FileCounts, list[str]]]] | None = None
        self.refresh_on(FOLLOW_MILLISECONDS, token.changed, session.cursor.moved, session.runs.changed)
        token.changed.connect(self._forget_another)
        self._lines_soon = timer(self, CONTEXT_PAUSE_MILLISECONDS, self._ask_for_lines)

    @property
    def is_waiting(self) -> bool:
        return super().is_waiting or self._lines_soon.isActive()

    def watch(self, on: bool) -> None:
        super().watch(on)
        if not on:
            self._leave_lines()

    @property
    def is_asking(self) -> bool:
        """Whether a token is looked at of which the answer is on its way."""
        run, looked_at = self._runs.shown, self._token.facts
        if run is None or run.history is None or looked_at is None or self.hint:
            return False
        return self.facts is None and looked_at.id < run.history.first_special

    @property
    def figure(self) -> LineFigure | None:
        """How often the token occurred, and before its birth the pair it was made of."""
        facts = self.facts
        if facts is None:
            run = self._runs.shown
            if run is None or not self.is_asking:
                return None
            return self._figure([_line("the token", (), 0)], run.learned)  # a person can travel in it already
        born = facts.curve[0][0] if facts.curve else 0
        lines = [_line("the token", facts.curve, facts.end), _line("its pair", facts.pair_curve, born, is_faint=True)]
        return self._figure(lines, facts.end, marks=(float(facts.at),))

    def _figure(self, lines: list[Curve], end: int, marks: Sequence[float] = ()) -> LineFigure:
        titles = "Occurrences over time", "", lines, self._steps_title, "Occurrences"
        is_log, last = self._is_log, float(end)
        return LineFigure("life", *titles, is_log_x=is_log, marks=marks, first_x=0.0, last_x=last)

    @property
    def _steps_title(self) -> str:
        return (NO_RUN if self._run is None else self._run.wording).steps.capitalize()

    @property
    def _is_log(self) -> bool:
        """Where tokens are dropped, the last steps are worth no more room than the first."""
        return self._run is None or self._run.recipe.single is None

    @property
    def asked(self) -> Asked | None:
        """How often it occurred when, and before its birth its pair."""
        return self._about("life")

    def _about(self, name: str) -> Asked | None:
        """The question of which a part is shown: the life, or one of the `LISTS`."""
        facts, looked_at, study = self.facts, self._token.facts, self._runs.studies.of(self._run)
        if facts is None or looked_at is None or study is None or study.texts is None:
            return None
        if name == "paid":
            return Paid(step=looked_at.step), study
        return Token(token=f"#{study.number(facts.token)}", at=facts.at, words=name == "words"), study

    def command_of_words(self, name: str) -> tuple[str, ...]:
        """What lists all words of one of the `LISTS`."""
        asked = self._about(name)
        return () if asked is None else (asked[0].name, *asked[0].arguments(), "--merges", SESSION, "-o", RESULT)

    def exact_words(self, name: str) -> Exact:
        """All of these words, of which the page names the first."""
        asked = self._about(name)
        if asked is None:
            return super().exact()
        return lambda cancelled: asked[0].answer(asked[1], Work(cancelled=cancelled)).table

    def travel_to_step(self, step: int) -> None:
        self._cursor.go_to(step)

    def look_at(self, token: int) -> None:
        """Another token, such as a child of this one; the moment stays unless it is not born yet."""
        run = self._runs.shown
        row = run.history.row_of(token) if run is not None and run.history is not None else None
        if row is not None and row >= self._cursor.position:
            self._token.travel_to(token)
        else:
            self._token.look_at(token)

    def _forget_another(self) -> None:
        """At once: the name of one token never stands above what is known of another."""
        looked_at = self._token.facts
        if self.facts is not None and (looked_at is None or looked_at.id != self.facts.token):
            self._take(None)

    def refresh(self) -> None:
        run, facts = self._runs.shown, self._token.facts
        self._rest_as_long(self._aside, "token", run)
        ranked = self._runs.studies.ranked(run)
        history = run.history if run is not None else None
        known = 0 if history is None else history.first_special  # special tokens have no life
        if run is None or facts is None or run.names is None or history is None or facts.id >= known:
            self.hint = ""
            self._leave_lines()
            self._take(None)
            return
        token, at, names = facts.id, self._cursor.position, run.names.text
        if ranked is None:
            self._ask_otherwise(run, history, token, at)
            return
        parts = self._counts_of_parts(run)
        self.hint = ""
        self._leave_lines()
        self._aside.ask(
            "token",
            lambda task: life_facts(ranked(), token, at, names, *parts(), task.cancelled),
            lambda life: self._take_with_lines(life, run),
        )

    def _ask_otherwise(self, run: Run, history: History, token: int, at: int) -> None:
        """What the steps tell of a method that joins or drops in its own way, or the table alone."""
        names, words = run.names.text if run.names is not None else [], run.words
        self._leave_lines()
        if words is None or not run.learned:
            was_counted = bool(run.sources) and makes_steps_again(history)
            self.hint = NO_TEXT if run.can_be_counted else NOT_COUNTED if was_counted and run.learned else IN_AUDIT
            self._aside.ask(
                "token",
                lambda task: life_without_words(history, token, at, names, task.cancelled),
                lambda life: self._take_if_looked_at(life, run),
            )
            return
        self.hint = ""
        at_first = int(run.symbol_counts[token]) if token < len(run.symbol_counts) else 0
        self._aside.ask(
            "token",
            lambda task: life_by_use(words, history, token, at, names, at_first, task.cancelled),
            lambda life: self._take_if_looked_at(life, run),
        )

    def _take_if_looked_at(self, facts: LifeFacts, run: Run) -> None:
        if self._token.facts is not None and self._token.facts.id == facts.token:
            self._take(facts, run)

    def _take_with_lines(self, facts: LifeFacts, run: Run) -> None:
        """Only now is it known of which token lines are wanted; files are read when the run rests."""
        self._take_if_looked_at(facts, run)
        if not run.is_busy:
            self._lines_soon.start()

    def _take(self, facts: LifeFacts | None, run: Run | None = None) -> None:
        self._run = run
        if facts != self.facts:
            if facts is None or self.facts is None or facts.token != self.facts.token:
                self.lines = ()
            self.facts = facts
            self.changed.emit()

    def _counts_of_parts(self, run: Run) -> Callable[[], tuple[FileCounts | None, list[str]]]:
        """The word counts of each group or file, while they are remembered, and the names of these; asked aside."""
        if self._parts is None or self._parts[0] is not run:
            parts = parts_of(run, self._corpus.counts, self._runs.mixed)
            if parts is None:
                return lambda: (None, [])

            @cache
            def found(parts: Parts = parts) -> tuple[FileCounts, list[str]]:
                tables = parts()
                return FileCounts(list(tables.values())), list(tables)

            self._parts = run, found
        return self._parts[1]

    def _leave_lines(self) -> None:
        """Those of another token or moment are not wanted any more, nor is what is odd about the files they are in."""
        self._lines_soon.stop()
        self._aside.cancel("lines")

    def _ask_for_lines(self) -> None:
        run, facts = self._run, self.facts
        ranked = self._runs.studies.ranked(run)
        if run is None or facts is None or ranked is None or not self.is_watched:
            return
        token, at, sources = facts.token, facts.at, run.sources
        self._aside.ask(
            "lines",
            lambda task: find_lines(ranked(), token, at, sources, task.cancelled, task.remarks),
            lambda lines: self._take_lines(lines, facts),
        )

    def _take_lines(self, lines: tuple[Line, ...], facts: LifeFacts) -> None:
        if facts is self.facts and lines != self.lines:  # another token may be looked at by now
            self.lines = lines
            self.lines_changed.emit()


def _line(name: str, steps: Steps, end: int, *, is_faint: bool = False) -> Curve:
    """Each count holds until the next one, the last until the end."""
    points = np.array([*steps, *((max(end, at), count) for at, count in steps[-1:])], np.float64).reshape(-1, 2)
    return Curve(name, points[:, 0], points[:, 1], has_stairs=True, is_faint=is_faint)


def find_lines(
    ranked: RankedWords,
    token: int,
    at: int,
    sources: Sequence[CorpusText],
    cancelled: CancelCheck,
    remarks: list[str],
) -> tuple[Line, ...]:
    """Lines of the run's texts in which the token stands, each file given its turn."""
    from bpe_core.insight.contexts import contexts

    found: list[Line] = []
    seconds = CONTEXT_SECONDS / max(1, len(sources))
    for source in sources:
        if cancelled() or len(found) >= MOST_CONTEXTS:
            break
        try:
            most = max(2, MOST_CONTEXTS // len(sources))
            with reading([source], remarks) as corpus:
                hits = contexts(corpus, ranked, token, at, most=most, seconds=seconds, cancelled=cancelled)
        except BpeError:
            continue  # a file that is gone has no lines
        found += [
            Line(
                source.name, hit.line, hit.is_row, hit.text[: hit.start], hit.text[hit.start : hit.stop],
                hit.text[hit.stop :],
            )
            for hit in hits
        ]  # fmt: skip
    return tuple(found[:MOST_CONTEXTS])
