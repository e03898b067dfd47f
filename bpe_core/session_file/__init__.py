"""Session files (.bpex): everything that is open in a window, in one SQLite database.

read_session("harbour.bpex")             -> SavedSession, checked
recover_session("harbour.bpex")          what can be saved of a damaged one, and what is lost
write_session(session, "harbour.bpex")   whole, beside the old file, then in its place
SessionWriter(path).update(session)      again and again: writes what differs, appends merges
"""

from __future__ import annotations

from bpe_core.session_file.reading import Summary, is_session_file, read_session, read_summary
from bpe_core.session_file.recovering import Recovered, recover_session
from bpe_core.session_file.schema import EXTENSION
from bpe_core.session_file.values import (
    Bookmark,
    Fingerprint,
    RunState,
    SavedRun,
    SavedSession,
    SavedSource,
    View,
)
from bpe_core.session_file.writing import SessionWriter, write_session

__all__ = [
    "EXTENSION",
    "Bookmark",
    "Fingerprint",
    "Recovered",
    "RunState",
    "SavedRun",
    "SavedSession",
    "SavedSource",
    "SessionWriter",
    "Summary",
    "View",
    "is_session_file",
    "read_session",
    "read_summary",
    "recover_session",
    "write_session",
]
