"""Compressing and expanding any file, and encoding whole texts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from PySide6.QtCore import QObject, Signal

from app.session.corpus_texts import IN_NONE, CorpusText, reading
from app.session.manifests import RESULT, SESSION, TEXTS
from app.session.session import Session
from app.window.files.file_work import FileWork
from app.window.parts.wording import count_text, size_text
from app.worker.job import Task
from bpe_core.gage_file import (
    ENDING,
    NOTHING_PAYS,
    ZSTD_IS_MISSING,
    Report,
    compress_file,
    expand_file,
    sizes_of_others,
)
from bpe_core.segmenting.encode_corpus import EncodedCorpus, Width, encode_corpus
from bpe_core.support.progress import Work

Direction = Literal["compress", "expand"]
WIDTHS: tuple[Width, ...] = get_args(Width)


class FileCompression(FileWork):
    """Compress a file of any kind as Gage did in 1994, or give back its original."""

    finished = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__("a file that is compressed", session, parent)

    @staticmethod
    def proposal(direction: Direction, source: Path) -> Path:
        if direction == "compress":
            return source.with_name(source.name + ENDING)
        return source.with_suffix("") if source.suffix == ENDING else source.with_name(f"{source.name}.expanded")

    def start(self, direction: Direction, source: Path, target: Path) -> None:
        if self.is_busy:
            self.failed.emit("Another file is still being worked on; wait for it or cancel it.")
            return
        command = (direction, str(source.absolute()), "-o", RESULT)

        def finish(sentence: str) -> None:
            self.finished.emit(sentence)
            self.written.emit(command, target)

        self._begin(partial(_compress if direction == "compress" else _expand, source, target), finish)


class CorpusEncoding(FileWork):
    """Encode the texts of the corpus, or other files, with the run shown."""

    finished = Signal(list, str)  # a row of cells for each text, and a sentence

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__("ids of the corpus", session, parent)

    def start(self, files: Sequence[Path], at: int, width: Width | None, path: Path) -> None:
        """Encode these files, or the texts of the corpus where there are none."""
        history = self.history
        if self.is_busy:
            return
        sources = tuple(CorpusText(file.name, path=file) for file in files) or self.session.corpus.texts.value
        if history is None or not sources:
            self.failed.emit("There is nothing to encode with yet: train first, or open a text.")
            return
        encode = partial(encode_corpus, history=history, output=path, at=at, width=width)

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
        groups = [(f"all of {one.name}" if one.name else f"all {IN_NONE}", one) for one in result.groups]
        rows = [
            (name, size_text(one.bytes), f"{one.tokens:,}", f"{one.different_tokens:,}", f"{one.bytes_per_token:.2f}")
            for name, one in [*groups, *named]
        ]
        self.finished.emit(rows, f"Wrote {result.tokens:,} ids as {result.width} to {result.path}.")
        self.written.emit(command, Path(result.path))


def _compress(source: Path, target: Path, task: Task) -> str:
    report = compress_file(source, target, work=Work(task.report, task.cancelled))
    others = sizes_of_others(source, work=Work(task.report, task.cancelled))
    return "\n".join((f"Wrote {target}.", *_report(report, others)))


def _expand(source: Path, target: Path, task: Task) -> str:
    size = expand_file(source, target, work=Work(task.report, task.cancelled))
    return f"Wrote {target}: {count_text(size, 'byte')}, and the checksum agrees."


def _report(report: Report, others: dict[str, int]) -> list[str]:
    lines = [f"{report.original_size:,} bytes became {_size(report.compressed_size, report.original_size)}."]
    reached = " and ".join(f"{name} {_size(size, report.original_size)}" for name, size in others.items())
    lines.append(f"Of the same file, {reached} would be left.")
    lines.append(
        f"{count_text(report.blocks, 'block')}, {count_text(report.replaced_pairs, 'pair')} replaced; "
        f"{report.table_bytes:,} bytes are tables."
    )
    if report.full_blocks:
        lines.append(f"In {count_text(report.full_blocks, 'block')} all 256 bytes occur, so nothing could be replaced.")
    elif not report.replaced_pairs:
        lines.append(NOTHING_PAYS)
    if "zstd" not in others:
        lines.append(ZSTD_IS_MISSING)
    return lines


def _size(size: int, original: int) -> str:
    share = f" ({size / original:.1%})".replace("%", " %") if original else ""
    return f"{size:,}{share}"
