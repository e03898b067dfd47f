"""Write a file so that whoever looks sees the old one or the new one, never half of it."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from bpe_core.errors import OutputError


@contextlib.contextmanager
def write_atomically(path: Path | str) -> Iterator[BinaryIO]:
    """A binary file written beside `path` and renamed over it when all went well.

    If anything fails, the disk being full among the possibilities, the file beside is
    removed and what stood at `path` is untouched.
    """
    target = Path(path)
    # Writing to a device or pipe (/dev/stdout) cannot be done beside it.
    if target.exists() and not target.is_file():
        with _sentences(target), open(target, "wb") as direct:
            yield direct
        return
    with replace_atomically(target) as beside, open(beside, "wb") as file:
        yield file


@contextlib.contextmanager
def replace_atomically(path: Path | str) -> Iterator[Path]:
    """The same for those who write a file by its name: an empty one beside `path` that takes its place."""
    target = Path(path)
    with _sentences(target):
        target = target.resolve()  # a link stays a link; the file it names is replaced
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", suffix=".part", dir=target.parent)
        os.close(handle)
        beside = Path(name)
        try:
            yield beside
            with open(beside, "rb+") as file:
                os.fsync(file.fileno())
            _copy_mode(target, beside)
            os.replace(beside, target)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def _copy_mode(target: Path, beside: Path) -> None:
    """Give the new file the old one's permissions, or those any new file would get."""
    if target.exists():
        mode = target.stat().st_mode & 0o777
    else:
        mask = os.umask(0)
        os.umask(mask)
        mode = 0o666 & ~mask
    with contextlib.suppress(OSError):
        beside.chmod(mode)


@contextlib.contextmanager
def _sentences(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"Could not write {target}: {reason}. What stood there before is unchanged.") from error
