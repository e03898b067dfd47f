"""Session files: written whole, and read with the names of their tokens. Both may take long, so both are done aside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.worker.window_first import let_window_go_first
from bpe_core import FormatError
from bpe_core.token_texts import TokenTexts

if TYPE_CHECKING:
    from bpe_core.session_file import SavedSession


@dataclass(frozen=True)
class FileState:
    """What tells whether somebody else has written a file since."""

    size: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> FileState | None:
        try:
            status = path.stat()
        except OSError:
            return None
        return cls(status.st_size, status.st_mtime_ns)


@dataclass(frozen=True)
class OpenedSession:
    """A session, with the names of the tokens of each run."""

    session: SavedSession
    path: Path
    state: FileState | None
    names: Mapping[int, TokenTexts]
    lost: tuple[str, ...] = ()  # of a damaged one, a sentence each


def written(session: SavedSession, path: Path) -> FileState | None:
    """Beside its file, then put in its place: never stopped half-way, and waited for when the window is closed."""
    from bpe_core.session_file import write_session

    write_session(session, path)
    return FileState.of(path)


@dataclass(frozen=True)
class Unreadable:
    """A file that is no sound session, and why."""

    path: Path
    sentence: str
    can_be_recovered: bool  # in part


def opened(path: Path, *, is_safety_copy: bool) -> OpenedSession | Unreadable:
    """Read and checked."""
    from bpe_core.session_file import read_session

    state = FileState.of(path)
    try:
        session = read_session(path, is_safety_copy=is_safety_copy)
    except FormatError as error:
        return Unreadable(path, str(error), _can_be_recovered(path))
    return _with_names(session, path, state)


def recovered(path: Path) -> OpenedSession:
    """What can be saved of a damaged one."""
    from bpe_core.session_file import recover_session

    found = recover_session(path)
    return _with_names(found.session, path, None, found.lost)


def _can_be_recovered(path: Path) -> bool:
    from bpe_core.session_file import recover_session

    try:
        return bool(recover_session(path))
    except FormatError:
        return False


def _with_names(
    session: SavedSession, path: Path, state: FileState | None, lost: tuple[str, ...] = ()
) -> OpenedSession:
    names = {}
    for run in session.runs:
        if run.history is not None:
            names[run.number] = TokenTexts(run.history.alphabet)
            names[run.number].grow(run.history, between=let_window_go_first)
    return OpenedSession(session, path, state, names, lost)
