"""The command `bpe-explorer verify`. It checks whether files are valid."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError
from bpe_core.formats import FORMATS, open_table
from bpe_core.methods.kit.floor.certificate import CHECKSUM, KIND, checksum
from bpe_core.methods.kit.histories import steps_in_words
from bpe_core.session_file import is_session_file
from bpe_core.support.foreign import json_of, report_faults
from bpe_core.support.small_files import read_small_bytes
from bpe_core.support.wording import count_text

if TYPE_CHECKING:  # SQLite is loaded for sessions only
    from bpe_core.session_file.values import SavedSession

examples = """\
examples:
  bpe-explorer verify harbour.bpex merges.csv
      Reads each file completely. The exit code is 1 if one is damaged.

  bpe-explorer verify floor.json
      Checks what `floor --certificate --json` has written: the prices in the file must prove each floor, and the best
      vocabulary must split the words into the stated number of tokens.

Runs, texts and words of a session, and saved counts of words, are compared with their checksums (sessions of older
versions have no checksums). A table is valid if it can be opened. The files are never changed.
"""


UNSOUND = 1
ends_well = (0, UNSOUND)
ARCHIVE = b"PK\x03\x04"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="a session, saved counts, or a merge table")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")


def run(options: argparse.Namespace) -> int:
    reports = [_verified(path) for path in options.files]
    if options.json:
        print(json.dumps(reports, ensure_ascii=False, indent=1))
    else:
        for report in reports:
            _print_result(report)
    return 0 if all(report["sound"] for report in reports) else UNSOUND


def _verified(path: Path) -> dict[str, Any]:
    report: dict[str, Any] = {"file": str(path), "sound": True, "what": "a session", "found": [], "notes": []}
    if is_session_file(path):
        return report | _session(path)
    if _is_counts(path):
        table = WordTable.load(path)
        return report | {"what": f"the counts of {count_text(table.total, 'word')}, {len(table):,} different"}
    proof = _certificate_in(path)
    if proof is not None:
        return report | _check_floors(proof)
    opened = open_table(path)
    notes = [*opened.notes]
    if FORMATS[opened.format].peer_name:
        from bpe_core.verification.import_check import check_import  # this module loads all that encodes

        agreement = check_import(path, opened)
        notes += agreement.notes if agreement is not None else ()
    return report | {"what": f"a table ({opened.format}) of {steps_in_words(opened.history)}", "notes": notes}


def _certificate_in(path: Path) -> Any:
    """Return the certificate in a file. Return None if the file has no certificate.

    A certificate is a proof about vocabularies of one size. It proves that none of them needs fewer tokens than a
    certain number, the floor. The file may contain the certificate alone, or an answer with a certificate.
    """
    try:
        data = read_small_bytes(path, "the certificate", FormatError) if path.suffix == ".json" else b""
    except (FormatError, ValueError):
        return None  # the error follows when the file is opened as a table
    if KIND.encode() not in data:
        return None
    return json_of(data, f"{path}: the certificate of a floor is not valid JSON")


def _check_floors(document: Any) -> dict[str, Any]:
    """Recompute all floors of a certificate. Return a report with a line about each floor.

    Raise FormatError if a floor in the file is wrong.
    """
    # this module shares no code with the search that computed the prices
    from bpe_core.reference.floor import checked_floors, tokens_of_witnesses

    is_answer = isinstance(document, dict) and "certificate" in document
    proof = document["certificate"] if is_answer else document
    rows = checked_floors(proof)
    stated = document.get("rows", ()) if is_answer else ()
    claims, bests = _claims_of(stated)
    recounted = tokens_of_witnesses(proof)
    what = f"the certificate of {count_text(len(rows), 'floor')}"
    always = proof["always"]
    longest = proof["longest"]
    size_of_text = sum(proof["counts"])
    lines = [
        f"{count_text(size, 'token')} in the vocabulary ({always:,} are in every vocabulary, "
        f"{count_text(size - always, 'other has', 'others have')} at most {count_text(longest, 'symbol')}): the prices "
        "prove that "
        f"{count_text(size_of_text, 'word needs', 'words need')} at least {count_text(proven, 'token')}"
        + (
            f"; the given vocabulary needs {count_text(recounted[size], 'token')}, counted again"
            if size in recounted
            else ""
        )
        for size, _, proven in rows
    ]
    for size, said, proven in rows:
        if proven < said:
            raise FormatError(
                f"For a vocabulary of {count_text(size, 'token')}, the prices in the certificate prove a floor of "
                f"{count_text(proven, 'token')}, but the file says {said:,}. Run `floor` again."
            )
    known = {**bests, **recounted}
    beyond = next((size for size, said, _ in rows if known.get(size, said) < said), None)
    if beyond is not None:
        raise FormatError(
            f"The file gives a floor above {count_text(known[beyond], 'token')} for a vocabulary of {beyond:,}, but "
            f"a vocabulary of this size was found that needs {count_text(known[beyond], 'token')}. Run `floor` again."
        )
    for size, tokens in recounted.items():
        if bests.get(size, tokens) != tokens:
            raise FormatError(
                f"The best vocabulary of {size:,} splits the words into {count_text(tokens, 'token')}, but the file "
                f"says {bests[size]:,}."
            )
    if is_answer and claims != {size: said for size, said, _ in rows}:
        raise FormatError("The rows of the file and its certificate have different sizes or floors. Run `floor` again.")
    for row in stated:
        _check_gap(row)
    if proof.get(CHECKSUM) != checksum(proof):
        raise FormatError("The certificate was changed after it was written: its checksum differs. Run `floor` again.")
    return {"what": what, "found": lines}


def _claims_of(rows: Any) -> tuple[dict[int, int], dict[int, int]]:
    """Return the floor and the best number of tokens that the rows of an answer state for each size.

    Raise FormatError if a number is not a whole number, or if the rows list a size twice.
    """
    claims, bests = dict[int, int](), dict[int, int]()
    with report_faults("The rows of the file"):
        for row in rows:
            size, floor, best = (row[name] for name in ("size", "floor", "best"))
            for number in (size, floor, best):
                if type(number) is not int:
                    raise FormatError(f"A row of the file holds {str(number)[:80]!r} instead of a whole number.")
            if size in claims:
                raise FormatError(f"The rows of the file list the size {size:,} twice.")
            claims[size], bests[size] = floor, best
    return claims, bests


def _check_gap(row: Any) -> None:
    gap = row["best"] / max(1, row["floor"]) - 1
    if row.get("gap", gap) != gap:
        raise FormatError(
            f"The row of the size {row['size']:,} gives the gap {str(row['gap'])[:80]}, but its numbers of tokens give "
            f"{gap:g}."
        )


def _is_counts(path: Path) -> bool:
    """Return whether a file contains counted words, as `WordTable.save` writes them.

    The first bytes of the file decide, because no merge table begins with these bytes.
    """
    try:
        with path.open("rb") as file:
            return file.read(len(ARCHIVE)) == ARCHIVE
    except (OSError, ValueError):  # or a NUL in its name
        return False  # the error follows when the file is opened as a table


def _session(path: Path) -> dict[str, Any]:
    from bpe_core.session_file.reading import read_session  # this module loads SQLite

    try:
        return {"found": _parts(read_session(path))}
    except FormatError as error:
        if not path.is_file():
            raise
        return {"sound": False, "what": str(error)}


def _parts(session: SavedSession) -> list[str]:
    lines = []
    for run in session.runs:
        count = 0 if run.words is None else len(run.words)
        words = "no words" if run.words is None else count_text(count, "different word")
        lines.append(f"run {run.number}: {run.recipe.wording.counted(run.learned)}, {words}")
    given = [source.text for source in session.sources if source.text is not None]
    if given:
        lines.append(f"texts stored in the file: {len(given):,}, with {count_text(sum(map(len, given)), 'character')}")
    if session.bookmarks:
        lines.append(f"bookmarks: {len(session.bookmarks):,}")
    return lines


def _print_result(report: dict[str, Any]) -> None:
    if report["sound"]:
        print(f"{report['file']}: sound, {report['what']}")
    else:
        sys.stdout.flush()
        sys.stderr.write(f"{report['what']}\n")
    for line in report["found"]:
        print(f"  {line}")
    for line in report["notes"]:
        print(f"- {line}")
