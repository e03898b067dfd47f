"""A folder becomes the files in it that a person wants."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

from bpe_core.errors import CorpusError
from bpe_core.text.reading.opening import sentences, shown


def files_in(folder: Path, patterns: Sequence[str]) -> list[Path]:
    """The files below a folder that match a pattern, in the same order everywhere.

    A pattern with a slash is held against the path below the folder (`poems/*.txt`), any
    other against the file's name (`*.txt`). Hidden files and folders are passed over.
    """
    found = [path for path in _all_files(folder) if _matches(path.relative_to(folder), patterns)]
    if not found:
        wanted = ", ".join(patterns)
        raise CorpusError(f"There is no file matching {wanted} in the folder {shown(folder)}.")
    return sorted(found, key=lambda path: path.relative_to(folder).parts)


def _all_files(folder: Path) -> Iterator[Path]:
    for parent, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(parent, name)
            # Sockets, pipes and links to nowhere are no texts.
            if not name.startswith(".") and path.is_file():
                yield path


def _refuse(error: OSError) -> None:
    with sentences(f"The folder {shown(str(error.filename))}"):
        raise error


def _matches(path: Path, patterns: Sequence[str]) -> bool:
    return any(fnmatch(path.as_posix() if "/" in pattern else path.name, pattern) for pattern in patterns)
