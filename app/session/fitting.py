"""A size for texts that have no vocabulary as large, or as small, as a recipe asks for.

Whoever chose the size is asked before another is taken. Where nobody did, as with a preset's on a small text, the
run takes one that can be learned, and says so.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.session.changes import Held
from app.session.notices import Answer, Notice
from app.session.run import Run
from app.session.runs import Runs
from app.worker.training import DoesNotFit
from bpe_core.recipes.recipe import Recipe


class Fitting(QObject):
    """Listens to the runs; the recipe follows where it is the one that does not fit."""

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
