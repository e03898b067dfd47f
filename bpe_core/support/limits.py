"""The limits of memory, checked before it is needed: an error in place of a process that is killed.

Systems promise memory they do not have, and kill a process that uses it. So large arrays are requested here first, and
long work checks from time to time. The environment variable BPE_EXPLORER_MEMORY limits the program to that many
megabytes.
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

SETTING = "BPE_EXPLORER_MEMORY"  # megabytes
RESERVE = 256 * 2**20  # bytes that are left to the window, to other programs and to the system
WORTH_ASKING = 64 * 2**20  # smaller arrays are not checked: that would take longer than making them
LOOK_SECONDS = 0.2
HARMLESS = 256 * 2**20  # bytes that any file may unpack to
MOST_TIMES = 250  # times its size; texts become some ten times smaller, a bomb a thousand times

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")
_UNITS = {"b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12}


class _Names(NamedTuple):
    """The names of files that one version of Linux's control groups uses."""

    limit: str
    used: str
    kept: tuple[str, str]  # lines of memory.stat: files kept in memory only for speed


_VERSION_1 = _Names("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file"))
_VERSION_2 = _Names("memory.max", "memory.current", ("inactive_file", "active_file"))


def check_room(wanted: int, work: str, advice: str) -> None:
    """Raise TooLarge unless that many more bytes can be used; `work` begins the sentence, `advice` ends it."""
    if wanted < WORTH_ASKING:
        return
    available = available_memory()
    if available is not None and wanted > available - RESERVE:
        raise TooLarge(
            f"{work} needs about {size_text(wanted)} more memory, but only {size_text(max(0, available))} is free, of "
            f"which {size_text(RESERVE)} is left for other programs. {advice}"
        )


def is_bomb(unpacked: int, stored: int) -> bool:
    """Return whether the unpacked size of a file is far larger than that of texts can be."""
    return unpacked > HARMLESS and unpacked > MOST_TIMES * max(stored, 1)


def refuse_bomb(held: int, stored: int) -> None:
    """Raise TooLarge if far more text has to be held at once than the bytes read can give, if these are known."""
    if stored and is_bomb(held, stored):
        raise TooLarge(
            f"A text of more than {size_text(HARMLESS)} had to be held at once, but only {stored:,} bytes of its file "
            "were read. Such files are often made to fill the memory; if you trust this file, decompress it first."
        )


def watching_memory(cancelled: CancelCheck, work: str, advice: str) -> CancelCheck:
    """Return a check for cancellation that also raises TooLarge when memory runs out."""
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
    """Return how many bytes can be used without harm to others; None if the system does not say."""
    found = [value for value in (_of_system(), _of_cgroup(), _of_setting()) if value is not None]
    return min(found) if found else None


def size_text(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def used_memory() -> int | None:
    """Return how many bytes this process holds, without mapped files; None if the system does not say."""
    try:
        _, resident, shared = (PROC / "self/statm").read_text(encoding="ascii").split()[:3]
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def _of_setting() -> int | None:
    """Return what the person's own limit leaves; None if there is none, or the system does not say what is used."""
    chosen = os.environ.get(SETTING, "").strip()
    used = used_memory()
    return int(chosen) * 2**20 - used if chosen.isdecimal() and used is not None else None


def _of_cgroup() -> int | None:
    """Return what a container, or another control group, may still use: the least of all groups of this process."""
    try:
        lines = (PROC / "self/cgroup").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    found = [_of_group(folder, names) for line in lines for folder, names in _groups(line)]
    return min((room for room in found if room is not None), default=None)


def _groups(line: str) -> Iterator[tuple[Path, _Names]]:
    """Yield the folders of a group and of those around it; in a container perhaps only the last exists."""
    _, controllers, path = line.split(":", 2)
    if controllers and "memory" not in controllers.split(","):
        return
    top, names = (CGROUP / "memory", _VERSION_1) if controllers else (CGROUP, _VERSION_2)
    for inner in (PurePosixPath(path), *PurePosixPath(path).parents):
        yield top / inner.relative_to("/"), names


def _of_group(folder: Path, names: _Names) -> int | None:
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

    def _of_system() -> int | None:
        status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
        is_known = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))
        return int(status.free) if is_known else None

elif sys.platform == "darwin":
    import ctypes

    def _of_system() -> int | None:
        """Return a share of the memory that the system itself calls free."""
        share = _control("kern.memorystatus_level", ctypes.c_uint32)
        total = _control("hw.memsize", ctypes.c_uint64)
        return None if share is None or total is None else total * share // 100

    def _control(name: str, kind: type[ctypes.c_uint32] | type[ctypes.c_uint64]) -> int | None:
        value = kind()
        size = ctypes.c_size_t(ctypes.sizeof(kind))
        failed = ctypes.CDLL(None).sysctlbyname(name.encode(), ctypes.byref(value), ctypes.byref(size), None, 0)
        return None if failed else int(value.value)

else:

    def _of_system() -> int | None:
        try:
            kilobytes = _number_after("MemAvailable:", (PROC / "meminfo").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None
        return None if kilobytes is None else kilobytes * 1024


def size_in(value: str) -> int | None:
    """Read a number of bytes as a person writes it, such as 2 GB; None if it is none."""
    size = re.fullmatch(r"(\d{1,15})\s*(B|kB|MB|GB|TB)?", value.strip(), re.IGNORECASE)
    return None if size is None else int(size[1]) * _UNITS[(size[2] or "B").lower()]
