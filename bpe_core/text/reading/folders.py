"""The search for files in a folder. Each subfolder can become a group of texts."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from fnmatch import fnmatch
from itertools import chain, islice
from pathlib import Path, PurePath, PurePosixPath
from typing import TypeVar

from bpe_core.errors import CorpusError
from bpe_core.support.paths import real_path
from bpe_core.support.progress import CancelCheck, never_cancelled, while_wanted
from bpe_core.text.reading.opening import sentences, shown

P = TypeVar("P", Path, PurePosixPath)

_TABLES = (".parquet", ".arrow", ".feather")
_PAPERS = frozenset({"README.md", "dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json"})

PassOver = Callable[[str, CorpusError], None]  # handles a skipped file: its name, and the reason


def files_in(folder: Path, patterns: Sequence[str], pass_over: PassOver) -> list[Path]:
    """Return the files below a folder that match a pattern, sorted by path.

    A pattern with a slash, such as `poems/*.txt`, is compared with the path below the folder. Any other pattern, such
    as `*.txt`, is compared with the name of the file. Hidden files are left out, and so are files that only describe
    the tables beside them. Links to folders are left out, too, because they might form a loop.
    """
    paths = [path for path in _all_files(folder, pass_over) if matches(path.relative_to(folder), patterns)]
    return sorted(without_descriptions(paths, str, pass_over), key=lambda path: path.relative_to(folder).parts)


def without_descriptions(paths: Sequence[P], name_of: Callable[[P], str], pass_over: PassOver) -> list[P]:
    """Leave out files that describe a data set and contain none of its texts.

    A folder with the files `state.json` and `dataset_info.json` was saved by the library `datasets`. In such a folder,
    tables named cache-... or indices... are drafts and are also left out.
    """
    tables = {path for path in paths if path.suffix.lower() in _TABLES}
    if not tables:
        return list(paths)
    names = set(paths)
    kept = {path.parent for path in paths if path.name == "state.json" and path.with_name("dataset_info.json") in names}
    above = {folder for path in tables for folder in path.parents}
    wanted = []
    for path in paths:
        is_draft = path in tables and path.name.startswith(("cache-", "indices")) and path.parent in kept
        if is_draft or (path.name in _PAPERS and path.parent in above):
            name = shown(name_of(path))
            pass_over(name, CorpusError(f"{name} describes the tables in its folder and is not a text; leave it out."))
        else:
            wanted.append(path)
    return wanted


def holds_more_than(many: int, folders: Iterable[Path], cancelled: CancelCheck = never_cancelled) -> bool:
    """Return whether these folders together contain more than `many` files. Stop counting after `many` + 1 files."""
    every = chain.from_iterable(_all_files(folder, lambda name, error: None) for folder in folders)
    files = while_wanted(every, cancelled, every=100)
    return sum(1 for _ in islice(files, many + 1)) > many


def _all_files(folder: Path, pass_over: PassOver) -> Iterator[Path]:
    def pass_folder_over(error: OSError) -> None:
        name = shown(str(error.filename))
        try:
            with sentences(f"The folder {name}"):
                raise error
        except CorpusError as error:
            pass_over(name, error)

    waiting = [folder]
    while waiting:  # without recursion: folders may be nested a thousand deep
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
                name = shown(path)
                pass_over(
                    name,
                    CorpusError(
                        f"{name} is a link to a folder, and links to folders are not followed; name the folder itself."
                    ),
                )
            else:
                waiting.append(path)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # behind a link, without permission to look
        return False


def _may_be_text(path: Path) -> bool:
    """Return whether a path may lead to a text file. Sockets, pipes and broken links are not text files.

    If the permission to examine the path is missing, return True.
    """
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError as error:
        return isinstance(error, PermissionError)


def matches(path: PurePath, patterns: Sequence[str]) -> bool:
    return any(fnmatch(path.as_posix() if "/" in pattern else path.name, pattern) for pattern in patterns)


def folders_in(folder: Path) -> dict[str, list[Path]]:
    """Return the groups in a folder, as a dictionary from group names to lists of paths.

    Each subfolder is a group. The files outside the subfolders form one more group with the name of the folder.
    """
    try:
        listed = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise CorpusError(f"{folder} cannot be looked through: {error.strerror or error}.") from error
    except ValueError as error:  # such as a NUL in it
        raise CorpusError(f"{str(folder)!a} cannot be a path: {error}.") from error
    groups = {path.name: [path] for path in listed if path.is_dir()}
    if not groups:
        raise CorpusError(f"{folder} has no subfolders, so it cannot be divided into groups.")
    beside = [path for path in listed if path.is_file()]
    if beside:
        groups.setdefault(real_path(folder).name, []).extend(beside)
    return groups
