"""The model of the use of a token in the corpus: its counts over the steps, its words, its cost, and example lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from app.session.corpus_texts import CorpusText, reading
from app.session.run import Run
from app.session.session import Session
from app.session.studies import RunTexts
from app.session.time import timer
from app.window.parts.lazy_model import Asked, LazyModel
from app.window.questions.token.model import TokenModel
from app.worker.job import Task
from bpe_core.editing.growing import can_repeat_steps
from bpe_core.errors import BpeError
from bpe_core.figures.figure import LineFigure
from bpe_core.insight.contexts import Context, contexts
from bpe_core.methods.kit.histories import learns_by_ranks
from bpe_core.methods.kit.life import TokenLife
from bpe_core.questions.paid import Paid
from bpe_core.questions.token import Token, life_figure, life_of
from bpe_core.studies.study import Study
from bpe_core.support.progress import CancelCheck, Work

FOLLOW_MILLISECONDS = 100
CONTEXT_PAUSE_MILLISECONDS = 250  # files are read only after a pause at a token
CONTEXT_SECONDS = 2.0
MOST_CONTEXTS = 10
NOT_COUNTED = "Continue the run to count its texts again. Then this page shows where the token occurs."
IN_AUDIT = "Ask > Audit says how often this token occurs in the corpus."
NO_TEXT = "The texts of this table are unknown. Use Training > Count on My Corpus to see where this token occurs."


class LifeModel(QObject, LazyModel):
    """A model of the life of the token on the page *Token*: its counts over the steps, and lines that contain it.

    The lines arrive later than the counts, because the files of the corpus are searched for them.
    """

    has_figure = True
    changed = Signal()
    lines_changed = Signal()

    def __init__(self, session: Session, token: TokenModel) -> None:
        super().__init__(session)
        self.facts: TokenLife | None = None
        self.study: Study | None = None  # the study that the facts are about
        self._figure: LineFigure | None = None  # the figure of these facts
        self.lines: tuple[Context, ...] = ()
        self.hint = ""
        self._token = token
        self._runs = session.runs
        self._cursor = session.cursor
        self._background = session.background
        self.refresh_on(FOLLOW_MILLISECONDS, token.changed, session.cursor.moved, session.runs.changed)
        token.changed.connect(self._forget_other_token)
        self._lines_soon = timer(self, CONTEXT_PAUSE_MILLISECONDS, self._ask_for_lines)

    @property
    def is_waiting(self) -> bool:
        return super().is_waiting or self._lines_soon.isActive()

    def watch(self, on: bool) -> None:
        super().watch(on)
        if not on:
            self._stop_search()

    @property
    def is_asking(self) -> bool:
        """Return whether the answer about the token is still being computed."""
        run = self._runs.shown
        looked_at = self._token.facts
        if run is None or run.history is None or looked_at is None or self.hint:
            return False
        return self.facts is None and looked_at.id < run.history.first_special

    @property
    def figure(self) -> LineFigure | None:
        """Return the figure of the token's count over the steps.

        At steps before the token was made, the figure shows the count of the token's pair.

        Return an empty figure with axes while the answer is being computed.
        """
        run = self._runs.shown
        if self.facts is not None or run is None or not self.is_asking:
            return self._figure
        steps = run.wording.steps.capitalize()
        is_log = run.recipe.single is None
        end = float(run.learned)  # a user can travel in it already
        return LineFigure("life", "", "", (), steps, "Occurrences", is_log_x=is_log, first_x=0.0, last_x=end)

    @property
    def current_question(self) -> Asked | None:
        return self.asked_about("life")

    def asked_about(self, name: str) -> Asked | None:
        """Return the question whose answer a section of the page shows in part, and the study that it is about.

        Return None if there is no answer yet, or if no texts are available.
        """
        facts = self.facts
        looked_at = self._token.facts
        study = self.study
        if facts is None or looked_at is None or study is None or study.texts is None:
            return None
        if name == "paid":
            return Paid(step=looked_at.step), study
        return Token(token=f"#{study.inside.by_index.number(facts.token)}", at=facts.at, words=name == "words"), study

    def travel_to_step(self, step: int) -> None:
        self._cursor.go_to(step)

    def look_at(self, token: int) -> None:
        """Show another token, such as a child of the current token.

        Move the time slider only if the vocabulary at the step shown does not contain the token yet.
        """
        run = self._runs.shown
        row = run.history.row_of(token) if run is not None and run.history is not None else None
        if row is not None and row >= self._cursor.position:
            self._token.travel_to(token)
        else:
            self._token.look_at(token)

    def _forget_other_token(self) -> None:
        """Clear the facts if they belong to a different token, so that they are never shown under the wrong name."""
        looked_at = self._token.facts
        if self.facts is not None and (looked_at is None or looked_at.id != self.facts.token):
            self._take(None)

    def refresh(self) -> None:
        run = self._runs.shown
        looked_at = self._token.facts
        self._set_refresh_pause(self._background, "token", run)
        study = self._runs.studies.of(run)
        self._stop_search()
        self.hint = ""
        if run is None or looked_at is None or study is None or looked_at.id >= study.history.first_special:
            self._take(None)  # special tokens have no history
            return
        token = looked_at.id
        at = min(self._cursor.position, len(study.history))
        texts = study.texts
        if texts is None:
            was_counted = bool(run.sources) and can_repeat_steps(study.history)
            if run.can_be_counted:
                self.hint = NO_TEXT
            else:
                self.hint = NOT_COUNTED if was_counted and run.learned else IN_AUDIT

        def work(task: Task) -> tuple[TokenLife, LineFigure]:
            by_parts = isinstance(texts, RunTexts) and texts.has_parts
            life = life_of(study, token, at, Work(cancelled=task.cancelled), by_parts=by_parts)
            figure = life_figure(study, life)
            end = float(len(study.history))
            return life, replace(figure, y_title="Occurrences", marks=(float(at),), first_x=0.0, last_x=end)

        self._background.run("token", work, lambda result: self._take_if_looked_at(*result, study, run))

    def _take_if_looked_at(self, life: TokenLife, figure: LineFigure, study: Study, run: Run) -> None:
        """Store the answer if the page still shows its token.

        Then find example lines, unless the run is being trained.
        """
        if self._token.facts is not None and self._token.facts.id == life.token:
            self._take(life, figure, study)
        if not run.is_busy:
            self._lines_soon.start()

    def _take(self, facts: TokenLife | None, figure: LineFigure | None = None, study: Study | None = None) -> None:
        self.study = study
        if facts != self.facts:
            if facts is None or self.facts is None or facts.token != self.facts.token:
                self.lines = ()
            self.facts = facts
            self._figure = figure
            self.changed.emit()

    def _stop_search(self) -> None:
        """Stop the search for example lines."""
        self._lines_soon.stop()
        self._background.cancel("lines")

    def _ask_for_lines(self) -> None:
        run = self._runs.shown
        facts = self.facts
        study = self.study
        if run is None or facts is None or study is None or study.texts is None or not self.is_watched:
            return
        if not learns_by_ranks(study.history):
            return
        sources = run.sources
        self._background.run(
            "lines",
            lambda task: find_lines(study, facts, sources, task.remarks, task.cancelled),
            lambda lines: self._take_lines(lines, facts),
        )

    def _take_lines(self, lines: tuple[Context, ...], facts: TokenLife) -> None:
        if facts is self.facts and lines != self.lines:  # another token may be looked at by now
            self.lines = lines
            self.lines_changed.emit()


def find_lines(
    study: Study, life: TokenLife, sources: Sequence[CorpusText], remarks: list[str], cancelled: CancelCheck
) -> tuple[Context, ...]:
    """Return lines of the texts that contain a token. Each text gets an equal share of the time."""
    lines: list[Context] = []
    most = max(2, MOST_CONTEXTS // max(1, len(sources)))
    seconds = CONTEXT_SECONDS / max(1, len(sources))
    ranked = study.inside.ranked()
    for source in sources:
        if cancelled() or len(lines) >= MOST_CONTEXTS:
            break
        try:
            with reading([source], remarks) as corpus:
                hits = contexts(corpus, ranked, life.token, life.at, most=most, seconds=seconds, cancelled=cancelled)
        except BpeError:
            continue  # a file that is gone has no lines
        lines += [replace(hit, source=source.name) for hit in hits]
    return tuple(lines[:MOST_CONTEXTS])
