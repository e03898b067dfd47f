"""The script that starts the bundled program.

A child process may start it as it would start Python, with `-m` or `-c`. Then the script runs this module or
code.
"""

from __future__ import annotations

import runpy
import sys

from app.__main__ import main


def start(words: list[str]) -> int:
    if words[:1] == ["-P"]:  # nothing is imported from a person's folder here
        del words[0]
    match words:
        case ["-c", program, *rest]:
            sys.argv = ["-c", *rest]
            exec(program, {"__name__": "__main__"})  # noqa: S102 - as Python does
        case ["-m", module, *rest]:
            sys.argv = [module, *rest]
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        case _:
            return main(words)
    return 0


if __name__ == "__main__":
    sys.exit(start(sys.argv[1:]))
