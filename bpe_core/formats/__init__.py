"""Merge tables as files. Each format has a file of its own behind the face in base.py.

write_history(history, "merges.csv")     the name's ending chooses the format
read_history("merges.csv")               the content does
"""

from __future__ import annotations

from pathlib import Path

from bpe_core.atomic import write_atomically
from bpe_core.errors import Cancelled, FormatError, OutputError, TooLarge
from bpe_core.formats.base import Format
from bpe_core.formats.csv_table import CsvTable, TsvTable
from bpe_core.formats.json_table import JsonTable
from bpe_core.history import MergeHistory
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled

__all__ = ["FORMATS", "Format", "format_for", "read_history", "write_history"]

FORMATS: dict[str, Format] = {one.name: one for one in (CsvTable(), TsvTable(), JsonTable())}

LARGEST_FILE = 2**31  # bytes; four million merges take half of it


def format_for(path: Path | str) -> Format:
    """The format that a file of this name should have."""
    extension = Path(path).suffix.lower()
    for one in FORMATS.values():
        if one.extension == extension:
            return one
    endings = ", ".join(one.extension for one in FORMATS.values())
    raise OutputError(f"Cannot tell from its name which format {path} should have; end it in one of {endings}.")


def write_history(
    history: MergeHistory,
    path: Path | str,
    *,
    format: Format | None = None,
    merges: int | None = None,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> None:
    """Write the table to a file, all of it or nothing; Cancelled if it was told to stop."""

    def report(where: Progress) -> None:
        if cancelled():
            raise Cancelled(f"Writing {path} was stopped. What stood there before is unchanged.")
        progress(where)

    chosen = format or format_for(path)
    with write_atomically(path) as file:
        chosen.write(history, file, merges=merges, progress=report)


def read_history(path: Path | str) -> MergeHistory:
    """The history in a file of any known format, recognized by its content."""
    data = _content(Path(path))
    for one in FORMATS.values():
        if one.recognizes(data):
            return one.read(data, str(path))
    if not data:
        raise FormatError(f"{path} is empty.")
    raise FormatError(f"{path} is not a merge table this program knows ({', '.join(FORMATS)}).")


def _content(path: Path) -> bytes:
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            raise TooLarge(f"{path} has {size:,} bytes; a merge table of more than {LARGEST_FILE:,} is not read.")
        return path.read_bytes()
    except OSError as error:
        raise FormatError(f"Could not read {path}: {error.strerror or error}.") from error
