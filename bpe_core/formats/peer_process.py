"""`python -m bpe_core.formats.peer_process FORMAT SIZE`: the process in which a library is asked.

It reads SIZE bytes of a file, then a text a line, and answers each text with the numbers of its tokens.
verification/libraries.py starts it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from bpe_core.formats import FORMATS
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.recipes.recipe import Recipe


def main() -> None:
    """What the process does."""
    name, size = sys.argv[1], int(sys.argv[2])
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # whatever a library prints is no answer
        try:
            peer = _peer(name, sys.stdin.buffer.read(size))
        except Exception as error:  # whatever another library throws
            _tell(answers, {"error": str(error)})
            return
        _tell(answers, {"is": peer is not None})
        if peer is None:
            return
        for line in sys.stdin.buffer:
            try:
                _tell(answers, {"is": peer(json.loads(line))})
            except Exception as error:
                _tell(answers, {"error": str(error)})


def _peer(name: str, data: bytes) -> Callable[[str], Any] | None:
    return FORMATS[name].peer(data, History.from_pairs(Recipe(), Alphabet.of_bytes(), []), name)


def _tell(answers: BinaryIO, said: dict[str, Any]) -> None:
    answers.write(json.dumps(said).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main()
