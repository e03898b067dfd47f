"""The open session: its texts, its recipe, its runs, and the step shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QUndoCommand

from app.session.background import Answer, BackgroundTasks
from app.session.changes import Step, Steps, UndoableValue
from app.session.corpus import SessionCorpus
from app.session.corpus_texts import CorpusText, CorpusTexts
from app.session.fingerprints import Fingerprints
from app.session.following import FollowedRuns
from app.session.merge_filter import MergeFilter
from app.session.playing import Player
from app.session.run import Run
from app.session.runs import Runs
from app.session.selection import Selection
from app.session.tables import ExtensionMessages
from app.session.time import TimeCursor
from app.worker.training import SizeMismatch
from app.worker.window_first import mark_window_busy
from bpe_core.kernels import readiness
from bpe_core.kernels.readiness import MachineCode
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.values import Bookmark
from bpe_core.support.wording import count_text


class Session(QObject):
    """The open session, with one object for each part of its state."""

    size_taken = Signal(Recipe)  # the program chose the size of this recipe
    opening_changed = Signal()

    def __init__(self, recipe: Recipe, text: str = "", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.background = BackgroundTasks(self)
        self.opening = ""  # the name of a session that is being opened
        self.undo = Steps(self)
        self.recipe: UndoableValue[Recipe] = UndoableValue(recipe, self.undo, self)
        self.text: UndoableValue[str] = UndoableValue(text, self.undo, self)  # the user's text, shown token by token
        # How special tokens in the text are read, as in ALLOWED.
        self.specials: UndoableValue[str] = UndoableValue("", self.undo, self)
        self.filter: UndoableValue[MergeFilter] = UndoableValue(MergeFilter(), self.undo, self)
        self.bookmarks: UndoableValue[tuple[Bookmark, ...]] = UndoableValue((), self.undo, self)
        self.corpus = SessionCorpus(self.recipe, self.background, self.undo, self)
        self.cursor = TimeCursor(self)
        self.cursor.moved.connect(mark_window_busy)  # connected first: threads give way until the moment is drawn
        self.runs = Runs(self.corpus.counts, self.background, self.cursor, self)
        self.runs.has_texts = lambda: bool(self.corpus.texts.value)
        self.runs.did_not_fit.connect(self._find_size)
        self.following = FollowedRuns(self.runs, self.background, self)
        self.selection = Selection(self.runs)
        self.playing = Player(self.runs, self.cursor, self)
        self.lesson_contents = LessonContents(self)
        self.lesson_contents.changed.connect(self.playing.pause_for_person)
        self.extension_messages = ExtensionMessages(self.runs, self.text, self.background, self)
        self.fingerprints = Fingerprints(self.runs, self.background, self)
        self._wanted: tuple[int | None, bool] | None = None  # a run to begin when all folders are listed
        self.corpus.listed.connect(self._train_as_wanted)
        self._is_to_count = False
        self.corpus.counts.settled.connect(self._count_what_waited)  # after the runs

    def note_opening(self, name: str) -> None:
        """Store and report the name of the session that is being opened.

        An empty name means that no session is being opened.
        """
        self.opening = name
        self.opening_changed.emit()

    def warm_up(self) -> None:
        """Compile the kernels and load the formats in background tasks, so that no user waits for them later."""
        self.background.run("compiled_kernels", lambda task: readiness.prepare())
        self.background.run("formats", lambda task: _load_formats(), self._report_unusable_plugins)

    @property
    def machine_code(self) -> MachineCode:
        """Return the state of the machine code: how much is compiled, and in which way large tasks run now."""
        return readiness.state()

    def train(self, *, merges: int | None = None, fits: bool = False) -> None:
        """Begin the training of a run on the current texts and recipe.

        If added folders are still being listed, begin later.
        """
        if self.corpus.is_listing:
            self._wanted = merges, fits
        else:
            self.runs.train(self.corpus.texts.value, self.recipe.value, merges=merges, fits=fits)

    def _train_as_wanted(self) -> None:
        wanted = self._wanted
        self._wanted = None
        if wanted is not None:
            self.train(merges=wanted[0], fits=wanted[1])

    def step(self, *, fits: bool = False) -> None:
        """Make one merge in the run shown if the run can continue, or else in a new run.

        Do nothing while the run shown is busy. If `fits` is true, the new run replaces an impossible vocabulary size
        with a possible size.
        """
        shown = self.runs.shown
        if shown is not None and shown.can_go_on():
            self.runs.resume(merges=1)
        elif shown is None or not shown.is_busy:
            self.train(merges=1, fits=fits)

    def delete(self, run: Run) -> None:
        """Delete a run with its branches, as a step that can be undone. The bookmarks of these runs are hidden."""
        gone = self.runs.with_branches(run)
        busy = next((gone_run for gone_run in gone if gone_run.is_busy or gone_run.job is not None), None)
        if busy is not None:
            self.background.notify(f"Run {busy.number:,} is still training. Stop the training first.", is_error=False)
            return
        step = Step(self.undo, f"Delete run {run.number:,}", partial(self.runs.restore_or_remove, gone), True, False)
        self.undo.push(step)
        branches = ""
        if len(gone) > 1:
            branches = (
                " and its branch" if len(gone) == 2 else (f" and its {count_text(len(gone) - 1, 'branch', 'branches')}")
            )
        answer = Answer("Undo", lambda: self.undo.take_back(step))
        self.background.notify(
            f"Run {run.number:,}{branches} deleted.",
            is_error=False,
            answers=(answer,),
            is_still_true=lambda: not step.is_undone,
        )

    def rename(self, run: Run, name: str) -> None:
        if name.strip() not in ("", run.recipe.name):
            values = run.recipe.name, name.strip()
            self.undo.push(Step(self.undo, f"Rename run {run.number:,}", partial(self.runs.rename, run), *values))

    def count(self) -> None:
        """Count the texts for the current recipe. If runs wait for counts, count the texts of these runs first."""
        self._is_to_count = self.runs.waiting_for_counts
        if not self._is_to_count:
            self.corpus.count()

    def _count_what_waited(self) -> None:
        if self._is_to_count:
            self.count()

    def replace(self, contents: Contents, bookmarks: tuple[Bookmark, ...], runs: Sequence[Run]) -> None:
        """Show a different session. Drop the undo stack and the background tasks of the previous session."""
        self.lesson_contents.forget()
        self.selection.forget()
        self._wanted = None
        self.corpus.stop_listing()
        self.corpus.counts.forget()
        self.following.forget()
        self.runs.forget_results()
        self.bookmarks.put_quietly(bookmarks)
        self.specials.put_quietly("")
        contents.show(self, runs)
        self.undo.clear()

    def _find_size(self, run: Run, mismatch: SizeMismatch) -> None:
        """Replace an impossible vocabulary size with a possible size, and train.

        If the user chose the size, ask the user first.
        """
        size = f"{mismatch.fitting.vocab_size:,}"
        if run.fits:
            self._take_size(run, mismatch.fitting)
            self.background.notify(f"{mismatch.problem} Learning {size} instead.", is_error=False)
        else:
            answer = Answer(f"Learn {size} Instead", partial(self._take_size, run, mismatch.fitting))
            self.background.notify(mismatch.sentence, answers=(answer,))

    def _report_unusable_plugins(self, sentences: list[str]) -> None:
        if sentences:
            self.background.notify(sentences[0], "\n".join(sentences), can_wait=True)

    def _take_size(self, run: Run, fitting: Recipe) -> None:
        if self.recipe.value == run.recipe:
            self.size_taken.emit(fitting)
            self.recipe.put_quietly(fitting)
        self.runs.train_again(run, fitting)


def _load_formats() -> list[str]:
    """Load all formats. Return a sentence about each plug-in that cannot be used."""
    from bpe_core.formats import FORMATS
    from bpe_core.support.plugins import left_out

    FORMATS.load()
    return left_out


@dataclass(frozen=True)
class Contents:
    """The state of a session without its runs and bookmarks."""

    sources: CorpusTexts
    recipe: Recipe
    text: str
    filter: MergeFilter
    shown: Run | None
    position: int
    is_live: bool

    def show(self, session: Session, runs: Sequence[Run]) -> None:
        session.corpus.texts.put_quietly(self.sources)
        session.recipe.put_quietly(self.recipe)
        session.text.put_quietly(self.text)
        session.runs.replace_all(runs, self.shown)
        session.filter.put_quietly(self.filter)
        if not self.is_live:
            session.cursor.go_to(self.position)


class LessonContents(QObject):
    """The texts, recipe and runs of a lesson, which the window shows for a while instead of the user's own contents.

    During a lesson, `hidden` holds the user's own contents, and saving the session saves these contents. Without a
    lesson, `hidden` is None. The beginning of a lesson is one step on the undo stack, so its end undoes all later
    steps. Texts that the user added during the lesson, such as a file, stay.
    """

    changed = Signal()  # a lesson has begun or ended

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.hidden: Contents | None = None
        self._session = session
        self._sources = session.corpus.texts
        self._undo = session.undo
        self._lent: set[int] = set()  # numbers of the sources that belong to lessons
        self._begun_at = 0  # position of the lesson's beginning on the undo stack
        self._leaves_changes = False  # whether changes of an ended lesson could be redone
        self._undo.indexChanged.connect(self._forget_changes)

    def show(self, title: str, corpus: Mapping[str, str], recipe: Recipe, merges: int) -> None:
        """Show the texts of a lesson, and train a run on them. Begin the lesson if it has not begun.

        `corpus` maps the name of a group to its text.
        """
        if self.hidden is None:
            self._begun_at = self._undo.index()
            self._leaving = Step(self._undo, f"Lesson “{title}”", self._begin_or_end, False, True)
            self._undo.push(self._leaving)
        sources = tuple(CorpusText(group or title, text=text, group=group) for group, text in corpus.items())
        self._lent.update(source.number for source in sources)
        self._sources.put_quietly(sources)
        self._session.recipe.put_quietly(recipe)
        self._session.runs.train(self._sources.value, recipe, merges=merges)

    def end(self) -> None:
        """Restore the user's contents, and add the texts that the user opened during the lesson."""
        if self.hidden is None:
            return
        hidden = self.hidden
        now = self._sources.value
        brought = tuple(self.texts_of_person(now))
        self._undo.setIndex(self._begun_at)
        if brought:
            adds = any(source.number in self._lent for source in now)  # else the user replaced all texts
            self._sources.put(hidden.sources + brought if adds else brought, f"Add {brought[0].name}")

    def forget(self) -> None:
        """End the lesson without restoring anything, because another session is about to be shown."""
        if self.hidden is not None:
            self.hidden = None
            self.changed.emit()

    def texts_of_person(self, sources: CorpusTexts) -> Iterable[CorpusText]:
        return (source for source in sources if source.number not in self._lent)

    def owns(self, run: Run) -> bool:
        """Return whether a run learned only from texts of a lesson. Such a run is removed when the lesson ends."""
        return bool(run.sources) and not any(self.texts_of_person(run.sources))

    def own_contents(self) -> Contents:
        """Return the user's own contents, even during a lesson."""
        session = self._session
        now = self._sources.value
        if self.hidden is not None:
            return replace(self.hidden, sources=(*self.hidden.sources, *self.texts_of_person(now)))
        values = now, session.recipe.value, session.text.value, session.filter.value
        return Contents(*values, session.runs.shown, session.cursor.position, session.cursor.live)

    def _begin_or_end(self, begins: bool) -> None:
        hidden = self.hidden
        self.hidden = self.own_contents() if begins else None
        if begins:
            self._session.filter.put_quietly(MergeFilter())
        else:
            self._leaving.setObsolete(True)
            if hidden is None:  # another session is about to be shown
                return
            self._leaves_changes = True
            hidden.show(self._session, [run for run in self._session.runs.all if not self.owns(run)])
        self.changed.emit()

    def _forget_changes(self) -> None:
        """Drop the changes of a lesson from the undo stack, so that nobody can redo them."""
        if self._leaves_changes and self.hidden is None:
            self._leaves_changes = False
            nothing = QUndoCommand()  # pushing it drops the changes that could be redone
            nothing.setObsolete(True)
            self._undo.push(nothing)
