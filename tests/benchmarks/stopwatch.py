"""A stopwatch that measures wall time, processor time and peak memory.

The processor time includes child processes.
"""

from __future__ import annotations

import contextlib
import resource
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Stopwatch:
    wall: float = 0.0
    cpu: float = 0.0
    peak: int = 0

    def __enter__(self) -> Stopwatch:
        forget_peak()
        self.cpu = -_processor_seconds()
        self.wall = -time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.cpu += _processor_seconds()
        self.peak = peak_memory()


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def forget_peak() -> None:
    """Reset the peak of memory use, so that earlier work does not count. Only Linux can do this."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_memory() -> int:
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
