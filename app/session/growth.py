"""What it brought to let a table go on learning, told once when a run that did has ended."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.changes import Held
from app.session.notices import Notice
from app.session.run import Phase, Run
from app.session.runs import Runs
from bpe_core import Corpus, History, WordTable, count_words
from bpe_core.insight.growth import Saving, never_used, saving

TOPIC = "growth"
LONGEST_TEXT = 1_000_000  # characters of the person's own that are counted
MOST_LISTED = 500  # tokens


@dataclass(frozen=True)
class Growth:
    """What is known of it."""

    saving: Saving  # in the person's own text
    unused: list[int]  # old tokens that stand nowhere in the texts it went on with


class GrowthNews(QObject):
    """Looks at each run that has gone on from a table, once it has ended."""

    noticed = Signal(Notice)

    def __init__(self, runs: Runs, text: Held[str], aside: Aside, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs, self._text, self._aside = runs, text, aside
        self._expected: set[Hashable] = set()  # runs that are learning here, not from a file
        runs.prepared.connect(self._expect)
        runs.changed.connect(self._look)

    def _expect(self, run: Run) -> None:
        if run.recipe.grown_from:
            self._expected.add(run.stamp)

    def _look(self) -> None:
        run = self._runs.shown
        if run is None or run.stamp not in self._expected or run.phase is not Phase.ENDED:
            return
        words, history, text = run.words, run.history, self._text.value[:LONGEST_TEXT]
        if words is None or history is None or len(history) <= run.recipe.grown_from:
            return
        self._expected.discard(run.stamp)
        self._aside.ask(TOPIC, lambda task: _found(words, history, text), lambda found: self._tell(run, found))

    def _tell(self, run: Run, found: Growth) -> None:
        assert run.history is not None
        grown_from = run.recipe.grown_from
        ids = [int(id) for id in run.history.ids[grown_from:]]
        numbers = ids if run.shown_numbers is None else run.shown_numbers[ids].tolist()
        sentence = (
            f"Run {run.number:,}: {len(ids):,} new tokens, numbered {numbers[0]:,} to {numbers[-1]:,}; all others keep "
            f"their numbers. Your text: {found.saving.before:,} tokens before, {found.saving.after:,} now. "
            f"{len(found.unused):,} of the table's {grown_from:,} own tokens stand nowhere in the corpus."
        )
        self.noticed.emit(Notice(sentence, self._listed(run, found.unused), is_error=False))

    def _listed(self, run: Run, unused: list[int]) -> str:
        if run.names is None or not unused:
            return ""
        more = " …" if len(unused) > MOST_LISTED else ""
        return "Never used: " + ", ".join(run.names.text[id] for id in unused[:MOST_LISTED]) + more


def _found(words: WordTable, history: History, text: str) -> Growth:
    own = count_words(Corpus.from_texts([text.encode(errors="replace").decode()]), history.recipe)
    return Growth(saving(own, history), never_used(words, history))
