"""The lab: which runs are side by side, the one size they are shown at, and how they cut the person's text there."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.session.manifests import RESULT, run_of_session
from app.session.run import Run, titles_of
from app.session.session import Session
from app.window.parts.watched import Watched
from app.window.parts.wording import count_text
from app.window.questions.lab.lanes import LETTERS, MOST_LANES, Lane
from app.window.text.text_model import NO_TOKEN, TokenAt, Tokens, TokenTextModel
from app.worker.job import Task
from bpe_core.errors import RecipeError
from bpe_core.history.history import History
from bpe_core.history.token_texts import quoted
from bpe_core.insight.side_by_side import ParallelCuts, parallel_cuts
from bpe_core.recipes.presets import PRESETS
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.segmentation import Segmentation
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.support.arrays import Int64s
from bpe_core.support.progress import CancelCheck, while_wanted

REDRAW_MILLISECONDS = 60
LONGEST_TEXT = 100_000  # characters of the person's text that are cut
LEAST_LANES = 2


class LabModel(QObject, Watched):
    """Follows the runs and the text of the session while somebody looks."""

    chart = "lab"
    changed = Signal()  # which runs there are, the size, or the text
    cut = Signal()  # how the text is cut

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.lanes: list[Lane] = []
        self.text = TokenTextModel()  # what the lanes cut; its own tokens are asked of nobody
        self.parallel: ParallelCuts | None = None
        self.specimen: str | None = None  # a word that is looked at instead of the person's text
        self.trouble = ""
        self._session, self._runs, self._aside = session, session.runs, session.aside
        self._chosen: list[int] | None = None  # numbers of runs; None: the shown one and the newest
        self._known: set[Hashable] = set()  # the runs there were when it was chosen
        self._size: int | None = None  # None: each at its largest
        self._tokenizers: dict[Hashable, Tokenizer] = {}
        self._asked: Hashable = None
        self.refresh_on(
            REDRAW_MILLISECONDS, session.runs.changed, session.runs.grew, session.runs.prepared, session.text.changed
        )

    @property
    def command(self) -> tuple[str, ...]:
        sides = (run_of_session(number) for number in self.numbers)
        return ("lab", *sides, "-o", RESULT) if self.is_ready else ()

    # -- which runs ------------------------------------------------------------------------

    @property
    def choices(self) -> list[tuple[int, str]]:
        """All runs there are, with their titles."""
        runs = self._usable()
        return [(run.number, f"{title} · run {run.number}") for run, title in zip(runs, titles_of(runs), strict=True)]

    @property
    def is_ready(self) -> bool:
        """Whether there is something to compare."""
        return len(self.lanes) >= LEAST_LANES

    @property
    def can_add(self) -> bool:
        return len(self.lanes) < MOST_LANES

    @property
    def numbers(self) -> list[int]:
        """Of the runs side by side."""
        return [lane.run.number for lane in self.lanes]

    def choose(self, numbers: Sequence[int]) -> None:
        """Have these runs side by side, in this order."""
        self._chosen = list(dict.fromkeys(numbers))[:MOST_LANES]
        self._known = {run.stamp for run in self._usable()}
        self.refresh_soon()

    def replace(self, index: int, number: int) -> None:
        """Put another run in one's place; one that stands elsewhere changes places with it."""
        numbers = self.numbers
        if number in numbers:
            numbers[numbers.index(number)] = numbers[index]
        numbers[index] = number
        self.choose(numbers)

    def remove(self, index: int) -> None:
        self.choose([number for i, number in enumerate(self.numbers) if i != index])

    def add(self, number: int) -> None:
        self.choose([*self.numbers, number])

    def stay(self) -> None:
        """Keep these runs, whichever is shown from now on."""
        if self._chosen is None:
            self.choose(self.numbers)

    def _usable(self) -> list[Run]:
        return [run for run in self._runs.all if run.history is not None]

    def _wanted_runs(self) -> list[Run]:
        usable = self._usable()
        if self._chosen is None:
            shown = [run for run in usable if run is self._runs.shown]
            others = [run for run in reversed(usable) if run is not self._runs.shown]
            return sorted((shown + others)[:MOST_LANES], key=lambda run: run.number)
        new = [run for run in usable if run.stamp not in self._known]
        if new:  # who trains or opens another while looking wants to see it
            self._chosen += [run.number for run in new if run.number not in self._chosen]
            self._known |= {run.stamp for run in new}
        by_number = {run.number: run for run in usable}
        return [by_number[number] for number in self._chosen if number in by_number][:MOST_LANES]

    # -- the size --------------------------------------------------------------------------

    @property
    def sizes(self) -> tuple[int, int]:
        """The smallest and the largest that any of them ever has."""
        if not self.lanes:
            return 0, 0
        return min(lane.smallest for lane in self.lanes), max(lane.largest for lane in self.lanes)

    @property
    def size(self) -> int:
        """The size that all are shown at, as near as each comes to it."""
        low, high = self.sizes
        if self._size is None:
            return max((lane.history.vocabulary_size for lane in self.lanes), default=0)
        return min(max(low, self._size), high)

    def set_size(self, size: int) -> None:
        if size != self.size:
            self._size = size
            self._travel()
            self.changed.emit()

    # -- the text --------------------------------------------------------------------------

    @property
    def is_whole(self) -> bool:
        """Whether the person's text is shown to its end."""
        return self.specimen is not None or len(self._session.text.value) <= LONGEST_TEXT

    def look_at_word(self, word: str | None) -> None:
        """Show a word in place of the text; None: the text again."""
        if word != self.specimen:
            self.specimen = word
            self.refresh_soon()

    def _wanted_text(self) -> str:
        text = self.specimen if self.specimen is not None else self._session.text.value
        return text[:LONGEST_TEXT].encode(errors="replace").decode()

    # -- one more --------------------------------------------------------------------------

    @property
    def others(self) -> list[tuple[int, str]]:
        """The runs that are not side by side, with their titles."""
        return [choice for choice in self.choices if choice[0] not in self.numbers]

    @property
    def recipes(self) -> list[tuple[str, str]]:
        """By which another run can be trained: name and explanation."""
        return [(name, preset.explanation) for name, preset in PRESETS.items()]

    def train(self, name: str) -> None:
        """Learn from the texts of the session by the recipe of that name, as large as what is shown."""
        size = max((lane.history.vocabulary_size for lane in self.lanes), default=self._session.recipe.value.vocab_size)
        try:
            recipe = Recipe.preset(name, vocab_size=size)
        except RecipeError:  # some have a size of their own
            recipe = Recipe.preset(name)
        self._runs.train(self._session.corpus.texts.value, recipe, fits=True)

    # -- finding out -----------------------------------------------------------------------

    def refresh(self) -> None:
        self._rest_as_long(self._aside, "lab text", self._runs.shown)
        before = {lane.key: lane for lane in self.lanes}
        runs, lanes = self._wanted_runs(), []
        for letter, run, title in zip(LETTERS, runs, titles_of(runs), strict=False):
            assert run.history is not None
            lane = Lane(letter, run, run.history, title)
            known = before.get(lane.key)
            if known is not None:
                lane.segmentation, lane.cut, lane.at = known.segmentation, known.cut, known.at
            lanes.append(lane)
        self.lanes = lanes
        if self.specimen is not None and not self.is_ready:
            self.specimen = None
        self._ask_for_text()
        self._travel()
        self.changed.emit()

    def _ask_for_text(self) -> None:
        text = self._wanted_text()
        key = (text, *(lane.key for lane in self.lanes))
        if key == self._asked or not self.lanes:
            return
        self._asked = key
        is_same_text = text == self.text.text()
        known = {lane.key: lane.segmentation for lane in self.lanes if is_same_text and lane.segmentation is not None}
        histories = {lane.key: lane.history for lane in self.lanes}
        tokenizers = {key: self._tokenizers[key] for key in histories if key in self._tokenizers}

        def work(task: Task) -> tuple[dict[Hashable, Tokenizer], dict[Hashable, Segmentation]]:
            return _cut_by_all(text, histories, tokenizers, known, task.cancelled)

        def take(answer: tuple[dict[Hashable, Tokenizer], dict[Hashable, Segmentation]]) -> None:
            self._tokenizers, found = answer
            self._take_text(text, found)

        self._aside.ask("lab text", work, take, self._fail)

    def _take_text(self, text: str, found: Mapping[Hashable, Segmentation]) -> None:
        if text != self.text.text():
            self.text.set_text(text)
        for lane in self.lanes:
            if lane.key in found and lane.segmentation is not found[lane.key]:
                lane.segmentation, lane.cut, lane.at = found[lane.key], None, -1
        self.trouble = ""
        self._travel()
        self.changed.emit()

    def _fail(self, sentence: str) -> None:
        self.trouble, self._asked = sentence, None
        self.changed.emit()

    def _travel(self) -> None:
        """Cut the text at the size: at once where that is but a comparison, aside where it is more."""
        slow: list[tuple[Lane, Segmentation]] = []
        for lane in self.lanes:
            lane.wanted = lane.history.step_of_size(self.size)
            if lane.segmentation is None or not lane.is_behind:
                continue
            if lane.answers_at_once:
                lane.cut_at(lane.wanted, lane.segmentation.tokens(lane.wanted), self.text.data)
            else:
                slow.append((lane, lane.segmentation))
        if slow:
            self._ask_for_cuts(slow)
        self._compare()

    def _ask_for_cuts(self, slow: list[tuple[Lane, Segmentation]]) -> None:
        asked = [(lane, lane.wanted, segmentation) for lane, segmentation in slow]
        data = self.text.data

        def take(found: list[Tokens]) -> None:
            for (lane, at, segmentation), tokens in zip(asked, found, strict=True):
                if lane.segmentation is segmentation and self.text.data is data:
                    lane.cut_at(at, tokens, data)
            self._compare()
            self.changed.emit()

        self._aside.ask("lab cuts", lambda task: _tokens_of(asked, task.cancelled), take, self._fail)

    def _compare(self) -> None:
        cuts = [lane.cut for lane in self.lanes if lane.cut is not None]
        data = self.text.data
        are_known = bool(cuts) and len(cuts) == len(self.lanes) and all(cut.data == data for cut in cuts)
        self.parallel = parallel_cuts([cut.tokens for cut in cuts], len(data)) if are_known else None
        self.cut.emit()

    # -- what is told ----------------------------------------------------------------------

    @property
    def stretches(self) -> Int64s:
        """The parts of the text that are cut differently: a row each."""
        return self.parallel.stretches if self.parallel is not None else np.zeros((0, 2), np.int64)

    @property
    def differing(self) -> Int64s:
        """The places where some cut and some do not."""
        return self.parallel.differing if self.parallel is not None else np.zeros(0, np.int64)

    def own_cuts(self, lane: int) -> Int64s:
        """Where this lane cuts and not all do."""
        return self.parallel.own[lane] if self.parallel is not None else np.zeros(0, np.int64)

    @property
    def summary(self) -> str:
        """How far they agree, in a line."""
        if self.parallel is None:
            return "Cutting …" if self.lanes and not self.trouble else self.trouble
        count = len(self.stretches)
        places = count_text(count, "place", "places") if count else "No place"
        of = quoted(self.specimen) if self.specimen is not None else "your text"
        of = of if self.is_whole else f"the first {LONGEST_TEXT:,} characters of {of}"
        return f"{places} of {of} {'is' if count < 2 else 'are'} cut differently."

    def told_of(self, lane: int, token: TokenAt) -> str:
        """About a token of a row, in a line."""
        shown_lane = self.lanes[lane]
        if token.id == NO_TOKEN:
            return f"{shown_lane.letter}: {quoted(token.data)} belongs to no token"
        history = shown_lane.run.history
        number = token.id if history is None else int(history.numbers_of(token.id))
        return f"{shown_lane.letter}: {quoted(token.data)}, token {number:,}. Click to see why it is cut here."

    # -- what a session keeps --------------------------------------------------------------

    def kept(self) -> dict[str, Any]:
        """Which runs were side by side, in values that anybody can read."""
        return {"runs": self._chosen, "size": self._size}

    def restore(self, kept: object) -> None:
        """As far as the values make sense: they may come from a stranger."""
        told = kept if isinstance(kept, dict) else {}
        runs, size = told.get("runs"), told.get("size")
        are_numbers = isinstance(runs, list) and all(type(number) is int for number in runs)
        self.specimen, self._asked = None, None
        self._size = size if type(size) is int else None
        self._chosen = None
        if are_numbers and runs:
            self.choose(runs)
        self.refresh_soon()


def _cut_by_all(
    text: str,
    histories: Mapping[Hashable, History],
    tokenizers: dict[Hashable, Tokenizer],
    known: Mapping[Hashable, Segmentation],
    cancelled: CancelCheck,
) -> tuple[dict[Hashable, Tokenizer], dict[Hashable, Segmentation]]:
    """The text as each tokenizer cuts it after every step; special tokens stand for themselves."""
    found: dict[Hashable, Segmentation] = {}
    for key, history in while_wanted(histories.items(), cancelled, every=1):
        tokenizer = tokenizers.get(key)
        if tokenizer is None:
            tokenizer = tokenizers[key] = Tokenizer(history)
        found[key] = known.get(key) or tokenizer.segmentation(text, allowed_special="all", cancelled=cancelled)
    return tokenizers, found


def _tokens_of(asked: Sequence[tuple[Lane, int, Segmentation]], cancelled: CancelCheck) -> list[Tokens]:
    return [segmentation.tokens(at) for _, at, segmentation in while_wanted(asked, cancelled, every=1)]
