"""Whether files still are what they were when a run learned from them."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from app.worker.job import Job
from app.worker.mailbox import Mailbox, Message
from bpe_core.session_file import Fingerprint

BLOCK = 1 << 20


@dataclass(frozen=True)
class Fingerprinted(Message):
    """The fingerprints, now with the hash of what is in the files."""

    fingerprints: Mapping[int, Fingerprint]


class FingerprintJob(Job):
    """Hashes files, as long as they still are as they were when they were read."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, files: Mapping[int, tuple[Path, Fingerprint]]) -> None:
        super().__init__(mailbox, stamp)
        self._files = files

    def work(self) -> None:
        found = {}
        for number, (path, known) in self._files.items():
            digest = hash_of(path, self)
            if digest is not None and _looks_the_same(path, known):
                found[number] = replace(known, sha256=digest)
        if found and not self.stopping:
            self.post(Fingerprinted(self.stamp, found))


@dataclass(frozen=True)
class Compared(Message):
    """Which files are no longer what they were."""

    changed: tuple[Path, ...]
    missing: tuple[Path, ...]


class ComparingJob(Job):
    """Looks at files again; only where the time differs and the size does not, they are read."""

    def __init__(self, mailbox: Mailbox, stamp: Hashable, files: Mapping[Path, Fingerprint]) -> None:
        super().__init__(mailbox, stamp)
        self._files = files

    def work(self) -> None:
        missing = tuple(path for path in self._files if not path.is_file())
        changed = tuple(
            path for path, known in self._files.items() if path not in missing and self._differs(path, known)
        )
        if not self.stopping:
            self.post(Compared(self.stamp, changed, missing))

    def _differs(self, path: Path, known: Fingerprint) -> bool:
        if _looks_the_same(path, known):
            return False
        try:
            same_size = path.stat().st_size == known.size
        except OSError:
            return True
        return not same_size or not known.sha256 or hash_of(path, self) != known.sha256


def hash_of(path: Path, job: Job) -> str | None:
    """SHA-256 of a file; None where it cannot be read or nobody wants to know any more."""
    digest = hashlib.sha256()
    try:
        with open(path, "rb") as file:
            while block := file.read(BLOCK):
                if job.stopping:
                    return None
                digest.update(block)
    except OSError:
        return None
    return digest.hexdigest()


def _looks_the_same(path: Path, known: Fingerprint) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (known.size, known.modified_ns)
