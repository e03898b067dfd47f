"""A folder becomes the files in it that a person wants."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from bpe_core.errors import CorpusError
from bpe_core.text.reading.opening import sentences, shown

PassOver = Callable[[str, CorpusError], None]  # what to do about something that cannot be read: its name, and why


def files_in(folder: Path, patterns: Sequence[str], pass_over: PassOver) -> list[Path]:
    """The files below a folder that match a pattern, in the same order everywhere.

    A pattern with a slash is held against the path below the folder (`poems/*.txt`), any
    other against the file's name (`*.txt`). Hidden files and folders are none of them. Links to
    folders, which might lead in a circle, are passed over.
    """
    found = [path for path in _all_files(folder, pass_over) if _matches(path.relative_to(folder), patterns)]
    return sorted(found, key=lambda path: path.relative_to(folder).parts)


def _all_files(folder: Path, pass_over: PassOver) -> Iterator[Path]:
    def pass_folder_over(error: OSError) -> None:
        name = shown(str(error.filename))
        try:
            with sentences(f"The folder {name}"):
                raise error
        except CorpusError as told:
            pass_over(name, told)

    for parent, folders, names in os.walk(folder, onerror=pass_folder_over):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for link in filter(Path.is_symlink, (Path(parent, name) for name in folders)):
            name = shown(link)
            pass_over(name, CorpusError(f"{name} is a link to a folder, and such links are not followed."))
        paths = (Path(parent, name) for name in names if not name.startswith("."))
        yield from filter(_may_be_text, paths)


def _may_be_text(path: Path) -> bool:
    """Sockets, pipes and links to nowhere are no texts. What may not even be looked at might be one."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        return isinstance(error, PermissionError)


def _matches(path: Path, patterns: Sequence[str]) -> bool:
    return any(fnmatch(path.as_posix() if "/" in pattern else path.name, pattern) for pattern in patterns)
