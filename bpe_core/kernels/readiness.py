"""The decisions about machine code: whether it is compiled, when it is compiled, and which tasks use it.

Compiling takes minutes, but is done only once on a computer. Loading stored machine code takes a twentieth of
a second.

Some tasks, such as counting, are fast enough in plain Python if the text is small. Then plain Python does
them. Counting a larger text does not wait for machine code: plain Python begins to count, and machine code
counts the rest.

Other tasks exist in plain Python only as the specification: short and slow code that defines the correct
result. These tasks use machine code if it is stored. Otherwise the specification processes samples (small
inputs), and larger inputs wait for the machine code.

If machine code is missing or damaged, a second process compiles it in the background, in the order in which
it is needed. Only one process at a time does this on a computer.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from bpe_core.errors import BpeError
from bpe_core.kernels import stored_code
from bpe_core.support.progress import ALONE, PERCENT, Progress, Work

if TYPE_CHECKING:
    import subprocess

COMPILE = "bpe-explorer doctor --prepare"
# The one threshold: work on at most this number of bytes, of text or of arrays made of text, is a sample.
# A specification takes seconds for a sample. Plain Python counts a sample in 0.6 ms, and kernels in 1.5 ms, because
# their tables cost the same for every text. From 10,000 bytes on, kernels are faster.
SAMPLE = 5_000
SECONDS_BETWEEN_LOOKS = 0.05
BEING_MADE = "machine code is being made"  # the text that progress shows
MACHINE_CODE, BY_NUMBA, PLAIN = "machine code", "Numba's own cache", "plain Python"  # ways to do large work

_lock = threading.Lock()
_compiler: subprocess.Popen[bytes] | None = None
_receiver: threading.Thread | None = None  # receives the code of the compiler if the code cannot be stored
_refusal = ""  # the reason why the compiler process could not be started
_said = ""  # the last line that the compiler wrote, if it has failed


@cache
def kernels_exist() -> bool:
    """Return whether Numba is installed.

    Without Numba, the program uses plain Python wherever it can.
    """
    # This is called for every small text, and the search takes longer than encoding most of them.
    return find_spec("numba") is not None


def is_forbidden() -> bool:
    """Return whether a person has requested plain Python instead of machine code."""
    return bool(os.environ.get("BPE_EXPLORER_PLAIN"))


def is_ready(part: str = "") -> bool:
    """Return whether the machine code of a part of the kernels is stored, so that it can be loaded quickly.

    If no part is given, return whether the machine code of all kernels is stored.
    """
    if is_forbidden() or not kernels_exist():
        return False
    if stored_code.loaded is not None and stored_code.loaded.is_whole:
        return True
    return "bpe_core.warm_up" in sys.modules or stored_code.is_stored(
        part
    )  # only a process that compiles imports `warm_up`


def is_loaded() -> bool:
    """Return whether this process has loaded the machine code. If it is loaded, even the smallest work may use it."""
    return "llvmlite.binding" in sys.modules


def is_worth_loading(size: int) -> bool:
    """Return whether machine code is worth loading for work on `size` bytes. Plain Python could do this work, too.

    The library that loads machine code takes 57 MB of memory, and 70 ms at its first use.
    """
    return size > SAMPLE or is_loaded()


def use_machine_code(size: int, part: str = "", work: Work = ALONE, *, waits: bool = False) -> bool:
    """Return whether work on `size` bytes uses machine code. If the code is missing, start to compile it.

    If `waits` is true, wait until the code is compiled, because plain Python would be slow. There is no wait if
    the compiled code could not be stored. The wait is reported as progress and can be cancelled.
    """
    if not is_worth_loading(size) or is_forbidden() or not kernels_exist():
        return False
    if is_ready(part):
        return True
    if waits and stored_code.can_be_made():
        return _is_there_after_waiting(part, work)
    prepare()
    return False


def by_machine_code(size: int, part: str, work: Work = ALONE, *, is_needed: bool = True) -> bool:
    """Return whether to use machine code for work on `size` bytes, instead of the specification in Python.

    If the code is not ready yet, small samples use the specification. Larger work waits for the code. The wait is
    reported as progress, and can be cancelled. If the code cannot be made, raise BpeError if `is_needed` is true. If it
    is false, return False.
    """
    if is_ready(part):
        return True
    if size <= SAMPLE:
        if not is_forbidden():
            prepare()
        return False
    if is_needed:
        need_machine_code(part, work, f" for more than {SAMPLE:,} bytes of text")
        return True
    return _is_there_after_waiting(part, work)


def need_machine_code(part: str, work: Work = ALONE, what_for: str = "") -> None:
    """Wait for the machine code of a part, and report the progress. Raise BpeError if the code cannot be made.

    `what_for` is a phrase for the error, such as " for more than 5,000 bytes of text".
    """
    if not is_ready(part) and not _is_there_after_waiting(part, work):
        why = why_not() or f"run {COMPILE} to see the reason"
        raise BpeError(f"This needs machine code{what_for}, and there is none: {why}.")


def _is_there_after_waiting(part: str, work: Work) -> bool:
    if is_forbidden() or not kernels_exist():
        return False
    work.check()
    prepare(in_memory=not stored_code.can_be_made(), aside=False)
    is_there = wait_until_ready(part=part, work=work)
    work.check()
    return is_there


def wait_until_ready(seconds: float = float("inf"), part: str = "", work: Work = ALONE) -> bool:
    """Wait at most `seconds` until machine code is compiled. Return whether the code is ready.

    If another process compiles the code and ends without a result, this program compiles it.
    """
    deadline = time.monotonic() + seconds
    while not is_ready(part):
        prepare(aside=False)
        if not is_preparing() or work.cancelled() or time.monotonic() > deadline:
            return is_ready(part)
        _tell_how_far(work)
        time.sleep(SECONDS_BETWEEN_LOOKS)
    return True


def make_now(work: Work = ALONE) -> bool:
    """Compile all machine code now, and return whether it is compiled.

    If Numba's own cache is used instead of stored code, try again to store the code. If the compiler of another process
    ends without a result, this process starts its own compiler.
    """
    while True:
        prepare(aside=False, again=True)
        if not is_preparing():
            return is_ready()
        _tell_how_far(work)
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _tell_how_far(work: Work) -> None:
    work.progress(Progress(BEING_MADE, round(100 * stored_code.stored_share()), 100, PERCENT))


def prepare(*, in_memory: bool = False, aside: bool = True, again: bool = False) -> None:
    """Start a second process that makes machine code, unless a process already makes it.

    If the code cannot be stored in a folder, it is made only if `in_memory` is true. If `aside` is true, the second
    process has a low priority. If Numba's own cache is used instead of stored code, the code is made only if `again` is
    true.
    """
    global _compiler, _receiver
    if is_forbidden() or not kernels_exist():
        return
    with _lock:
        if _compiler is not None or _refusal or (is_ready() and not (again and state().way == BY_NUMBA)):
            return
        from subprocess import DEVNULL, PIPE

        # In a separate session, because Ctrl-C in the terminal is meant for the work and not for the compiler.
        if stored_code.can_be_made():
            how = ("aside",) if aside else ()
            if not stored_code.is_being_made():
                _compiler = _started(*how, stdout=DEVNULL, stderr=PIPE)
                if _compiler is not None and _compiler.stderr is not None:
                    atexit.register(_compiler.stderr.close)  # the compiler may still work when this program ends
        elif in_memory:
            _compiler = _started("hand over", stdout=PIPE, stderr=PIPE)
            if _compiler is not None:
                _receiver = threading.Thread(target=_receive, args=(_compiler,), daemon=True)
                _receiver.start()


def _started(*arguments: str, **how: Any) -> subprocess.Popen[bytes] | None:
    """Start the compiler process and return it. Return None if the system does not allow a new process."""
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
        stored_code.use_code(content)


def start_compiler(*arguments: str, **how: Any) -> subprocess.Popen[bytes]:
    """Start `bpe_core.compiler` in a separate process, with the same import paths as this process."""
    import subprocess  # every command calls `is_ready`, but few commands start the compiler

    # The current folder ('') is left out, because a file there may have the name of one of our modules.
    path = [place for place in sys.path if place]
    program = f"import sys; sys.path[:] = {path!r}; from bpe_core.compiler import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-P", "-c", program, *arguments]
    return subprocess.Popen(command, creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0), **how)


def is_preparing() -> bool:
    """Return whether machine code is being made, by a process that this program or another program has started."""
    if _receiver is not None:
        return _receiver.is_alive()
    return (_compiler is not None and _compiler.poll() is None) or stored_code.is_being_made()


class MachineCode(NamedTuple):
    """A report on machine code: the share that is compiled, and the way in which large inputs are processed."""

    share: float  # the share that is compiled, from 0 to 1
    is_being_made: bool
    way: str
    why: str  # the reason, in a sentence; empty if all is as usual

    @property
    def percent(self) -> str:
        return f"{100 * self.share:.0f} %"


def state() -> MachineCode:
    if is_ready():
        pack = stored_code.pack()
        if pack is not None and pack.fallback:
            return MachineCode(1.0, False, BY_NUMBA, f"that starts more slowly, but {pack.fallback}")
        return MachineCode(1.0, False, MACHINE_CODE, "")
    is_being_made = is_preparing()
    return MachineCode(stored_code.stored_share(), is_being_made, PLAIN, why_not())


def why_not() -> str:
    """Return a sentence that says why machine code cannot be used. Return an empty string if it can be used or made."""
    if not kernels_exist():
        return "numba is not installed, so this program runs in plain Python where it can: pip install numba"
    if is_forbidden():
        return "BPE_EXPLORER_PLAIN is set, so this program runs in plain Python where it can"
    if is_ready() or is_preparing():
        return ""
    if not stored_code.can_be_made():
        place = stored_code.base() or "a home folder"
        return (
            f"nothing can be stored in {place}: the folder is missing, full or cannot be written. Name another folder "
            f"with {stored_code.LOCATION}. Until then each large task compiles its code again"
        )
    if _refusal:
        return _refusal
    return (
        ""
        if _compiler is None
        else f"machine code could not be made: {_last_words() or f'run {COMPILE} to see the reason'}"
    )


def _last_words() -> str:
    """Return the last line that the compiler process wrote to its standard error."""
    global _said
    if not _said and _compiler is not None and _compiler.stderr is not None and not _compiler.stderr.closed:
        _said = _compiler.stderr.read().decode(errors="replace").strip().rpartition("\n")[2]
    return _said
