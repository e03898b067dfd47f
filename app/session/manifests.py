"""The manifests of files that the window saved.

A manifest contains the command that makes the file. The session that this command reads is saved, too.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject

from app.session.corpus_texts import CorpusText
from app.session.session import Session
from app.session.snapshot import snapshot_of
from app.worker.job import Task
from bpe_core.session_file import EXTENSION
from bpe_core.session_file.writing import write_session
from bpe_core.support.atomic import write_atomically
from bpe_core.support.plugins import plugin_arguments
from bpe_core.support.progress import CancelCheck

# Placeholders in a command for the session, the corpus and the output; their NUL bytes cannot be typed.
SESSION = "\0session"
TEXTS = "\0texts"
RESULT = "\0result"
CORPUS = "\0corpus"  # the texts of the corpus, each after the argument that names it
EACH = "\0each"  # the same texts, each as a group with its own name, if there are no groups
MANIFEST = ".manifest.json"
LOOK_AGAIN = 0.1  # seconds between two looks at the file
PROGRAM = "app"  # `app` can draw pictures for print, too
NO_COMMAND = (
    "{} was saved without a manifest, because no command draws a picture like the window's. If you need a manifest, "
    "save the values (CSV, JSON …), or use File > Save Figure for Print."
)
NO_FILES = "{} was saved without a manifest: {}"
DIFFERENT = "{} was saved without a manifest: the command that the manifest would hold makes a different file."
STILL_LEARNING = " Wait until training has ended, or pause the training, and save again."
KEPT = "{} can be made again: the command in its manifest, {}, has made an identical file."


def run_of_session(number: int) -> str:
    """Return the placeholder that stands for the session's run `number` in a command."""
    return f"{SESSION}#{number}"


