"""The limits of memory. They are checked before memory is used, so that an error is raised and no process is killed.

Operating systems promise memory that they do not have, and kill a process that uses it. So code calls this module
before it makes large arrays, and long work calls it from time to time. The environment variable BPE_EXPLORER_MEMORY
sets a limit for the program in megabytes.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from bpe_core.errors import TooLarge
from bpe_core.support.progress import CancelCheck
from bpe_core.support.wording import count_text

SETTING = "BPE_EXPLORER_MEMORY"  # megabytes
RESERVE = 256 * 2**20  # bytes that are left to the window, to other programs and to the system
WORTH_ASKING = 64 * 2**20  # smaller arrays are not checked: that would take longer than making them
LOOK_SECONDS = 0.2
HARMLESS = 256 * 2**20  # bytes that any file may unpack to
MOST_TIMES = 250  # times its size; texts become some ten times smaller, a bomb a thousand times

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")
_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


class _FileNames(NamedTuple):
    """The names of files in one version of Linux's control groups."""

    limit: str
    used: str
    kept: tuple[str, str]  # lines of memory.stat: files kept in memory only for speed


_VERSION_1 = _FileNames("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file"))
_VERSION_2 = _FileNames("memory.max", "memory.current", ("inactive_file", "active_file"))


def check_room(wanted: int, work: str, advice: str) -> None:
    """Raise TooLarge if there is not enough free memory for another `wanted` bytes.

    The message begins with `work` and ends with `advice`.
    """
    if wanted < WORTH_ASKING:
        return
    available = available_memory()
    if available is not None and wanted > available - RESERVE:
        raise TooLarge(
            f"{work} needs about {size_text(wanted)} more memory, but only {size_text(max(0, available))} is free, of "
            f"which {size_text(RESERVE)} is left for other programs. {advice}"
        )


def is_bomb(unpacked: int, stored: int) -> bool:
    """Return whether a file of `stored` bytes unpacks to far more bytes than a file of texts would."""
    return unpacked > HARMLESS and unpacked > MOST_TIMES * max(stored, 1)


def refuse_bomb(held: int, stored: int) -> None:
    """Raise TooLarge if a file of `stored` bytes cannot contain `held` bytes of text.

    If `stored` is 0, the size of the file is unknown, and nothing is raised.
    """
    if stored and is_bomb(held, stored):
        raise TooLarge(
            f"Only {count_text(stored, 'byte')} of this file unpack to more than {size_text(HARMLESS)} of text. Such "
            "files are often made to fill the memory. If you trust this file, decompress it first."
        )


def watching_memory(cancelled: CancelCheck, work: str, advice: str) -> CancelCheck:
    """Return a function that returns whether the work is cancelled, and also checks the memory.

    The returned function raises TooLarge if memory runs out. The message begins with `work` and ends with `advice`.
    """
    looked = time.monotonic()

    def check() -> bool:
        nonlocal looked
        if time.monotonic() - looked >= LOOK_SECONDS:
            looked = time.monotonic()
            available = available_memory()
            if available is not None and available < RESERVE:
                raise TooLarge(f"{work} was stopped: only {size_text(max(0, available))} of memory is free. {advice}")
        return cancelled()

    return check


def available_memory() -> int | None:
    """Return how many more bytes this process may use without harm to other programs, or None if this is unknown."""
    limits = [
        value for value in (_free_in_system(), _left_by_control_groups(), _left_by_setting()) if value is not None
    ]
    return min(limits) if limits else None


def size_text(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def used_memory() -> int | None:
    """Return how many bytes this process uses, without mapped files. Return None if this is unknown."""
    try:
        _, resident, shared = (PROC / "self/statm").read_text(encoding="ascii").split()[:3]
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def _left_by_setting() -> int | None:
    """Return how many more bytes this process may use, if an environment variable limits its memory.

    `SETTING` is the name of the variable. Return None if the variable sets no limit, or if the used memory is unknown.
    """
    chosen = os.environ.get(SETTING, "").strip()
    used = used_memory()
    return int(chosen) * 2**20 - used if chosen.isdecimal() and used is not None else None


def _left_by_control_groups() -> int | None:
    """Return how many more bytes the control groups of this process allow.

    A control group limits the memory of a container, for example. If several groups have limits, the smallest
    number is returned. Return None if there is no limit.
    """
    try:
        lines = (PROC / "self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    rooms = [_of_group(folder, names) for line in lines for folder, names in _groups(line)]
    return min((room for room in rooms if room is not None), default=None)


def _groups(line: str) -> Iterator[tuple[Path, _FileNames]]:
    """Yield the folder of a control group, and then the folders of all groups that contain it.

    `line` names the group. It is a line of `/proc/self/cgroup`. In a container, some of these folders may not exist.
    """
    _, controllers, path = line.split(":", 2)
    if controllers and "memory" not in controllers.split(","):
        return
    top, names = (CGROUP / "memory", _VERSION_1) if controllers else (CGROUP, _VERSION_2)
    for inner in (PurePosixPath(path), *PurePosixPath(path).parents):
        yield top / inner.relative_to("/"), names


def _of_group(folder: Path, names: _FileNames) -> int | None:
    try:
        limit = (folder / names.limit).read_text(encoding="ascii").strip()
        used = int((folder / names.used).read_text(encoding="ascii"))
        facts = (folder / "memory.stat").read_text(encoding="ascii")
    except (OSError, ValueError):
        return None
    kept = sum(_number_after(f"{name} ", facts) or 0 for name in names.kept)
    return int(limit) - used + kept if limit.isdecimal() else None  # "max" means no limit


def _number_after(name: str, text: str) -> int | None:
    line = next((line for line in text.splitlines() if line.startswith(name)), "")
    digits = line.removeprefix(name).split()
    return int(digits[0]) if digits and digits[0].isdecimal() else None


if sys.platform == "win32":
    import ctypes

    class _MemoryStatus(ctypes.Structure):
        _fields_ = [
            ("length", ctypes.c_uint32),
            ("load", ctypes.c_uint32),
            ("total", ctypes.c_uint64),
            ("free", ctypes.c_uint64),
            ("others", ctypes.c_uint64 * 5),
        ]

    def _free_in_system() -> int | None:
        status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
        is_known = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status.free) if is_known else None

elif sys.platform == "darwin":
    import ctypes

    def _free_in_system() -> int | None:
        """Return how many bytes of memory the system reports as free, or None if it does not report this number."""
        share = _control("kern.memorystatus_level", ctypes.c_uint32)
        total = _control("hw.memsize", ctypes.c_uint64)
        return None if share is None or total is None else total * share // 100

    def _control(name: str, kind: type[ctypes.c_uint32] | type[ctypes.c_uint64]) -> int | None:
        value = kind()
        size = ctypes.c_size_t(ctypes.sizeof(kind))
        failed = ctypes.CDLL(None).sysctlbyname(name.encode(), ctypes.byref(value), ctypes.byref(size), None, 0)
        return None if failed else int(value.value)

else:

    def _free_in_system() -> int | None:
        try:
            kilobytes = _number_after("MemAvailable:", (PROC / "meminfo").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None
        return None if kilobytes is None else kilobytes * 1024


def size_in(value: str) -> int | None:
    """Return the number of bytes in a text such as "2 GB". Return None if the text is not a size."""
    size = re.fullmatch(r"(\d{1,15})\s*(B|kB|MB|GB|TB)?", value.strip(), re.IGNORECASE)
    return None if size is None else int(size[1]) * _UNITS[(size[2] or "B").lower()]
