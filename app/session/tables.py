"""The runs in a session that were not made by training.

These runs are tables from a file, tables made from other tables, and extended tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal

from app.session.background import Answer, BackgroundTasks
from app.session.changes import UndoableValue
from app.session.corpus_texts import CorpusText, reading
from app.session.run import Origin, Phase, Run
from app.session.runs import Runs
from app.worker.job import Task
from app.worker.training import ExtendedTable, TableToExtend, token_texts_of
from bpe_core.counting.count_words import count_words
from bpe_core.delivery.changed_folder import about_others
from bpe_core.delivery.sidecars import sidecars_of
from bpe_core.editing.extending import Extended, new_indices
from bpe_core.editing.trimming import Costs, costs
from bpe_core.errors import BpeError, Cancelled, FormatError
from bpe_core.formats import OpenedTable, open_table
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts, check_budget
from bpe_core.insight.audit import never_used
from bpe_core.insight.reachability import is_learned
from bpe_core.methods.kit.histories import steps_in_words
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.studies.study import Study
from bpe_core.support.progress import CancelCheck, Work
from bpe_core.support.wording import count_text
from bpe_core.text.corpus import Corpus
from bpe_core.verification.import_check import Agreement, check_import

OPENING = "import"
LONGEST_TEXT = 1_000_000  # most characters of the user's text that are counted
RENUMBERED = "The file does not number its tokens in the order of the steps. The window shows the ids of the file."


class ImportedTable(NamedTuple):
    """The content of an opened file.

    If the library of the file's format is installed, `agreement` says whether the library and this program give the
    same results.
    """

    table: OpenedTable
    names: TokenTexts
    agreement: Agreement | None
    origin: Origin
    disagreements: list[str]  # a sentence about each other file of the folder that has other tokens or ids


class Imports(QObject):
    """An object that opens one tokenizer file at a time. An invalid file changes nothing in the session."""

    ended = Signal()

    def __init__(self, runs: Runs, background: BackgroundTasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs = runs
        self._background = background

    @property
    def is_busy(self) -> bool:
        return self._background.is_busy(OPENING)

    def open(self, path: Path, opened: Callable[[Run], None] | None = None, name: str = "") -> None:
        """Open a tokenizer file as a run. Pass the run to `opened`, or show the run if `opened` is None.

        The run is named after the file, unless `name` is given.
        """
        if self.is_busy:
            self._background.notify("A tokenizer is being opened. Try again in a moment.", is_error=False)
            return
        take = partial(self._take, path, opened, name or path.name)
        work, ended = lambda task: _read(path, task.cancelled), self.ended.emit
        self._background.run(OPENING, work, take, self._background.notify, ended=ended)
        stop = Answer("Cancel", self.cancel)
        self._background.notify(f"Opening {path.name} …", is_error=False, answers=(stop,))

    def cancel(self) -> None:
        self._background.cancel(OPENING)

    def _take(self, path: Path, opened: Callable[[Run], None] | None, name: str, imported: ImportedTable) -> None:
        table, names, agreement, origin, disagreements = imported
        history = table.history
        notes = table.notes if history.numbers is None else (*table.notes, RENUMBERED)
        notes = (*notes, *(() if agreement is None else agreement.notes), *disagreements[1:])
        history.recipe = history.recipe.with_changes(name=name)
        lacks = "" if history.has_counts else " The file has no counts."
        origin_text = f"Imported from {path.name} ({table.format}).{lacks}"
        run = self._runs.add_table(history, names, origin_text, is_shown=opened is None)
        run.origin = origin
        if opened is not None:
            opened(run)
        about = " The details say how the file differs from other tokenizers." if notes else ""
        agrees = "" if agreement is None or agreement.silence else f" It {agreement.sentence}."
        differs = f" {disagreements[0]}" if disagreements else ""
        sentence = f"Opened {path.name}: {steps_in_words(history)} ({table.format}).{agrees}{differs}{about}"
        self._background.notify(sentence, "\n".join(notes), is_error=False)


def _read(path: Path, cancelled: CancelCheck) -> ImportedTable:
    """Read and check a tokenizer file, whose format is recognized by its content.

    If the library of the format is installed, compare the library's results with those of this program.
    Raise FormatError if the file is not valid.
    """
    if path.exists() and not path.is_file():  # reading a pipe may never end
        raise FormatError(f"{path} is not a file.")
    table = open_table(path)
    names = token_texts_of(table.history)
    check_budget(names.lengths, names.base, str(path))
    names.places(table.history.first_special)  # computed now, so that the first sort is quick
    agreement = check_import(path, table, cancelled=cancelled, apart=True)
    sidecars = sidecars_of(path, table.format)
    origin = Origin(table.history, table.format, sidecars)
    return ImportedTable(table, names, agreement, origin, about_others(sidecars, table.history))


@dataclass(frozen=True, eq=False)
class EditedTable:
    """A table that a background task made, with sentences that describe it."""

    history: History
    names: TokenTexts
    made: str  # how it was made, in a few words
    sentences: tuple[str, ...]  # sentences about it

    @classmethod
    def of(cls, history: History, name: str, made: str, sentences: tuple[str, ...]) -> EditedTable:
        history.recipe = history.recipe.with_changes(name=name)
        return cls(history, token_texts_of(history), made, sentences)


def add_table(runs: Runs, table: EditedTable, made_of: Run) -> None:
    """Add a table as a run that is a child of the run `made_of`, and show it."""
    sentence = " ".join([f"{table.made}.", *table.sentences])
    runs.add_table(table.history, table.names, sentence, made_of.number)


def costs_of(study: Study, now: History, text: str, work: Work) -> Iterator[str]:
    """Yield a sentence that says how the number of tokens of a text changes from `study` to `now`.

    If the study has a corpus, first yield such a sentence about the corpus.
    """
    if study.texts is not None:
        words = study.inside.words("The change of the corpus", work)
        yield f"The corpus: {costs(words, study.history, now, cancelled=work.cancelled)}."
    valid = text[:LONGEST_TEXT].encode(errors="replace").decode()
    both = (len(Tokenizer(history).encode_to_array(valid)) for history in (study.history, now))
    yield f"Your text: {Costs(*both)}."


EXTENSION = "extension"
MOST_LISTED = 500  # tokens


@dataclass(frozen=True)
class ExtensionFacts:
    text: Costs  # its effect on the user's text
    by_file: list[str]  # a sentence about the savings in each text held out from learning
    unused: list[int]  # present ids of old tokens that do not occur in the new texts


class ExtensionMessages(QObject):
    """An object that shows a message about each run that extended a table.

    The message appears when the training has ended and the window shows the run.
    """

    def __init__(
        self, runs: Runs, text: UndoableValue[str], background: BackgroundTasks, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._runs = runs
        self._text = text
        self._background = background
        runs.changed.connect(self._look)

    def _look(self) -> None:
        run = self._runs.shown
        if run is None or run.table_to_extend is None or run.phase is not Phase.ENDED:
            return
        table_to_extend = run.table_to_extend
        extended_table = _extended_table(run, run.table_to_extend)
        text = self._text.value[:LONGEST_TEXT]
        run.table_to_extend = run.extended_table = None
        if extended_table is None or not len(extended_table.extended.added):
            return
        work = partial(_extension_facts, table_to_extend, extended_table, text)
        take = partial(self._report_extension, run, table_to_extend, extended_table.extended)
        self._background.run(EXTENSION, work, take)

    def _report_extension(
        self, run: Run, table_to_extend: TableToExtend, extended: Extended, facts: ExtensionFacts
    ) -> None:
        new = extended.added.tolist()
        learned = int(is_learned(table_to_extend.old).sum())
        sentence = (
            f"Run {run.number:,} adds {count_text(len(new), 'token')} with ids {new[0]:,} to {new[-1]:,}. All older "
            f"tokens keep their ids. Your text: {facts.text}. {len(facts.unused):,} of the "
            f"{count_text(learned, 'old token')} of the table occur nowhere in the corpus."
        )
        details = "\n".join([*facts.by_file, *self._listed(run, facts.unused)])
        if facts.by_file:
            run.sentence = " ".join([run.sentence, *facts.by_file])
        self._background.notify(sentence, details, is_error=False, can_wait=True)

    def _listed(self, run: Run, unused: list[int]) -> list[str]:
        if run.names is None or not unused:
            return []
        more = " …" if len(unused) > MOST_LISTED else ""
        return [
            "Tokens that the corpus never uses: " + ", ".join(run.names.text[id] for id in unused[:MOST_LISTED]) + more
        ]


def _extended_table(run: Run, table_to_extend: TableToExtend) -> ExtendedTable | None:
    history = run.history
    words = run.words
    names = run.names
    if run.extended_table is not None or history is None or words is None or names is None:
        return run.extended_table
    if len(history) < len(table_to_extend.old):
        return None
    return ExtendedTable(Extended(history, new_indices(history, table_to_extend.old)), words, names)


def _extension_facts(
    table_to_extend: TableToExtend, extended_table: ExtendedTable, text: str, task: Task
) -> ExtensionFacts:
    old = table_to_extend.old
    extended = extended_table.extended
    recipe = extended.history.recipe
    own = count_words(Corpus.from_texts([text.encode(errors="replace").decode()]), recipe)
    by_file = []
    for path in table_to_extend.held_out:
        try:
            with reading([CorpusText(path.name, path=path)], task.remarks) as corpus:
                words = count_words(corpus, recipe, Work(cancelled=task.cancelled))
            saved = costs(words, old, extended.history, counted_by=recipe, cancelled=task.cancelled)
            by_file.append(f"{path.name}: {saved}.")
        except Cancelled:
            raise
        except BpeError as error:  # a missing file does not stop the others
            by_file.append(f"{path.name}: {error}")
    unused = never_used(extended_table.words, old, extended.history, extended.places, cancelled=task.cancelled)
    return ExtensionFacts(
        costs(own, old, extended.history, counted_by=recipe), by_file, extended.places[unused].tolist()
    )
