"""A process that runs several commands, because a separate process for each command would need more time.

    python -m tests.e2e.command_sequence COMMANDS

COMMANDS is a JSON list with a list of arguments for each command. The process prints a JSON list. It has the exit code,
the text on standard error and the printed text of each command. If a command raises an exception, the process ends.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

from app.__main__ import main
from bpe_core.verification import sampling


def outcome(arguments: list[str]) -> tuple[int, str, str]:
    said, printed = io.StringIO(), io.TextIOWrapper(io.BytesIO(), "utf-8")
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        code = main(arguments)
        printed.flush()
    return code, said.getvalue(), printed.buffer.getvalue().decode()


if __name__ == "__main__":
    sampling.WANTED_WORDS //= 10  # as in the tests' own process
    sys.stdout.write(json.dumps([outcome(arguments) for arguments in json.loads(sys.argv[1])]))
