"""Export the run shown: prepare and check the files, then put them in place."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.manifests import RESULT, SESSION
from app.session.session import Session
from app.window.exchange.file_work import FileWork
from app.worker.job import Task
from bpe_core.delivery.folder import MEANINGS, Roles, roles_of
from bpe_core.formats import FORMATS
from bpe_core.support.progress import Progress, Work
from bpe_core.verification.checking import PreparedExport as PreparedExport
from bpe_core.verification.checking import prepare_export

FIT = "export fit"
FOLDER = "Folder for transformers"
FOLDER_EXPLANATION = (
    "For transformers.AutoTokenizer: tokenizer.json, what its special tokens are for, and how to load it."
)
ROLE_TITLES = {"pad": "Fills up", "bos": "Begins a text", "eos": "Ends a text", "unk": "Unknown"}
COMMON, A_TABLE = "tokenizer.json", "a table"  # what most programs read; how purposes of tables begin
STEM = "merges"  # the name where the format has no fixed one


@dataclass(frozen=True)
class FormatChoice:
    name: str
    explanation: str
    file_name: str  # proposed
    purpose: str = ""

    @property
    def title(self) -> str:
        """The purpose, and the format."""
        return f"{self.purpose[:1].upper()}{self.purpose[1:]} ({self.name})" if self.purpose else self.name


@dataclass(frozen=True)
class RoleChoice:
    """A role of a special token, with a guess which token has it."""

    name: str
    title: str
    meaning: str
    token: str


@dataclass(frozen=True)
class FolderWish:
    """The choices for a folder: the token of each role, and the file of a chat template."""

    roles: tuple[tuple[str, str], ...] = ()
    template: str = ""


NO_WISH = FolderWish()


def format_choices() -> list[FormatChoice]:
    """List all formats: those of programs first, then tables."""
    files = [
        FormatChoice(name, row.explanation, f"{STEM}{ending}" if ending.startswith(".") else ending, row.purpose)
        for name, row in FORMATS.written.rows.items()
        if (ending := row.endings[0])
    ]
    folder = FormatChoice(FOLDER, FOLDER_EXPLANATION, "tokenizer")
    common, *others = sorted(files, key=lambda choice: (choice.name != COMMON, choice.purpose.startswith(A_TABLE)))
    return [common, folder, *others]


class TableExport(FileWork):
    """An export that writes and checks in memory, and then puts the files in place."""

    refused = Signal(str)  # why the chosen format cannot hold the run; empty if it can
    checked = Signal(PreparedExport)
    finished = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__("export", session, parent)
        self.stage = ""
        self._prepared: PreparedExport | None = None
        self._wish = NO_WISH

    @property
    def roles(self) -> list[RoleChoice]:
        """The roles of the run's special tokens, guessed by their names."""
        found = roles_of(self.history).given if self.history is not None else {}
        return [RoleChoice(name, ROLE_TITLES[name], MEANINGS[name], found.get(name, "")) for name in MEANINGS]

    @property
    def specials(self) -> tuple[str, ...]:
        return () if self.history is None else self.history.recipe.special_tokens

    def can_start(self) -> bool:
        return self.history is not None and not self.is_busy

    def look_at(self, format: str, merges: int) -> None:
        """Find out at once whether the format can hold the run."""
        if self.history is not None and not self.is_busy:
            table, holds = self.history.first(merges), FORMATS["tokenizer.json" if format == FOLDER else format]
            ask = self.session.aside.ask
            ask(FIT, lambda task: holds.refusal(table, task.cancelled), self.refused.emit, self._fail)

    def prepare(self, path: Path, format: str, merges: int | None = None, wish: FolderWish = NO_WISH) -> None:
        """Write in memory and check; `checked` brings the result. A wish belongs to a folder."""
        history, text = self.history, self.session.text.value
        if history is None or self.is_busy:
            return
        self._prepared, self._wish = None, wish

        def work(task: Task) -> PreparedExport:
            from bpe_core.delivery.folder import Delivery, prepare_folder, read_template  # not for the first paint

            prepare: Callable[..., PreparedExport] = partial(prepare_export, format=FORMATS.get(format), apart=True)
            if format == FOLDER:
                template = read_template(wish.template) if wish.template else ""
                prepare = partial(prepare_folder, delivery=Delivery(Roles(**dict(wish.roles)), chat_template=template))
            return prepare(history, path, merges=merges, text=text, work=Work(task.report, task.cancelled))

        self.stage = "writing"
        self._begin(work, self._take_prepared)

    def put_in_place(self) -> None:
        """Let the prepared files replace the old ones: all of them, or none."""
        if self._prepared is not None and not self.is_busy:
            self._begin(partial(_put_in_place, self._prepared), self._tell_written)

    def forget(self) -> None:
        self._prepared = None

    def cancel(self) -> None:
        """Write nothing. Files that are being put in place just now are finished."""
        if self._prepared is None:
            super().cancel()

    def _progress(self, progress: Progress) -> None:
        self.stage = progress.stage
        super()._progress(progress)

    def _fail(self, sentence: str) -> None:
        super()._fail(sentence)
        self.session.aside.tell(sentence)

    def _take_prepared(self, prepared: PreparedExport) -> None:
        self._prepared = prepared
        self.checked.emit(prepared)

    def _tell_written(self, prepared: PreparedExport) -> None:
        self._prepared = None
        names = " and ".join(str(path) for path in prepared.files)
        found = prepared.verification
        sentence = f"Wrote {prepared.steps} to {names}; {found.sentence}."
        self.finished.emit(sentence)
        self.session.aside.tell(sentence, "\n".join((*found.chosen, *found.cannot_hold)), is_error=False)
        self.written.emit(self._command(prepared), prepared.path)

    def _command(self, prepared: PreparedExport) -> tuple[str, ...]:
        command = ("export", "--merges", SESSION, RESULT)
        if not prepared.path.is_dir():
            return (*command, "--to", prepared.format.name, "--at", str(prepared.merges))
        roles = (word for role, token in self._wish.roles for word in (f"--{role}", token))
        template = ("--chat-template", self._wish.template) if self._wish.template else ()
        return (*command, "--at", str(prepared.merges), *roles, *template)

    def _end(self) -> None:
        if not self.is_busy:
            super()._end()


def _put_in_place(prepared: PreparedExport, task: Task) -> PreparedExport:
    prepared.put_in_place()
    return prepared
