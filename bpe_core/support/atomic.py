"""Functions that write files so that readers see the old file or the new file, but never a part of a file.

Files that belong together, such as `vocab.json` and `merges.txt`, or a result and its manifest, are put in place
together. If a process is killed before all files are in place, another program completes the work when it next opens or
writes one of these files (see journal.py).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from bpe_core.errors import OutputError
from bpe_core.support.journal import (
    OF_FOLDERS,
    OF_FORMER,
    OF_PARTS,
    Move,
    complete_at,
    new_file_waiting_for,
    put_in_place,
    remove_folder,
    start_of_name,
    sync_folder,
)
from bpe_core.support.lock import Lock
from bpe_core.support.paths import real_path
from bpe_core.support.signals import hold_signals

STREAMS = {"/dev/stdout": 1, "/dev/stderr": 2}
TRIES, SECONDS_BETWEEN_TRIES = 5, 0.01
UNCHANGED = " Existing files are unchanged."

_manifest_of: dict[Path, Path] = {}  # results that grow, with the manifests that describe the former ones
waiting: list[ResultsWithManifest] = []  # results that wait for the manifest that describes them


@contextlib.contextmanager
def reserve(*paths: Path | str, manifest: Path | None = None, grows: bool = False) -> Iterator[None]:
    """Reserve the paths of results for a `with` block.

    Raise OutputError if another process is making one of the results.

    If `manifest` is the path of a manifest, the new results stay in temporary files until the block ends. Then they are
    put in place together with the new manifest. If no new manifest was written, an old manifest at this path is
    removed. If the user stops the command, the old results and their manifest stay.

    If `grows` is true, the results grow step by step and do not wait. The old manifest is removed before the first
    change, so that it never describes other results.
    """
    places = sorted({_place_of(path) for path in paths})  # sorted, so that one of two processes can claim all
    manifests: dict[Path, Path] = {}
    if manifest is not None:
        with _sentences(manifest):
            manifests = dict.fromkeys(places, _place_of(manifest)) if _is_replaced(manifest) else {}
    with contextlib.ExitStack() as stack:
        for place in places:
            with _sentences(place):
                is_lockable = place.name and (place.is_file() or place.is_dir() or not place.exists())
            if is_lockable:
                claim = _lock_place(place)
                if claim is not None:
                    stack.callback(claim.release)
        _manifest_of.update(manifests)
        if manifests and not grows:
            stack.enter_context(ResultsWithManifest(places, next(iter(manifests.values()))))
        try:
            yield
        finally:
            for place in manifests:
                _manifest_of.pop(place, None)


class ResultsWithManifest:
    """A group of finished result files, which wait until the `with` block ends.

    Then they are put in place together with their manifest.
    """

    def __init__(self, places: Iterable[Path], manifest: Path) -> None:
        self._places = {*places, manifest}
        self._manifest = manifest
        self._moves: dict[Path, Move] = {}

    def __enter__(self) -> None:
        waiting.append(self)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Put all results in place, even after an error. If no new manifest was written, remove the old manifest.

        If the user stops the command, keep the old results with their manifest.
        """
        waiting.remove(self)
        moves = dict(self._moves)
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            for move in moves.values():
                move.give_up()
            return
        if not moves:
            return
        manifest_move = moves.pop(self._manifest, None)
        with _sentences(self._manifest):
            if manifest_move is None and self._manifest.exists():
                manifest_move = _prepare_removal(self._manifest)
            put_in_place([*([] if manifest_move is None else [manifest_move]), *moves.values()])

    def takes(self, places: Iterable[Path]) -> bool:
        return any(not self._places.isdisjoint((place, *place.parents)) for place in places)

    def wait(self, move: Move) -> None:
        former = self._moves.pop(move.place, None)
        if former is not None:
            former.give_up()
        self._moves[move.place] = move

    def moves_in(self, folder: Path) -> list[Move]:
        return [move for place, move in self._moves.items() if folder in place.parents]

    def waiting_file(self, place: Path) -> Path | None:
        """Return the temporary file that will be put at `place`.

        `place` is the path of a result, or of a file in a result that is a folder.

        Return None if no file waits for this place.
        """
        for above in (place, *place.parents):
            if above in self._moves:
                return self._moves[above].part / place.relative_to(above)
        return None


@contextlib.contextmanager
def all_or_none(*paths: Path | str) -> Iterator[None]:
    """Put these files and folders in place together when the `with` block ends. After an error, put none of them in
    place.
    """
    group = _AllOrNone({_place_of(path) for path in paths})
    waiting.insert(0, group)
    try:
        yield
    except BaseException:
        waiting.remove(group)
        for move in group.moves:
            move.give_up()
        raise
    waiting.remove(group)
    if group.moves:
        with _sentences(Path(paths[0])):
            _take_moves(group.moves)


@contextlib.contextmanager
def place_immediately() -> Iterator[None]:
    """Put each file in place as soon as the `with` block has written it, without waiting for other files.

    This is for results that grow and are written many times. If an old manifest describes such a result, the
    manifest is removed first.
    """
    before = waiting.copy()
    waiting.clear()
    try:
        yield
    finally:
        waiting.extend(before)


