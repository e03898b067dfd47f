"""A folder of results that stay available when the program starts again.

Each result is a separate file. The name of the file is a key that says what the result depends on. The file begins with
a checksum, so a damaged file counts as missing. The results that have not been used for the longest time are removed
first. The folder belongs to this user alone. If the folder cannot be used safely, nothing is stored.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from bpe_core.support.private_folder import private_folder

_CHECKSUM_BYTES = hashlib.sha256().digest_size


class KeptResults:
    """A folder of stored results.

    Parameters
    ----------
    folder
        The path of the folder, which is made when the first result is stored. If it is None, nothing is stored.
    most_files, most_bytes
        The limits of the whole folder.
    """

    def __init__(self, folder: Path | None, *, most_files: int, most_bytes: int) -> None:
        self._folder = folder
        self._most_files = most_files
        self._most_bytes = most_bytes

    def read(self, key: str) -> bytes | None:
        """Return the result that is stored under a key. Return None if the result is missing or damaged."""
        if self._folder is None:
            return None
        try:
            if not self._folder.is_dir():
                return None
            path = private_folder(self._folder) / key
            content = path.read_bytes()
            os.utime(path)  # it was used now
        except OSError:
            return None
        result = content[_CHECKSUM_BYTES:]
        return result if hashlib.sha256(result).digest() == content[:_CHECKSUM_BYTES] else None

    def store(self, key: str, result: bytes) -> None:
        """Store a result under a key. A failure raises no error."""
        if self._folder is None or len(result) > self._most_bytes:
            return
        with suppress(OSError):
            folder = private_folder(self._folder)
            self._make_room(folder, len(result))
            (folder / key).write_bytes(hashlib.sha256(result).digest() + result)

    def _make_room(self, folder: Path, wanted: int) -> None:
        """Remove results until there is room for a new result of `wanted` bytes.

        The results that have not been used for the longest time are removed first.
        """
        newest_first = sorted(((file.stat(), file) for file in folder.iterdir()), key=lambda row: -row[0].st_mtime)
        total = wanted
        for place, (status, file) in enumerate(newest_first, start=2):
            total += status.st_size
            if place > self._most_files or total > self._most_bytes:
                file.unlink(missing_ok=True)


def hash_of(*parts: bytes | str) -> str:
    """Return one hash of several texts and bytes. It can be the key of a result that depends on all of them."""
    digest = hashlib.sha256()
    for part in parts:
        content = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()
