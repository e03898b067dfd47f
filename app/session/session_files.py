"""The files of sessions: functions that write them, read them, and notice changes by other programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from app.session.corpus_texts import state_of
from app.worker.training import token_texts_of
from bpe_core.history.token_texts import TokenTexts
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedSession
from bpe_core.session_file.writing import write_session

FileState = tuple[int, int] | None  # None for a file that is gone


@dataclass(frozen=True)
class OpenedSession:
    """A session from a file, with the texts of the tokens in each run."""

    session: SavedSession
    path: Path
    state: FileState
    names: Mapping[int, TokenTexts]


def save_to_file(session: SavedSession, path: Path) -> FileState:
    """Write a session to its file, and return the state of the new file.

    The old file stays until the new file is complete.
    """
    write_session(session, path)
    return state_of(path)


def open_session_file(path: Path, *, is_safety_copy: bool) -> OpenedSession:
    state = state_of(path)
    session = read_session(path, is_safety_copy=is_safety_copy)
    names = {run.number: token_texts_of(run.history) for run in session.runs if run.history is not None}
    return OpenedSession(session, path, state, names)
