"""A journal of files that are put in place together. If the writer is killed, another process completes the journal.

No system renames two files at once. So the new files are first written next to their places. When all of them are
complete on the disk, a journal with all names is written next to the first place. From then on, the new files are the
valid files. If the process is killed or the power fails, the next process of this program that opens or writes one of
the files finishes the work, so that all files are old or all files are new:

- Before the journal is complete, no file has been moved. All files are old, and the new files are removed later.
- When the journal is complete, the remaining files are renamed as the journal says. Next to each place except the
  first, a small file names the journal.
- A reader without permission to write reads the new files next to their places.
- If another program has changed one of the places, the journal is not completed, and no change of that program is lost.

Other programs do not read journals. They must never read a new file together with an old file. So the first place is
empty while the other places change: a pair of files is old, or new, or lacks its main file. A single file is still
renamed over the old file, and a folder still replaces another folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from errno import EISDIR
from pathlib import Path
from typing import Any

from bpe_core.errors import OutputError
from bpe_core.support.lock import Lock
from bpe_core.support.signals import hold_signals

# The endings of a folder written next to its place, and of an old file or folder; a file with its lock ends in .part.
OF_PARTS = ".part"
OF_FOLDERS = ".folder"
OF_FORMER = ".former"
OF_JOURNALS = ".together"
LONGEST_NAME = 150  # bytes of a name that are repeated in the name of a file next to it; file systems allow 255
SHORT_NAME = 60  # characters of a file's name up to which its journal has the same name
LARGEST = 2**20  # bytes of a journal
PATIENCE = 5.0  # seconds to wait for a program that is renaming now
BETWEEN = 0.005
UNLOCKED_SECONDS = 60.0  # seconds after which a journal counts as abandoned if nothing can be locked

Identity = tuple[int, int] | None  # size and time of change; None: there is no file


@dataclass
class Move:
    """A new file or folder next to its final place, and the functions that move it there.

    If `goes` is true, the move is a removal: the old file disappears from the place, and no new file takes its place.
    """

    place: Path
    part: Path
    take_place: Callable[[], None]  # renames it, and gives up the claim on it
    give_up: Callable[[], None]  # removes it, and gives up the claim on it
    goes: bool = False

    @property
    def former(self) -> Path:
        return self.part.with_suffix(OF_FORMER)


def start_of_name(target: Path) -> str:
    return f".{os.fsencode(target.name)[:LONGEST_NAME].decode(errors='ignore')}."


def journal_of(place: Path) -> Path:
    """Return the path of the journal for the file or folder `place`. The path is in the same folder as `place`.

    If several files are put in place together, only the main file has the journal. For every other file, the path leads
    to a small file that names the journal.
    """
    if len(place.name) <= SHORT_NAME:
        return place.with_name(f".{place.name}{OF_JOURNALS}")
    number = hashlib.sha256(os.fsencode(place.name)).hexdigest()[:16]
    return place.with_name(f"{start_of_name(place)}{number}{OF_JOURNALS}")


def sync_folder(folder: Path) -> None:
    """Make sure that new names in a folder survive a power failure. Only POSIX systems can do this."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# --- Writing ----------------------------------------------------------------------------


def put_in_place(moves: Sequence[Move]) -> None:
    """Put all files in place.

    The first file is the main file. Its old version is removed first, and its new version is put in place last. Without
    the main file, no program reads the other files. If a file cannot be renamed, all old files are restored, and the
    OSError is raised. A signal that asks the process to stop waits until all of this is done.
    """
    with hold_signals():
        try:
            is_at_once = len(moves) == 1 and not (moves[0].goes or (moves[0].part.is_dir() and moves[0].place.is_dir()))
            if is_at_once:
                moves[0].take_place()
                sync_folder(moves[0].place.parent)
            else:
                _by_journal(moves)
        except BaseException:
            for move in moves:
                move.give_up()
            raise


def _by_journal(moves: Sequence[Move]) -> None:
    in_the_way = next((move.place for move in moves if move.place.is_dir() and not move.part.is_dir()), None)
    if in_the_way is not None:
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(in_the_way))
    folders = {move.place.parent for move in moves}
    with contextlib.ExitStack() as stack:
        master = stack.enter_context(_claimed(journal_of(moves[0].place)))
        for move in moves[1:]:
            pointer = stack.enter_context(_claimed(journal_of(move.place)))
            _write(pointer.path, {"journal": _relative(master.path, pointer.path.parent)})
        for folder in folders:
            sync_folder(folder)
        _write(master.path, {"moves": [_move_as_values(move, master.path.parent) for move in moves]})
        sync_folder(master.path.parent)
        try:
            for move in moves:
                _move_old_away(move, keeps_place=move is not moves[0])
            for move in reversed(moves):
                move.take_place()
        except BaseException:
            _give_up(master)
            raise
        for folder in folders:
            sync_folder(folder)
        for move in moves:
            _remove(move.former)
        master.release()


