"""Any question, asked of the run shown or of all runs, whenever the world or a parameter has changed."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session.manifests import EACH
from app.session.session import Session
from app.window.parts.watched import Watched
from bpe_core.asking import Answer, Parameter, Question, ask_about, cell_text, heading_of
from bpe_core.errors import BpeError
from bpe_core.figures.figure import Figure, LineFigure
from bpe_core.measures.measures import MEASURES
from bpe_core.questions import question_named
from bpe_core.studies.study import Study
from bpe_core.support.progress import Progress, Work

REFRESH_MILLISECONDS = 150
NOTHING_YET = "The answer appears here when training begins."
ASKING = "Asking …"
NO_TEXTS = "This table came without texts: Training > Count on My Corpus answers this."


def _each(studies: Study | dict[str, Study]) -> list[Study]:
    return [studies] if isinstance(studies, Study) else list(studies.values())


class QuestionModel(QObject, Watched):
    """Holds the parameters that a person chose, and the newest answer."""

    changed = Signal()

    def __init__(self, session: Session, name: str) -> None:
        super().__init__(session)
        self.question: type[Question] = question_named(name)
        self.answer: Answer | None = None
        self.trouble = NOTHING_YET  # what is said where there is no answer
        self._chosen: dict[str, Any] = {}
        self._session, self._topic = session, f"question {name}"
        self._asked: Hashable = None
        news = [session.runs.changed, session.runs.grew]
        news += [session.cursor.moved] if self.question.follows_time else []
        self.refresh_on(REFRESH_MILLISECONDS, *news)
        if self.question.axis:
            session.cursor.moved.connect(self._show_moment)

    def _show_moment(self) -> None:
        if self.is_watched and self.answer is not None:
            self.changed.emit()

    @property
    def parameters(self) -> list[Parameter]:
        """Those that a person chooses; the moment is where the slider is."""
        hidden = ("at",) if self.question.follows_time else ()
        return [one for one in self.question.parameters() if one.name not in hidden]

    def value(self, parameter: Parameter) -> Any:
        return self._chosen.get(parameter.name, parameter.default)

    def choose(self, name: str, value: Any) -> None:
        """Ask with this value from now on."""
        self._chosen[name] = value
        self._asked = None
        self.refresh_soon()

    def read(self, parameter: Parameter, text: str) -> None:
        """Take what was typed for a parameter."""
        try:
            self.choose(parameter.name, parameter.read(text))
        except BpeError as error:
            self._take(None, str(error))

    def pair_text(self, pair: tuple[int, int]) -> str:
        """Write a pair of the run shown as a person would type it."""
        study = self._session.runs.studies.of(self._session.runs.shown)
        return "" if study is None else study.pair_name(pair)

    # -- asking ----------------------------------------------------------------------------

    def refresh(self) -> None:
        run = self._session.runs.shown
        self._rest_as_long(self._session.aside, self._topic, run)
        studies, values = self._studies(), self._values()
        if not studies:
            self._asked = None
            self._session.aside.cancel(self._topic)
            self._take(None, NOTHING_YET)
            return
        if self.question.needs == "texts" and any(one.texts is None for one in _each(studies)):
            self._take(None, NO_TEXTS)
            return
        key = (tuple(map(id, studies.values())) if isinstance(studies, dict) else id(studies), repr(values))
        if key == self._asked:
            return
        self._asked = key
        question = self.question
        self._session.aside.ask(
            self._topic,
            lambda task: ask_about(question, studies, Work(task.report, task.cancelled, task.remarks.append), **values),
            lambda answer: self._take(answer, ""),
            lambda sentence: self._take(None, sentence),
            self._report,
        )

    @property
    def has_figure(self) -> bool:  # type: ignore[override]  # other models know it beforehand
        return self.answer is not None and self.answer.figure is not None

    @property
    def asked(self) -> tuple[Question, Any] | None:
        studies = self._studies()
        is_unanswered = self.answer is None and self._asked is not None and not self.trouble.startswith(ASKING)
        return None if is_unanswered or not studies else (self.question(**self._values()), studies)

    @property
    def figure(self) -> Figure | None:
        """The figure of the answer, with the moment shown where that is along its axis."""
        figure = None if self.answer is None else self.answer.figure
        place = self.place_shown
        if place is None or not isinstance(figure, LineFigure):
            return figure
        return replace(figure, marks=(*figure.marks, place))

    @property
    def place_shown(self) -> float | None:
        """Where the moment shown is along the axis of the figure, if it is there at all."""
        run, at = self._session.runs.shown, self._session.cursor.position
        if run is None or run.history is None or not self.question.axis:
            return None
        return float(at if self.question.axis == "step" else run.history.vocabulary_size_at(at))

    @property
    def command(self) -> tuple[str, ...]:
        each = (EACH,) if self._chosen.get("each") else ()
        command = super().command
        if isinstance(self._studies(), dict) and not self.is_about_one:
            command = tuple("--runs" if word == "--merges" else word for word in command)
        return (*command, *each)

    @property
    def is_about_one(self) -> bool:
        """Whether only the run shown is asked about."""
        return self.question.studies is None or self.question.axis != ""

    def _studies(self) -> Study | dict[str, Study] | None:
        runs = self._session.runs
        if not self.is_about_one:
            return runs.studies.all(runs.all)
        shown = runs.studies.of(runs.shown, runs.all)
        return {shown.name: shown} if self.question.studies and shown is not None else shown

    def _values(self) -> dict[str, Any]:
        run = self._session.runs.shown
        at = min(self._session.cursor.position, 0 if run is None else run.learned)
        return self._chosen | ({"at": at} if self.question.follows_time else {})

    def _report(self, progress: Progress) -> None:
        if self.answer is None:
            share = f" {100 * progress.done // progress.total} %" if progress.total else ""
            self._take(None, f"{ASKING}{share}")

    def _take(self, answer: Answer | None, trouble: str) -> None:
        self.answer, self.trouble = answer, trouble
        self.changed.emit()

    # -- what is shown ---------------------------------------------------------------------

    @property
    def title(self) -> str:
        return self.question.title()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What the answer says, and the values of its lines at the moment shown."""
        said = () if self.answer is None else self.answer.sentences
        here = [f"{name}: {value:,.5g}" for name, value in self.values_here().items()]
        return (*said, f"Now {'; '.join(here)}") if here else said

    def values_here(self) -> dict[str, float]:
        """The value of each line at the moment shown."""
        figure, place = None if self.answer is None else self.answer.figure, self.place_shown
        if place is None or not isinstance(figure, LineFigure):
            return {}
        known = (line for line in figure.lines if len(line.x) and line.x[0] <= place <= line.x[-1])
        return {line.name or figure.y_title: line.value_at(place) for line in known}

    @property
    def no_figure(self) -> str:
        return "This answer has no figure."

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are shown, of those that there are."""
        answer = self.answer
        return () if answer is None else tuple(name for name in answer.shown_columns if name in answer.columns)

    @property
    def headings(self) -> list[str]:
        return [heading_of(name) for name in self.columns]

    def meaning(self, column: int) -> str:
        name = self.columns[column]
        return MEASURES[name].explanation if name in MEASURES else heading_of(name)

    def is_text(self, column: int) -> bool:
        values = () if self.answer is None else self.answer.columns[self.columns[column]]
        return isinstance(next((value for value in values if value is not None), None), str | tuple)

    def cell(self, row: int, column: int) -> str:
        assert self.answer is not None  # there are no rows without
        name = self.columns[column]
        return cell_text(name, self.answer.columns[name][row])

    # -- travelling ------------------------------------------------------------------------

    def travel_to_row(self, row: int) -> None:
        """Go to the moment that a row is about, if it is about one."""
        column, change = self.question.moment
        if self.answer is None or column not in self.answer.columns:
            return
        step = self.answer.columns[column][row]
        if step is not None:
            self._session.cursor.go_to(int(step) + change)

    def travel_to_place(self, x: float) -> None:
        """Go to the moment that a place of the figure is about."""
        run = self._session.runs.shown
        if run is None or run.history is None or not self.question.axis:
            return
        self._session.cursor.go_to(round(x) if self.question.axis == "step" else run.history.step_of_size(round(x)))
