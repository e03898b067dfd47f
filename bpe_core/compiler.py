"""The second process that a cold start leaves the compiling to: `python -m bpe_core.compiler`.

It starts one process for each part of the work, and one that tries what they have made, so that whatever a new Numba or
llvmlite may do, up to a crash, happens there. Where it fails, kernels are left to Numba's own cache.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import reduce
from subprocess import PIPE

from bpe_core.kernels import kept
from bpe_core.kernels.calling import load
from bpe_core.kernels.kept import Pack
from bpe_core.kernels.readiness import start_compiler
from bpe_core.support.lock import Lock

PATIENCE = 600.0  # seconds to wait for another process that makes the same
_ENDED_BY = {getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGKILL")}
PARTS = 2  # that `bpe_core.warm_up` divides the work into


def compile_kernels() -> bool:
    """Leave the machine code of all kernels where every process finds it; return whether it is there now.

    Where there is but Numba's own cache, machine code is tried again: Numba may be another one by now.
    """
    if _is_made():
        return True
    claim = _wait_for_claim()
    if claim is None:
        return False
    try:
        if not _is_made():
            kept.keep(make())
        return True
    finally:
        claim.release()


def _is_made() -> bool:
    pack = kept.pack()
    return pack is not None and not pack.fallback


def _wait_for_claim() -> Lock | None:
    deadline = time.monotonic() + PATIENCE
    while (claim := kept.claim()) is None and kept.folder() is not None and time.monotonic() < deadline:
        time.sleep(0.2)
    return claim


def make() -> Pack:
    """Make all machine code, or if that fails let Numba keep its own; an OSError where neither is possible."""
    try:
        made = _in_parts(kept.MACHINE_CODE)
        _run("try", input=made.written())
        return made
    except NotImplementedError as failure:
        try:
            return replace(_in_parts(kept.FOR_NUMBA), fallback=str(failure))
        except NotImplementedError as another:
            raise OSError(f"Nothing can be compiled: {another}") from failure


def _in_parts(way: str) -> Pack:
    with ThreadPoolExecutor(PARTS) as pool:
        written = pool.map(lambda part: _run("part", str(part), way=way), range(PARTS))
        return reduce(Pack.joined, map(Pack.read, written))


def _run(*arguments: str, way: str = "", input: bytes | None = None) -> bytes:
    """What a process answers; an OSError if it was ended, a NotImplementedError that says why it failed."""
    environment = {**os.environ, kept.COMPILES: way} if way else None
    with start_compiler(*arguments, env=environment, stdin=PIPE, stdout=PIPE, stderr=PIPE) as process:
        try:
            answer, complaints = process.communicate(input)
        finally:
            process.kill()
    if -process.returncode in _ENDED_BY:
        raise OSError(f"Compiling was ended by the signal {-process.returncode}.")
    if process.returncode:
        lines = complaints.decode(errors="replace").strip().splitlines()
        raise NotImplementedError(lines[-1] if lines else f"It ended with the code {process.returncode}.")
    return answer


def _make_part(number: int) -> Pack:
    """Run a part of the work, in a process that knows by its environment that it compiles."""
    from bpe_core.warm_up import PARTS  # what it imports is compiled

    PARTS[number]()
    if os.environ[kept.COMPILES] == kept.FOR_NUMBA:
        return Pack()
    from bpe_core.kernels import compiling

    return Pack(compiling.VERSION, kernels=compiling.made)


def _try(pack: Pack) -> None:
    """Load everything: what cannot be loaded may end the process."""
    for made in pack.kernels.values():
        load(made)


def main(arguments: list[str]) -> int:
    match arguments:
        case []:
            return 0 if compile_kernels() else 1
        case ["hand over"]:
            sys.stdout.buffer.write(make().written())
        case ["part", number]:
            sys.stdout.buffer.write(_make_part(int(number)).written())
        case ["try"]:
            _try(Pack.read(sys.stdin.buffer.read()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