@contextlib.contextmanager
def _claimed(path: Path) -> Iterator[Lock]:
    try:
        lock = _lock_after_waiting(path, os.O_CREAT)
    except OSError:  # the file system knows no locks
        if not path.exists():
            raise
        lock = Lock(path)
    if lock is None:
        raise OutputError(f"Another process is writing files to {path.parent}; try again when it has ended.")
    try:
        yield lock
    finally:
        lock.release()


def _lock_after_waiting(path: Path, create: int = 0) -> Lock | None:
    """Wait for the lock of a journal, and return it.

    Return None if the journal is gone, or if another program holds the lock for a long time.
    """
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        lock = Lock.acquire(path, create) if create else Lock.of_existing(path)
        if lock is not None or (not create and not path.exists()):
            return lock
        time.sleep(BETWEEN)
    return None


def _give_up(master: Lock) -> None:
    """Restore all old files instead of completing the journal.

    If this fails, the journal stays and says that the old files must be restored.
    """
    try:
        _write(master.path, {**_read(master.path), "back": True})
        moves = _moves_in(master.path)
        _put_back(moves)
        for move in moves:
            _remove(move.former)
    except BaseException:
        master.leave()
        raise


def _move_old_away(move: Move, *, keeps_place: bool) -> None:
    """Rename the old file, so that the new file can be put in its place.

    If `keeps_place` is true and the system supports links, the old file also stays in place until the new file replaces
    it.
    """
    if not move.place.exists():
        return
    if keeps_place and not move.goes and not move.place.is_dir():
        with contextlib.suppress(OSError):
            os.link(move.place, move.former)
            return
    move.place.rename(move.former)


def _move_as_values(move: Move, folder: Path) -> dict[str, Any]:
    return {
        "place": _relative(move.place, folder),
        "part": move.part.name,
        "was": _identity(move.place),
        "is": None if move.goes else _identity(move.part),
    }


def _relative(path: Path, folder: Path) -> str:
    try:
        return Path(os.path.relpath(path, folder)).as_posix()
    except ValueError:  # another drive
        return path.as_posix()


def _write(path: Path, values: dict[str, Any]) -> None:
    """Write a journal completely before any of its moves is done.

    An incomplete journal is not valid JSON and has no effect.
    """
    with open(path, "r+b") as file:
        file.write(json.dumps(values).encode())
        file.truncate()
        file.flush()
        os.fsync(file.fileno())


def _identity(path: Path) -> Identity:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return (0 if path.is_dir() else status.st_size), status.st_mtime_ns


def remove_folder(path: Path) -> None:
    """Remove a folder with all its files. A failure raises no error."""
    import shutil  # rarely needed, and it loads all libraries for compressed files

    shutil.rmtree(path, ignore_errors=True)


def _remove(path: Path) -> None:
    if path.is_dir():
        remove_folder(path)
    else:
        path.unlink(missing_ok=True)


# --- What a killed writer has left ------------------------------------------------------


def complete_at(place: Path) -> bool:
    """Complete the work that a killed writer began at this place.

    Return whether everything could be completed.
    """
    if not place.name:  # the root of the file system
        return True
    journal = journal_of(place)
    try:
        return not journal.exists() or _completed(journal)
    except OSError:
        return False


def complete_all_in(folder: Path) -> None:
    """Complete the replacements that writers had begun in a folder when they were killed.

    All journals in the folder are completed, whatever the names of their files.
    """
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        journals = [Path(entry) for entry in entries if entry.name.startswith(".") and entry.name.endswith(OF_JOURNALS)]
        for journal in journals:
            with contextlib.suppress(OSError):
                _completed(journal)


def new_file_waiting_for(place: Path) -> Path | None:
    """Return the complete new version of the file `place` that has not been moved to its path yet.

    Such a version is left if a program was killed before the move, and this program lacks the permission to move it.
    Return None if there is no such version, or if the old file will be restored instead.
    """
    journal = journal_of(place)
    with contextlib.suppress(OSError):
        values = _read(journal)
        master = journal.parent / values["journal"] if "journal" in values else journal
        moves = _moves_in(master)
        if not _read(master).get("back") and all(map(_is_untouched, moves)):
            return next((move.part for move in moves if move.place == place and move.part.exists()), None)
    return None


