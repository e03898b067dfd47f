"""A folder becomes the files in it that a person wants."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from itertools import islice
from pathlib import Path

from bpe_core.errors import CorpusError
from bpe_core.progress import CancelCheck, never_cancelled, while_wanted
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


def holds_more_than(many: int, folder: Path, cancelled: CancelCheck = never_cancelled) -> bool:
    """Whether more files than so many lie below a folder; no further ones are looked for."""
    files = while_wanted(_all_files(folder, lambda name, error: None), cancelled, every=100)
    return sum(1 for _ in islice(files, many + 1)) > many


def _all_files(folder: Path, pass_over: PassOver) -> Iterator[Path]:
    def pass_folder_over(error: OSError) -> None:
        name = shown(str(error.filename))
        try:
            with sentences(f"The folder {name}"):
                raise error
        except CorpusError as told:
            pass_over(name, told)

    waiting = [folder]
    while waiting:  # not one call inside the other: folders may be nested a thousand deep
        parent = waiting.pop()
        try:
            with os.scandir(parent) as listed:
                seen = (entry for entry in listed if not entry.name.startswith("."))
                entries = [(entry.name, _is_folder(entry), entry.is_symlink()) for entry in seen]
        except OSError as error:
            pass_folder_over(error)
            continue
        for name, is_folder, is_link in sorted(entries, reverse=True):
            path = Path(parent, name)
            if not is_folder:
                if _may_be_text(path):
                    yield path
            elif is_link:
                told = shown(path)
                pass_over(told, CorpusError(f"{told} is a link to a folder, and such links are not followed."))
            else:
                waiting.append(path)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # behind a link, where nobody may look
        return False


def _may_be_text(path: Path) -> bool:
    """Sockets, pipes and links to nowhere are no texts. What may not even be looked at might be one."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        return isinstance(error, PermissionError)


def _matches(path: Path, patterns: Sequence[str]) -> bool:
    return any(fnmatch(path.as_posix() if "/" in pattern else path.name, pattern) for pattern in patterns)
