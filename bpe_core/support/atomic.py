"""Write a file so that whoever looks sees the old one or the new one, never half of it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bpe_core.errors import OutputError
from bpe_core.support.lock import Lock

# The endings of a folder that is written beside, and of the one whose place it takes; the file with its lock ends in
# .part.
OF_FOLDERS, OF_FORMER = ".folder", ".former"
STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
LONGEST_NAME = 150  # bytes of a name that are told in that of the file beside; file systems allow 255

_told_in: dict[Path, Path] = {}  # results that are being made, and the files that describe the former ones


@contextlib.contextmanager
def making(*paths: Path | str, told_in: Path | None = None) -> Iterator[None]:
    """Refuse to begin if another process is making one of these: both would spend their time, and one its result.

    A manifest that describes them is removed before the first of them changes, so it never lies beside other results.
    """
    places = sorted({_place_of(path) for path in paths})  # in one order, so that of two processes one gets them all
    told = dict.fromkeys(places, _place_of(told_in)) if told_in is not None and _is_replaced(told_in) else {}
    with contextlib.ExitStack() as stack:
        for place in places:
            if place.name and (place.is_file() or place.is_dir() or not place.exists()):
                claim = _claim_on(place)
                if claim is not None:
                    stack.callback(claim.release)
        _told_in.update(told)
        try:
            yield
        finally:
            for place in told:
                _told_in.pop(place, None)


@contextlib.contextmanager
def write_atomically(path: Path | str) -> Iterator[BinaryIO]:
    """Open a binary file beside `path`, and rename it over `path` when all went well; else `path` is untouched."""
    with write_together(path) as (file,):
        yield file


@contextlib.contextmanager
def write_together(*paths: Path | str) -> Iterator[list[BinaryIO]]:
    """Write files that belong together: when all are whole on the disk, rename them one after the other.

    No system renames two files at once. But whoever is killed can leave a new one beside an old one only in between.
    """
    with _sentences(Path(paths[0])), contextlib.ExitStack() as stack:
        files: list[BinaryIO] = []
        replacements: list[_Replacement] = []
        for path in paths:
            target = Path(path)
            to: Path | int = target
            if _is_replaced(target):
                replacements.append(stack.enter_context(_replacement(target)))
                to = replacements[-1].path
            elif str(target) in STREAMS:
                to = os.dup(STREAMS[str(target)])  # opened by its name, a log would begin anew
            files.append(stack.enter_context(open(to, "wb")))
        yield files
        for file in files:
            file.close()
        for one in replacements:
            one.settle()
        for one in replacements:
            one.take_place()
        for folder in {one.target.parent for one in replacements}:
            _sync_folder(folder)


@contextlib.contextmanager
def replace_atomically(path: Path | str) -> Iterator[Path]:
    """Give the name of an empty file beside `path`, to be written by name; it then takes the place of `path`."""
    with _sentences(Path(path)), _replacement(Path(path)) as one:
        yield one.path
        one.settle()
        one.take_place()
        _sync_folder(one.target.parent)


class _Replacement:
    """A file beside another whose place it is to take."""

    def __init__(self, target: Path) -> None:
        self._named = target
        self.target = _place_of(target)
        _remove_abandoned(self.target)
        self._beside = _new_file_beside(self.target)
        self.path = self._beside.path

    def settle(self) -> None:
        with _sentences(self._named), open(self.path, "rb+") as file:
            os.fsync(file.fileno())
        _copy_mode(self.target, self.path)

    def take_place(self) -> None:
        with _sentences(self._named):
            _remove_what_tells_of(self.target)
            self._beside.release_as(self.target)

    def give_up(self) -> None:
        self._beside.release()


@contextlib.contextmanager
def _replacement(target: Path) -> Iterator[_Replacement]:
    with _sentences(target):
        one = _Replacement(target)
    try:
        yield one
    except BaseException:
        one.give_up()
        raise


@contextlib.contextmanager
def folder_for(path: Path | str, *, replaces: bool = False) -> Iterator[Path]:
    """Give the folder to write files in: the folder itself, or a new one that takes its name when whole.

    If it `replaces` one that is there, it is always made beside, and takes its place with nothing of it left.
    """
    named = Path(path)
    with _sentences(named):
        folder = _place_of(named)
        _remove_abandoned(folder)
    if folder.is_dir() and not replaces:
        yield named
        return
    with _sentences(named):
        lock = _new_file_beside(folder)
        beside, former = lock.path.with_suffix(OF_FOLDERS), lock.path.with_suffix(OF_FORMER)
        try:
            beside.mkdir()
            yield beside
            _sync_folder(beside)
            _replace_folder(folder, beside, former)
        except OutputError as error:  # of a file in it
            raise OutputError(str(error).replace(str(beside), str(named))) from error
        finally:
            for gone in (beside, former):
                shutil.rmtree(gone, ignore_errors=True)
            lock.release()
        _sync_folder(folder.parent)


def _replace_folder(folder: Path, beside: Path, former: Path) -> None:
    """Let one folder take the place of another, which no system does at once."""
    _remove_what_tells_of(folder)
    if not folder.is_dir():
        beside.rename(folder)
        return
    shutil.copymode(folder, beside)
    folder.rename(former)
    try:
        beside.rename(folder)
    except BaseException:
        former.rename(folder)
        raise


def _is_replaced(target: Path) -> bool:
    """Return whether another file takes its place: not that of a device or pipe, nor of a log behind a stream."""
    return str(target) not in STREAMS and (target.is_file() or not target.exists())


def _place_of(path: Path | str) -> Path:
    """Return the real path, so that a link stays a link and the file it names is replaced."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:  # a NUL, or half of a character
        raise OutputError(f"{str(path)!a} cannot be the name of a file.") from error


