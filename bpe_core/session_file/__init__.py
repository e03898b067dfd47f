"""Session files (.bpex): everything that is open in a window, in one SQLite database.

read_session("harbour.bpex")             -> SavedSession, checked
recover_session("harbour.bpex")          what can be saved of a damaged one, and what is lost
write_session(session, "harbour.bpex")   whole, beside the old file, then in its place
SessionWriter(path).update(session)      again and again: writes what differs, appends merges
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bpe_core.session_file.known_by import EXTENSION as EXTENSION
from bpe_core.session_file.known_by import is_session_file as is_session_file

if TYPE_CHECKING:
    from bpe_core.session_file.reading import Summary as Summary
    from bpe_core.session_file.reading import are_alike_elsewhere as are_alike_elsewhere
    from bpe_core.session_file.reading import read_session as read_session
    from bpe_core.session_file.reading import read_summary as read_summary
    from bpe_core.session_file.recovering import Recovered as Recovered
    from bpe_core.session_file.recovering import recover_session as recover_session
    from bpe_core.session_file.values import Bookmark as Bookmark
    from bpe_core.session_file.values import Fingerprint as Fingerprint
    from bpe_core.session_file.values import RunState as RunState
    from bpe_core.session_file.values import SavedRun as SavedRun
    from bpe_core.session_file.values import SavedSession as SavedSession
    from bpe_core.session_file.values import SavedSource as SavedSource
    from bpe_core.session_file.values import View as View
    from bpe_core.session_file.writing import SessionWriter as SessionWriter
    from bpe_core.session_file.writing import write_session as write_session

# Each is loaded by the first who asks for it.
_HOME_OF = {
    "Bookmark": "values",
    "Fingerprint": "values",
    "Recovered": "recovering",
    "RunState": "values",
    "SavedRun": "values",
    "SavedSession": "values",
    "SavedSource": "values",
    "SessionWriter": "writing",
    "Summary": "reading",
    "View": "values",
    "are_alike_elsewhere": "reading",
    "read_session": "reading",
    "read_summary": "reading",
    "recover_session": "recovering",
    "write_session": "writing",
}

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
    "are_alike_elsewhere",
    "is_session_file",
    "read_session",
    "read_summary",
    "recover_session",
    "write_session",
]

if not TYPE_CHECKING:  # who checks kinds knows these names from above

    def __getattr__(name: str) -> Any:
        if name not in _HOME_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
