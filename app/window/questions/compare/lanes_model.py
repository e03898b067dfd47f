"""Tokenizers side by side: their runs, the step of each, and how they cut the person's text there."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session.manifests import RESULT, run_of_session
from app.session.run import Run
from app.session.session import Session
from app.window.parts.watched import Watched
from app.window.parts.wording import count_text
from app.window.questions.compare.lanes import Lane
from app.window.questions.question_model import NOTHING_YET, Parameter, QuestionModel
from app.window.text.text_model import NO_TOKEN, TokenAt, Tokens, TokenTextModel
from app.worker.job import Task
from bpe_core.asking import Answer
from bpe_core.history.token_texts import quoted
from bpe_core.insight.side_by_side import ParallelCuts, parallel_cuts
from bpe_core.questions.lab import LETTERS
from bpe_core.segmenting.segmentation import Segmentation
from bpe_core.support.progress import while_wanted

REDRAW_MILLISECONDS = 60
LONGEST_TEXT = 100_000  # characters of the person's text that are cut
LEAST_LANES, MOST_LANES = 2, len(LETTERS)


class LanesModel(QObject, Watched):
    """Follows the runs and the text of the session; a subclass chooses the runs and their steps."""

    changed = Signal()  # the runs, their steps, the text or its cuts have changed
    topic = ""
    hint = ""  # says what a click on a token does

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.lanes: list[Lane] = []
        self.text = TokenTextModel()  # the text of the lanes; its own tokens are never asked for
        self.parallel: ParallelCuts | None = None  # known when all lanes have cut the text
        self.specimen: str | None = None  # a word shown instead of the person's text
        self.trouble = ""
        self._session = session
        self._asked: Hashable = None
        runs = session.runs
        self.refresh_on(REDRAW_MILLISECONDS, runs.changed, runs.grew, runs.prepared, session.text.changed)

    def wanted_runs(self) -> list[Run]:
        """Find the runs to be compared, all of which have learned something."""
        raise NotImplementedError

    def wanted_step(self, place: int) -> int:
        """Find the step that a lane is to be shown at."""
        raise NotImplementedError

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters of the question about these runs."""
        return {}

    @property
    def is_ready(self) -> bool:
        """Whether there is something to compare."""
        return len(self.lanes) >= LEAST_LANES

    @property
    def sides(self) -> tuple[str, ...]:
        """The runs, as a command names them."""
        return tuple(run_of_session(lane.run.number) for lane in self.lanes)

    @property
    def usable_runs(self) -> list[Run]:
        return [run for run in self._session.runs.all if run.history is not None]

    # -- asking ----------------------------------------------------------------------------

    def refresh(self) -> None:
        runs, known = self._session.runs, {lane.key: lane for lane in self.lanes}
        self._rest_as_long(self._session.aside, f"{self.topic} text", runs.shown)
        self.lanes = []
        for letter, run in zip(LETTERS, self.wanted_runs(), strict=False):
            study = runs.studies.of(run, runs.all)
            assert study is not None  # usable runs have one
            lane = Lane(letter, run, study)
            lane = known.get(lane.key, lane)
            lane.letter, lane.study = letter, study
            self.lanes.append(lane)
        if not self.is_ready:
            self.specimen = None
        self._ask_for_text()
        self._travel()

    def _ask_for_text(self) -> None:
        text = self.specimen if self.specimen is not None else self._session.text.value
        text = text[:LONGEST_TEXT].encode(errors="replace").decode() if self.lanes else ""
        lanes, is_same = list(self.lanes), text == self.text.text()
        key = (text, *(lane.key for lane in lanes))
        if key == self._asked:
            return
        self._asked = key

        def work(task: Task) -> list[Segmentation]:
            return [
                lane.segmentation
                if is_same and lane.segmentation is not None
                else lane.study.tokenizer.segmentation(text, allowed_special="all", cancelled=task.cancelled)
                for lane in while_wanted(lanes, task.cancelled, every=1)
            ]

        def take(found: list[Segmentation]) -> None:
            if text != self.text.text():
                self.text.set_text(text)
            for lane, segmentation in zip(lanes, found, strict=True):
                lane.take(segmentation)
            self.trouble = ""
            self._travel()

        self._session.aside.ask(f"{self.topic} text", work, take, self._fail)

    def _fail(self, sentence: str) -> None:
        self.trouble, self._asked = sentence, None
        self.changed.emit()

    def _travel(self) -> None:
        """Cut the text at the wanted steps: at once if that compares only ranks, else on another thread."""
        slow: list[tuple[Lane, int, Segmentation]] = []
        for place, lane in enumerate(self.lanes):
            lane.wanted = self.wanted_step(place)
            if lane.segmentation is None or not lane.is_behind:
                continue
            if lane.study.has_ranks:
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

        self._session.aside.ask(f"{self.topic} cuts", work, take, self._fail)

    def _compare(self) -> None:
        cuts, data = [lane.cut for lane in self.lanes if lane.cut is not None], self.text.data
        are_known = bool(cuts) and len(cuts) == len(self.lanes) and all(cut.data == data for cut in cuts)
        self.parallel = parallel_cuts([cut.tokens for cut in cuts], len(data)) if are_known else None
        self.changed.emit()

    # -- sentences -------------------------------------------------------------------------

    @property
    def summary(self) -> str:
        """A sentence about how far they agree."""
        if self.parallel is None:
            return self.trouble or ("Cutting …" if self.lanes else "")
        count = len(self.parallel.stretches)
        places = count_text(count, "place", "places") if count else "No place"
        of = quoted(self.specimen) if self.specimen is not None else "your text"
        if self.specimen is None and len(self._session.text.value) > LONGEST_TEXT:
            of = f"the first {LONGEST_TEXT:,} characters of {of}"
        return f"{places} of {of} {'is' if count < 2 else 'are'} cut differently."

    def described(self, place: int, token: TokenAt) -> str:
        """Describe a token of a lane in a line."""
        lane, text = self.lanes[place], quoted(token.data)
        if token.id == NO_TOKEN:
            return f"{lane.letter}: {text} belongs to no token"
        return f"{lane.letter}: {text}, token {lane.study.number(token.id):,}. {self.hint}"


class LanesQuestion(QuestionModel):
    """A question about the runs that are side by side."""

    def __init__(self, session: Session, name: str, lanes: LanesModel, hint: str) -> None:
        """`hint` is shown while there is nothing to compare."""
        super().__init__(session, name)
        self.lanes, self.trouble, self._hint = lanes, hint, hint
        lanes.changed.connect(self.refresh_soon)

    @property
    def parameters(self) -> list[Parameter]:
        return []

    @property
    def command(self) -> tuple[str, ...]:
        asked = self.asked
        return (self.question.name, *self.lanes.sides, *asked[0].arguments(), "-o", RESULT) if asked else ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All but ids: there is little room."""
        return tuple(name for name in super().columns if not name.endswith("_id"))

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
        return [lane.run for lane in self.lanes.lanes] if self.lanes.is_ready else []

    def _values(self) -> dict[str, Any]:
        return self.lanes.parameters

    def _take(self, answer: Answer | None, trouble: str, progress: str = "") -> None:
        super()._take(answer, self._hint if trouble == NOTHING_YET else trouble, progress)