class Manifests(QObject):
    """A writer of manifests. It does nothing unless the user has switched manifests on."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.is_on = False
        self._session = session

    def keep(self, command: Sequence[str], path: Path) -> None:
        """Write a manifest beside a file that was just saved.

        If the command is empty, show a message that the file can have no manifest.
        """
        if not self.is_on:
            return
        session = self._session
        run = self._session.runs.shown
        beside, manifest = (path.absolute().with_name(path.name + ending) for ending in (EXTENSION, MANIFEST))
        needs_session = any(word.startswith(SESSION) for word in command)
        if not command or (needs_session and run is None):
            self._notify(NO_COMMAND, path)
            return
        texts = TextFiles(session.corpus.texts.value, path)
        needs_texts = {TEXTS, CORPUS, EACH} & {*command}
        if needs_texts and (refusal := texts.refusal(each=EACH in command)):
            self._notify(NO_FILES, path, refusal)
            return
        words = list(fill_placeholders(command, path, beside, texts))
        now = snapshot_of(session, {})
        is_learning = any(any_run.is_busy for any_run in session.runs.all)

        def work(task: Task) -> bool:
            written = [beside] if needs_session else []
            if needs_texts:
                written += texts.write()
            if needs_session:
                write_session(now, beside)
            is_kept = False
            try:
                is_kept = keep_manifest(words, manifest, task.cancelled)
            finally:
                for unneeded in () if is_kept else (*written, manifest):
                    unneeded.unlink(missing_ok=True)
            return is_kept

        def take(is_kept: bool) -> None:
            different = DIFFERENT + (STILL_LEARNING if is_learning else "")
            self._notify(KEPT if is_kept else different, path, manifest.name)

        session.background.run(("manifest", path), work, take, session.background.notify, writes=True)

    def _notify(self, sentence: str, *files: Path | str) -> None:
        names = (file.name if isinstance(file, Path) else file for file in files)
        self._session.background.notify(sentence.format(*names), is_error=False)


def keep_manifest(command: Sequence[str], manifest: Path, cancelled: CancelCheck) -> bool:
    """Run a command again, and write its manifest. Return whether the manifest was written.

    No manifest is written if the command now makes a file that differs from the existing file.
    """
    call = [sys.executable, "-m", PROGRAM, *plugin_arguments(), "repeat", manifest.name, "--made-by", *command]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(call, cwd=manifest.parent, stdin=quiet, stdout=quiet, stderr=quiet) as process:
        while process.poll() is None:
            if cancelled():
                process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_AGAIN)
    return process.returncode == 0


def fill_placeholders(command: Sequence[str], path: Path, beside: Path, texts: TextFiles) -> Iterator[str]:
    """Yield the arguments of a command, with file names in place of the placeholders."""
    for word in command:
        if word.startswith(SESSION):
            yield word.replace(SESSION, str(beside), 1)
        elif word == RESULT:
            yield str(path.absolute()) + ("/" if path.is_dir() else "")
        elif word in (TEXTS, CORPUS, EACH):
            yield from texts.arguments("--corpus" if word == CORPUS else "", each=word == EACH)
        else:
            yield word


IN_NO_FILE = "the text {} is an address, and its content may change. Save the text as a file and open this file."
READ_SO = (
    "the text {} is read with separate options (encoding, column, files of a folder), and commands cannot set these "
    "options for a single text. Save the text as a plain file and open this file."
)
TWO_ALIKE = (
    "two texts are called {}, so their rows would have the same name. Rename a file, or put both texts into groups."
)
SOME_IN_GROUPS = "some texts are in groups and some are not. No command can express this. Put all texts into groups."


class TextFiles:
    """The texts of the corpus as files that a command can name.

    A text without a file is written to a new file beside the path `beside`.
    """

    def __init__(self, texts: Sequence[CorpusText], beside: Path) -> None:
        self._texts = texts
        self._place = {
            text.number: beside.absolute().with_name(f"{beside.name}.text-{count}.txt")
            for count, text in enumerate(texts, 1)
            if text.path is None
        }

    @property
    def unwritten(self) -> bool:
        """Return whether at least one of the texts has not been written to a file yet."""
        return any(not path.exists() for path in self._place.values())

    def refusal(self, *, each: bool) -> str:
        """Return the reason why no command can name these texts, or an empty string if a command can.

        If `each` is true, the command turns every text without a group into a group.
        """
        for text in self._texts:
            if text.address or text.refused:
                return IN_NO_FILE.format(text.name)
            if text.picked or text.encoding or text.column or text.word_list is not None:
                return READ_SO.format(text.name)
        if len({bool(text.group) for text in self._texts}) > 1:
            return SOME_IN_GROUPS
        names = [text.name for text in self._texts]
        twice = next((name for name in names if names.count(name) > 1), None)
        return TWO_ALIKE.format(twice) if each and twice is not None and not self._are_grouped else ""

    def arguments(self, argument: str = "", *, each: bool = False) -> list[str]:
        """Return the command's arguments that name the texts and their groups.

        The method `by_group` forms the groups, and explains `each`. If there are no groups, the option `argument` is
        written before the texts.
        """
        groups = self.by_group(each=each)
        if groups.keys() <= {""}:
            return [*filter(None, [argument]), *(str(path) for paths in groups.values() for path in paths)]
        return [word for name, paths in groups.items() for word in ("--group", name, *map(str, paths))]

    def by_group(self, *, each: bool) -> dict[str, list[Path]]:
        """Return a dictionary from the name of each group to the files of its texts.

        A text without a group gets a group of its own, with the name of the text. But if no text has a group and
        `each` is false, all files are in a single group, which is named "".
        """
        groups: dict[str, list[Path]] = {}
        is_named = each or self._are_grouped
        for text in self._texts:
            name = (text.group or text.name) if is_named else ""
            groups.setdefault(name, []).append(self._path(text))
        return groups

    def write(self) -> list[Path]:
        """Write the texts that have no file, and return the paths of the new files."""
        for text in self._texts:
            if text.number in self._place:
                with write_atomically(self._place[text.number]) as file:
                    file.write(text.text.encode(errors="replace"))
        return list(self._place.values())

    @property
    def _are_grouped(self) -> bool:
        return any(text.group for text in self._texts)

    def _path(self, text: CorpusText) -> Path:
        return self._place[text.number] if text.path is None else text.path.absolute()
