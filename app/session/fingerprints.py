"""The fingerprints of the files that runs learned from. They show whether a file has changed since then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from app.session.background import BackgroundTasks
from app.session.corpus_texts import state_of
from app.session.run import Run
from app.session.runs import Runs
from bpe_core.errors import FormatError
from bpe_core.session_file.values import Fingerprint
from bpe_core.support.fingerprints import fingerprint_of
from bpe_core.support.progress import CancelCheck

MOST_NAMED = 3  # most files that a sentence names


class Fingerprints(QObject):
    """A checker of the files from which runs were learned.

    It hashes the files when training begins, and compares the hashes when a session is opened.
    """

    def __init__(self, runs: Runs, background: BackgroundTasks, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs = runs
        self._background = background
        self._known: dict[tuple[Path | None, Fingerprint], Fingerprint] = {}  # with hashes, by those without
        runs.prepared.connect(self._hash)

    def compare(self) -> None:
        """Report which files of all runs have changed or are missing."""
        files: dict[Path, Fingerprint] = {}
        for run in self._runs.all:  # later runs replace the fingerprints of earlier ones
            for source in run.sources:
                known = run.fingerprints.get(source.number)
                if source.path is not None and known is not None and not source.refused:
                    files[source.path] = known
        if files:
            self._background.run(
                "unchanged_files",
                lambda task: find_changed_files(files, task.cancelled),
                self._report_changed_files,
            )

    def _hash(self, run: Run) -> None:
        files: dict[int, tuple[Path, Fingerprint]] = {}
        for source in run.sources:
            fresh = run.fingerprints.get(source.number)
            if fresh is None or source.path is None:
                continue
            known = self._known.get((source.path, fresh))
            if known is not None:
                run.fingerprints[source.number] = known
            else:
                files[source.number] = source.path, fresh
        if files:
            work, take = lambda task: hash_files(files, task.cancelled), partial(self._take_hashed, run)
            self._background.run("fingerprints", work, take, queues=True)

    def _take_hashed(self, run: Run, fingerprints: Mapping[int, Fingerprint]) -> None:
        paths = {source.number: source.path for source in run.sources}
        for number, fingerprint in fingerprints.items():
            self._known[paths[number], run.fingerprints[number]] = fingerprint
            run.fingerprints[number] = fingerprint

    def _report_changed_files(self, paths: tuple[list[Path], list[Path]]) -> None:
        (changed, missing) = paths
        parts = []
        if changed:
            parts.append(f"{_names(changed)} changed after the training of this session.")
        if missing:
            parts.append(f"{_names(missing)} cannot be found any more.")
        if parts:
            sentence = f"{' '.join(parts)} The runs can still continue, because they keep the words of the old texts."
            details = [f"changed: {path}" for path in changed] + [f"missing: {path}" for path in missing]
            self._background.notify(sentence, "\n".join(details), is_error=False, can_wait=True)


def hash_files(files: Mapping[int, tuple[Path, Fingerprint]], cancelled: CancelCheck) -> dict[int, Fingerprint]:
    """Return a dictionary from the number of each file to its fingerprint with a hash of the content.

    A file that has changed since the training read it is left out.
    """
    fingerprints = {}
    for number, (path, known) in files.items():
        digest = hash_of(path, cancelled)
        if digest is not None and _looks_the_same(path, known):
            fingerprints[number] = replace(known, sha256=digest)
    return fingerprints


def find_changed_files(files: Mapping[Path, Fingerprint], cancelled: CancelCheck) -> tuple[list[Path], list[Path]]:
    """Return the changed files and the missing files.

    A file is read only if its modification time has changed but its size is the same.
    """
    missing = [path for path in files if not path.is_file()]
    there = [path for path in files if path not in missing]
    return [path for path in there if _differs(path, files[path], cancelled)], missing


def _differs(path: Path, known: Fingerprint, cancelled: CancelCheck) -> bool:
    if _looks_the_same(path, known):
        return False
    state = state_of(path)
    is_as_large = state is not None and state[0] == known.size
    return not is_as_large or not known.sha256 or hash_of(path, cancelled) != known.sha256


def hash_of(path: Path, cancelled: CancelCheck) -> str | None:
    try:
        return fingerprint_of(path, cancelled)[1]
    except FormatError:
        return None


def _looks_the_same(path: Path, known: Fingerprint) -> bool:
    return state_of(path) == (known.size, known.modified_ns)


def _names(paths: list[Path]) -> str:
    more = f" and {len(paths) - MOST_NAMED:,} more" if len(paths) > MOST_NAMED else ""
    return ", ".join(path.name for path in paths[:MOST_NAMED]) + more
