"""A class that trains while the user edits: a change of the recipe or the texts begins a new training immediately."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QObject

from app.session.background import Answer
from app.session.corpus_texts import CorpusText, CorpusTexts
from app.session.run import Phase, Run
from app.session.session import Session
from app.session.time import timer
from bpe_core.insight.table_comparison import TableComparison, compare_tables
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.wording import size_text

TOPIC = "changes_by_learning"
TOGETHER_MILLISECONDS = 0  # changes within one turn of the event loop begin one run
LARGEST = 10_000_000  # most bytes of a corpus that is learned at once
LEAST_SIZE_TOLD = 1_000_000  # bytes
MOST_NAMED = 2  # most texts that a line names
MOST_DRAFTS = 8  # drafts that are kept, so that undo need not learn again


class LiveLearning(QObject):
    """An object that trains a run after each change of the recipe or the texts. The runs are drafts.

    A new draft replaces the previous draft, unless that draft has a bookmark or another run is based on it. If the
    texts are large, the object only offers to train.
    """

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_on = True
        self.is_watched: Callable[[], bool] = lambda: True  # whether the room shown is one that learns at once
        self._session = session
        self._runs = session.runs
        self._background = session.background
        self._drafts: list[Run] = []
        self._learning: Run | None = None
        self._before: Run | None = None  # the run shown when the change was made
        self._place: tuple[int | None, int] | None = None  # where the user was (None: at the end), and was brought
        self._soon = timer(self, TOGETHER_MILLISECONDS, self._learn)
        session.recipe.changed.connect(lambda _: self._soon.start())
        session.corpus.texts.changed.connect(lambda _: self._soon.start())
        self._runs.changed.connect(self._follow)
        self._runs.rested.connect(self._take)

    def _learn(self) -> None:
        sources = self._session.corpus.texts.value
        recipe = self._session.recipe.value
        shown = self._runs.shown
        is_wanted = self.is_on and self.is_watched() and self._session.undo.count()  # not for a session just opened
        if not (is_wanted and sources) or shown is None or self._session.corpus.is_listing:
            return
        if (shown.is_busy and self._learning is None) or shown.would_repeat(recipe, sources):
            return
        if self._learning is None:
            self._before = shown
        if size_of(sources) > LARGEST:
            self._offer_to_learn(shown, sources, recipe)
            return
        known = next((run for run in [*self._drafts, *self._runs.all] if run.would_repeat(recipe, sources)), None)
        unfinished = self._learning
        self._learning = None
        if known is None:  # the present run stays until the next one exists
            self._learning = self._runs.train(sources, recipe, fits=True, is_shown=False)
        if unfinished is not None:
            self._runs.drop(unfinished)
        if known is not None:
            self._show(known, is_draft=known not in self._runs.all)

    def _offer_to_learn(self, shown: Run, sources: CorpusTexts, recipe: Recipe) -> None:
        opened = [source for source in sources if not any(source.is_same_as(mine) for mine in shown.sources)]
        sentence = "The recipe has changed. Press Train to train with the new recipe."
        if not shown.learned_from(sources):
            sentence = f"Press Train to learn from {names_of_texts(opened) or 'other texts'}."
        learn = Answer("Train", partial(self._session.train, fits=True))

        def is_still_true() -> bool:
            values = self._session.corpus.texts.value, self._session.recipe.value
            return values == (sources, recipe) and self._runs.shown is shown

        self._background.notify(sentence, is_error=False, answers=(learn,), is_still_true=is_still_true)

    def forget_drafts(self) -> None:
        """Forget the drafts, because a different session is about to be shown."""
        self._drafts = []
        self._before = None

    def _follow(self) -> None:
        if self._learning is not None and self._runs.shown is not self._before:  # the user has chosen another run
            unwanted = self._learning
            self._learning = None
            self._runs.drop(unwanted)

    def _take(self, run: Run) -> None:
        if run is not self._learning:
            return
        self._learning = None
        if run.phase is Phase.ENDED:
            self._drafts = [*self._drafts[-MOST_DRAFTS + 1 :], run]
            self._show(run, is_draft=True)
        else:
            self._runs.drop(run)

    def _show(self, run: Run, *, is_draft: bool) -> None:
        """Show the new run at the step that the user looked at, and say how this run differs from the previous run."""
        before = self._before
        cursor = self._session.cursor
        place = self._step_of_person()
        if before is not None and before is not run and before in self._drafts and not self._is_used(before):
            self._runs.replace_run(before, run, with_number=is_draft)
        else:
            self._runs.restore_or_remove([run], are_there=True, stays=True)
        cursor.go_live() if place is None else cursor.go_to(place)
        self._place = place, cursor.position
        if before is None or before is run or before.history is None or run.history is None:
            return
        compare = partial(compare_tables, before.history, run.history)
        self._background.run(
            TOPIC, lambda task: compare(cancelled=task.cancelled), partial(self._report_differences, run)
        )

    def _step_of_person(self) -> int | None:
        """Return the step at which the user left the time slider. The current run may be too short to have this step.

        Return None if the user left the slider at the end of the run.
        """
        cursor = self._session.cursor
        if cursor.live:
            return None
        if self._place is not None and self._place[1] == cursor.position:
            return self._place[0]
        return cursor.position if cursor.position < cursor.end else None

    def _report_differences(self, run: Run, comparison: TableComparison) -> None:
        steps = run.wording.steps
        if comparison.first is None and not comparison.differing:
            self._background.notify(f"All {steps} are the same as before the change.", is_error=False)
            return
        parted = (
            ""
            if comparison.first is None
            else f". The {steps} differ from {run.wording.step} {comparison.first + 1:,} on"
        )
        self._background.notify(f"After the change, {comparison.new_tokens}{parted}.", is_error=False)

    def _is_used(self, run: Run) -> bool:
        marked = {mark.run for mark in self._session.bookmarks.value}
        return run.number in marked or any(other.parent == run.number for other in self._runs.all)


def names_of_texts(sources: Sequence[CorpusText]) -> str:
    """List the first texts by name, with the sizes of large texts. At the end, say how many more texts there are."""
    named = [sized_name(source) for source in sources[:MOST_NAMED]]
    more = f" and {len(sources) - MOST_NAMED:,} more" if len(sources) > MOST_NAMED else ""
    return f"{'; '.join(named)}{more}"


def sized_name(source: CorpusText) -> str:
    """Return the name of a text, with its size if the text is large."""
    size = source.size
    return source.name if size is None or size < LEAST_SIZE_TOLD else f"{source.name}, {size_text(size)}"


def size_of(sources: CorpusTexts) -> int:
    """Return the number of bytes in the texts. If a size is unknown, return more than `LARGEST`."""
    sizes = [source.size for source in sources]
    return LARGEST + 1 if None in sizes else sum(size or 0 for size in sizes)
