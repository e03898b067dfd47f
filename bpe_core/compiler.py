"""The second process that a cold start leaves the compiling to: `python -m bpe_core.compiler`."""

from __future__ import annotations

import sys
import time

from bpe_core.kernels import kept
from bpe_core.lock import Lock

PATIENCE = 600.0  # seconds to wait for another process that makes the same


def compile_kernels() -> bool:
    """Leave the machine code of all kernels where every process finds it; whether it is there now."""
    claim = _wait_for_claim()
    if claim is None:
        return False
    try:
        if not kept.is_sound():
            with kept.made_anew():
                from bpe_core.warm_up import warm_up  # what it imports is compiled as it is told by now

                warm_up()
        return kept.is_sound()
    finally:
        claim.release()


def _wait_for_claim() -> Lock | None:
    deadline = time.monotonic() + PATIENCE
    while (claim := kept.claim()) is None and kept.folder() is not None and time.monotonic() < deadline:
        time.sleep(0.2)
    return claim


if __name__ == "__main__":
    sys.exit(0 if compile_kernels() else 1)
