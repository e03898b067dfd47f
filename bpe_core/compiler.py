"""The process that compiles machine code if there is none at the start: `python -m bpe_core.compiler`.

It starts a child process for each part of the work, the most urgent part first, and a child process that
tests the result. So any fault of a new Numba or llvmlite, even a crash, happens in a child process. If the
test fails, Numba uses its own cache for the kernels. Each part is stored as soon as it is made, so an
interrupted compilation can continue.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from subprocess import PIPE, Popen, TimeoutExpired
from tempfile import TemporaryFile

from bpe_core.kernels import stored_code
from bpe_core.kernels.calling import load
from bpe_core.kernels.readiness import start_compiler
from bpe_core.kernels.stored_code import Pack
from bpe_core.support.limits import available_memory
from bpe_core.support.lock import Lock
from bpe_core.support.threads import available_threads

PATIENCE = 600.0  # seconds to wait for another process that compiles the same kernels
PATIENCE_ASIDE = 1.0  # seconds to wait if no other process waits for this process
SECONDS_BETWEEN_LOOKS = 0.5  # seconds between two checks whether the result is still needed
_ENDED_BY = {getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGKILL")}
AT_ONCE = 2  # parts that are compiled at once, if processors and memory suffice
ROOM = 700_000_000  # bytes that a compiling process needs
BEHIND_ALL_OTHERS = 15  # the niceness of a process that works in the background


def compile_kernels(patience: float = PATIENCE) -> bool:
    """Compile all kernels and store the machine code where every process finds it. Return whether it is stored now.

    If another process is compiling already, wait up to `patience` seconds for it. The wait starts again each time the
    other process stores a part of the machine code.

    If only Numba's own cache is in use, try again to make machine code, because Numba may have been updated.
    """
    if _is_made():
        return True
    claim = _wait_for_claim(patience)
    if claim is None:
        return False
    try:
        if not _is_made():
            stored_code.store_pack(make(stored_code.store_pack))
        return True
    finally:
        claim.release()


def _is_made() -> bool:
    pack = stored_code.pack()
    return pack is not None and pack.is_whole and not pack.fallback


def _wait_for_claim(patience: float) -> Lock | None:
    made = stored_code.stored_share()
    deadline = time.monotonic() + patience
    while (claim := stored_code.claim()) is None and stored_code.folder() is not None and time.monotonic() < deadline:
        if made != (made := stored_code.stored_share()):
            deadline = time.monotonic() + patience
        time.sleep(0.2)
    return claim


def make(keep: Callable[[Pack], None] = lambda made: None) -> Pack:
    """Compile all kernels. If this fails, let Numba use its own cache. Raise OSError if neither is possible.

    The machine code is made in parts. Parts that are already stored are not made again. After each new part, `keep` is
    called with all parts that exist so far.
    """
    there = stored_code.pack()
    try:
        return _in_parts(stored_code.MACHINE_CODE, Pack() if there is None or there.fallback else there, keep)
    except NotImplementedError as failure:
        try:
            return replace(_in_parts(stored_code.FOR_NUMBA, Pack(), lambda made: None), fallback=str(failure))
        except NotImplementedError as another:
            raise OSError(f"Nothing can be compiled: {another}") from failure


def _in_parts(way: str, made: Pack, keep: Callable[[Pack], None]) -> Pack:
    """Compile the parts of the machine code that `made` lacks, and return all parts.

    Each part is compiled in a separate process. Memory and cores limit how many processes run at once. `way` says how
    the code is stored: as machine code, or in Numba's own cache. `keep` is called with all finished parts whenever a
    part is finished.
    """
    free = available_memory()
    at_once = max(1, min(AT_ONCE, available_threads(), AT_ONCE if free is None else free // ROOM))
    with ThreadPoolExecutor(at_once) as pool:
        works = [pool.submit(_part, part, way) for part in stored_code.PARTS if part not in made.parts]
        try:
            for work in as_completed(works):
                compiled = work.result()
                made = made.joined(compiled)
                keep(made)
        finally:
            pool.shutdown(cancel_futures=True)
    return made


def _part(part: str, way: str) -> Pack:
    made = _run("part", part, way=way)
    if way == stored_code.MACHINE_CODE:
        _run("try", input=made)
    return Pack.read(made)


def _run(*arguments: str, way: str = "", input: bytes = b"") -> bytes:
    """Return the output of a compiler process.

    Raise OSError if a signal ended the process, and NotImplementedError with the reason if the process failed.
    """
    environment = {**os.environ, stored_code.COMPILES: way} if way else None
    # The input comes from a file, because `communicate` with a time limit fails on a pipe that is read slowly.
    with TemporaryFile() as given:
        given.write(input)
        given.seek(0)
        with start_compiler(*arguments, env=environment, stdin=given, stdout=PIPE, stderr=PIPE) as process:
            try:
                answer, complaints = _output_while_needed(process)
            finally:
                process.kill()
    if -process.returncode in _ENDED_BY:
        raise OSError(f"The compiler was ended by the signal {-process.returncode}.")
    if process.returncode:
        lines = complaints.decode(errors="replace").strip().splitlines()
        raise NotImplementedError(lines[-1] if lines else f"The compiler ended with the code {process.returncode}.")
    return answer


def _output_while_needed(process: Popen[bytes]) -> tuple[bytes, bytes]:
    """Return the standard output and the standard error of a process, as soon as it ends.

    Raise OSError if the result is no longer needed.
    """
    is_wanted = _need_check()
    while True:
        try:
            return process.communicate(timeout=SECONDS_BETWEEN_LOOKS)
        except TimeoutExpired:
            if not is_wanted():
                raise OSError(
                    "The folder for machine code is gone, or the program that started the compiler has ended."
                ) from None


def _need_check() -> Callable[[], bool]:
    """Return a function that says whether the machine code that this process compiles is still needed.

    If the code is stored in a folder, the function checks that the folder still exists. Otherwise it checks that the
    process that started this process still runs.
    """
    place = stored_code.folder()
    parent = os.getppid()
    return (lambda: os.getppid() == parent) if place is None else place.is_dir


def _make_part(part: str) -> Pack:
    """Compile a part of the kernels and return it as a pack.

    The environment variable BPE_EXPLORER_COMPILES may be “for Numba”. Then Numba's own cache stores the code, and the
    pack contains no code.
    """
    from bpe_core.warm_up import PARTS  # the imported modules are compiled

    PARTS[part]()
    if os.environ[stored_code.COMPILES] == stored_code.FOR_NUMBA:
        return Pack(parts=(part,))
    from bpe_core.kernels import compiling
    from bpe_core.kernels.stored_tables import written_tables

    return Pack(parts=(part,), kernels=compiling.made, tables=written_tables() if part == stored_code.ENCODING else {})


def _try(pack: Pack) -> None:
    """Load all machine code of a pack to test it. Code that cannot be loaded may crash this process."""
    for made in pack.kernels.values():
        load(made)


def _keep_all(*, aside: bool = False) -> None:
    try:
        if compile_kernels(PATIENCE_ASIDE if aside else PATIENCE) or aside:
            return
        closed = f"nothing can be written there; name another folder with {stored_code.LOCATION}"
        reason = "another process is still making the machine code" if stored_code.folder() else closed
    except OSError as error:
        reason = str(error)
    sys.exit(f"No machine code was stored in {stored_code.folder() or stored_code.base()}: {reason}")


def main(arguments: list[str]) -> int:
    match arguments:
        case []:
            _keep_all()
        case ["aside"]:
            if hasattr(os, "nice"):
                os.nice(BEHIND_ALL_OTHERS)
            _keep_all(aside=True)
        case ["hand over"]:
            sys.stdout.buffer.write(make().written())
        case ["part", part]:
            sys.stdout.buffer.write(_make_part(part).written())
        case ["try"]:
            _try(Pack.read(sys.stdin.buffer.read()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
