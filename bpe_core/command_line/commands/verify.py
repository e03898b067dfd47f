"""`bpe-explorer verify`: what of a file is sound, what is not, and what can be saved of it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_core.errors import FormatError, OutputError
from bpe_core.formats import FORMATS, open_table
from bpe_core.learning.methods import told_by
from bpe_core.session_file import is_session_file

if TYPE_CHECKING:  # SQLite is loaded for whoever has a session
    from bpe_core.session_file.recovering import Recovered
    from bpe_core.session_file.values import SavedRun, SavedSession

EXAMPLES = """\
examples:
  bpe-explorer verify harbour.bpex merges.csv
      Reads each file as a whole, and ends with 1 if one of them is damaged.

  bpe-explorer verify damaged.bpex --recover saved.bpex
      Writes what is whole into another session; what is lost is listed.

A session's runs, texts and words are held against the checksums that were written with them
(sessions of older versions have none), saved counts of words against their own. Of a table it is
told whether it can be understood.
The files themselves are never changed.
"""


UNSOUND = 1
ends_well = (0, UNSOUND)
ARCHIVE = b"PK\x03\x04"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a session, saved counts, or a merge table")
    parser.add_argument("--recover", type=Path, metavar="OUT", help="write what can be saved of a damaged session")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")


def run(options: argparse.Namespace) -> int:
    if options.recover is not None:
        _refuse_a_bad_place(options.files, options.recover)
    found = [_verified(path, options.recover) for path in options.files]
    if options.json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
    else:
        for one in found:
            _tell(one)
    return 0 if all(one["sound"] for one in found) else UNSOUND


def _refuse_a_bad_place(files: list[Path], place: Path) -> None:
    if len(files) > 1:
        raise OutputError("--recover writes one session: name one FILE only.")
    if place.exists():
        raise OutputError(f"{place} is there already; --recover replaces nothing: name another file.")


def _verified(path: Path, place: Path | None) -> dict[str, Any]:
    if is_session_file(path) or (place is not None and path.exists()):
        return _session(path, place)
    if _is_counts(path):
        from bpe_core.counting.words import WordTable  # wanted seldom

        table = WordTable.load(path)
        what = f"the counts of {table.total:,} words, {len(table):,} different"
        return {"file": str(path), "sound": True, "what": what, "found": [], "lost": [], "notes": []}
    opened = open_table(path)
    what = f"a table ({opened.format}) of {told_by(opened.history)}"
    notes = [*opened.notes]
    if FORMATS[opened.format].peer_name:
        from bpe_core.verification.import_check import check_import  # with all that encodes

        agreement = check_import(path, opened)
        notes += agreement.notes if agreement is not None else ()
    return {"file": str(path), "sound": True, "what": what, "found": [], "lost": [], "notes": notes}


def _is_counts(path: Path) -> bool:
    """Whether a file begins as one that `WordTable.save` wrote; of merge tables none does."""
    try:
        with path.open("rb") as file:
            return file.read(len(ARCHIVE)) == ARCHIVE
    except OSError:
        return False  # who opens it as a table says why


def _session(path: Path, place: Path | None) -> dict[str, Any]:
    from bpe_core.session_file.reading import read_session
    from bpe_core.session_file.writing import write_session

    found: dict[str, Any] = {"file": str(path), "sound": True, "what": "a session", "lost": [], "notes": []}
    session: SavedSession | None = None
    try:
        session = read_session(path)
    except FormatError as error:
        if not path.is_file():
            raise
        recovered = _recovered(path)
        found |= {"sound": False, "what": str(error), "lost": list(recovered.lost) if recovered else []}
        session = recovered.session if recovered else None
    found["found"] = _parts(session) if session is not None else []
    if place is not None and session is not None:
        write_session(session, place)
        found["notes"] = [f"Wrote what could be saved to {place}."]
    return found


def _recovered(path: Path) -> Recovered | None:
    from bpe_core.session_file.recovering import recover_session

    try:
        return recover_session(path)
    except FormatError:
        return None


def _parts(session: SavedSession) -> list[str]:
    lines = [_run(one) for one in session.runs]
    given = [source for source in session.sources if source.text is not None]
    if given:
        size = sum(len(source.text or "") for source in given)
        lines.append(f"texts kept inside: {len(given):,}, with {size:,} characters")
    if session.bookmarks:
        lines.append(f"bookmarks: {len(session.bookmarks):,}")
    return lines


def _run(run: SavedRun) -> str:
    words = (
        "no words" if run.words is None else f"{len(run.words):,} different word{'' if len(run.words) == 1 else 's'}"
    )
    return f"run {run.number}: {run.recipe.wording.counted(run.learned)}, {words}"


def _tell(found: dict[str, Any]) -> None:
    if found["sound"]:
        print(f"{found['file']}: sound, {found['what']}")
    else:
        sys.stdout.flush()
        sys.stderr.write(f"{found['what']}\n")
    can_be_saved = "" if found["sound"] else "can be saved: "
    for line in found["found"]:
        print(f"  {can_be_saved}{line}")
    for line in found["lost"]:
        print(f"! {line}")
    if not found["sound"] and not found["found"]:
        print("! Nothing of it can be saved.")
    for line in found["notes"]:
        print(f"- {line}")
