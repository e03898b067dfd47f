"""The session: the texts, the recipe, the runs and the moment in time, side by side."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.changes import Held, Steps
from app.session.corpus import SessionCorpus
from app.session.detour import Detour
from app.session.fingerprints import Fingerprints
from app.session.merge_filter import MergeFilter
from app.session.notices import Answer, Notice
from app.session.playing import Playing
from app.session.run import Run
from app.session.runs import Runs
from app.session.tables import GrowthNews
from app.session.time import TimeCursor
from app.worker.training import DoesNotFit
from app.worker.window_first import window_begins
from bpe_core.kernels import readiness
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.values import Bookmark


class Session(QObject):
    """Everything that is open; each part can be read for itself, here is how they hang together."""

    noticed = Signal(Notice)

    def __init__(self, recipe: Recipe, text: str = "", parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.aside = Aside(self)
        self.undo = Steps(self)
        self.recipe: Held[Recipe] = Held(recipe, self.undo, self)
        self.text: Held[str] = Held(text, self.undo, self)  # the person's text, shown token by token
        self.filter: Held[MergeFilter] = Held(MergeFilter(), self.undo, self)
        self.bookmarks: Held[tuple[Bookmark, ...]] = Held((), self.undo, self)
        self.corpus = SessionCorpus(self.recipe, self.aside, self.undo, self)
        self.cursor = TimeCursor(self)
        self.cursor.moved.connect(window_begins)  # first: what works aside gives way till it is drawn
        self.runs = Runs(self.corpus.counts, self.aside, self.cursor, self)
        self.playing = Playing(self.runs, self.cursor, self)
        self.detour = Detour(
            self.corpus.texts, self.recipe, self.text, self.filter, self.runs, self.cursor, self.undo, self
        )
        self.detour.changed.connect(self.playing.give_way)
        self.fitting = Fitting(self.runs, self.recipe, self)
        self.fitting.noticed.connect(self.noticed)
        self.growth = GrowthNews(self.runs, self.text, self.aside, self)
        self.growth.noticed.connect(self.noticed)
        self.fingerprints = Fingerprints(self.runs, self.aside, self)
        self.fingerprints.noticed.connect(self.noticed)
        self.aside.noticed.connect(self.noticed)
        self._wanted: list[tuple[int | None, bool]] = []  # a run that is to begin when its texts are known
        self.corpus.listed.connect(self._train_as_wanted)
        self.corpus.noticed.connect(self.noticed)
        self.runs.noticed.connect(self.noticed)
        self._is_to_count = False
        self.corpus.counts.settled.connect(self._count_what_waited)  # behind the runs, which have taken theirs then

    def warm_up(self) -> None:
        """Let the kernels be compiled aside if they never were on this computer, and what opens tables be loaded."""
        self.aside.ask("compiled kernels", lambda task: readiness.prepare())
        self.aside.ask("formats", lambda task: _load_formats())

    def train(self, *, merges: int | None = None, fits: bool = False) -> None:
        """Begin a run on the texts and the recipe as they are now; on those just being opened, too."""
        if self.corpus.is_listing:
            self._wanted = [(merges, fits)]
            return
        self.runs.train(self.corpus.texts.value, self.recipe.value, merges=merges, fits=fits)

    def _train_as_wanted(self) -> None:
        wanted, self._wanted = self._wanted, []
        for merges, fits in wanted:
            self.train(merges=merges, fits=fits)

    def begin_nothing(self) -> None:
        """Another session is about to be shown: what was to be opened, and learned from then, belonged to this one."""
        self._wanted = []
        self.corpus.leave_paths()

    def step(self, *, fits: bool = False) -> None:
        """One merge: of the shown run if it rests, else of a new one."""
        shown = self.runs.shown
        if shown is not None and shown.can_go_on():
            self.runs.resume(merges=1)
        elif shown is None or not shown.is_busy:
            self.train(merges=1, fits=fits)

    def count(self) -> None:
        """Count the texts under the present recipe; where a run is waiting for counts of its own, as soon as it has."""
        self._is_to_count = self.runs.waiting_for_counts
        if not self._is_to_count:
            self.corpus.count()

    def _count_what_waited(self) -> None:
        if self._is_to_count:
            self.count()

    def close(self) -> None:
        """End every thread, and hear of none any more."""
        self.aside.close()


class Fitting(QObject):
    """Finds a size for texts that have no vocabulary as large, or as small, as a recipe asks for.

    A person who chose the size is asked first; where nobody did, as with a preset's, the run takes another and says so.
    """

    noticed = Signal(Notice)
    taken = Signal(Recipe)  # a recipe whose size nobody chose

    def __init__(self, runs: Runs, recipe: Held[Recipe], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs, self._recipe = runs, recipe
        runs.did_not_fit.connect(self._find)

    def _find(self, run: Run, found: DoesNotFit) -> None:
        size = f"{found.fitting.vocab_size:,}"
        if run.fits:
            self._take(run, found)
            self.noticed.emit(Notice(f"{found.problem} Learning {size} instead.", is_error=False))
        else:
            answer = Answer(f"Learn {size} Instead", lambda: self._take(run, found))
            self.noticed.emit(Notice(found.sentence, answers=(answer,)))

    def _take(self, run: Run, found: DoesNotFit) -> None:
        if self._recipe.value == run.recipe:
            self.taken.emit(found.fitting)
            self._recipe.put_quietly(found.fitting)
        self._runs.train_again(run, found.fitting)


def _load_formats() -> None:
    from bpe_core.formats import FORMATS

    FORMATS.load()
