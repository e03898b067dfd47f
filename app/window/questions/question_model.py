"""The model of any question. It asks the question again whenever a run or a parameter changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session.manifests import CORPUS, EACH, RESULT
from app.session.run import Run, name_of
from app.session.session import Session
from app.session.time import timer
from app.window.parts.lazy_model import Drawn, Exact, LazyModel
from app.window.parts.wording import without_options
from app.worker.job import Task
from bpe_core.asking import NONE, Answer, Question, ask_about, cell_text
from bpe_core.asking import Parameter as Parameter
from bpe_core.errors import BpeError
from bpe_core.figures.figure import Figure, LineFigure
from bpe_core.measures.measures import MEASURES
from bpe_core.questions import question_named
from bpe_core.studies.study import Study
from bpe_core.support.progress import Progress, Work

REFRESH_MILLISECONDS = 150
LONG_MILLISECONDS = 1000  # a question that takes longer can be stopped, even if it reports no progress yet
MOST_ROWS = 100_000  # most rows listed; a file has all
NOTHING_YET = "The answer appears here when training begins."
NO_STEPS = "The answer appears here when the run has its first steps."
RESTING = "The answer appears here when the run has ended or paused."
CHOOSE_FIRST = "Choose this first: {}."
ASKING = "Asking …"
STOPPED = "The question was stopped. To ask it again, show another page and come back."
NO_TEXTS = "The texts of this table are unknown. Use Training > Count on My Corpus to get an answer."

Studies = Study | dict[str, Study]


class QuestionModel(QObject, LazyModel):
    """A model of a question: the parameters that a user chose, and the newest answer."""

    changed = Signal()
    shows_all_rows = True  # in the order of the table; else the rows that a terminal shows, in its order

    def __init__(self, session: Session, name: str, more_columns: Sequence[str] = (), **chosen: Any) -> None:
        """Show the columns that a terminal shows, and also `more_columns`.

        `chosen` holds the initial values of parameters.
        """
        super().__init__(session)
        self.question: type[Question] = question_named(name)
        self.answer: Answer | None = None
        self.about: list[Run] = []  # the runs that the answer is about
        self.trouble = NOTHING_YET  # the sentence where there is no answer
        self.progress = ""
        self._more_columns = more_columns
        self._chosen = chosen
        self._session = session
        self._topic = f"question {name}"
        self._sorted = (-1, False)  # the column that sorts, and whether in descending order
        self._asked: Hashable = None
        self._asked_about: list[Run] = []
        self._is_partial = False  # whether the answer is still getting better
        self._takes_long = timer(self, LONG_MILLISECONDS, self._show_that_it_takes_long)
        self._texts: set[str] = set()  # columns
        news = [session.runs.changed, session.runs.grew]
        takes_moment = self.question.follows_time or self._takes_moment
        news += [session.cursor.moved] if takes_moment else []
        news += [session.corpus.texts.changed] if self.question.needs == "texts if known" else []
        self.refresh_on(REFRESH_MILLISECONDS, *news)
        session.runs.changed.connect(self._forget_removed_runs)
        if self.question.axis:
            session.cursor.moved.connect(self._show_moment)

    def _show_moment(self) -> None:
        if self.is_watched and self.answer is not None:
            self.changed.emit()

    def watch(self, on: bool) -> None:
        if on and self.trouble == STOPPED:
            self._asked = None
        if on and self.trouble == NOTHING_YET and self._runs():
            self.trouble = ASKING  # the answer will replace this in a moment
        super().watch(on)

    # -- parameters ------------------------------------------------------------------------

    @property
    def parameters(self) -> list[Parameter]:
        """Return the parameters that a user can choose. The step is not among them if the time slider sets it."""
        hidden = ("at",) if self.question.follows_time else ()
        return [
            parameter
            for parameter in self.question.parameters()
            if parameter.name not in hidden and not parameter.in_json_only
        ]

    def parameter(self, name: str) -> Parameter:
        return next(parameter for parameter in self.parameters if parameter.name == name)

    def choice_in_words(self, parameter: Parameter, choice: str) -> tuple[str, str]:
        """Return two texts about a choice: the text that a form shows, and an explanation. Only measures have an
        explanation.
        """
        if parameter.name == "measure" and choice in MEASURES:
            return MEASURES[choice].title, MEASURES[choice].explanation
        return parameter.shown(choice), ""

    def value(self, parameter: Parameter) -> Any:
        return self._chosen.get(parameter.name, parameter.default)

    def is_meaningful(self, parameter: Parameter) -> bool:
        """Return whether a parameter has an effect.

        A parameter may depend on another parameter. It has an effect only if that other parameter has a value.
        """
        return not parameter.only_with or bool(self.value(self.parameter(parameter.only_with)))

    def choose(self, name: str, value: Any) -> None:
        """Set a parameter to a value, and ask the question again."""
        self._chosen[name] = value
        self._asked = None
        self.refresh_soon()

    def read(self, parameter: Parameter, text: str) -> None:
        """Set a parameter to a typed text. If the text is not valid, show the reason instead of an answer."""
        try:
            self.choose(parameter.name, parameter.read(text))
        except BpeError as error:
            self._take(None, str(error))

    def pair_text(self, pair: tuple[int, int]) -> str:
        """Return a pair of tokens of the run shown, written as a user would type it."""
        study = self._session.runs.studies.of(self._session.runs.shown)
        return "" if study is None else study.inside.by_index.pair_name(pair)

    # -- asking ----------------------------------------------------------------------------

    def _reason_to_wait(self) -> str:
        """Return a sentence that says when the answer appears."""
        if not self._session.runs.all:
            return NOTHING_YET
        return RESTING if self.question.rests else NO_STEPS

    def refresh(self) -> None:
        """Ask the question again if anything that the answer depends on has changed."""
        runs = self._runs()
        values = self._values()
        self._set_refresh_pause(self._session.background, self._topic, self._session.runs.shown)
        lacking = [
            parameter.label
            for parameter in self.parameters
            if parameter.is_required and values.get(parameter.name) is None
        ]
        if self.question.studies == NONE and lacking:
            if self.trouble == NOTHING_YET:  # a page may say more
                self._take(None, CHOOSE_FIRST.format(" and ".join(lacking)))
            return
        if not runs and self.question.studies != NONE:
            self._asked = None
            self._session.background.cancel(self._topic)
            self._take(None, self._reason_to_wait())
            return
        if self.question.needs == "texts" and any(run.words is None and run.can_be_counted for run in runs):
            self._take(None, NO_TEXTS)
            return
        question = self.question(**values)
        texts = self._session.corpus.texts.value if self._asks_corpus(question, runs) else ()
        states = tuple((run.stamp, run.learned, id(run.words), run.is_busy) for run in runs)
        key = states, self._early_step(), texts, repr(values)
        if key != self._asked:
            self._asked = key
            self._ask(question, runs, values)

    def _ask(self, question: Question, runs: list[Run], values: Mapping[str, Any]) -> None:
        remarks: list[str] = []
        studies = self._studies(question, runs, remarks)

        def work(task: Task) -> Answer:
            complete = ask_about(
                self.question, studies, Work(task.report, task.cancelled, task.remarks.append), **values
            )
            task.remarks.extend(remarks)
            return complete

        def take(answer: Answer) -> None:
            self.about = runs
            self._is_partial = False
            self._take(answer, "")

        def report(progress: Progress) -> None:
            share = f": {100 * progress.done // progress.total} %" if progress.total else ""
            stage = f"{progress.stage.capitalize() or ASKING}{share}"
            if isinstance(progress.so_far, Answer):
                self.about = runs
                self._is_partial = True
                self._take(progress.so_far, "", stage)
            else:
                self.progress = stage
                self.changed.emit()

        self._asked_about = runs
        self._is_partial = False
        if self.answer is None:
            self._take(None, ASKING)
        self._takes_long.start()
        self._session.background.run(self._topic, work, take, lambda sentence: self._take(None, sentence), report)

    def _show_that_it_takes_long(self) -> None:
        if self._session.background.is_busy(self._topic) and not self.progress:
            self.progress = ASKING
            self.changed.emit()

    def stop(self) -> None:
        """Cancel the question. A partial answer stays visible."""
        self._session.background.cancel(self._topic)
        self._take(self.answer if self._is_partial else None, STOPPED)

    @property
    def is_about_one_run(self) -> bool:
        """Return whether the question is only about the run shown."""
        return self.question.studies is None or self.question.axis != ""

    @property
    def _takes_moment(self) -> bool:
        return not self.is_about_one_run and self.question.takes_moments

    def _early_step(self) -> int | None:
        """Return the step shown if the answer contains the run shown twice: at its end, and at this step.

        Otherwise return None. The run is contained twice if the question compares several runs, and the run has later
        steps.
        """
        shown = self._session.runs.shown
        at = self._session.cursor.position
        return at if self._takes_moment and shown is not None and at < shown.learned else None

    def _runs(self) -> list[Run]:
        runs = self._session.runs
        if self.question.studies == NONE:
            return []
        asked = [runs.shown] if self.is_about_one_run else runs.all
        learned = [run for run in asked if run is not None and run.history is not None and run.history.index_count]
        return [run for run in learned if not (self.question.rests and run.is_busy)]

    def _asks_corpus(self, question: Question, runs: list[Run]) -> bool:
        return question.asks_corpus(has_texts=all(run.words is not None for run in runs))

    def _studies(self, question: Question, runs: list[Run], remarks: list[str]) -> Studies:
        made = self._session.runs.studies
        all_runs = self._session.runs.all
        asks_corpus = self._asks_corpus(question, runs)
        at = self._early_step()
        studies: dict[str, Study] = {}
        for run in runs:
            study = made.of(run, all_runs)
            assert study is not None  # it has learned something, so it has a study
            if asks_corpus and (texts := self._session.corpus.texts.value):
                study = made.by_corpus(study, run, texts, remarks)
            studies[name_of(run, all_runs)] = study
            if at is not None and run is self._session.runs.shown:
                studies[f"{name_of(run, all_runs)}, after {run.wording.counted(at)}"] = study.at(at)
        return studies if question.studies is not None else next(iter(studies.values()))

    def _values(self) -> dict[str, Any]:
        run = self._session.runs.shown
        at = min(self._session.cursor.position, 0 if run is None else run.learned)
        wanted = [parameter for parameter in self.parameters if parameter.name in self._chosen]
        values = {parameter.name: self._chosen[parameter.name] for parameter in wanted if self.is_meaningful(parameter)}
        return values | ({"at": at} if self.question.follows_time else {})

    def _forget_removed_runs(self) -> None:
        """Stop the question if it is about a removed run.

        Forget the answer if it is about a removed run and the page of the answer is not visible.
        """
        runs = self._session.runs.all
        if any(run not in runs for run in self._asked_about):
            self._asked = None
            self._asked_about = []
            self._session.background.cancel(self._topic)
        if not self.is_watched and any(run not in runs for run in self.about):
            self._asked = None
            self._take(None, NOTHING_YET)

    def _take(self, answer: Answer | None, trouble: str, progress: str = "") -> None:
        self._takes_long.stop()
        if answer is None:
            self.about = []
        self.answer = answer
        self.trouble = without_options(trouble, {each.flag: each.label for each in self.question.parameters()})
        self.progress = progress
        columns = {} if answer is None else {**answer.columns, **answer.shown}
        known = {name: next((value for value in values if value is not None), None) for name, values in columns.items()}
        self._texts = {name for name, value in known.items() if isinstance(value, str | tuple)}
        self.changed.emit()

    # -- exports ---------------------------------------------------------------------------

    @property
    def _finished_answer(self) -> Answer | None:
        return None if self._session.background.is_busy(self._topic) else self.answer

    def table_function(self) -> Exact:
        answer = self._finished_answer
        return super().table_function() if answer is None else lambda cancelled: answer.table

    def own_files(self) -> Mapping[str, Callable[[], bytes]]:
        answer = self._finished_answer
        return {} if answer is None else answer.files

    def figure_function(self) -> Drawn:
        answer = self._finished_answer
        return super().figure_function() if answer is None else lambda cancelled: answer.figure

    @property
    def has_figure(self) -> bool:  # type: ignore[override]  # other models know it beforehand
        return self.answer is not None and self.answer.figure is not None

    @property
    def current_question(self) -> tuple[Question, Any] | None:
        runs = self._runs()
        if self.trouble or not (runs or self.question.studies == NONE):
            return None
        question = self.question(**self._values())
        return question, self._studies(question, runs, [])

    @property
    def command(self) -> tuple[str, ...]:
        asked = self.current_question
        command = super().command
        if asked is None:
            return ()
        if self.question.studies == NONE:
            return (self.question.name.replace("_", "-"), *asked[0].arguments(), "-o", RESULT)
        question = asked[0]
        runs = self._runs()
        has_parts = self.question.by_parts and any(len(run.sources) > 1 for run in runs)
        each = self._chosen.get("each") or has_parts or self._asks_corpus(question, runs)
        if not self.is_about_one_run:
            command = tuple("--runs" if word == "--merges" else word for word in command)
        texts: tuple[str, ...] = (EACH,) if each else ()
        if not each and question.reads_documents():
            texts = (CORPUS,)
        return (*command, *texts)

    @property
    def opens_in_python(self) -> Mapping[str, str]:
        if self.question.studies == NONE:
            return {}
        if self.question.studies is None:
            return super().opens_in_python
        runs = self._runs()
        opened = {name_of(run, self._session.runs.all): f"#{run.number}" for run in runs}
        at = self._early_step()
        run = self._session.runs.shown
        if at is not None and run in runs and run is not None:
            name = name_of(run, self._session.runs.all)
            opened[f"{name}, after {run.wording.counted(at)}"] = f"#{run.number}@{at}"
        return opened

    # -- showing ---------------------------------------------------------------------------

    @property
    def figure(self) -> Figure | None:
        """Return the figure of the answer. If its axis shows steps or sizes, then the step shown is marked."""
        figure = None if self.answer is None else self.answer.figure
        place = self.place_shown
        if place is None or not isinstance(figure, LineFigure):
            return figure
        return replace(figure, marks=(*figure.marks, place))

    @property
    def _has_steps_on_axis(self) -> bool:
        """Return True if the horizontal axis of the figure shows steps or vocabulary sizes, and otherwise False."""
        return self.question.axis != "" and self.answer is not None and self.answer.on_axis

    @property
    def place_shown(self) -> float | None:
        """Return the place on the figure's axis for the step shown, or None if the step has no place there."""
        return self._place_at(self._session.cursor.position)

    def _place_at(self, moment: int) -> float | None:
        run = self._session.runs.shown
        if run is None or run.history is None or not self._has_steps_on_axis:
            return None
        return float(moment if self.question.axis == "step" else run.history.vocabulary_size_at(moment))

    def place_of_step(self, step: int) -> float | None:
        """Return the position of a step on the figure's axis. Return None if the axis does not show the step.

        Step 0 is never shown.
        """
        return self._place_at(step) if step else None

    def step_at(self, x: float | None) -> int:
        """Return the step at a place on the axis of the figure, or 0 if there is no step."""
        run = self._session.runs.shown
        if x is None or run is None or run.history is None or not self._has_steps_on_axis:
            return 0
        return round(x) if self.question.axis == "step" else run.history.step_of_size(round(x))

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return the sentences of the answer. For a line chart, add a sentence with the values at the step shown."""
        said = () if self.answer is None else self.answer.sentences
        here = [f"{name}: {value:,.5g}" for name, value in self.values_here().items()]
        return (*said, f"Now {'; '.join(here)}") if here else said

    def values_here(self) -> dict[str, float]:
        """Return a mapping from the name of each line in the figure to its value at the step shown."""
        figure = None if self.answer is None else self.answer.figure
        place = self.place_shown
        if place is None or not isinstance(figure, LineFigure):
            return {}
        known = (line for line in figure.lines if len(line.x) and line.x[0] <= place <= line.x[-1])
        return {line.name or figure.y_title: line.value_at(place) for line in known}

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the visible columns."""
        answer = self.answer
        more = () if answer is None else (name for name in self._more_columns if name in answer.columns)
        return () if answer is None else (*answer.shown, *more)

    @property
    def headings(self) -> list[str]:
        headings = [] if self.answer is None else [self.answer.heading(name) for name in self.columns]
        return [heading[:1].upper() + heading[1:] for heading in headings]

    def meaning(self, column: int) -> str:
        name = self.columns[column]
        return MEASURES[name].explanation if name in MEASURES else self.headings[column]

    def is_text(self, column: int) -> bool:
        return self.columns[column] in self._texts

    def cell(self, row: int, column: int) -> str:
        assert self.answer is not None  # rows exist only with an answer
        name = self.columns[column]
        return cell_text(name, self.answer.column(name)[row])

    def sort(self, column: int, *, from_end: bool) -> None:
        self._sorted = column, from_end

    @property
    def order(self) -> list[int]:
        """Return the numbers of the answer's rows in the order in which they are shown, but at most MOST_ROWS.

        If a column is sorted, its unknown values come last. Otherwise the rows have the order of the answer.
        """
        column, from_end = self._sorted
        if self.answer is None:
            return []
        if not 0 <= column < len(self.columns):
            shown = range(len(self.answer.table)) if self.shows_all_rows or not self.answer.rows else self.answer.rows
            return list(shown[:MOST_ROWS])
        name = self.columns[column]
        values = list(self.answer.column(name))
        if name == "tokenizer":  # in the order of the runs: run 2 before run 10
            places = [*dict.fromkeys(values)]
            values = [places.index(value) for value in values]
        known = [row for row, value in enumerate(values) if value is not None and value == value]
        unknown = [row for row, value in enumerate(values) if value is None or value != value]
        return [*sorted(known, key=values.__getitem__, reverse=from_end), *unknown][:MOST_ROWS]

    # -- travelling ------------------------------------------------------------------------

    def travel_to_row(self, row: int) -> None:
        """Move the time slider to the step of a row, if the row has a step."""
        column, change = self.question.moment
        if self.answer is None or column not in self.answer.columns:
            return
        step = self.answer.columns[column][row]
        if step is not None:
            self._session.cursor.go_to(int(step) + change)

    def travel_to_place(self, x: float) -> None:
        """Move the time slider to the step at a place on the axis of the figure."""
        run = self._session.runs.shown
        if run is not None and run.history is not None and self._has_steps_on_axis:
            self._session.cursor.go_to(self.step_at(x))