def path_to_read(path: Path | str) -> Path:
    """Return the path from which the file at `path` must be read. Usually this is `path` itself.

    A complete result may be in a temporary file until its manifest is written. Then the temporary file is
    returned. If a writer was killed while it put files in place, this function first completes its work. If it
    lacks the permission to do so, it returns the path of the new file that was not put in place.
    """
    try:
        place = _place_of(path)
    except OutputError:
        return Path(path)
    for together in waiting:
        if (part := together.waiting_file(place)) is not None:
            return part
    return Path(path) if complete_at(place) else new_file_waiting_for(place) or Path(path)


def files_in(folder: Path) -> dict[str, Path]:
    """Return a dictionary from name to path, for the files of a folder.

    A complete file may be kept beside its place until a manifest describes it. It is listed under its final name, with
    the path where it can be read now.
    """
    place = _place_of(path_to_read(folder))
    path_of_name = {path.relative_to(place).as_posix(): path for path in place.rglob("*") if path.is_file()}
    moves = [move for together in waiting for move in together.moves_in(place)]
    beside = {move.part.relative_to(place).as_posix() for move in moves}
    path_of_name = {name: path for name, path in path_of_name.items() if name not in beside}
    return path_of_name | {move.place.relative_to(place).as_posix(): move.part for move in moves}


class _AllOrNone(ResultsWithManifest):
    """A group of results that are put in place together, without a manifest."""

    def __init__(self, places: Iterable[Path]) -> None:
        super().__init__(places, next(iter(places)))

    @property
    def moves(self) -> list[Move]:
        return [*self._moves.values()]


def _prepare_removal(place: Path) -> Move:
    """Prepare the removal of a file. The file is removed when other files are put in place.

    An empty file next to the file marks the removal.
    """
    _remove_abandoned(place)
    beside = _new_file_beside(place)
    return Move(place, beside.path, beside.release, beside.release, goes=True)


def _put_in_place(replacements: Sequence[_Replacement]) -> None:
    """Put complete files in place.

    Inside a block such as `all_or_none`, the files wait until the block ends.
    """
    if not replacements:
        return
    _take_moves([replacement.move for replacement in replacements])


def _take_moves(moves: Sequence[Move]) -> None:
    together = next((group for group in waiting if group.takes(move.place for move in moves)), None)
    for move in moves:
        if together is not None:
            together.wait(move)
        else:
            _remove_manifest_of(move.place)
    if together is None:
        put_in_place(moves)


@contextlib.contextmanager
def write_atomically(path: Path | str) -> Iterator[BinaryIO]:
    """Open a new binary file next to `path`, and rename it to `path` at the end of the `with` block.

    After an error, the file at `path` is unchanged.
    """
    with write_together(path) as (file,):
        yield file


