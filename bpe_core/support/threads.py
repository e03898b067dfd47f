"""The same for several parts of something, each in a thread of its own: for what lets other threads run meanwhile.

>>> at_once(sum, [(1, 2), (3, 4)])
[3, 7]
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

WORTH_THREADS = 1 << 22  # bytes of text to encode: some 20 ms

Part = TypeVar("Part")
Result = TypeVar("Result")


def available_threads() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def at_once(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """What became of each; a single one is done in this thread."""
    if len(parts) < 2:
        return list(map(work, parts))
    from concurrent.futures import ThreadPoolExecutor  # takes a while to load, and few texts are so large

    with ThreadPoolExecutor(len(parts)) as pool:
        return list(pool.map(work, parts))
