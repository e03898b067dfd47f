"""One file at a time, aside: made smaller as Gage did, or given back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.session.aside import Aside
from app.session.manifests import RESULT
from app.window.parts.wording import count_text
from app.worker.job import Task
from bpe_core import Progress
from bpe_core.gage_file import ENDING, Report, compress_file, expand_file
from bpe_core.gage_file.compressing import NOTHING_PAYS
from bpe_core.gage_file.others import ZSTD_IS_MISSING, sizes_of_others

TOPIC = "a file that is compressed"

Direction = Literal["compress", "expand"]


class FileCompression(QObject):
    """A file is not there until it is whole; what came of it is told in lines."""

    progressed = Signal(float)  # from 0 to 1
    finished = Signal(str)
    failed = Signal(str)
    ended = Signal()
    written = Signal(tuple, Path)  # by which command, and where

    def __init__(self, direction: Direction, aside: Aside, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.direction = direction
        self._aside = aside

    @property
    def is_busy(self) -> bool:
        return self._aside.is_busy(TOPIC)

    def proposal(self, source: Path) -> Path:
        """What the other file may be called."""
        if self.direction == "compress":
            return source.with_name(source.name + ENDING)
        if source.suffix == ENDING:
            return source.with_suffix("")
        return source.with_name(f"{source.name}.expanded")

    def start(self, source: Path, target: Path) -> None:
        works: dict[Direction, Callable[[Task], str]] = {
            "compress": lambda task: _compressed(source, target, task),
            "expand": lambda task: _expanded(source, target, task),
        }
        command = (self.direction, str(source.absolute()), "-o", RESULT)

        def tell(sentence: str) -> None:
            self.finished.emit(sentence)
            self.written.emit(command, target)

        if self.is_busy:
            self.failed.emit("Another file is still being worked on; wait for it or cancel it.")
            return
        self._aside.ask(
            TOPIC,
            works[self.direction],
            tell,
            self.failed.emit,
            self._tell_progress,
            self.ended.emit,
            writes=True,
        )
        self.progressed.emit(0.0)

    def cancel(self) -> None:
        """What stood at the place of the file before stays."""
        self._aside.cancel(TOPIC)

    def _tell_progress(self, progress: Progress) -> None:
        self.progressed.emit(progress.done / progress.total if progress.total else 1.0)


def _compressed(source: Path, target: Path, task: Task) -> str:
    report = compress_file(source, target, progress=task.report, cancelled=task.cancelled)
    others = sizes_of_others(source, progress=task.report, cancelled=task.cancelled)
    return "\n".join((f"Wrote {target}.", *_told(report, others)))


def _expanded(source: Path, target: Path, task: Task) -> str:
    size = expand_file(source, target, progress=task.report, cancelled=task.cancelled)
    return f"Wrote {target}: {count_text(size, 'byte')}, and the checksum agrees."


def _told(report: Report, others: dict[str, int]) -> list[str]:
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
