"""Sessions written to files, read, and saved from damaged ones; a file's state tells whether others have changed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.session.corpus_texts import state_of
from app.worker.training import named
from bpe_core.errors import FormatError
from bpe_core.history.token_texts import TokenTexts
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.recovering import recover_session
from bpe_core.session_file.values import SavedSession
from bpe_core.session_file.writing import write_session

FileState = tuple[int, int] | None  # None for a file that is gone


@dataclass(frozen=True)
class OpenedSession:
    """A session with the token names of each run."""

    session: SavedSession
    path: Path
    state: FileState
    names: Mapping[int, TokenTexts]
    lost: tuple[str, ...] = ()  # of a damaged one, a sentence each


@dataclass(frozen=True)
class Unreadable:
    path: Path
    sentence: str
    can_be_recovered: bool  # in part


def written(session: SavedSession, path: Path) -> FileState:
    """Write the session beside its file, then put it in its place."""
    write_session(session, path)
    return state_of(path)


def opened(path: Path, *, is_safety_copy: bool) -> OpenedSession | Unreadable:
    state = state_of(path)
    try:
        session = read_session(path, is_safety_copy=is_safety_copy)
    except FormatError as error:
        return Unreadable(path, str(error), _can_be_recovered(path))
    return _with_names(session, path, state)


def recovered(path: Path) -> OpenedSession:
    found = recover_session(path)
    return _with_names(found.session, path, None, found.lost)


def _can_be_recovered(path: Path) -> bool:
    try:
        return bool(recover_session(path))
    except FormatError:
        return False


def _with_names(session: SavedSession, path: Path, state: FileState, lost: tuple[str, ...] = ()) -> OpenedSession:
    names = {run.number: named(run.history) for run in session.runs if run.history is not None}
    return OpenedSession(session, path, state, names, lost)
