"""Whether the compiled kernels can be used without waiting, and making them so.

Compiling takes some twenty seconds, loading what was kept a tenth of one. So where nothing is kept yet, or
what is kept is damaged, a second process compiles while everything already works in plain Python.
This module does not import Numba.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING

from bpe_core.kernels import kept

if TYPE_CHECKING:
    import subprocess

_lock = threading.Lock()
_compiler: subprocess.Popen[bytes] | None = None
_compiles_here = False


@cache
def kernels_exist() -> bool:
    """Whether Numba is installed at all; without it everything runs in plain Python."""
    # Asked for every small text, and it takes longer to look for than most of those to cut.
    return find_spec("numba") is not None


def forbidden() -> bool:
    """Whether the person wants plain Python, to compare it or to work around trouble."""
    return bool(os.environ.get("BPE_EXPLORER_PLAIN"))


def ready() -> bool:
    """Whether importing the kernels takes a moment only."""
    if forbidden() or not kernels_exist():
        return False
    if "bpe_core.warm_up" in sys.modules:
        return True  # this process has compiled or loaded them
    return kept.is_sound()


def prepare() -> None:
    """Begin compiling in a second process unless that is done, under way or impossible."""
    global _compiler
    with _lock:
        if _compiler is not None or forbidden() or not kernels_exist() or ready():
            return
        if not kept.can_be_made():
            return
        _compiler = start_compiler(silent=True)


def start_compiler(*arguments: str, silent: bool = False) -> subprocess.Popen[bytes]:
    """`bpe_core.compiler` in a process of its own, with the modules that this one would import."""
    import subprocess  # every command asks whether kernels are ready, few begin to make them

    # Without '': a file named like one of our modules in the person's folder must not be imported.
    path = [place for place in sys.path if place]
    program = f"import sys; sys.path[:] = {path!r}; from bpe_core.compiler import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-P", "-c", program, *arguments]
    nothing = subprocess.DEVNULL if silent else None
    return subprocess.Popen(
        command,
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        start_new_session=silent,  # Ctrl-C in the terminal is for the work, not for the compiler
    )


def preparing() -> bool:
    """Whether the second process is at work right now."""
    return _compiler is not None and _compiler.poll() is None


def must_compile_here() -> bool:
    """Whether no other process will: whoever wants kernels compiles them in memory, each time anew."""
    if forbidden() or not kernels_exist() or ready():
        return False
    return not kept.can_be_made() or (_compiler is not None and not preparing())


def compile_here() -> None:
    """Remember that this process compiles in memory: a thread at that hears nothing for some twenty seconds."""
    global _compiles_here
    _compiles_here = True


def compiles_here() -> bool:
    return _compiles_here


def wait_until_ready(seconds: float, cancelled: Callable[[], bool] = lambda: False) -> bool:
    """Wait for the compiler at most that long; True when the kernels can be used."""
    prepare()
    deadline = time.monotonic() + seconds
    while not ready():
        if not preparing() or cancelled() or time.monotonic() > deadline:
            return ready()
        time.sleep(0.05)
    return True
