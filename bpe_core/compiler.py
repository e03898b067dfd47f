"""The second process that a cold start leaves the compiling to: `python -m bpe_core.compiler`.

It makes the parts of the work side by side, each in a process of its own.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bpe_core.kernels import kept, readiness
from bpe_core.lock import Lock

PATIENCE = 600.0  # seconds to wait for another process that makes the same


def compile_kernels() -> bool:
    """Leave the machine code of all kernels where every process finds it; whether it is there now."""
    if kept.is_sound():
        return True
    claim = _wait_for_claim()
    if claim is None:
        return False
    try:
        if not kept.is_sound():
            with kept.made_anew() as place:
                _make_all_parts(place)
        return kept.is_sound()
    finally:
        claim.release()


def _wait_for_claim() -> Lock | None:
    deadline = time.monotonic() + PATIENCE
    while (claim := kept.claim()) is None and kept.folder() is not None and time.monotonic() < deadline:
        time.sleep(0.2)
    return claim


def _make_all_parts(place: Path) -> None:
    """The first part in this process, and what another process could not make."""
    from bpe_core.kernels.objects import take_over
    from bpe_core.warm_up import PARTS  # what it imports is compiled as it is told by now

    first, *others = PARTS
    folders = [place / f"part-{number}" for number, _ in enumerate(others, 1)]
    processes = [readiness.start_compiler(str(number), str(folder)) for number, folder in enumerate(folders, 1)]
    try:
        first()
        for part, folder, process in zip(others, folders, processes, strict=True):
            if process.wait() == 0:
                take_over(folder)
            else:
                part()
    finally:
        for process in processes:
            process.kill()
            process.wait()


def _make_part(number: int, folder: Path) -> None:
    from bpe_core.warm_up import PARTS

    with kept.made_into(folder):
        PARTS[number]()


def main(arguments: list[str]) -> int:
    if arguments:
        _make_part(int(arguments[0]), Path(arguments[1]))
        return 0
    return 0 if compile_kernels() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