def _remove_what_tells_of(target: Path) -> None:
    for place in (target, *target.parents):
        if place in _told_in:
            _told_in[place].unlink(missing_ok=True)
            _sync_folder(_told_in[place].parent)


def _claim_on(place: Path) -> Lock | None:
    """Claim the place of a result by a lock file, whose name depends on the result alone.

    A killed writer leaves that file; the next writer of the same result removes it.
    """
    path = _beside(place, hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16])
    try:
        lock = Lock.acquire(path)
    except OSError:  # no locks are known here, or nothing can be written, which the writer will report
        return Lock(path) if os.access(path, os.W_OK) else None
    if lock is None:
        raise OutputError(
            f"Could not write {place}: another process is making it. Wait until it has ended, or choose another name."
        )
    return lock


def _new_file_beside(target: Path) -> Lock:
    """Create a temporary file and lock it as long as its writer lives.

    A file that nobody locks was left by a writer that was killed.
    """
    while True:
        path = _beside(target, os.urandom(8).hex())
        try:
            lock = Lock.acquire(path)
        except OSError:
            if not path.exists():
                raise
            return Lock(path)  # no locks are known here: then nobody can take it for abandoned either
        if lock is not None:
            return lock


def _beside(target: Path, number: str) -> Path:
    return target.with_name(f"{_start_of_name(target)}{number}.part")


def _remove_abandoned(target: Path) -> None:
    """Remove what writers of the same file have left that were killed."""
    name = re.compile(re.escape(_start_of_name(target)) + "[0-9a-f]{16}[.]part")
    with contextlib.suppress(OSError):
        with os.scandir(target.parent) as entries:
            found = [entry for entry in entries if name.fullmatch(entry.name)]
        for entry in found:
            lock = Lock.of_existing(Path(entry)) if entry.is_file(follow_symlinks=False) else None
            if lock is not None:
                beside, former = (lock.path.with_suffix(ending) for ending in (OF_FOLDERS, OF_FORMER))
                if former.is_dir() and not target.exists():  # killed between taking one away and putting the other
                    former.rename(target)
                for gone in (beside, former):
                    shutil.rmtree(gone, ignore_errors=True)
                lock.release()


def _start_of_name(target: Path) -> str:
    return f".{os.fsencode(target.name)[:LONGEST_NAME].decode(errors='ignore')}."


def _copy_mode(target: Path, beside: Path) -> None:
    """Give the new file the old one's permissions, or those any new file would get."""
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    with contextlib.suppress(OSError):
        beside.chmod(mode)


def _sync_folder(folder: Path) -> None:
    """Make the new name last; what cannot do so does it by itself or has no names that last."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _sentences(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"Could not write {target}: {reason}. What was there before is unchanged.") from error
