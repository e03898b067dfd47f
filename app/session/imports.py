"""Tokenizers from elsewhere, opened as runs without counts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.notices import Answer, Notice
from app.session.run import Phase, Run
from app.session.runs import Runs
from app.worker.training import Pace
from app.worker.window_first import let_window_go_first
from bpe_core import FormatError
from bpe_core.learning.methods import told_by
from bpe_core.progress import CancelCheck
from bpe_core.token_texts import TokenTexts, check_budget

if TYPE_CHECKING:
    from bpe_core.formats import OpenedTable
    from bpe_core.verification.imported import Agreement

TOPIC = "import"
RENUMBERED = "The file numbers its tokens in an order of its own; its numbers are shown here, too."


class Opened(NamedTuple):
    """What a file held, and what the library says that owns its format, where there is one."""

    table: OpenedTable
    names: TokenTexts
    agreement: Agreement | None


class Imports(QObject):
    """One file at a time. What was open stays as it was, whatever the file turns out to be."""

    noticed = Signal(Notice)
    ended = Signal()

    def __init__(self, runs: Runs, aside: Aside, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs, self._aside = runs, aside

    @property
    def is_busy(self) -> bool:
        return self._aside.is_busy(TOPIC)

    def open(self, path: Path, opened: Callable[[Run], None] | None = None) -> None:
        """Open a file as a run of its own; `opened` says what is done with it, other than showing it."""
        if self.is_busy:
            self.noticed.emit(Notice("A tokenizer is being opened just now; try again in a moment.", is_error=False))
            return
        take = partial(self._take, path, opened or self._runs.show)
        self._aside.ask(TOPIC, lambda task: _read(path, task.cancelled), take, self._fail, ended=self.ended.emit)
        stop = Answer("Cancel", self.cancel)
        self.noticed.emit(Notice(f"Opening {path.name} …", is_error=False, answers=(stop,)))

    def cancel(self) -> None:
        self._aside.cancel(TOPIC)

    def _fail(self, sentence: str) -> None:
        self.noticed.emit(Notice(sentence))

    def _take(self, path: Path, opened: Callable[[Run], None], found: Opened) -> None:
        table, names, agreement = found
        history, notes = table.history, table.notes if table.numbers is None else (*table.notes, RENUMBERED)
        notes = notes if agreement is None else (*notes, *agreement.notes)
        history.recipe = history.recipe.with_changes(name=path.name)
        lacks = "" if history.has_counts else " It has no counts."
        run = Run(
            number=self._runs.next_number(),
            recipe=history.recipe,
            sources=(),
            pace=Pace(),
            phase=Phase.ENDED,
            sentence=f"Imported from {path.name} ({table.format}).{lacks}",
            history=history,
            names=names,
            numbers=table.numbers,
        )
        self._runs.add(run)
        opened(run)
        about = " The details say what the file does otherwise." if notes else ""
        agrees = "" if agreement is None or agreement.silence else f" It {agreement.sentence}."
        sentence = f"Opened {path.name}: {told_by(history)} ({table.format}).{agrees}{about}"
        self.noticed.emit(Notice(sentence, "\n".join(notes), is_error=False))


def _read(path: Path, cancelled: CancelCheck) -> Opened:
    """Recognizes a file by its content, checks it, names its tokens and asks the library that owns its format."""
    from bpe_core.formats import open_table
    from bpe_core.verification.imported import check_import

    if path.exists() and not path.is_file():  # whoever writes into a pipe may never begin
        raise FormatError(f"{path} is no file.")
    table = open_table(path)
    names = TokenTexts(table.history.alphabet)
    names.grow(table.history, between=let_window_go_first)
    check_budget(names.lengths, names.base, str(path))
    names.places(table.history.first_special)  # by which its table is sorted; nobody shall wait for that
    return Opened(table, names, check_import(path, table, cancelled=cancelled, apart=True))
