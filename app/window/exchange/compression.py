"""The background task that compresses or expands a file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.session.manifests import RESULT
from app.session.session import Session
from app.window.exchange.file_work import FileWork
from app.window.parts.wording import count_text
from app.worker.job import Task
from bpe_core.methods.kit.compressors import ZSTD_IS_MISSING, sizes_of_others
from bpe_core.methods.kit.container import Report, container
from bpe_core.support.progress import Work

Direction = Literal["compress", "expand"]
ABOUT_EXPANDING = "Restore a file that this program compressed. The restored file equals the original in every byte."


class FileCompression(FileWork):
    """A background task that compresses a file of any kind, or restores the original file."""

    finished = Signal(str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__("compression", session, parent)

    @staticmethod
    def ending() -> str:
        """Return the file name extension of compressed files."""
        return container().ENDING

    @staticmethod
    def about(direction: Direction) -> str:
        """Return a paragraph that tells the user what happens to a file that is compressed or restored."""
        return container().ABOUT if direction == "compress" else ABOUT_EXPANDING

    @staticmethod
    def proposal(direction: Direction, source: Path) -> Path:
        ending = FileCompression.ending()
        if direction == "compress":
            return source.with_name(source.name + ending)
        return source.with_suffix("") if source.suffix == ending else source.with_name(f"{source.name}.expanded")

    def start(self, direction: Direction, source: Path, target: Path) -> None:
        if self.is_busy:
            self.failed.emit(
                "Another file is still being compressed or expanded. Wait until that work has ended, or cancel it."
            )
            return
        command = (direction, str(source.absolute()), "-o", RESULT)

        def finish(sentence: str) -> None:
            self.finished.emit(sentence)
            self.written.emit(command, target)

        self._begin(partial(_compress if direction == "compress" else _expand, source, target), finish)


def _compress(source: Path, target: Path, task: Task) -> str:
    report = container().compress_file(source, target, work=Work(task.report, task.cancelled))
    others = sizes_of_others(source, work=Work(task.report, task.cancelled))
    return "\n".join((f"Wrote {target}.", *_report(report, others)))


def _expand(source: Path, target: Path, task: Task) -> str:
    size = container().expand_file(source, target, work=Work(task.report, task.cancelled))
    return f"Wrote {target}: {count_text(size, 'byte')}, and the checksum agrees."


def _report(report: Report, others: dict[str, int]) -> list[str]:
    lines = [
        f"{count_text(report.original_size, 'byte')} became {_size(report.compressed_size, report.original_size)}."
    ]
    reached = " and ".join(f"{name} {_size(size, report.original_size)}" for name, size in others.items())
    lines.append(f"Sizes with today's compressors: {reached}.")
    lines.append(
        f"The file has {count_text(report.blocks, 'block')}. The compressor replaced "
        f"{count_text(report.replaced_pairs, 'pair')}, and the tables of pairs take "
        f"{count_text(report.table_bytes, 'byte')}."
    )
    if report.full_blocks:
        lines.append(
            f"In {count_text(report.full_blocks, 'block')} all 256 byte values occur, so no byte is free to replace a "
            "pair."
        )
    elif not report.replaced_pairs:
        lines.append(container().NOTHING_PAYS)
    if "zstd" not in others:
        lines.append(ZSTD_IS_MISSING)
    return lines


def _size(size: int, original: int) -> str:
    share = f" ({size / original:.1%})".replace("%", " %") if original else ""
    return f"{size:,}{share}"
