"""Exporting what the shown run has learned: first prepared and checked, then put in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.changes import Held
from app.session.notices import Notice
from app.session.run import NO_RUN
from app.session.runs import Runs
from app.session.time import TimeCursor
from app.worker.job import Task
from bpe_core import Progress
from bpe_core.learning.methods import Wording

if TYPE_CHECKING:
    from bpe_core.formats.base import Format
    from bpe_core.verification.prepared_export import PreparedExport

TOPIC = "export"
FIT = "export fit"
FOLDER = "Folder for transformers"
FOLDER_EXPLANATION = (
    "For transformers.AutoTokenizer: tokenizer.json, what its special tokens are for, and how to load it."
)
ROLE_TITLES = {"pad": "Fills up", "bos": "Begins a text", "eos": "Ends a text", "unk": "Unknown"}
STEM = "merges"  # of a file whose format asks for no name of its own


@dataclass(frozen=True)
class FormatChoice:
    """A format as it is offered."""

    name: str
    explanation: str
    file_name: str  # proposed


@dataclass(frozen=True)
class RoleChoice:
    """What a special token can be for, with the token that is guessed."""

    name: str
    title: str
    meaning: str
    token: str


@dataclass(frozen=True)
class FolderWish:
    """What is said of a folder: the token of each role, and the file of a chat template."""

    roles: tuple[tuple[str, str], ...]
    template: str = ""


@dataclass(frozen=True)
class Check:
    """What came of reading the files back, before they are in place."""

    agrees: bool
    sentence: str
    chosen: tuple[str, ...]  # for the person, who may say otherwise
    cannot_hold: tuple[str, ...]
    differences: tuple[str, ...]
    more_differences: int
    files: tuple[str, ...]
    replaces: tuple[str, ...]  # the names of files that stand there now


def format_choices() -> list[FormatChoice]:
    """All formats: the tables with everything first, then those of other libraries."""
    from bpe_core.formats import FORMATS

    files = [
        FormatChoice(name, row.explanation, f"{STEM}{ending}" if ending.startswith(".") else ending)
        for name, row in FORMATS.rows.items()
        if (ending := row.endings[0])
    ]
    return [*files, FormatChoice(FOLDER, FOLDER_EXPLANATION, "tokenizer")]


class TableExport(QObject):
    """One export at a time."""

    refused = Signal(str)  # why the format that was chosen has no place for the run at all; empty: it has
    progressed = Signal(float)  # from 0 to 1
    checked = Signal(Check)
    written = Signal(str)  # a sentence
    placed = Signal(Path, tuple)  # where, and what a command is told beside that
    failed = Signal(str)
    ended = Signal()
    noticed = Signal(Notice)

    def __init__(
        self, runs: Runs, cursor: TimeCursor, text: Held[str], aside: Aside, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.stage = ""
        self._runs, self._cursor, self._text, self._aside = runs, cursor, text, aside
        self._prepared: PreparedExport | None = None
        self._wish: FolderWish | None = None
        self._goes_on = False  # to put in place what agrees, without being asked again

    @property
    def is_busy(self) -> bool:
        return self._aside.is_busy(TOPIC)

    @property
    def merges(self) -> int:
        """How many the shown run has."""
        return self._runs.shown.learned if self._runs.shown is not None else 0

    @property
    def wording(self) -> Wording:
        """What its steps are called."""
        return NO_RUN if self._runs.shown is None else self._runs.shown.wording

    @property
    def position(self) -> int:
        """The moment shown."""
        return self._cursor.position

    @property
    def roles(self) -> list[RoleChoice]:
        """What the special tokens of the shown run are for, as far as their names tell."""
        from bpe_core.delivery.roles import MEANINGS, roles_of

        run = self._runs.shown
        if run is None or run.history is None:
            return []
        found = roles_of(run.history).given
        return [RoleChoice(name, ROLE_TITLES[name], MEANINGS[name], found.get(name, "")) for name in MEANINGS]

    @property
    def specials(self) -> tuple[str, ...]:
        """The special tokens of the shown run."""
        return () if self._runs.shown is None else self._runs.shown.recipe.special_tokens

    def can_start(self) -> bool:
        run = self._runs.shown
        return run is not None and run.history is not None and not self.is_busy

    @staticmethod
    def nothing_yet() -> Notice:
        return Notice("There is nothing to export yet: train first, or import a tokenizer.", is_error=False)

    def look_at(self, format: str, merges: int) -> None:
        """Whether the format can hold the run at all is told at once: nobody shall wait for that."""
        run = self._runs.shown
        if run is not None and run.history is not None and not self.is_busy:
            table = run.history.first(merges)
            self._aside.ask(
                FIT, lambda task: _format(format).refusal(table, task.cancelled), self.refused.emit, self._fail
            )

    def prepare(
        self, path: Path, format: str | None = None, merges: int | None = None, wish: FolderWish | None = None
    ) -> None:
        """Write in memory and check; `checked` tells what came of it. None: by the name's ending; all merges.

        A wish belongs to a folder.
        """
        self._prepare(path, format, merges, wish, goes_on=False)

    def start(self, path: Path) -> None:
        """Write all merges learned so far, if they come back as they were; the name's ending chooses the format."""
        self._prepare(path, None, None, None, goes_on=True)

    def _prepare(
        self, path: Path, format: str | None, merges: int | None, wish: FolderWish | None, *, goes_on: bool
    ) -> None:
        run = self._runs.shown
        if run is None or run.history is None or self.is_busy:
            return
        self._prepared, self._goes_on, self._wish = None, goes_on, wish
        history, numbers, text = run.history, run.shown_numbers, self._text.value
        count = len(history) if merges is None else merges

        def work(task: Task) -> PreparedExport:
            from bpe_core.delivery.folder import Delivery, prepare_folder, read_template
            from bpe_core.delivery.roles import Roles
            from bpe_core.formats import FORMATS
            from bpe_core.verification.prepared_export import prepare_export

            prepare: Callable[..., PreparedExport] = partial(prepare_export, apart=True)
            if format == FOLDER and wish is not None:
                template = read_template(wish.template) if wish.template else ""
                prepare = partial(prepare_folder, delivery=Delivery(Roles(**dict(wish.roles)), chat_template=template))
            elif format is not None:
                prepare = partial(prepare, format=FORMATS[format])
            return prepare(
                history,
                path,
                merges=count,
                numbers=numbers,
                text=text,
                progress=task.report,
                cancelled=task.cancelled,
            )

        self._start(work, self._take_prepared)

    def put_in_place(self) -> None:
        """Let what was prepared and shown replace the old files."""
        if self._prepared is not None and not self.is_busy:
            self._start(partial(_put_in_place, self._prepared), self._tell_written)

    def forget(self) -> None:
        """What was prepared is not wanted any more."""
        self._prepared = None

    def cancel(self) -> None:
        """Nothing is written then; what is about to be in place is not stopped half-way."""
        if self._prepared is None:
            self._aside.cancel(TOPIC)

    def _start(self, work: Callable[[Task], PreparedExport], done: Callable[[PreparedExport], None]) -> None:
        self.stage = "writing"
        self._aside.ask(TOPIC, work, done, self._fail, self._tell_progress, self._end, writes=True)
        self.progressed.emit(0.0)

    def _tell_progress(self, progress: Progress) -> None:
        self.stage = progress.stage
        self.progressed.emit(progress.done / progress.total if progress.total else 0.0)

    def _fail(self, sentence: str) -> None:
        self._goes_on = False
        self.failed.emit(sentence)
        self.noticed.emit(Notice(sentence))

    def _take_prepared(self, prepared: PreparedExport) -> None:
        self._prepared = prepared
        self.checked.emit(_check(prepared))

    def _tell_written(self, prepared: PreparedExport) -> None:
        self._prepared = None
        names = " and ".join(str(path) for path in prepared.files)
        found = prepared.verification
        sentence = f"Wrote {prepared.told} to {names}; {found.sentence}."
        self.written.emit(sentence)
        self.noticed.emit(Notice(sentence, "\n".join((*found.chosen, *found.cannot_hold)), is_error=False))
        self.placed.emit(prepared.path, self._told(prepared))

    def _told(self, prepared: PreparedExport) -> tuple[str, ...]:
        """Of a folder, what was said of its roles; else the format."""
        at = ("--at", str(prepared.merges))
        if not prepared.path.is_dir():
            return ("--to", prepared.format.name, *at)
        wish = self._wish or FolderWish(())
        roles = (word for role, token in wish.roles for word in (f"--{role}", token))
        return (*at, *roles, *(("--chat-template", wish.template) if wish.template else ()))

    def _end(self) -> None:
        goes_on, self._goes_on = self._goes_on, False
        if goes_on and self._prepared is not None:
            self._go_on(self._prepared)
        if not self.is_busy:
            self.ended.emit()

    def _go_on(self, prepared: PreparedExport) -> None:
        found = prepared.verification
        if found.agrees:
            self.put_in_place()
        else:
            details = "\n".join((*found.differences, *found.cannot_hold))
            self.noticed.emit(Notice(f"{prepared.path} was not written: {found.sentence}.", details))


def _format(name: str) -> Format:
    """What holds the table; in a folder that is its tokenizer.json."""
    from bpe_core.formats import FORMATS

    return FORMATS["tokenizer.json" if name == FOLDER else name]


def _put_in_place(prepared: PreparedExport, task: Task) -> PreparedExport:
    """All the old files are replaced, or none."""
    prepared.put_in_place()
    return prepared


def _check(prepared: PreparedExport) -> Check:
    found = prepared.verification
    return Check(
        agrees=found.agrees,
        sentence=found.sentence,
        chosen=found.chosen,
        cannot_hold=found.cannot_hold,
        differences=found.differences,
        more_differences=found.differing - len(found.differences),
        files=tuple(str(path) for path in prepared.files),
        replaces=tuple(path.name for path in prepared.replaces),
    )
