"""The check of an import where it must cost nothing: what came of it is kept, by the file's content.

Only a file that was never checked, or that has changed since, is held against its library again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from pathlib import Path

from bpe_core.formats import FORMATS, OpenedTable
from bpe_core.formats.unpacking import content_of
from bpe_core.installed import NotInstalled, version_of
from bpe_core.kernels.kept import base
from bpe_core.private_folder import private_folder
from bpe_core.verification.imported import check_import

QUICK = 0.3  # seconds of texts
MOST_KEPT = 200  # files


def what_to_tell(path: Path | str, opened: OpenedTable) -> str:
    """A line about how an imported file agrees with its library: what differs always, that it agrees only once."""
    format = FORMATS.get(opened.format)
    if format is None or not format.peer_name:
        return ""
    place = _place(Path(path), format.peer_name)
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        if place is not None and place.is_file():
            kept = json.loads(place.read_text("utf-8"))
            return str(kept["sentence"]) if kept["differs"] else ""
    found = check_import(path, opened, patience=QUICK)
    if found is None:
        return ""
    if place is not None and not found.silence:
        with contextlib.suppress(OSError):
            _make_room(place.parent)
            differs = found.agreeing < found.texts
            place.write_text(json.dumps({"sentence": found.sentence, "differs": differs}), "utf-8")
    return found.sentence


def _place(path: Path, library: str) -> Path | None:
    """Where it is kept for this very content, library and program; None where nothing can be."""
    try:
        versions = "|".join(map(version_of, (library, "bpe-explorer")))
        digest = hashlib.sha256(f"{path.name}|{versions}|".encode() + content_of(path)).hexdigest()[:32]
        folder = base()
        return None if folder is None else private_folder(folder / "checks") / f"{digest}.json"
    except (OSError, NotInstalled):
        return None


def _make_room(folder: Path) -> None:
    kept = sorted(folder.glob("*.json"), key=lambda one: one.stat().st_mtime)
    for one in kept[: max(0, len(kept) - MOST_KEPT + 1)]:
        one.unlink(missing_ok=True)
