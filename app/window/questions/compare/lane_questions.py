"""The models of the questions about the tokenizers that are shown side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from app.session.run import Run
from app.session.session import Session
from app.window.parts.lazy_model import Exact, LazyModel, table_function_of
from app.window.questions.compare.lanes import Lane
from app.window.questions.compare.lanes_model import LanesModel, command_about
from app.window.questions.question_model import Parameter, QuestionModel
from bpe_core.asking import Question
from bpe_core.figures.figure import Figure, LineFigure, Point
from bpe_core.figures.from_table import OF_LAB
from bpe_core.history.history import NOTHING
from bpe_core.insight.side_by_side import LISTED
from bpe_core.measures.measures import MEASURES
from bpe_core.questions.lab import LETTERS, Lab
from bpe_core.support.wording import count_text

NO_PAIR = "Choose two tokenizers above to see here how they differ."
NO_WORDS = (
    "None of these tokenizers was trained here, so there are no words to measure. Train a run, or count a table on "
    "your texts."
)

MEANINGS = "\n".join(f"{MEASURES[name].title}: {MEASURES[name].explanation}" for name in OF_LAB)


class LanesQuestion(QuestionModel):
    """A model of a question about the runs that are side by side."""

    def __init__(self, session: Session, name: str, lanes: LanesModel, **chosen: Any) -> None:
        super().__init__(session, name, **chosen)
        self.lanes = lanes
        lanes.changed.connect(self.refresh_soon)

    @property
    def compared_lanes(self) -> list[Lane]:
        """Return the lanes that the question compares."""
        return self.lanes.lanes

    @property
    def parameters(self) -> list[Parameter]:
        """Return the parameter for the measure. The lanes set all other parameters."""
        return [parameter for parameter in super().parameters if parameter.name == "measure"]

    @property
    def command(self) -> tuple[str, ...]:
        return command_about(self.current_question, self.compared_lanes)

    def watch(self, on: bool) -> None:
        super().watch(on)
        self.lanes.watch(on)

    @property
    def is_waiting(self) -> bool:
        return self.lanes.is_waiting or super().is_waiting

    def catch_up(self) -> None:
        self.lanes.catch_up()
        super().catch_up()

    @property
    def _takes_moment(self) -> bool:
        return False

    def _runs(self) -> list[Run]:
        return [lane.run for lane in self.compared_lanes]


class LabQuestion(LanesQuestion):
    """A model of the question that compares all lanes. A lane is one of the tokenizers side by side in the window.

    The answer shows how a measure of each tokenizer depends on its vocabulary size, with the current size marked. It
    also lists the words that the tokenizers split differently.
    """

    def __init__(self, session: Session, lanes: LanesModel) -> None:
        super().__init__(session, "lab", lanes, measure="bytes_per_token")

    def _values(self) -> dict[str, Any]:
        return super()._values() | {"size": self.lanes.size, "words": True, "limit": LISTED}

    @property
    def current_question(self) -> tuple[Question, Any] | None:
        """Return the question that a saved file answers, and the studies that it compares.

        A saved file contains the results at all vocabulary sizes, so its question has no chosen size. Return None if
        there is nothing to compare.
        """
        asked = super().current_question
        return None if asked is None else (Lab(measure=self._chosen["measure"]), asked[1])

    def table_function(self) -> Exact:
        return LazyModel.table_function(self)

    def figure_function(self) -> Any:
        return LazyModel.figure_function(self)

    def words(self) -> tuple[Exact, tuple[str, ...]]:
        """Return two ways to get the list of all words that the tokenizers split differently.

        The first is a function that computes the list, so that the window can save it as a file. The second is a
        command that writes the same list.
        """
        asked = super().current_question
        every = None if asked is None else (Lab(size=self.lanes.size, words=True), asked[1])
        return table_function_of(every), command_about(every, self.compared_lanes)

    @property
    def sentences(self) -> tuple[str, ...]:
        has_words = self.answer is None or self.answer.figure is not None
        return super().sentences if has_words else (*super().sentences, NO_WORDS)

    @property
    def figure(self) -> Figure | None:
        figure = super().figure
        return _marked(figure, float(self.lanes.size)) if isinstance(figure, LineFigure) else figure

    def word(self, row: int) -> str:
        assert self.answer is not None  # rows exist only with an answer
        return bytes.fromhex(self.answer.columns["hex"][row]).decode(errors="replace")

    def lane_of(self, column: int) -> int:
        """Return the index of the lane that a column belongs to, or 0 if the column belongs to no lane."""
        return max(0, LETTERS.find(self.columns[column]))

    def travel_to_place(self, x: float) -> None:
        self.lanes.set_size(round(x))


def _marked(chart: LineFigure, size: float) -> LineFigure:
    """Return a copy of the chart with a mark at `size`, and with a dot at the nearest point of each line."""
    lines = [line for line in chart.lines if len(line.x)]
    places = [min(max(size, line.x[0]), line.x[-1]) for line in lines]
    dots = [Point(x, line.value_at(x), line.name) for x, line in zip(places, lines, strict=True)]
    marked = [replace(line, points=(dot,)) for line, dot in zip(lines, dots, strict=True)]
    return replace(chart, lines=marked, marks=(size,))


class PairQuestion(LanesQuestion):
    """A model of the question that asks at which steps two lanes differ.

    A lane is one of the tokenizers that are shown side by side.
    """

    def __init__(self, session: Session, lanes: LanesModel) -> None:
        super().__init__(session, "diff", lanes)
        self.trouble = NO_PAIR

    @property
    def compared_lanes(self) -> list[Lane]:
        return self.lanes.pair

    def _reason_to_wait(self) -> str:
        return NO_PAIR

    @property
    def sentences(self) -> tuple[str, ...]:
        pair = self.compared_lanes
        sizes = _corpus_sizes(pair)
        said = [f"{size:,} in {lane.letter}" for size, lane in zip(sizes, pair, strict=False)]
        at = f"With {count_text(self.lanes.size, 'token')} in each vocabulary, the number of tokens in the corpus is"
        return (*super().sentences, *([f"{at} {', '.join(said)}."] if said else ()))


def _corpus_sizes(pair: list[Lane]) -> list[int]:
    """Return how many tokens the corpus has in each lane of a pair at the step shown.

    Return an empty list if the lanes have no counts or if they have different corpora.
    """
    if not pair or not all(lane.history.has_counts and not lane.why_not for lane in pair):
        return []
    first, second = (lane.run for lane in pair)
    if (
        first.words is None
        or second.words is None
        or not (first.words is second.words or first.sources == second.sources)
    ):
        return []
    sizes = [int(lane.history.tokens_after[lane.wanted]) for lane in pair]
    return [] if NOTHING in sizes else sizes
