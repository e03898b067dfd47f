"""The comparison of an opened tokenizer with the library of its format. It runs once, and its result is stored.

Loading this module is fast, because it loads the check itself only for a file that was not checked before.
"""

from __future__ import annotations

import json
from pathlib import Path

from bpe_core.formats import FORMATS, OpenedTable
from bpe_core.formats.all_formats import content_of
from bpe_core.kernels.stored_code import base
from bpe_core.support.kept_results import KeptResults, hash_of
from bpe_core.support.version import package_state, program_state

QUICK = 0.3  # seconds of work on texts
MOST_FILES = 200
MOST_BYTES = 1_000_000


def agreement_to_report(path: Path | str, opened: OpenedTable) -> str:
    """Return a sentence that says whether this program and the library of an imported file agree.

    A difference is reported at every import, but an agreement only at the first import. The sentence is empty if there
    is nothing to report.
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
    """Return a hash of everything that a check depends on. Return an empty string if the check cannot be stored."""
    try:
        installed = package_state(library.replace("-", "_"))
        return hash_of(program_state(), installed, path.name, content_of(path)) if installed else ""
    except (OSError, ValueError):
        return ""