def _completed(journal: Path) -> bool:
    values = _read(journal)
    if "journal" in values:
        master = journal.parent / str(values["journal"])
        done = not master.name.endswith(OF_JOURNALS) or not master.exists() or _completed(master)
        if done and (lock := Lock.of_existing(journal)) is not None:
            lock.release()
        return done
    try:
        lock = _lock_after_waiting(journal)
    except OSError:  # the file system knows no locks, or nothing can be written
        if not os.access(journal, os.W_OK) or time.time() - journal.stat().st_mtime < UNLOCKED_SECONDS:
            return False
        lock = Lock(journal)
    if lock is None:
        return not journal.exists()
    claims = [lock]
    try:
        moves = _moves_in(journal)
        # if another program holds a claim, the claims before it are kept
        claims.extend(_lock_new_file(move.part) for move in moves)
        if _read(journal).get("back") or not all(map(_is_untouched, moves)):
            _put_back(moves)
        else:
            _rename_remaining(moves)
        for move in moves:
            sync_folder(move.place.parent)
            _remove(move.former)
            if move.part.suffix == OF_FOLDERS:
                _remove(move.part)
    except BaseException:
        for claim in claims:
            claim.leave()
        raise
    pointers = (_claim_on_pointer(journal_of(move.place)) for move in moves[1:])
    # What leads to the journal goes last: it can be removed by anybody when that is gone.
    for claim in (*claims[1:], lock, *(pointer for pointer in pointers if pointer is not None)):
        claim.release()
    return True


def _claim_on_pointer(path: Path) -> Lock | None:
    with contextlib.suppress(OSError):
        return Lock.of_existing(path)
    return None


def _lock_new_file(part: Path) -> Lock:
    """Lock the new file `part`, which will replace another file.

    Raise OSError if a running program has locked `part`.
    """
    path = part.with_suffix(OF_PARTS)
    lock = Lock.of_existing(path)
    if lock is None and path.exists():
        raise OSError(f"{path} is in use")
    return lock or Lock(path)


@dataclass(frozen=True)
class _InterruptedMove:
    """A move of a new file to its place. It was interrupted, because its program was killed.

    The journal that the program left describes the move.
    """

    place: Path
    part: Path
    was: Identity
    is_now: Identity

    @property
    def former(self) -> Path:
        return self.part.with_suffix(OF_FORMER)


def _read(journal: Path) -> dict[str, Any]:
    """Return the values of a journal.

    Return an empty dict if the journal is incomplete. Then no file has been moved yet.
    """
    with open(journal, "rb") as file:
        data = file.read(LARGEST)
    try:
        values = json.loads(data)
    except ValueError:
        return {}
    return values if isinstance(values, dict) else {}


def _moves_in(journal: Path) -> list[_InterruptedMove]:
    """Return the moves of files that a journal lists.

    This program moves a file only within its folder. If the journal lists any other move, it was not written by
    this program, and the result is empty.
    """
    rows = _read(journal).get("moves")
    torn = [_torn(row, journal.parent) for row in rows] if isinstance(rows, list) else []
    moves = [move for move in torn if move is not None]
    return moves if len(moves) == len(torn) else []


def _torn(row: Any, folder: Path) -> _InterruptedMove | None:
    if not isinstance(row, dict) or not all(isinstance(row.get(name), str) for name in ("place", "part")):
        return None
    place = Path(os.path.normpath(folder / row["place"]))
    beside = re.compile(re.escape(start_of_name(place)) + "[0-9a-f]{16}[.](part|folder)")
    if not beside.fullmatch(row["part"]):
        return None
    was, is_now = (tuple(row[name]) if isinstance(row.get(name), list) else None for name in ("was", "is"))
    return _InterruptedMove(place, place.with_name(row["part"]), was, is_now)


def _is_untouched(move: _InterruptedMove) -> bool:
    """Return whether no other program has changed the files of a move since the move was interrupted.

    A move puts a new file in the place of an old one. It is interrupted if its process is killed.
    """
    there = _identity(move.place)
    if _identity(move.part) is None:
        return there == move.is_now
    return there in (None, move.was)


def _rename_remaining(moves: Sequence[_InterruptedMove]) -> None:
    """Finish the renaming that a killed writer began, in the order in which the writer renames files."""
    for move in moves:
        is_first_or_folder = move is moves[0] or move.place.is_dir() or move.is_now is None
        if is_first_or_folder and _identity(move.part) is not None and move.place.exists():
            move.place.rename(move.former)
    for move in reversed(moves):
        if move.is_now is not None and _identity(move.part) is not None:
            os.replace(move.part, move.place)


def _put_back(moves: Sequence[_InterruptedMove]) -> None:
    """Restore the old file at each place, but not at places that another program has changed."""
    for move in moves:
        is_new = not move.part.exists() and _identity(move.place) == move.is_now is not None
        if is_new and (move.was is None or move.former.exists()):
            _remove(move.place)
        if move.former.exists() and not move.place.exists():
            move.former.rename(move.place)
