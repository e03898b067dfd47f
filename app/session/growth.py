"""What it brought to let a table learn more, told once when a run that did has ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.changes import Held
from app.session.corpus_texts import CorpusText, reading
from app.session.notices import Notice
from app.session.run import Phase, Run
from app.session.runs import Runs
from app.worker.job import Task
from app.worker.training import GoneOn, Growing
from bpe_core import BpeError, Cancelled, Corpus, count_words

if TYPE_CHECKING:
    from bpe_core.editing.costs import Costs
    from bpe_core.editing.extending import Extended

TOPIC = "growth"
LONGEST_TEXT = 1_000_000  # characters of the person's own that are counted
MOST_LISTED = 500  # tokens


@dataclass(frozen=True)
class Growth:
    """What is known of it."""

    text: Costs  # of the person's own text
    by_file: list[str]  # what it saves in each text that nothing was learned from, a sentence each
    unused: list[int]  # old tokens that stand nowhere in the texts it went on with, by their ids now


class GrowthNews(QObject):
    """Looks at each run that has gone on from a table, once it has ended."""

    noticed = Signal(Notice)

    def __init__(self, runs: Runs, text: Held[str], aside: Aside, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs, self._text, self._aside = runs, text, aside
        runs.changed.connect(self._look)

    def _look(self) -> None:
        run = self._runs.shown
        if run is None or run.growing is None or run.phase is not Phase.ENDED:
            return
        growing, gone_on, text = run.growing, _gone_on(run, run.growing), self._text.value[:LONGEST_TEXT]
        run.growing = run.gone_on = None
        if gone_on is None or not len(gone_on.found.added):
            return
        found = gone_on.found
        self._aside.ask(
            TOPIC,
            lambda task: _growth(growing, gone_on, text, task),
            lambda growth: self._tell(run, growing, found, growth),
        )

    def _tell(self, run: Run, growing: Growing, found: Extended, growth: Growth) -> None:
        new = found.numbers[found.added].tolist()
        from bpe_core.insight.reachable_tokens import is_learned

        learned = int(is_learned(growing.old).sum())
        sentence = (
            f"Run {run.number:,}: {len(new):,} new tokens, numbered {new[0]:,} to {new[-1]:,}; all others keep "
            f"their numbers. Your text: {growth.text}. "
            f"{len(growth.unused):,} of the table's {learned:,} own tokens stand nowhere in the corpus."
        )
        details = "\n".join([*growth.by_file, *self._listed(run, growth.unused)])
        if growth.by_file:
            run.sentence = " ".join([run.sentence, *growth.by_file])
        self.noticed.emit(Notice(sentence, details, is_error=False, can_wait=True))

    def _listed(self, run: Run, unused: list[int]) -> list[str]:
        if run.names is None or not unused:
            return []
        more = " …" if len(unused) > MOST_LISTED else ""
        return ["Never used: " + ", ".join(run.names.text[id] for id in unused[:MOST_LISTED]) + more]


def _gone_on(run: Run, growing: Growing) -> GoneOn | None:
    """What came of it, where it was learned step by step, too."""
    history, words, names, numbers = run.history, run.words, run.names, run.shown_numbers
    if run.gone_on is not None or history is None or words is None or names is None or numbers is None:
        return run.gone_on
    if len(history) < len(growing.old):
        return None
    from bpe_core.editing.extending import Extended, places_in

    return GoneOn(Extended(history, numbers, places_in(history, growing.old)), words, names)


def _growth(growing: Growing, gone_on: GoneOn, text: str, task: Task) -> Growth:
    from bpe_core.editing.costs import costs
    from bpe_core.insight.growth import never_used

    old, found = growing.old, gone_on.found
    own = count_words(Corpus.from_texts([text.encode(errors="replace").decode()]), old.recipe)
    by_file = []
    for path in growing.held_out:
        try:
            with reading([CorpusText(path.name, path=path)], task.remarks) as corpus:
                words = count_words(corpus, old.recipe, cancelled=task.cancelled)
            by_file.append(f"{path.name}: {costs(words, old, found.history, cancelled=task.cancelled)}.")
        except Cancelled:
            raise
        except BpeError as error:  # a file that is gone leaves the others be
            by_file.append(f"{path.name}: {error}")
    unused = never_used(gone_on.words, old, found.history, found.new_ids, cancelled=task.cancelled)
    return Growth(costs(own, old, found.history), by_file, found.new_ids[unused].tolist())
