"""The model of tokenizers side by side: their runs, their common size, and how they split the person's text."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.run import Run, titles_of
from app.session.session import Session
from app.session.tables import EditedTable, add_table
from app.window.parts.watched import LazyModel
from app.window.parts.wording import count_text
from app.window.questions.compare.lanes import Lane
from app.window.text.specials import allowed_in
from app.window.text.text_model import NO_TOKEN, TokenAt, Tokens, TokenTextModel
from app.worker.job import Task
from bpe_core.editing.putting_together import put_together
from bpe_core.errors import RecipeError
from bpe_core.history.token_texts import quoted
from bpe_core.insight.side_by_side import ParallelCuts, parallel_cuts, why_not_of_size
from bpe_core.questions.lab import LETTERS as LETTERS
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.segmentation import Segmentation
from bpe_core.studies.study import Study
from bpe_core.support.arrays import Int64s
from bpe_core.support.progress import CancelCheck, while_wanted

REDRAW_MILLISECONDS = 60
LONGEST_TEXT = 100_000  # characters of the person's text that are cut
LEAST_LANES = 2
MOST_LANES = len(LETTERS)
PUT_TOGETHER = "put together"


class LanesModel(QObject, LazyModel):
    """A model that follows the runs, the text and the moment of the session, which follows a chosen size."""

    changed = Signal()  # the runs, their steps, the text or its cuts have changed
    put_together = Signal(int, str)  # the number of the run whose ids stay, and a sentence
    failed = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.lanes: list[Lane] = []
        self.text = TokenTextModel()  # the text of the lanes; its own tokens are never asked for
        self.parallel: ParallelCuts | None = None  # the cuts of all lanes with the size, once all have split the text
        self.specimen: str | None = None  # a word shown instead of the person's text
        self.trouble = ""
        self._session = session
        self._asked: Hashable = None
        self._specials = ""  # how the lanes have taken special tokens in the text
        self._chosen: list[int] | None = None  # numbers of runs; None: the shown one and the newest
        self._known: set[Hashable] = set()  # the runs that existed when `_chosen` was set
        self._pair: tuple[int, int] | None = None  # numbers of the two runs that are compared; None: by `pair`
        self._size: int | None = None  # chosen by the slider
        self._followed: int | None = None  # else the size of the run shown; None: as large as all can be
        self._timed = session.runs.shown  # the run whose moments are followed
        runs = session.runs
        cursor = session.cursor
        self.refresh_on(REDRAW_MILLISECONDS, runs.changed, runs.grew, runs.prepared, session.text.changed)
        session.specials.changed.connect(self.refresh_soon)
        cursor.moved.connect(self._follow_time)
        cursor.live_changed.connect(lambda live: self._follow_time() if live else None)
        self._follow_time()

    @property
    def is_ready(self) -> bool:
        """Return whether there are enough lanes to compare."""
        return len(self.lanes) >= LEAST_LANES

    @property
    def usable_runs(self) -> list[Run]:
        return [run for run in self._session.runs.all if run.history is not None]

    # -- which runs ------------------------------------------------------------------------

    @property
    def choices(self) -> list[tuple[int, str]]:
        """Return all runs, with their titles."""
        runs = self.usable_runs
        return [(run.number, f"{title} · run {run.number}") for run, title in zip(runs, titles_of(runs), strict=True)]

    @property
    def can_add(self) -> bool:
        return len(self.lanes) < MOST_LANES

    @property
    def numbers(self) -> list[int]:
        """Return the numbers of the runs side by side."""
        return [lane.run.number for lane in self.lanes]

    def choose(self, numbers: Sequence[int]) -> None:
        """Put these runs side by side, in this order."""
        self._chosen = list(dict.fromkeys(numbers))[:MOST_LANES]
        self._known = {run.stamp for run in self.usable_runs}
        self.refresh_soon()

    def compare_with(self, number: int) -> None:
        """Put only the run shown and the one of that number side by side."""
        shown = self._session.runs.shown
        self._pair = None
        self.choose([number] if shown is None else [shown.number, number])

    def add(self, number: int) -> None:
        """Add a run, in place of the last one if there is no room."""
        self.refresh()  # else a run that was added since would be left out
        self.choose([*self.numbers[: MOST_LANES - 1], number])

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
        self.refresh()
        if self._chosen is None:
            self.choose(self.numbers)

    def _wanted_runs(self) -> list[Run]:
        """Find the runs to be compared, all of which have learned something."""
        usable = self.usable_runs
        shown = self._session.runs.shown
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

    # -- two of them -----------------------------------------------------------------------

    @property
    def pair(self) -> list[Lane]:
        """Return the two lanes compared by steps: the chosen ones, else the run shown and its parent or another run."""
        if not self.is_ready:
            return []
        by_number = {lane.run.number: lane for lane in self.lanes}
        if self._pair is not None and by_number.keys() >= {*self._pair}:
            return [by_number[number] for number in self._pair]
        shown = self._session.runs.shown
        first = next((lane for lane in self.lanes if lane.run is shown), self.lanes[0])
        others = [lane for lane in self.lanes if lane is not first]
        return [first, next((lane for lane in others if lane.run.number == first.run.parent), others[0])]

    @property
    def pairs(self) -> list[tuple[Lane, Lane]]:
        """Return all pairs that can be chosen. The first of a pair keeps its ids in a joined table."""
        return list(permutations(self.lanes, 2))

    def choose_pair(self, one: int, other: int) -> None:
        """Compare the runs of these numbers step by step."""
        self._pair = one, other
        self.changed.emit()

    def keep_pair(self) -> None:
        """Remove all lanes except the pair."""
        self.refresh()
        if len(self.lanes) > LEAST_LANES:
            self.choose([lane.run.number for lane in self.pair])

    @property
    def can_put_together(self) -> bool:
        return self.is_ready and not self._session.aside.is_busy(PUT_TOGETHER)

    def start_putting_together(self) -> None:
        """Join the tables of the pair; the ids of the first one stay."""
        if not self.can_put_together:
            return
        (run, one), (other, second) = ((lane.run, lane.history) for lane in self.pair)
        name = f"{run.recipe.name} + {other.recipe.name}"
        first = run.number
        last = other.number

        def work(task: Task) -> EditedTable:
            found = put_together(one, second, progress=task.report, cancelled=task.cancelled)
            made = f"Run {first:,} and {count_text(found.new_tokens, 'token')} of run {last:,}"
            return EditedTable.of(found.history, name, made, tuple(found.sentences))

        def take(table: EditedTable) -> None:
            add_table(self._session.runs, table, run)
            self.put_together.emit(run.number, " ".join(table.sentences))

        self._session.aside.ask(PUT_TOGETHER, work, take, self.failed.emit, ended=self.changed.emit)
        self.changed.emit()

    # -- the size --------------------------------------------------------------------------

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the smallest and the largest size that any lane ever has."""
        ends = [lane.history.vocabulary_size_at(at) for lane in self.lanes for at in (0, len(lane.history))]
        return (min(ends), max(ends)) if ends else (0, 0)

    @property
    def size(self) -> int:
        """Return the size at which all are shown. A lane that cannot have it is not compared."""
        low, high = self.sizes
        if self._size is not None:
            return min(max(low, self._size), high)
        common = self.common_size
        followed = self._followed
        return common if followed is None or self._how_many_have(followed) < self._how_many_have(common) else followed

    @property
    def common_size(self) -> int:
        """Return the largest size that all lanes can have, or else as many lanes as possible."""
        histories = [lane.history for lane in self.lanes]
        largest = {max(one.vocabulary_size_at(at) for at in (0, len(one))) for one in histories}
        return max(largest, key=lambda size: (self._how_many_have(size), size), default=0)

    def _how_many_have(self, size: int) -> int:
        return sum(not why_not_of_size(lane.history, size) for lane in self.lanes)

    @property
    def compared(self) -> list[Lane]:
        """Return the lanes that have the common size."""
        return [lane for lane in self.lanes if not lane.why_not]

    def differences_of(self, lane: Lane) -> tuple[Int64s, Int64s]:
        """Return the ranges that are split differently, and the cuts of a lane that not all lanes have."""
        if self.parallel is None or lane.why_not:
            return np.zeros((0, 2), np.int64), np.zeros(0, np.int64)
        return self.parallel.stretches, self.parallel.own[self.compared.index(lane)]

    def set_size(self, size: int) -> None:
        """Show all lanes at a size. The window goes to the moment at which the run shown has it."""
        if size == self.size:
            return
        self._size = size
        shown = self._session.runs.shown
        self._travel()
        if shown is not None and shown.history is not None:
            self._session.cursor.go_to(shown.history.step_of_size(size))

    def _follow_time(self) -> None:
        """Show all lanes at the size of the moment shown, unless that moment belongs to a size chosen here."""
        run = self._session.runs.shown
        cursor = self._session.cursor
        is_other = run is not self._timed
        self._timed = run
        if is_other or run is None or run.history is None:
            return  # another run at its moment asks for no other size
        if cursor.live:
            self._size = self._followed = None
        elif self._size is None or run.history.step_of_size(self._size) != cursor.position:
            self._size = None
            self._followed = run.history.vocabulary_size_at(min(cursor.position, len(run.history)))
        self.refresh_soon()

    # -- a word ----------------------------------------------------------------------------

    def look_at_word(self, word: str | None) -> None:
        """Show a word instead of the text; None shows the text again."""
        if word != self.specimen:
            self.specimen = word
            self.refresh_soon()

    def first_difference(self, word: str) -> int:
        """Return the first byte of a word at which some lanes cut it and others do not."""
        tokens = [lane.study.inside.by_index.tokenizer.segmentation(word).tokens(lane.wanted) for lane in self.lanes]
        return int(next(iter(parallel_cuts(tokens, len(word.encode())).differing), 0))

    # -- what a session keeps --------------------------------------------------------------

    def kept(self) -> dict[str, Any]:
        """Return which runs were side by side, as plain values for a session."""
        return {"runs": self._chosen, "size": self._followed if self._size is None else self._size}

    def restore(self, kept: object) -> None:
        """Restore the runs side by side, as far as the values are valid: they may come from a stranger."""
        values = kept if isinstance(kept, dict) else {}
        runs = values.get("runs")
        size = values.get("size")
        are_numbers = isinstance(runs, list) and all(type(number) is int for number in runs)
        self.specimen = None
        self._asked = None
        self._pair = None
        self._size = size if type(size) is int else None
        self._followed = None
        self._chosen = None
        if are_numbers and runs:
            self.choose(runs)
        self.refresh_soon()

    # -- asking ----------------------------------------------------------------------------

    def refresh(self) -> None:
        runs = self._session.runs
        known = {lane.key: lane for lane in self.lanes}
        self._rest_as_long(self._session.aside, "lanes text", runs.shown)
        self.lanes = []
        for letter, run in zip(LETTERS, self._wanted_runs(), strict=False):
            study = runs.studies.of(run, runs.all)
            assert study is not None  # usable runs have a study
            lane = Lane(letter, run, study)
            lane = known.get(lane.key, lane)
            lane.letter = letter
            lane.study = study
            self.lanes.append(lane)
        if not self.is_ready:
            self.specimen = None
        self._ask_for_text()
        self._travel()

    def _ask_for_text(self) -> None:
        text = self.specimen if self.specimen is not None else self._session.text.value
        text = text[:LONGEST_TEXT].encode(errors="replace").decode() if self.lanes else ""
        lanes = list(self.lanes)
        specials = self._session.specials.value
        is_same = text == self.text.text() and specials == self._specials
        key = (text, specials, *(lane.key for lane in lanes))
        if key == self._asked:
            return
        self._asked = key

        def work(task: Task) -> list[Segmentation]:
            return [
                lane.segmentation
                if is_same and lane.segmentation is not None
                else _segmentation(lane.study, text, specials, task.cancelled)
                for lane in while_wanted(lanes, task.cancelled, every=1)
            ]

        def take(found: list[Segmentation]) -> None:
            if text != self.text.text():
                self.text.set_text(text)
            for lane, segmentation in zip(lanes, found, strict=True):
                lane.take(segmentation)
            self.trouble = ""
            self._specials = specials
            self._travel()

        self._session.aside.ask("lanes text", work, take, self._fail)

    def _fail(self, sentence: str) -> None:
        self.trouble = sentence
        self._asked = None
        self.changed.emit()

    def _travel(self) -> None:
        """Cut the text at the wanted steps: at once if that compares only ranks, else on another thread."""
        slow: list[tuple[Lane, int, Segmentation]] = []
        size = self.size
        for lane in self.lanes:
            lane.wanted = lane.history.step_of_size(size)
            lane.why_not = why_not_of_size(lane.history, size)
            if lane.segmentation is None or not lane.is_behind:
                continue
            if lane.study.inside.has_ranks:
                lane.cut_at(lane.wanted, lane.segmentation.tokens(lane.wanted), self.text.data)
            else:
                slow.append((lane, lane.wanted, lane.segmentation))
        if slow:
            self._ask_for_cuts(slow)
        self._compare()

    def _ask_for_cuts(self, asked: list[tuple[Lane, int, Segmentation]]) -> None:
        data = self.text.data

        def work(task: Task) -> list[Tokens]:
            return [segmentation.tokens(at) for _, at, segmentation in while_wanted(asked, task.cancelled, every=1)]

        def take(found: list[Tokens]) -> None:
            for (lane, at, segmentation), tokens in zip(asked, found, strict=True):
                if lane.segmentation is segmentation and self.text.data is data:
                    lane.cut_at(at, tokens, data)
            self._compare()

        self._session.aside.ask("lanes splits", work, take, self._fail)

    def _compare(self) -> None:
        data = self.text.data
        are_known = bool(self.lanes) and all(lane.cut is not None and lane.cut.data == data for lane in self.lanes)
        cuts = [lane.cut.tokens for lane in self.compared if lane.cut is not None]
        self.parallel = parallel_cuts(cuts, len(data)) if are_known and cuts else None
        self.changed.emit()

    # -- sentences -------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        """Return a sentence about how far the lanes agree."""
        if self.parallel is None:
            return self.trouble or ("Splitting …" if self.lanes else "")
        if not self.is_ready:
            return ""
        left_out = [f"{lane.letter} {lane.why_not}" for lane in self.lanes if lane.why_not]
        if len(self.compared) < LEAST_LANES:
            return f"Nothing is compared: {'; '.join(left_out)}."
        count = len(self.parallel.stretches)
        places = count_text(count, "place", "places") if count else "No place"
        of = quoted(self.specimen) if self.specimen is not None else "your text"
        if self.part:
            of = f"{self.part.removeprefix('of ')} of {of}"
        by = f" by {_listed([lane.letter for lane in self.compared])}" if left_out else ""
        return f"{places} of {of} {'is' if count < 2 else 'are'} split differently{by}."

    @property
    def part(self) -> str:
        """Return the part of the text that is compared, if it is not the whole text."""
        is_cut = self.specimen is None and len(self._session.text.value) > LONGEST_TEXT
        return f"of the first {LONGEST_TEXT:,} characters" if is_cut else ""

    def described(self, place: int, token: TokenAt) -> str:
        """Describe a token of a lane in a line."""
        lane = self.lanes[place]
        text = quoted(token.data)
        if token.id == NO_TOKEN:
            return f"{lane.letter}: {text} belongs to no token"
        id = lane.study.inside.by_index.number(token.id)
        called = "a token without an id" if id is None else f"token {id:,}"
        return f"{lane.letter}: {text}, {called}. Click to see why it is split here."


def _listed(letters: Sequence[str]) -> str:
    *first, last = letters
    return f"{', '.join(first)} and {last}"


def _segmentation(study: Study, text: str, specials: str, cancelled: CancelCheck) -> Segmentation:
    allowed = allowed_in(study.history.recipe, specials)
    return study.inside.by_index.tokenizer.segmentation(text, allowed_special=allowed, cancelled=cancelled)
