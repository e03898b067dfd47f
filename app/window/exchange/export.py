"""A class that exports the run shown.

A background task writes and checks the new files. Then it moves them to the place that the user chose.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.session.manifests import RESULT, SESSION
from app.session.run import Origin
from app.session.session import Session
from app.window.exchange.file_work import FileWork
from app.worker.job import Task
from bpe_core.delivery.folder import MEANINGS, Roles, roles_of
from bpe_core.delivery.sidecars import roles_in, template_file_in
from bpe_core.formats import FORMATS
from bpe_core.history.history import History
from bpe_core.support.progress import Progress, Work
from bpe_core.verification.checking import PreparedExport as PreparedExport
from bpe_core.verification.checking import prepare_export

FIT = "export_fit"
FOLDER = "Folder for transformers"
FOLDER_EXPLANATION = "A folder for transformers.AutoTokenizer, with tokenizer.json and the roles of the special tokens."
ROLE_TITLES = {"pad": "Padding", "bos": "Begins a text", "eos": "Ends a text", "unk": "Unknown"}
COMMON, A_TABLE = "tokenizer.json", "a table"  # what most programs read; how purposes of tables begin
STEM = "merges"  # the file's name if the format has no fixed one


@dataclass(frozen=True)
class FormatChoice:
    name: str
    explanation: str
    file_name: str  # the proposed name
    purpose: str = ""

    @property
    def title(self) -> str:
        """Return the title of the format in the list of formats: its purpose, followed by its name."""
        return f"{self.purpose[:1].upper()}{self.purpose[1:]} ({self.name})" if self.purpose else self.name


@dataclass(frozen=True)
class RoleChoice:
    """A role of special tokens, such as padding, and the token that has this role."""

    name: str
    title: str
    meaning: str
    token: str


@dataclass(frozen=True)
class FolderChoices:
    """The choices of a user who exports a folder: the token of each role, and the file with a chat template."""

    roles: tuple[tuple[str, str], ...] = ()
    template: str = ""


NO_CHOICES = FolderChoices()


def format_choices() -> list[FormatChoice]:
    """Return the formats to choose from, with the most common format first, and a folder second.

    The formats of other programs come before the formats of plain tables.
    """
    files = [
        FormatChoice(name, row.explanation, f"{STEM}{ending}" if ending.startswith(".") else ending, row.purpose)
        for name, row in FORMATS.written.rows.items()
        if (ending := row.endings[0])
    ]
    folder = FormatChoice(FOLDER, FOLDER_EXPLANATION, "tokenizer")
    common, *others = sorted(files, key=lambda choice: (choice.name != COMMON, choice.purpose.startswith(A_TABLE)))
    return [common, folder, *others]


class TableExport(FileWork):
    """An export of the run shown. It prepares and checks the files before they replace other files."""

    refused = Signal(str)  # why the chosen format cannot hold the run; empty if it can
    checked = Signal(PreparedExport)
    finished = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__("export", session, parent)
        self.stage = ""
        self._prepared: PreparedExport | None = None
        self._folder_choices = NO_CHOICES
        self._origin: Origin | None = None

    @property
    def roles(self) -> list[RoleChoice]:
        """Return each role of special tokens with its token.

        If the run comes from an opened table, the sidecar files name the tokens. Otherwise the roles are guessed from
        the names of the tokens.
        """
        tokens = roles_of(self.history).given if self.history is not None else {}
        tokens = roles_in(self.origin.sidecars) if self.origin is not None else tokens
        return [RoleChoice(name, ROLE_TITLES[name], MEANINGS[name], tokens.get(name, "")) for name in MEANINGS]

    @property
    def origin(self) -> Origin | None:
        """Return the opened table on which the run shown is based, or None.

        An exported folder keeps the roles of that table's special tokens, its padding side, and its chat template.
        """
        return self.session.runs.origin_of(self.session.runs.shown)

    @property
    def folder_explanation(self) -> str:
        if self.origin is None:
            return FOLDER_EXPLANATION
        main = self.origin.sidecars.main
        return (
            f"A folder with the other files from the folder of {main}: roles, padding side, chat template, and files "
            "for other loaders."
        )

    @property
    def template_hint(self) -> str:
        """Return the hint that an empty field for a chat template shows."""
        kept = template_file_in(self.origin.sidecars) if self.origin is not None else ""
        return f"the template in {kept}" if kept else "none"

    @property
    def specials(self) -> tuple[str, ...]:
        return () if self.history is None else self.history.recipe.special_tokens

    def can_start(self) -> bool:
        return self.history is not None and not self.is_busy

    def check_format(self, format: str, merges: int) -> None:
        """Check in the background whether a format can store the run after `merges` steps.

        The result arrives with the signal `refused`.
        """
        if self.history is not None and not self.is_busy:
            table = self.history.first(merges)
            holds = FORMATS["tokenizer.json" if format == FOLDER else format]
            ask = self.session.background.run
            ask(FIT, lambda task: holds.refusal(table, task.cancelled), self.refused.emit, self._fail)

    def prepare(
        self, path: Path, format: str, merges: int | None = None, folder_choices: FolderChoices = NO_CHOICES
    ) -> None:
        """Create the files in memory and check them. The signal `checked` delivers the result.

        Only a folder uses `folder_choices`. Other formats ignore it.
        """
        history = self.history
        text = self.session.text.value
        if history is None or self.is_busy:
            return
        self._prepared = None
        self._folder_choices = folder_choices
        self._origin = self.origin if format == FOLDER else None
        origin = self._origin
        changes = self._changes(folder_choices)

        def work(task: Task) -> PreparedExport:
            choices: dict[str, Any] = {"merges": merges, "text": text, "work": Work(task.report, task.cancelled)}
            if origin is not None:
                return _prepared_like(origin, history, path, changes, folder_choices.template, **choices)
            if format == FOLDER:
                return _prepared_folder(history, path, folder_choices, **choices)
            return prepare_export(history, path, format=FORMATS.get(format), apart=True, **choices)

        self.stage = "writing"
        self._begin(work, self._take_prepared)

    def _changes(self, folder_choices: FolderChoices) -> tuple[tuple[str, str], ...]:
        """Return the roles whose token the user has changed, with the new tokens."""
        before = {role.name: role.token for role in self.roles}
        return tuple((name, token) for name, token in folder_choices.roles if token != before[name])

    def put_in_place(self) -> None:
        """Replace the old files with the prepared files. If one file cannot be replaced, all old files stay."""
        if self._prepared is not None and not self.is_busy:
            self._begin(partial(_put_in_place, self._prepared), self._report_written)

    def forget(self) -> None:
        self._prepared = None

    def cancel(self) -> None:
        """Cancel the export. An export that is already replacing files goes on."""
        if self._prepared is None:
            super().cancel()

    def _progress(self, progress: Progress) -> None:
        self.stage = progress.stage
        super()._progress(progress)

    def _fail(self, sentence: str) -> None:
        super()._fail(sentence)
        self.session.background.notify(sentence)

    def _take_prepared(self, prepared: PreparedExport) -> None:
        self._prepared = prepared
        self.checked.emit(prepared)

    def _report_written(self, prepared: PreparedExport) -> None:
        self._prepared = None
        names = " and ".join(str(path) for path in prepared.files)
        verification = prepared.verification
        sentence = f"Wrote {prepared.steps} to {names}; {verification.sentence}."
        self.finished.emit(sentence)
        self.session.background.notify(
            sentence, "\n".join((*verification.chosen, *verification.cannot_hold)), is_error=False
        )
        self.written.emit(self._command(prepared), prepared.path)

    def _command(self, prepared: PreparedExport) -> tuple[str, ...]:
        command = ("export", "--merges", SESSION, RESULT)
        if not prepared.path.is_dir():
            return (*command, "--to", prepared.format.name, "--at", str(prepared.merges))
        wished = self._folder_choices.roles if self._origin is None else self._changes(self._folder_choices)
        roles = [word for role, token in wished for word in (f"--{role}", token)]
        roles += ["--like", str(self._origin.sidecars.folder)] if self._origin is not None else []
        template = ("--chat-template", self._folder_choices.template) if self._folder_choices.template else ()
        return (*command, "--at", str(prepared.merges), *roles, *template)

    def _end(self) -> None:
        if not self.is_busy:
            super()._end()


def _prepared_folder(history: History, path: Path, folder_choices: FolderChoices, **choices: Any) -> PreparedExport:
    from bpe_core.delivery.folder import Delivery, prepare_folder, read_template  # not for the first paint

    template = read_template(folder_choices.template) if folder_choices.template else ""
    delivery = Delivery(Roles(**dict(folder_choices.roles)), chat_template=template)
    return prepare_folder(history, path, delivery, **choices)


def _prepared_like(
    origin: Origin, history: History, path: Path, roles: Sequence[tuple[str, str]], template: str, **choices: Any
) -> PreparedExport:
    """Prepare a copy of the folder of the opened table.

    The copy holds the run, the changed roles and the new template.
    """
    from bpe_core.delivery.changed_folder import plan_for, prepare_changed_folder  # not for the first paint
    from bpe_core.delivery.folder import read_template, with_special_tokens

    main = origin.sidecars.folder / origin.sidecars.main
    plan = plan_for(path, origin.sidecars, main, origin.format, None)
    plan.refuse_other_contents()
    said = {f"{role}_token": text or None for role, text in roles}
    said |= {"chat_template": read_template(template)} if template else {}
    table = with_special_tokens(history, Roles(**dict(roles)).missing(history))
    return prepare_changed_folder(plan, origin.history, table, overriding=said, **choices)


def _put_in_place(prepared: PreparedExport, task: Task) -> PreparedExport:
    prepared.put_in_place()
    return prepared
