"""The lab: two to four runs side by side, all shown at one size of their vocabularies."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

from app.session.manifests import RESULT
from app.session.run import Run, titles_of
from app.session.session import Session
from app.window.parts.watched import Exact, Watched
from app.window.questions.compare.lanes_model import MOST_LANES, LanesModel, LanesQuestion
from bpe_core.asking import Question
from bpe_core.errors import RecipeError
from bpe_core.figures.figure import Figure, LineFigure, Point, SideBySide
from bpe_core.figures.from_table import OF_LAB
from bpe_core.insight.side_by_side import LISTED, parallel_cuts
from bpe_core.measures.measures import MEASURES
from bpe_core.questions.lab import LETTERS, Lab
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe

HINT = "Measured while you look …"
NO_WORDS = (
    "None of these was learned here, so there are no words to measure: train a run, or count a table on your texts."
)
MEANINGS = "\n".join(f"{MEASURES[name].title}: {MEASURES[name].explanation}" for name in OF_LAB)


class LabModel(LanesModel):
    """Knows the chosen runs and the size."""

    has_figure = True
    topic = "lab"
    hint = "Click to see why it is cut here."

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._chosen: list[int] | None = None  # numbers of runs; None: the shown one and the newest
        self._known: set[Hashable] = set()  # the runs there were when it was chosen
        self._size: int | None = None  # None shows each at its largest

    @property
    def asked(self) -> tuple[Question, Any] | None:
        """The question about all sizes."""
        return (Lab(), {lane.study.name: lane.study for lane in self.lanes}) if self.is_ready else None

    @property
    def command(self) -> tuple[str, ...]:
        return ("lab", *self.sides, "-o", RESULT) if self.is_ready else ()

    @property
    def parameters(self) -> dict[str, Any]:
        return {"size": self.size, "words": True, "limit": LISTED}

    # -- which runs ------------------------------------------------------------------------

    @property
    def choices(self) -> list[tuple[int, str]]:
        """All runs there are, with their titles."""
        runs = self.usable_runs
        return [(run.number, f"{title} · run {run.number}") for run, title in zip(runs, titles_of(runs), strict=True)]

    @property
    def can_add(self) -> bool:
        return len(self.lanes) < MOST_LANES

    @property
    def numbers(self) -> list[int]:
        """The numbers of the runs side by side."""
        return [lane.run.number for lane in self.lanes]

    def choose(self, numbers: Sequence[int]) -> None:
        """Put these runs side by side, in this order."""
        self._chosen = list(dict.fromkeys(numbers))[:MOST_LANES]
        self._known = {run.stamp for run in self.usable_runs}
        self.refresh_soon()

    def replace(self, index: int, number: int) -> None:
        """Put another run in a lane; if it is in another lane already, the two change places."""
        numbers = self.numbers
        if number in numbers:
            numbers[numbers.index(number)] = numbers[index]
        numbers[index] = number
        self.choose(numbers)

    def remove(self, index: int) -> None:
        self.choose([number for i, number in enumerate(self.numbers) if i != index])

    def stay(self) -> None:
        """Keep these runs, whichever is shown from now on."""
        if self._chosen is None:
            self.choose(self.numbers)

    def wanted_runs(self) -> list[Run]:
        usable, shown = self.usable_runs, self._session.runs.shown
        if self._chosen is None:
            newest = sorted(usable, key=lambda run: (run is shown, run.number))[-MOST_LANES:]
            return sorted(newest, key=lambda run: run.number)
        new = [run for run in usable if run.stamp not in self._known]
        self._chosen += [run.number for run in new if run.number not in self._chosen]  # a new run is meant to be seen
        self._known |= {run.stamp for run in new}
        by_number = {run.number: run for run in usable}
        return [by_number[number] for number in self._chosen if number in by_number][:MOST_LANES]

    @property
    def recipes(self) -> dict[str, str]:
        """The presets for another run: name and explanation."""
        return {name: preset.explanation for name, preset in PRESETS.items()}

    def train(self, name: str) -> None:
        """Learn from the texts of the session by the preset of that name, at the size shown."""
        size = max((lane.history.vocabulary_size for lane in self.lanes), default=self._session.recipe.value.vocab_size)
        try:
            recipe = Recipe.preset(name, vocab_size=size)
        except RecipeError:  # some have a size of their own
            recipe = Recipe.preset(name)
        self._session.runs.train(self._session.corpus.texts.value, recipe, fits=True)

    # -- the size --------------------------------------------------------------------------

    @property
    def sizes(self) -> tuple[int, int]:
        """The smallest and the largest that any of them ever has."""
        ends = [lane.history.vocabulary_size_at(at) for lane in self.lanes for at in (0, len(lane.history))]
        return (min(ends), max(ends)) if ends else (0, 0)

    @property
    def size(self) -> int:
        """The size at which all are shown, as near as each comes to it."""
        low, high = self.sizes
        if self._size is None:
            return max((lane.history.vocabulary_size for lane in self.lanes), default=0)
        return min(max(low, self._size), high)

    def set_size(self, size: int) -> None:
        if size != self.size:
            self._size = size
            self._travel()

    def wanted_step(self, place: int) -> int:
        return self.lanes[place].history.step_of_size(self.size)

    # -- a word ----------------------------------------------------------------------------

    def look_at_word(self, word: str | None) -> None:
        """Show a word instead of the text; None shows the text again."""
        if word != self.specimen:
            self.specimen = word
            self.refresh_soon()

    def first_difference(self, word: str) -> int:
        """Find the first byte of a word before which some cut it and some do not."""
        tokens = [lane.study.tokenizer.segmentation(word).tokens(lane.wanted) for lane in self.lanes]
        return int(next(iter(parallel_cuts(tokens, len(word.encode())).differing), 0))

    # -- in a session ----------------------------------------------------------------------

    def kept(self) -> dict[str, Any]:
        """Return the runs side by side and the size, in plain values."""
        return {"runs": self._chosen, "size": self._size}

    def restore(self, kept: object) -> None:
        """Restore as far as the values make sense: they may come from a stranger."""
        values = kept if isinstance(kept, dict) else {}
        runs, size = values.get("runs"), values.get("size")
        are_numbers = isinstance(runs, list) and all(type(number) is int for number in runs)
        self.specimen, self._asked = None, None
        self._size = size if type(size) is int else None
        self._chosen = None
        if are_numbers and runs:
            self.choose(runs)
        self.refresh_soon()


class LabQuestion(LanesQuestion):
    """The first words that are cut differently, and curves with the size marked."""

    def __init__(self, session: Session, lab: LabModel) -> None:
        super().__init__(session, "lab", lab, HINT)
        self.lab = lab

    @property
    def asked(self) -> tuple[Question, Any] | None:
        """The question about all words, for a file."""
        asked = super().asked
        return None if asked is None else (replace(asked[0], limit=None), asked[1])  # type: ignore[type-var]

    def exact(self) -> Exact:
        return Watched.exact(self)

    @property
    def sentences(self) -> tuple[str, ...]:
        has_words = self.answer is None or self.answer.figure is not None
        return super().sentences if has_words else (*super().sentences, NO_WORDS)

    @property
    def figure(self) -> Figure | None:
        figure, size = super().figure, float(self.lab.size)
        if not isinstance(figure, SideBySide):
            return figure
        return replace(figure, figures=[_marked(one, size) for one in figure.figures])

    def word(self, row: int) -> str:
        assert self.answer is not None  # there are no rows without
        return bytes.fromhex(self.answer.columns["hex"][row]).decode(errors="replace")

    def lane_of(self, column: int) -> int:
        """Find the lane of a column, or else the first."""
        return max(0, LETTERS.find(self.columns[column]))

    def travel_to_place(self, x: float) -> None:
        self.lab.set_size(round(x))


def _marked(chart: LineFigure, size: float) -> LineFigure:
    """Mark the size, and the nearest point of each line."""
    lines = [line for line in chart.lines if len(line.x)]
    places = [min(max(size, line.x[0]), line.x[-1]) for line in lines]
    dots = [Point(x, line.value_at(x), line.name) for x, line in zip(places, lines, strict=True)]
    marked = [replace(line, points=(dot,)) for line, dot in zip(lines, dots, strict=True)]
    return replace(chart, lines=marked, marks=(size,))
