"""The option `--plugin FILE`. It may stand before or after any command.

The code of the file runs only if the user agrees.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from bpe_core.errors import BpeError, plain
from bpe_core.support.plugins import run_file

FLAG = "--plugin"
AGREED = "--yes"
END = "--"


def without_plugins(argv: Sequence[str]) -> list[str]:
    """Load the plug-ins that the command line names. Return the command line without them."""
    words = list(argv)
    end = words.index(END) if END in words else len(words)
    before = words[:end]
    behind = words[end:]
    if not any(word.partition("=")[0] == FLAG for word in before):
        return words
    is_agreed = AGREED in before
    rest = list[str]()
    waiting = iter(before)
    files = list[Path]()
    for word in waiting:
        flag, equals, value = word.partition("=")
        if flag == FLAG:
            files.append(Path(value if equals else next(waiting, "")))
        elif word != AGREED:
            rest.append(word)
    for file in files:
        if not is_agreed:
            _ask(file)
        run_file(file)
    return rest + behind


def _ask(file: Path) -> None:
    what = f"{plain(str(file))} is a plug-in: its code will run, and can do everything that you can do."
    if sys.stdin is None or not sys.stdin.isatty():
        raise BpeError(f"{what} This command cannot ask for your consent here. Add {AGREED} if you trust the plug-in.")
    sys.stderr.write(f"{what}\nRun it? [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise BpeError(f"{plain(str(file))} was not run.")
