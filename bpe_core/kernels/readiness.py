"""Plain Python or compiled kernels: whether these can be used without waiting, and making it so.

Compiling takes a minute, once; loading what was kept takes a tenth of a second. So little work is done in plain
Python, more of it as soon as the kernels are there, and only very much work waits for them. Where something is missing,
or what is kept is damaged, a second process compiles meanwhile, in the order of need.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from bpe_core.kernels import kept

if TYPE_CHECKING:
    import subprocess

PATIENCE = 300.0  # seconds to wait for the compiler
COMPILE = "bpe-explorer doctor --prepare"
WORTH_COMPILING = 30_000_000  # where compiled code cannot be kept; plain Python does some million a second

_lock = threading.Lock()
_compiler: subprocess.Popen[bytes] | None = None
_receiver: threading.Thread | None = None  # takes what the compiler makes, where it cannot be kept
_refusal = ""  # why no process could be started for it


@cache
def kernels_exist() -> bool:
    """Whether Numba is installed; without it everything runs in plain Python."""
    # Asked for every small text, and the search takes longer than most of those take to encode.
    return find_spec("numba") is not None


def forbidden() -> bool:
    """Whether the person wants plain Python, to compare it or to work around trouble."""
    return bool(os.environ.get("BPE_EXPLORER_PLAIN"))


def ready(part: str = "") -> bool:
    """Whether importing the kernels of a part, or all of them, takes only a moment."""
    if forbidden() or not kernels_exist():
        return False
    return "bpe_core.warm_up" in sys.modules or kept.has(part)  # only a process that compiles imports the first


def prepare(*, in_memory: bool = False, aside: bool = True) -> None:
    """Begin compiling in a second process, if it is possible; where nothing can be kept, only for `in_memory`.

    What is made aside gives way to everything else.
    """
    global _compiler, _receiver
    with _lock:
        if _compiler is not None or _refusal or forbidden() or not kernels_exist() or ready():
            return
        from subprocess import DEVNULL, PIPE

        # In a session of its own, as Ctrl-C in the terminal is for the work, not for the compiler.
        if kept.can_be_made():
            how = ("aside",) if aside else ()
            _compiler = _started(*how, stdout=DEVNULL, stderr=DEVNULL)
        elif in_memory:
            _compiler = _started("hand over", stdout=PIPE, stderr=DEVNULL)
            if _compiler is not None:
                _receiver = threading.Thread(target=_receive, args=(_compiler,), daemon=True)
                _receiver.start()


def _started(*arguments: str, **how: Any) -> subprocess.Popen[bytes] | None:
    """The compiler; None where this process may start no other."""
    global _refusal
    from subprocess import DEVNULL

    try:
        return start_compiler(*arguments, stdin=DEVNULL, start_new_session=True, **how)
    except OSError as error:
        _refusal = f"no process can be started for it: {error}"
        return None


def _receive(compiler: subprocess.Popen[bytes]) -> None:
    content, _ = compiler.communicate()
    with suppress(ValueError):
        kept.take(content)


def start_compiler(*arguments: str, **how: Any) -> subprocess.Popen[bytes]:
    """Start `bpe_core.compiler` in a process of its own, with the modules that this one would import."""
    import subprocess  # every command asks whether kernels are ready, few begin to make them

    # Without '': a file named like one of our modules in the person's folder must not be imported.
    path = [place for place in sys.path if place]
    program = f"import sys; sys.path[:] = {path!r}; from bpe_core.compiler import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-P", "-c", program, *arguments]
    return subprocess.Popen(command, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0), **how)


def made_now() -> bool:
    """Wait until everything is compiled and kept; where that fails, the compiler says why on the error output."""
    if not ready() and kernels_exist() and not forbidden():
        from subprocess import DEVNULL

        compiler = _started(stdout=DEVNULL)
        if compiler is not None:
            compiler.wait()
    return ready()


def preparing() -> bool:
    """Whether the second process is at work, or has just handed over what it made."""
    if _receiver is not None:
        return _receiver.is_alive()
    return _compiler is not None and _compiler.poll() is None


def why_not() -> str:
    """Why there will be no machine code, in a sentence; empty where there is, or where it can be made."""
    if not kernels_exist():
        return "numba is not installed: all is done in plain Python. pip install numba"
    if forbidden():
        return "BPE_EXPLORER_PLAIN is set: all is done in plain Python"
    if ready() or preparing():
        return ""
    if not kept.can_be_made():
        place = kept.base() or "a home folder"
        return (
            f"nothing can be kept in {place}: it is missing, closed or full. Name another folder by {kept.LOCATION}; "
            "large works compile each time"
        )
    if _refusal:
        return _refusal
    return "" if _compiler is None else f"it could not be made: {COMPILE} says why"


def wait_until_ready(seconds: float, cancelled: Callable[[], bool] = lambda: False, part: str = "") -> bool:
    """Wait for the compiler at most that long; True when the kernels can be used."""
    prepare(aside=False)
    deadline = time.monotonic() + seconds
    while not ready(part):
        if not preparing() or cancelled() or time.monotonic() > deadline:
            return ready(part)
        time.sleep(0.05)
    return True


@dataclass(frozen=True)
class Policy:
    """From which size on one kind of work uses its kernels, in whatever that work is measured."""

    module: str  # that drives the kernels
    small: int  # less than this plain Python has done before machine code is loaded
    small_when_loaded: int = 0  # the same where it is there already
    large: int = sys.maxsize  # plain Python would need longer than the compiler
    part: str = ""  # of the kernels, that has all of this work; else they must all be there

    @property
    def are_loaded(self) -> bool:
        return self.module in sys.modules and not forbidden()

    @property
    def least(self) -> int:
        return self.small_when_loaded if self.are_loaded else self.small

    def allows(self, size: int) -> bool:
        """Whether work of that size should use the kernels now."""
        return size >= self.least and ready(self.part)

    def chooses(
        self, size: int, *, waiting: Callable[[], None] = lambda: None, cancelled: Callable[[], bool] = lambda: False
    ) -> bool:
        """The same, but where kernels are missing they are compiled by another process, for which large work waits."""
        if size < self.least:
            return False
        if self.allows(size):
            return True
        if forbidden() or not kernels_exist():
            return False
        in_memory = not kept.can_be_made()
        if size < (min(self.large, WORTH_COMPILING) if in_memory else self.large) or cancelled():
            prepare()
            return False
        waiting()
        prepare(in_memory=in_memory, aside=False)
        return wait_until_ready(PATIENCE, cancelled, self.part)
