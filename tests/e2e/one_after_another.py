"""Several commands in one process: to start one for each would take longer than what they do.

    python -m tests.e2e.one_after_another COMMANDS

COMMANDS is a JSON list of lists of arguments. Prints a JSON list: of each its exit code, and what it said on standard
error. An exception that a command lets out ends the process.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys

from app.__main__ import main
from bpe_core.verification import sampling


def outcome(arguments: list[str]) -> tuple[int, str]:
    said = io.StringIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")), contextlib.redirect_stderr(said):
        code = main(arguments)
    return code, said.getvalue()


if __name__ == "__main__":
    sampling.WANTED_WORDS //= 10  # as in the tests' own process
    sys.stdout.write(json.dumps([outcome(arguments) for arguments in json.loads(sys.argv[1])]))