@contextlib.contextmanager
def write_together(*paths: Path | str) -> Iterator[list[BinaryIO]]:
    """Write files that belong together. The main file is the first.

    The files are put in place when all of them are complete on the disk. If the process is killed, either all old files
    stay, or the next program that opens or writes such a file completes the work.
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
                to = os.dup(STREAMS[str(target)])  # opened by its name, a log would start again
            files.append(stack.enter_context(open(to, "wb")))
        yield files
        for file in files:
            file.close()
        for replacement in replacements:
            replacement.settle()
        _put_in_place(replacements)


@contextlib.contextmanager
def replace_atomically(path: Path | str) -> Iterator[Path]:
    """Yield the path of an empty file next to `path`, for code that can write only to a named file.

    At the end of the `with` block, the written file replaces the file at `path`.
    """
    with _sentences(Path(path)), _replacement(Path(path)) as replacement:
        yield replacement.path
        replacement.settle()
        _put_in_place([replacement])


class _Replacement:
    """A new file next to the file that it will replace."""

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

    @property
    def move(self) -> Move:
        return Move(self.target, self.path, lambda: self._beside.release_as(self.target), self._beside.release)

    def give_up(self) -> None:
        self._beside.release()


@contextlib.contextmanager
def _replacement(target: Path) -> Iterator[_Replacement]:
    replacement = None
    try:
        with _sentences(target), hold_signals():  # a signal must not come between the file and its removal
            replacement = _Replacement(target)
        yield replacement
    except BaseException:
        if replacement is not None:
            replacement.give_up()
        raise


@contextlib.contextmanager
def folder_for(path: Path | str, *, replaces: bool = False) -> Iterator[Path]:
    """Yield a folder to write files in: the existing folder at `path`, or a new folder.

    A new folder is renamed to `path` when all its files are written. If `replaces` is true, the folder is always new,
    and it replaces the old folder and all files in it.
    """
    named = Path(path)
    with _sentences(named):
        folder = _place_of(named)
        _remove_abandoned(folder)
    if folder.is_dir() and not replaces:
        yield named
        return
    with _sentences(named):
        together = next((group for group in waiting if group.takes([folder])), None)
        lock: Lock | None = None

        def give_up() -> None:
            if lock is not None:
                for ending in (OF_FOLDERS, OF_FORMER):
                    remove_folder(lock.path.with_suffix(ending))
                lock.release()

        def take_place() -> None:
            beside.rename(folder)
            if lock is not None:
                lock.release()

        try:
            with hold_signals():  # as for a file
                lock = _new_file_beside(folder)
            beside = lock.path.with_suffix(OF_FOLDERS)
            beside.mkdir()
            yield beside
            sync_folder(beside)
            if folder.is_dir():
                beside.chmod(stat.S_IMODE(folder.stat().st_mode))
            move = Move(folder, beside, take_place, give_up)
            if together is not None:
                together.wait(move)
            else:
                _remove_manifest_of(folder)
                put_in_place([move])
        except BaseException as error:
            give_up()
            if isinstance(error, OutputError):  # the path of a file in it
                raise OutputError(str(error).replace(str(beside), str(named))) from error
            raise


def _is_replaced(target: Path) -> bool:
    """Return whether a new file may replace the file at this path.

    A device or a pipe is never replaced. A path such as /dev/stdout may lead to a log file, so it is not replaced,
    either.
    """
    return str(target) not in STREAMS and (target.is_file() or not target.exists())


def _place_of(path: Path | str) -> Path:
    """Return the real path of a file.

    If the path is a link, this is the path of the linked file. So a new file replaces the linked file, and the link
    stays.
    """
    try:
        return real_path(path)
    except ValueError as error:  # a NUL, or a lone surrogate
        raise OutputError(f"{str(path)!a} cannot be the name of a file.") from error


def _remove_manifest_of(target: Path) -> None:
    for place in (target, *target.parents):
        if place in _manifest_of:
            _manifest_of[place].unlink(missing_ok=True)
            sync_folder(_manifest_of[place].parent)


def is_being_written(path: Path | str) -> bool | None:
    """Return whether a process is writing the result at this path. Return None if this cannot be determined."""
    claim = _path_of_lock(_place_of(path))
    try:
        if not claim.exists():
            return False
        lock = Lock.of_existing(claim)
        if lock is None:
            return claim.exists()
    except OSError:  # the file system knows no locks, or the lock belongs to another user
        return None
    lock.leave()
    return False


def _path_of_lock(place: Path) -> Path:
    """Return the path of the lock file for a result. It depends only on the place of the result."""
    return _beside(place, hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16])


def _lock_place(place: Path) -> Lock | None:
    """Lock the path of a result. Raise OutputError if another process is writing the result.

    Return None if the folder cannot be written, because the writer will report that. If a writer is killed, its lock
    file stays. The next writer of the same result removes the lock file.
    """
    path = _path_of_lock(place)
    try:
        lock = Lock.acquire(path)
        for _ in range(TRIES):
            if lock is None:  # a process that only asks holds the lock for a moment
                time.sleep(SECONDS_BETWEEN_TRIES)
                lock = Lock.acquire(path)
    except OSError:  # the file system knows no locks, or nothing can be written, which the writer will report
        return Lock(path) if os.access(path, os.W_OK) else None
    if lock is None:
        raise OutputError(
            f"Could not write {place}: another process is writing it. Wait until this process has ended, or choose "
            "another name."
        )
    return lock


def _new_file_beside(target: Path) -> Lock:
    """Create a temporary file next to `target`. The file is locked until its writer ends.

    If a temporary file is not locked, its writer was killed.
    """
    while True:
        path = _beside(target, os.urandom(8).hex())
        try:
            lock = Lock.acquire(path)
        except OSError:
            if not path.exists():
                raise
            return Lock(path)  # the file system knows no locks: then nobody can consider it abandoned either
        if lock is not None:
            return lock


def _beside(target: Path, number: str) -> Path:
    return target.with_name(f"{start_of_name(target)}{number}{OF_PARTS}")


def _remove_abandoned(target: Path) -> None:
    """Complete or remove the temporary files of processes that were killed while they wrote `target`."""
    if not complete_at(target):
        return
    name = re.compile(re.escape(start_of_name(target)) + "[0-9a-f]{16}[.]part")
    with contextlib.suppress(OSError):
        with os.scandir(target.parent) as entries:
            parts = [entry for entry in entries if name.fullmatch(entry.name)]
        for entry in parts:
            lock = Lock.of_existing(Path(entry)) if entry.is_file(follow_symlinks=False) else None
            if lock is not None:
                beside, former = (lock.path.with_suffix(ending) for ending in (OF_FOLDERS, OF_FORMER))
                # the writer was killed after it moved the old file away and before it moved the new file in
                if former.is_dir() and not target.exists():
                    former.rename(target)
                for gone in (beside, former):
                    remove_folder(gone)
                lock.release()


def _copy_mode(target: Path, beside: Path) -> None:
    """Give the new file `beside` the permissions of the file `target`, which it will replace.

    If there is no such file, give the new file the usual permissions.
    """
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    with contextlib.suppress(OSError):
        beside.chmod(mode)


@contextlib.contextmanager
def _sentences(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"Could not write {target}: {reason}.{UNCHANGED}") from error
