"""How what is saved from the window was made: as a command, beside it, with the session that it is made from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.corpus_texts import CorpusTexts
from app.session.notices import Notice
from app.session.session import Session
from app.session.snapshot import snapshot_of
from app.worker.job import Task
from bpe_core.session_file.schema import EXTENSION

# What stands in a command for the session, for the texts of the corpus, and for what is made.
SESSION, TEXTS, RESULT = "the session", "the texts", "the result"
EACH = "each text"  # for the same texts, each in a group of its own, called as it is, where there are no groups
MANIFEST = ".manifest.json"
PROGRAM = "app"  # which draws pictures for print, too
NO_COMMAND = (
    "{} was saved without a manifest: no command makes it. Charts saved for print, most lists and tables, exports and "
    "reports are made by one."
)
NO_FILES = "{} was saved without a manifest: a text of the corpus is in no file."
DIFFERENT = "{} was saved without a manifest: the command makes another one, so it would not be true."
KEPT = "{} was made again by a command and is identical; how, stands in {}."


class Manifests(QObject):
    """Nothing is kept unless a person wants it: files would appear that nobody asked for."""

    noticed = Signal(Notice)

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.is_on = False
        self._session = session

    def keep(self, command: Sequence[str], path: Path) -> None:
        """Beside a file that was just saved; a command without words is none."""
        if not self.is_on:
            return
        run, beside = self._session.runs.shown, path.with_name(path.name + EXTENSION)
        texts = _named(self._session.corpus.texts.value)
        if not command or (SESSION in command and run is None):
            self._tell(NO_COMMAND, path)
            return
        each = None if texts is None else _each(self._session.corpus.texts.value)
        if (TEXTS in command and texts is None) or (EACH in command and each is None):
            self._tell(NO_FILES, path)
            return
        place = {
            SESSION: [str(beside.absolute())],
            TEXTS: texts or [],
            EACH: each or [],
            RESULT: [str(path.absolute()) + ("/" if path.is_dir() else "")],
        }
        words = [told for word in command for told in place.get(word, [word])]
        now = snapshot_of(self._session, {})
        manifest = path.absolute().with_name(path.name + MANIFEST)

        def work(task: Task) -> bool:
            from bpe_core.command_line.made_elsewhere import keep_manifest
            from bpe_core.session_file import write_session

            if SESSION in command:
                write_session(now, beside)
            is_kept = False
            try:
                is_kept = keep_manifest(words, manifest, task.cancelled, PROGRAM)
            finally:
                if not is_kept and SESSION in command:
                    beside.unlink(missing_ok=True)
            return is_kept

        def take(is_kept: bool) -> None:
            self._tell(KEPT if is_kept else DIFFERENT, path, manifest.name)

        self._session.aside.ask(
            ("manifest", path), work, take, lambda sentence: self.noticed.emit(Notice(sentence)), writes=True
        )

    def _tell(self, sentence: str, *names: Path | str) -> None:
        told = (name.name if isinstance(name, Path) else name for name in names)
        self.noticed.emit(Notice(sentence.format(*told), is_error=False))


def _named(texts: CorpusTexts) -> list[str] | None:
    """The arguments that name them; None where one is in no file, or is read in a way of its own."""
    groups: dict[str, list[str]] = {}
    for source in texts:
        if source.path is None or source.picked or source.encoding or source.column or source.word_list is not None:
            return None
        groups.setdefault(source.group, []).append(str(source.path.absolute()))
    if not groups:
        return None
    if set(groups) == {""}:
        return groups[""]
    return None if "" in groups else [word for name, paths in groups.items() for word in ("--group", name, *paths)]


def _each(texts: CorpusTexts) -> list[str] | None:
    """As groups; None where two are called alike."""
    if any(source.group for source in texts):
        return _named(texts)
    names = [source.name for source in texts]
    if len({*names}) < len(names):
        return None
    return [word for one in texts if one.path is not None for word in ("--group", one.name, str(one.path.absolute()))]
