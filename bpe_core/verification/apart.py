"""The library that owns a format, asked in a process of its own where a window is to be kept going.

While it loads a file, a library may let no other thread of Python go on: tokenizers and tiktoken hold them up for a
tenth to two tenths of a second for each 100,000 tokens.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from bpe_core.formats import Format
from bpe_core.formats.base import Beside, Peer
from bpe_core.history.history import History

if TYPE_CHECKING:
    import subprocess

LARGE = 1_000_000  # bytes of a file; a smaller one is loaded sooner than a process begins
LOADED_ALONE = ("tokenizer.json", "tiktoken")  # the formats whose libraries need nothing but the file's content


@contextmanager
def peer_of(
    format: Format, data: bytes, history: History, name: str, beside: Beside, *, apart: bool
) -> Iterator[Peer | None]:
    """The real library, given the file's content, as `Format.peer` tells; `apart` in a process of its own."""
    if not apart or format.name not in LOADED_ALONE or len(data) < LARGE:
        yield format.peer(data, history, name, beside)
        return
    import subprocess  # takes a while to load

    # -P: a file named like one of our modules in the person's folder must not be imported.
    command = [sys.executable, "-P", "-m", "bpe_core.verification.peer_process", format.name, str(len(data))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    try:
        yield _peer_in(process, data)
    finally:
        process.kill()
        with suppress(OSError):
            process.communicate()


def _peer_in(process: subprocess.Popen[bytes], data: bytes) -> Peer | None:
    asked, answers = process.stdin, process.stdout
    assert asked is not None
    assert answers is not None

    def answer() -> Any:
        asked.flush()
        said = json.loads(answers.readline() or b'{"error": "its process ended"}')
        if "error" in said:
            raise RuntimeError(said["error"])
        return said["is"]

    def peer(text: str) -> list[int]:
        asked.write(json.dumps(text).encode() + b"\n")
        numbers: list[int] = answer()
        return numbers

    asked.write(data)
    return peer if answer() else None
