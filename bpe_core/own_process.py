"""What may be settled where the process is all our own, as a program's is and a library's is not.

Called before anything else is imported: it makes programs start and end sooner, and changes nothing else.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import ModuleType
from typing import NoReturn

_NEW_OBJECTS = 50_000  # before the youngest are searched for garbage; a start makes about as many, and none of them is
_TEXTS_OF_HELP = ("numpy._core._add_newdocs", "numpy._core._add_newdocs_scalars")  # that do nothing but add them


def begin_process() -> None:
    """NumPy's linear algebra, of which nothing here wants more than a scalar product, gets no threads of its own.

    They would spin for a while on the cores that read and count meanwhile, and cost as much as loading NumPy does.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def leave_out_help() -> None:
    """NumPy does without the texts of its `help`, which no command shows: they are a tenth of what it loads."""
    for name in _TEXTS_OF_HELP:
        sys.modules.setdefault(name, ModuleType(name))


def run_alone(argv: Sequence[str]) -> int:
    """The exit code of a command, after which the process ends."""
    begin_process()
    leave_out_help()
    gc.set_threshold(_NEW_OBJECTS, *gc.get_threshold()[1:])
    from bpe_core.command_line.main import run

    return run(argv)


def end_process(code: int) -> NoReturn:
    """What Python does for others at its end, and no more, as `multiprocessing` ends its processes.

    What is left goes with the process; taking it apart, one module after the other, would take some milliseconds.
    """
    import atexit
    import threading

    threading._shutdown()  # type: ignore[attr-defined]  # waits for those that are left
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):  # there is none, it is closed, or nobody reads any more
            stream.flush()
    os._exit(code)
