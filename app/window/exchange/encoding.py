"""The background task that encodes whole texts into a file of ids."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import get_args

from PySide6.QtCore import QObject, Signal

from app.session.corpus_texts import IN_NONE, CorpusText, reading
from app.session.manifests import RESULT, SESSION, TEXTS
from app.session.session import Session
from app.window.exchange.file_work import FileWork
from app.window.parts.wording import size_text
from app.worker.job import Task
from bpe_core.methods.kit.encode_corpus import EncodedCorpus, Width, encode_corpus
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.support.wording import count_text

WIDTHS: tuple[Width, ...] = get_args(Width)


class CorpusEncoding(FileWork):
    """A background task that encodes the texts of the corpus, or other files, with the tokenizer of the run shown."""

    finished = Signal(list, str)  # a row of cells for each text, and a sentence

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__("ids_of_the_corpus", session, parent)

    def start(self, files: Sequence[Path], at: int, width: Width | None, path: Path) -> None:
        """Encode these files into a file of ids. If no files are given, encode the texts of the corpus."""
        history = self.history
        if self.is_busy:
            return
        sources = tuple(CorpusText(file.name, path=file) for file in files) or self.session.corpus.texts.value
        if history is None or not sources:
            self.failed.emit("Encoding needs a tokenizer and a text. Train first, or open a text.")
            return
        encode = partial(encode_corpus, tokenizer=Tokenizer(history), output=path, at=at, width=width)

        def work(task: Task) -> EncodedCorpus:
            with reading(sources, task.remarks) as corpus:
                return encode(corpus, progress=task.report, cancelled=task.cancelled)

        options = ("--width", width) if width is not None else ()
        texts = [str(file.absolute()) for file in files] or [TEXTS]
        command = ("encode", "--merges", SESSION, "--at", str(at), *options, "-o", RESULT, *texts)
        self._begin(work, partial(self._finish, [source.name for source in sources], command))

    def _finish(self, names: Sequence[str], command: tuple[str, ...], result: EncodedCorpus) -> None:
        files = result.files
        named = zip(names if len(names) == len(files) else [file.name for file in files], files, strict=True)
        groups = [(f"all of {part.name}" if part.name else f"all {IN_NONE}", part) for part in result.groups]
        rows = [
            (
                name,
                size_text(part.bytes),
                f"{part.tokens:,}",
                f"{part.different_tokens:,}",
                f"{part.bytes_per_token:.2f}",
            )
            for name, part in [*groups, *named]
        ]
        self.finished.emit(rows, f"Wrote {count_text(result.tokens, 'id')} as {result.width} to {result.path}.")
        self.written.emit(command, Path(result.path))
