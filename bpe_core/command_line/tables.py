"""What a command is given to cut texts by: a merge table, another program's tokenizer, or a run of a session."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bpe_core.command_line.arguments import run_of
from bpe_core.formats import open_table as open_file
from bpe_core.session_file import EXTENSION, HEADER

if TYPE_CHECKING:
    from bpe_core.formats import OpenedTable


def open_table(path: Path | str) -> OpenedTable:
    """The tokenizer in a file. Of a session it is the run that was looked at, else the last one; or `book.bpex#2`."""
    place, number = run_of(str(path))
    if not is_session(Path(place)):
        return open_file(path)
    from bpe_core.command_line.sessions import opened_run

    return opened_run(place, number)


def is_session_name(path: Path) -> bool:
    return path.suffix.lower() == EXTENSION


def open_each(paths: Sequence[Path | str]) -> dict[str, OpenedTable]:
    """Each of these tables by its name; of a session that is named alone all runs, named as the window does."""
    if len(paths) > 1 or not is_session(Path(paths[0])):
        return {str(path): open_table(path) for path in paths}
    from bpe_core.command_line.sessions import opened_runs

    return opened_runs(paths[0])


def is_session(path: Path) -> bool:
    if not path.is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(HEADER)) == HEADER
