"""The model of the tokenizers side by side: their runs, their common size, and their splits of the user's text."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.manifests import RESULT, run_of_session
from app.session.run import Run, name_of, titles_of
from app.session.session import Session
from app.session.tables import EditedTable, add_table
from app.window.parts.lazy_model import LazyModel
from app.window.parts.wording import count_text, without_options
from app.window.questions.compare.lanes import Lane
from app.window.text.specials import allowed_in, chosen_reading
from app.window.text.text_model import NO_TOKEN, TokenAt, Tokens, TokenTextModel
from app.worker.job import Task
from bpe_core.asking import Question
from bpe_core.editing.putting_together import put_together
from bpe_core.errors import RecipeError
from bpe_core.history.token_texts import quoted
from bpe_core.insight.side_by_side import ParallelCuts, parallel_cuts, why_not_of_size
from bpe_core.questions.lab import LETTERS as LETTERS
from bpe_core.questions.lab import Lab
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.segmentation import Segmentation
from bpe_core.studies.study import Study
from bpe_core.support.arrays import Int64s
from bpe_core.support.progress import CancelCheck, while_wanted

REDRAW_MILLISECONDS = 60
LONGEST_TEXT = 100_000  # characters of the user's text that are cut
LEAST_LANES = 2
MOST_LANES = len(LETTERS)
PUT_TOGETHER = "combination"


class LanesModel(QObject, LazyModel):
    """A model of the lanes. It follows the runs, the text and the time slider of the session.

    If a user chooses a vocabulary size here, then the time slider follows that size.
    """

    changed = Signal()  # the runs, their steps, the text or its cuts have changed
    put_together = Signal(int, str)  # the number of the run whose ids stay, and a sentence
    failed = Signal(str)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.lanes: list[Lane] = []
        self.text = TokenTextModel()  # the text of the lanes; its own tokens are never asked for
        self.parallel: ParallelCuts | None = None  # the cuts of all lanes with the size, once all have split the text
        self.specimen: str | None = None  # a word shown instead of the user's text
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
        runs.changed.connect(self._forget_removed_runs)
        session.specials.changed.connect(self.refresh_soon)
        cursor.moved.connect(self._follow_time)
        cursor.live_changed.connect(lambda live: self._follow_time() if live else None)
        self._follow_time()

    @property
    def is_ready(self) -> bool:
        """Return whether there are at least two lanes, so that they can be compared."""
        return len(self.lanes) >= LEAST_LANES

    @property
    def usable_runs(self) -> list[Run]:
        return [run for run in self._session.runs.all if run.history is not None]

    # -- which runs ------------------------------------------------------------------------

    @property
    def choices(self) -> list[tuple[int, str]]:
        """Return the number and the title of every run that can be a lane."""
        runs = self.usable_runs
        return [(run.number, f"{title} · run {run.number}") for run, title in zip(runs, titles_of(runs), strict=True)]

    @property
    def can_add(self) -> bool:
        return len(self.lanes) < MOST_LANES

    @property
    def numbers(self) -> list[int]:
        """Return the numbers of the runs that are side by side."""
        return [lane.run.number for lane in self.lanes]

    def choose(self, numbers: Sequence[int]) -> None:
        """Put the runs with these numbers side by side, in this order."""
        self._chosen = list(dict.fromkeys(numbers))[:MOST_LANES]
        self._known = {run.stamp for run in self.usable_runs}
        self.refresh_soon()

    def compare_with(self, number: int) -> None:
        """Put the run shown and the run with this number side by side, and remove all other lanes."""
        shown = self._session.runs.shown
        self._pair = None
        self.choose([number] if shown is None else [shown.number, number])

    def add(self, number: int) -> None:
        """Add a lane for a run. If there is no space for another lane, replace the last lane."""
        self.refresh()  # else a run that was added since would be left out
        self.choose([*self.numbers[: MOST_LANES - 1], number])

    def replace(self, index: int, number: int) -> None:
        """Put another run in a lane. If another lane shows that run already, then the two lanes swap their runs."""
        numbers = self.numbers
        if number in numbers:
            numbers[numbers.index(number)] = numbers[index]
        numbers[index] = number
        self.choose(numbers)

    def remove(self, index: int) -> None:
        self.choose([number for i, number in enumerate(self.numbers) if i != index])

    def keep_lanes(self) -> None:
        """Keep the current lanes, even if the window later shows a different run."""
        self.refresh()
        if self._chosen is None:
            self.choose(self.numbers)

    def _wanted_runs(self) -> list[Run]:
        """Return the runs that the lanes show. A run without steps is left out."""
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
        """Return the presets that can train a new lane, as a dictionary from name to explanation."""
        return {name: preset.explanation for name, preset in PRESETS.items()}

    def train(self, name: str) -> None:
        """Train a run on the texts of the session with the recipe of a preset.

        The run gets the largest vocabulary size of all lanes, unless the preset has a fixed size.
        """
        size = max((lane.history.vocabulary_size for lane in self.lanes), default=self._session.recipe.value.vocab_size)
        try:
            recipe = Recipe.preset(name, vocab_size=size)
        except RecipeError:  # some have a size of their own
            recipe = Recipe.preset(name)
        self._session.runs.train(self._session.corpus.texts.value, recipe, fits=True)

    def _forget_removed_runs(self) -> None:
        """Remove all lanes if one of them shows a removed run. Do nothing while a page shows the lanes."""
        runs = self._session.runs.all
        if not self.is_watched and any(lane.run not in runs for lane in self.lanes):
            self.lanes = []
            self.parallel = None
            self._asked = None
            self.changed.emit()

    # -- two of them -----------------------------------------------------------------------

    @property
    def pair(self) -> list[Lane]:
        """Return the two lanes that are compared step by step. The list is empty if there are fewer than two lanes.

        If the user has not chosen a pair, these are the lanes of the run shown and of its parent. If one of these runs
        has no lane, another lane takes its place.
        """
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
        """Return all pairs of lanes in both orders. In a joined vocabulary, the first lane of a pair keeps its ids."""
        return list(permutations(self.lanes, 2))

    def choose_pair(self, first: int, second: int) -> None:
        """Compare the runs with these numbers step by step."""
        self._pair = first, second
        self.changed.emit()

    def keep_pair(self) -> None:
        """Remove all lanes except the two lanes that are compared step by step."""
        self.refresh()
        if len(self.lanes) > LEAST_LANES:
            self.choose([lane.run.number for lane in self.pair])

    @property
    def can_put_together(self) -> bool:
        return self.is_ready and not self._session.background.is_busy(PUT_TOGETHER)

    def start_putting_together(self) -> None:
        """Start a background task that joins the vocabularies of two lanes.

        These are the two lanes that the user compares step by step. The tokens of the first lane keep their ids.
        """
        if not self.can_put_together:
            return
        (run, kept), (other, added) = ((lane.run, lane.history) for lane in self.pair)
        name = f"{run.recipe.name} + {other.recipe.name}"
        first = run.number
        last = other.number

        def work(task: Task) -> EditedTable:
            joined = put_together(kept, added, progress=task.report, cancelled=task.cancelled)
            made = f"Run {first:,} and {count_text(joined.new_tokens, 'token')} of run {last:,}"
            return EditedTable.of(joined.history, name, made, tuple(joined.sentences))

        def take(table: EditedTable) -> None:
            add_table(self._session.runs, table, run)
            self.put_together.emit(run.number, " ".join(table.sentences))

        self._session.background.run(PUT_TOGETHER, work, take, self.failed.emit, ended=self.changed.emit)
        self.changed.emit()

    # -- the size --------------------------------------------------------------------------

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the smallest and the largest vocabulary size that any lane has at any step."""
        ends = [lane.history.vocabulary_size_at(at) for lane in self.lanes for at in (0, len(lane.history))]
        return (min(ends), max(ends)) if ends else (0, 0)

    @property
    def size(self) -> int:
        """Return the vocabulary size at which all lanes are shown.

        A lane that cannot have this size is not compared.
        """
        low, high = self.sizes
        if self._size is not None:
            return min(max(low, self._size), high)
        common = self.common_size
        followed = self._followed
        return (
            common
            if followed is None or self._count_lanes_with(followed) < self._count_lanes_with(common)
            else followed
        )

    @property
    def common_size(self) -> int:
        """Return the vocabulary size that is possible in the most lanes. In a tie, return the largest.

        A lane is one of the tokenizers side by side in the window.
        """
        histories = [lane.history for lane in self.lanes]
        largest = {max(history.vocabulary_size_at(at) for at in (0, len(history))) for history in histories}
        return max(largest, key=lambda size: (self._count_lanes_with(size), size), default=0)

    def _count_lanes_with(self, size: int) -> int:
        return sum(not why_not_of_size(lane.history, size) for lane in self.lanes)

    @property
    def compared_lanes(self) -> list[Lane]:
        """Return the lanes that have the common vocabulary size."""
        return [lane for lane in self.lanes if not lane.why_not]

    def differences_of(self, lane: Lane) -> tuple[Int64s, Int64s]:
        """Return the byte ranges that the lanes split differently, and the boundaries that set `lane` apart.

        These are the token boundaries of `lane` that at least one other lane lacks.
        """
        if self.parallel is None or lane.why_not:
            return np.zeros((0, 2), np.int64), np.zeros(0, np.int64)
        return self.parallel.stretches, self.parallel.own[self.compared_lanes.index(lane)]

    def set_size(self, size: int) -> None:
        """Show all lanes at a vocabulary size.

        Move the time slider to the step at which the run shown has this size.
        """
        if size == self.size:
            return
        self._size = size
        shown = self._session.runs.shown
        self._travel()
        if shown is not None and shown.history is not None:
            self._session.cursor.go_to(shown.history.step_of_size(size))

    def _follow_time(self) -> None:
        """Show all lanes at the vocabulary size of the step shown.

        If the user chose a size in this panel, keep it until the time slider moves to the step of another size.
        """
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
        """Show one word instead of the text. If `word` is None, show the text again."""
        if word != self.specimen:
            self.specimen = word
            self.refresh_soon()

    def first_difference(self, word: str) -> int:
        """Return the offset of the first byte in a word at which some lanes split the word and other lanes do not."""
        tokens = [lane.study.inside.by_index.tokenizer.segmentation(word).tokens(lane.wanted) for lane in self.lanes]
        return int(next(iter(parallel_cuts(tokens, len(word.encode())).differing), 0))

    # -- what a session keeps --------------------------------------------------------------

    def kept(self) -> dict[str, Any]:
        """Return the compared runs and the vocabulary size of the comparison, as values for a session file."""
        return {"runs": self._chosen, "size": self._followed if self._size is None else self._size}

    def restore(self, kept: object) -> None:
        """Restore the lanes from the values of a session file.

        Ignore invalid values, because the file may come from a stranger.
        """
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
        # The first steps of a run are shown at once, even if they are learned now.
        self._set_refresh_pause(self._session.background, "lanes_text", runs.shown if self.lanes else None)
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
        self._asked = key if lanes else None
        if not lanes:
            return

        def work(task: Task) -> list[Segmentation]:
            return [
                lane.segmentation
                if is_same and lane.segmentation is not None
                else _segmentation(lane.study, text, specials, task.cancelled)
                for lane in while_wanted(lanes, task.cancelled, every=1)
            ]

        def take(segmentations: list[Segmentation]) -> None:
            if text != self.text.text():
                self.text.set_text(text)
            for lane, segmentation in zip(lanes, segmentations, strict=True):
                lane.store_tokens(segmentation)
            self.trouble = ""
            self._specials = specials
            self._travel()

        self._session.background.run("lanes_text", work, take, self._fail)

    def _fail(self, sentence: str) -> None:
        self.trouble = without_options(sentence)
        self._asked = None
        self.changed.emit()

    def _travel(self) -> None:
        """Split the text in each lane, at the step at which the lane has the vocabulary size shown.

        If a lane has ranks of boundaries, its split is found at once. Otherwise a background task computes it.
        """
        slow: list[tuple[Lane, int, Segmentation]] = []
        size = self.size
        for lane in self.lanes:
            lane.wanted = lane.history.step_of_size(size)
            lane.why_not = why_not_of_size(lane.history, size)
            if lane.segmentation is None or not lane.is_behind:
                continue
            if lane.study.inside.has_ranks:
                lane.store_split(lane.wanted, lane.segmentation.tokens(lane.wanted), self.text.data)
            else:
                slow.append((lane, lane.wanted, lane.segmentation))
        if slow:
            self._ask_for_cuts(slow)
        self._compare()

    def _ask_for_cuts(self, asked: list[tuple[Lane, int, Segmentation]]) -> None:
        data = self.text.data

        def work(task: Task) -> list[Tokens]:
            return [segmentation.tokens(at) for _, at, segmentation in while_wanted(asked, task.cancelled, every=1)]

        def take(cuts: list[Tokens]) -> None:
            for (lane, at, segmentation), tokens in zip(asked, cuts, strict=True):
                if lane.segmentation is segmentation and self.text.data is data:
                    lane.store_split(at, tokens, data)
            self._compare()

        self._session.background.run("lanes_splits", work, take, self._fail)

    def _compare(self) -> None:
        data = self.text.data
        are_known = bool(self.lanes) and all(lane.cut is not None and lane.cut.data == data for lane in self.lanes)
        cuts = [lane.cut.tokens for lane in self.compared_lanes if lane.cut is not None]
        self.parallel = parallel_cuts(cuts, len(data)) if are_known and cuts else None
        self.changed.emit()

    # -- the question of the columns -------------------------------------------------------

    @property
    def current_question(self) -> tuple[Question, Any] | None:
        """Return the question whose answer the columns show, with the studies of the lanes.

        Return None if the columns show no text.
        """
        text = self.text.text()
        if not (self.is_ready and text):
            return None
        readings = {chosen_reading(lane.history.recipe, self._specials) for lane in self.lanes}
        specials = readings.pop() if len(readings) == 1 else ""  # files of two libraries may read them differently
        question = Lab(size=self.size, text=text, columns=True, specials=specials)
        return question, {self._name_of(lane): lane.study for lane in self.lanes}

    @property
    def command(self) -> tuple[str, ...]:
        return command_about(self.current_question, self.lanes)

    @property
    def opens_in_python(self) -> Mapping[str, str]:
        return {self._name_of(lane): f"#{lane.run.number}" for lane in self.lanes}

    def _name_of(self, lane: Lane) -> str:
        return name_of(lane.run, self._session.runs.all)

    # -- sentences -------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        """Return a sentence that says at how many places the lanes split the text differently.

        If nothing can be compared, the sentence gives the reason, or it is empty.
        """
        if self.parallel is None:
            return self.trouble or ("Splitting …" if self.lanes else "")
        if not self.is_ready:
            return ""
        left_out = [f"{lane.letter} {lane.why_not}" for lane in self.lanes if lane.why_not]
        if len(self.compared_lanes) < LEAST_LANES:
            return f"Nothing is compared: {'; '.join(left_out)}."
        count = len(self.parallel.stretches)
        places = count_text(count, "place", "places") if count else "No place"
        of = quoted(self.specimen) if self.specimen is not None else "your text"
        if self.part:
            of = f"{self.part.removeprefix('of ')} of {of}"
        by = f" by {_listed([lane.letter for lane in self.compared_lanes])}" if left_out else ""
        return f"{places} of {of} {'is' if count < 2 else 'are'} split differently{by}."

    @property
    def part(self) -> str:
        """Return a note about the part of the text that is compared. It is empty if the whole text is compared."""
        is_cut = self.specimen is None and len(self._session.text.value) > LONGEST_TEXT
        return f"of the first {LONGEST_TEXT:,} characters" if is_cut else ""

    def describe_token(self, place: int, token: TokenAt) -> str:
        """Return a line that describes a token of the lane with index `place`."""
        lane = self.lanes[place]
        text = quoted(token.data)
        if token.id == NO_TOKEN:
            return f"{lane.letter}: {text} belongs to no token"
        id = lane.study.inside.by_index.number(token.id)
        called = "a token without an id" if id is None else f"token {id:,}"
        return f"{lane.letter}: {text}, {called}. Click to see why it is split here."


def command_about(asked: tuple[Question, Any] | None, lanes: Sequence[Lane]) -> tuple[str, ...]:
    """Return the words of the command that asks a question about lanes. If `asked` is None, return an empty tuple."""
    sides = (run_of_session(lane.run.number) for lane in lanes)
    return (asked[0].name, *sides, *asked[0].arguments(), "-o", RESULT) if asked else ()


def _listed(letters: Sequence[str]) -> str:
    *first, last = letters
    return f"{', '.join(first)} and {last}"


def _segmentation(study: Study, text: str, specials: str, cancelled: CancelCheck) -> Segmentation:
    allowed = allowed_in(study.history.recipe, specials)
    return study.inside.by_index.tokenizer.segmentation(text, allowed_special=allowed, cancelled=cancelled)
