"""A separate process that encodes texts with the library of a format, while the program goes on working.

While tokenizers or tiktoken load a file, all other threads of a process wait for 0.1 to 0.2 s per 100,000 tokens. The
separate process (`python -m bpe_core.formats.peer_process FORMAT SIZE`) first reads SIZE bytes: the content of the
file. Then it reads one text in each line, and answers each text with the ids of its tokens.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from bpe_core.errors import throwing_exceptions
from bpe_core.formats import FORMATS, Format
from bpe_core.formats.base import Beside, Peer
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe

if TYPE_CHECKING:
    import subprocess

LARGE = 1_000_000  # bytes of a file; a smaller file loads sooner than a process starts
LOADED_ALONE = ("tokenizer.json", "tiktoken")  # the formats whose libraries need only the file's content

Loaded = Callable[[], Peer | None]


@contextmanager
def peer_of(
    format: Format, data: bytes, history: History, name: str, beside: Beside, *, apart: bool
) -> Iterator[Loaded]:
    """Yield a function that loads a file with the library of its format (see `Format.peer`).

    If `apart` is true, a large file is loaded by a separate process, which starts before the function is called.
    """
    if not apart or format.name not in LOADED_ALONE or len(data) < LARGE:
        yield lambda: format.peer(data, history, name, beside)
        return
    import subprocess  # takes a while to load

    # -P: a file named like one of our modules in the user's folder must not be imported.
    command = [sys.executable, "-P", "-m", "bpe_core.formats.peer_process", format.name, str(len(data))]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    giving = threading.Thread(target=_give, args=(process, data), daemon=True)
    giving.start()
    try:
        yield partial(_peer_in, process, giving)
    finally:
        process.kill()
        giving.join()
        with suppress(OSError):
            process.communicate()


def _give(process: subprocess.Popen[bytes], data: bytes) -> None:
    assert process.stdin is not None
    with suppress(OSError):  # the process ended: `answer` reports it
        process.stdin.write(data)
        process.stdin.flush()


def _peer_in(process: subprocess.Popen[bytes], giving: threading.Thread) -> Peer | None:
    asked = process.stdin
    answers = process.stdout
    assert asked is not None
    assert answers is not None

    def answer() -> Any:
        said = json.loads(answers.readline() or b'{"error": "its process ended"}')
        if "error" in said:
            raise RuntimeError(said["error"])
        return said["is"]

    def peer(text: str) -> list[int]:
        asked.write(json.dumps(text).encode() + b"\n")
        asked.flush()
        numbers: list[int] = answer()
        return numbers

    giving.join()
    return peer if answer() else None


def _answers(name: str, size: int) -> Iterator[dict[str, Any]]:
    """Yield first whether the library is installed, and then the ids of each text on the standard input.

    If the library raises an exception, yield the message of the exception instead.
    """
    history = History.from_pairs(Recipe(), Alphabet.of_bytes(), [])
    try:
        with throwing_exceptions():
            peer = FORMATS[name].peer(sys.stdin.buffer.read(size), history, name)
    except Exception as error:  # any exception of another library
        yield {"error": str(error)}
        return
    yield {"is": peer is not None}
    if peer is None:
        return
    for line in sys.stdin.buffer:
        try:
            with throwing_exceptions():
                numbers = peer(json.loads(line))
            yield {"is": numbers}
        except Exception as error:
            yield {"error": str(error)}


def main() -> None:
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # a library may print, too; only our lines are answers
        for said in _answers(sys.argv[1], int(sys.argv[2])):
            answers.write(json.dumps(said).encode() + b"\n")
            answers.flush()


if __name__ == "__main__":
    main()
