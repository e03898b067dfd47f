"""The agreement of an opened tokenizer with the library of its format, which is checked once and then stored.

Loading this module is fast, because it loads the check itself only for a file that was not checked before.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from bpe_core.formats import FORMATS, OpenedTable
from bpe_core.formats.all_formats import content_of
from bpe_core.kernels.stored_code import base
from bpe_core.support.kept_results import KeptResults, hash_of
from bpe_core.support.version import program_state

QUICK = 0.3  # seconds of work on texts
MOST_FILES = 200
MOST_BYTES = 1_000_000


def agreement_to_report(path: Path | str, opened: OpenedTable) -> str:
    """Return a sentence that says whether this program and the library of an imported file agree.

    A difference is reported at every import, but agreement only at the first. The sentence is empty if there is nothing
    to report.
    """
    format = FORMATS.get(opened.format)
    if format is None or not format.peer_name:
        return ""
    place = base()
    kept = KeptResults(None if place is None else place / "checks", most_files=MOST_FILES, most_bytes=MOST_BYTES)
    key = _key(Path(path), format.peer_name)
    stored = kept.read(key) if key else None
    if stored is not None:
        earlier = json.loads(stored)
        return str(earlier["sentence"]) if earlier["differs"] else ""
    from bpe_core.verification.import_check import check_import  # loads all that encodes and compares

    agreement = check_import(path, opened, patience=QUICK)
    if agreement is None:
        return ""
    if key and not agreement.silence:
        differs = agreement.agreeing < agreement.texts
        kept.store(key, json.dumps({"sentence": agreement.sentence, "differs": differs}).encode())
    return agreement.sentence


def _key(path: Path, library: str) -> str:
    """Return a hash of everything that a check depends on. Return an empty text if the check cannot be stored."""
    try:
        found = find_spec(library.replace("-", "_"))
        if found is None or found.origin is None:
            return ""
        installed = Path(found.origin).stat()
        state = repr((found.origin, installed.st_size, installed.st_mtime_ns))
        return hash_of(program_state(), state, path.name, content_of(path))
    except (OSError, ValueError):
        return ""
