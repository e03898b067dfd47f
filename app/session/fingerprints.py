"""What the files of runs were like when they were read, and whether they still are."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.session.jobs import Jobs
from app.session.notices import Notice
from app.session.run import Run
from app.session.runs import Runs
from app.worker.fingerprinting import Compared, ComparingJob, Fingerprinted, FingerprintJob
from app.worker.mailbox import Message
from bpe_core.session_file import Fingerprint

MOST_NAMED = 3  # files in one sentence


class Fingerprints(QObject):
    """Hashes the files of a run when it begins; compares them when a session is opened."""

    noticed = Signal(Notice)

    def __init__(self, runs: Runs, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._runs, self._jobs = runs, jobs
        self._hashed: dict[object, Run] = {}  # by the stamp of the job
        self._known: dict[tuple[Path | None, Fingerprint], Fingerprint] = {}  # without a hash: with it
        runs.prepared.connect(self._hash)
        jobs.mailbox.arrived.connect(self._receive)

    def compare(self) -> None:
        """Look at the files of all runs again, aside; what is no longer as it was is noticed."""
        files: dict[Path, Fingerprint] = {}
        for run in self._runs.all:  # the newest run has read a file last
            for source in run.sources:
                known = run.fingerprints.get(source.number)
                if source.path is not None and known is not None and not source.refused:
                    files[source.path] = known
        if files:
            self._jobs.start(ComparingJob(self._jobs.mailbox, self._jobs.next_stamp("comparing"), files))

    def _hash(self, run: Run) -> None:
        files: dict[int, tuple[Path, Fingerprint]] = {}
        for source in run.sources:
            state = source.file_state()
            if state is None or source.path is None:
                continue
            fresh = Fingerprint(*state)
            known = self._known.get((source.path, fresh))
            run.fingerprints[source.number] = known or fresh
            if known is None:
                files[source.number] = source.path, fresh
        if files:
            stamp = self._jobs.next_stamp("fingerprints")
            self._hashed[stamp] = run
            self._jobs.start(FingerprintJob(self._jobs.mailbox, stamp, files))

    def _receive(self, message: Message) -> None:
        if isinstance(message, Fingerprinted) and message.stamp in self._hashed:
            run = self._hashed.pop(message.stamp)
            paths = {source.number: source.path for source in run.sources}
            for number, found in message.fingerprints.items():
                self._known[paths[number], run.fingerprints[number]] = found
                run.fingerprints[number] = found
        elif isinstance(message, Compared) and (message.changed or message.missing):
            self.noticed.emit(Notice(_sentence(message), _details(message), is_error=False))


def _sentence(message: Compared) -> str:
    parts = []
    if message.changed:
        parts.append(f"{_names(message.changed)} changed since the runs of this session learned from it")
    if message.missing:
        parts.append(f"{_names(message.missing)} cannot be found any more")
    return f"{'; '.join(parts)}. The runs can go on all the same: they keep the words as they were."


def _names(paths: tuple[Path, ...]) -> str:
    more = f" and {len(paths) - MOST_NAMED:,} more" if len(paths) > MOST_NAMED else ""
    return ", ".join(path.name for path in paths[:MOST_NAMED]) + more


def _details(message: Compared) -> str:
    lines = [f"changed: {path}" for path in message.changed] + [f"missing: {path}" for path in message.missing]
    return "\n".join(lines)
