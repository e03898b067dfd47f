"""The file that keeps machine code from one start of the program to the next.

Stored code is trusted like the program's own code. So the file lies beside the program, where an installation puts it
(`building.py`), or in a folder that only the current user can change. The file begins with a checksum. Each process
reads the file once and keeps it in memory, so damaged code is never used. This module imports neither Numba nor
llvmlite's compiler.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from bpe_core.support.lock import Lock
from bpe_core.support.private_folder import home, private_folder

LOCATION = "BPE_EXPLORER_CACHE"
DAYS_KEPT = 30  # days for which code is kept after its last use
ROOM = 4_000_000  # bytes on the disk: several times the size of the code

_KERNEL_FOLDER = Path(__file__).parent
_INSTALLED = "made"  # inside it, the code from the installation
# The sources that decide which kernels and tables are made, and the numbers they are compiled with.
_OTHER_SOURCES = (
    "warm_up.py",
    "text/older_unicode.py",
    *(f"text/scanner/{name}.py" for name in ("__init__", "automaton", "expression", "kinds", "machine")),
)
_FILE, _LOCK = "code", "lock"
_FOLDER_NAMES = "kernels-[0-9a-f]{16}"
_CHECKSUM_BYTES = 32

# The parts of the work in the order in which they are needed, each with its share of the time. Each part is stored when
# it is complete. A part may use the code of the parts before it.
COUNTING, LEARNING, ENCODING = "counting", "learning", "encoding"
SCORING, DROPPING, WEIGHING, OPENING = "scoring", "dropping", "weighing", "opening"
MEASURING, COMPRESSING, PRICING = "measuring", "compressing", "pricing"
EVERY_PART = ""
PARTS = {
    COUNTING: 0.07,
    LEARNING: 0.12,
    ENCODING: 0.24,
    SCORING: 0.13,
    DROPPING: 0.07,
    WEIGHING: 0.07,
    OPENING: 0.14,
    MEASURING: 0.08,
    COMPRESSING: 0.05,
    PRICING: 0.03,
}


class StoredKernel(NamedTuple):
    symbol: str  # its name inside the object file
    answer: str  # a letter for each number of the result (see `calling.py`)
    code: bytes  # the object file
    key: str = ""  # the key of its source (see `dependencies.py`)


@dataclass(frozen=True)
class Pack:
    """The stored machine code, listed under the name of the kernel and the types of its arguments."""

    fallback: str = ""  # the reason why Numba's own cache is used instead; empty if it is not used
    parts: tuple[str, ...] = ()  # the parts that are made
    kernels: Mapping[tuple[str, str], StoredKernel] = field(default_factory=dict)
    tables: Mapping[str, bytes] = field(default_factory=dict)  # the scanner's tables (see `stored_tables.py`)

    def joined(self, other: Pack) -> Pack:
        kernels = {**self.kernels, **other.kernels}
        return replace(self, parts=self.parts + other.parts, kernels=kernels, tables={**self.tables, **other.tables})

    @cached_property
    def is_whole(self) -> bool:
        return bool(self.fallback) or {*self.parts} >= PARTS.keys()

    def written(self) -> bytes:
        """Return the pack as bytes: a checksum, a line that describes the content, all machine code, and all tables."""
        made = sorted(self.kernels.items())
        rows = [(*name, code.key, code.symbol, code.answer, len(code.code)) for name, code in made]
        tables = sorted(self.tables.items())
        lengths = [(key, len(table)) for key, table in tables]
        head = json.dumps((self.fallback, self.parts, rows, lengths)).encode()
        content = b"".join([head, b"\n", *(code.code for _, code in made), *(table for _, table in tables)])
        return _checksum(content) + content

    @classmethod
    def read(cls, content: bytes) -> Pack:
        """Return the pack in these bytes. Raise ValueError if the bytes are damaged.

        >>> content = Pack(kernels={("scan", "i8"): StoredKernel("f", "", b"1, 2")}).written()
        >>> Pack.read(content).kernels["scan", "i8"].code
        b'1, 2'
        >>> Pack.read(content[:-1])
        Traceback (most recent call last):
        ...
        ValueError: The machine code is damaged.
        """
        checksum, content = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
        if _checksum(content) != checksum:
            raise ValueError("The machine code is damaged.")
        header, _, code = content.partition(b"\n")
        fallback, parts, rows, *more = json.loads(header)  # packs of former versions have no tables
        kernels, tables, start = {}, {}, 0
        for name, kinds, key, symbol, answer, length in rows:
            kernels[name, kinds] = StoredKernel(symbol, answer, code[start : (start := start + length)], key)
        for key, length in more[0] if more else ():
            tables[key] = code[start : (start := start + length)]
        return cls(fallback, tuple(parts), kernels, tables)


def _checksum(content: bytes) -> bytes:
    import hashlib  # loading takes time, and small commands never need it

    return hashlib.sha256(content).digest()


# An environment variable of a process that compiles. It says whether the code is for our file or for Numba's own
# cache. It must be set before the process starts, because the decorators depend on it (see `jit.py`).
COMPILES = "BPE_EXPLORER_COMPILES"
MACHINE_CODE, FOR_NUMBA = "machine code", "for Numba"

loaded: Pack | None = None  # the packs that this process has read, received or made
_looked_at: object = None  # the state of the file at the last reading, until the file is complete


def is_making() -> bool:
    return COMPILES in os.environ


# Where it is kept


@cache
def folder() -> Path | None:
    """Return the folder in which machine code of this version is stored.

    This is the folder of the installation, or else a folder of the current user. Return None if no folder is safe.
    """
    name = f"kernels-{_fingerprint()}"
    installed = _KERNEL_FOLDER / _INSTALLED / name
    if not os.environ.get(LOCATION) and _read(installed) is not None:
        return installed
    place = base()
    try:
        return None if place is None else private_folder(place / name)
    except OSError:
        return None


def to_install() -> tuple[Path, str] | None:
    """Return the file of the machine code and its path in an installed package.

    Return None if there is no valid file.
    """
    place = folder()
    if place is None or pack() is None:
        return None
    package = _KERNEL_FOLDER.parent.name
    return place / _FILE, f"{package}/{_KERNEL_FOLDER.name}/{_INSTALLED}/{place.name}/{_FILE}"


def base() -> Path | None:
    chosen = os.environ.get(LOCATION)
    if chosen:
        return Path(chosen)
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    named = Path(os.environ.get(variable, ""))
    if named.is_absolute():
        return named / "bpe-explorer"
    own = home()
    if own is None:
        return None
    caches = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    return own / caches / "bpe-explorer"


def _fingerprint() -> str:
    """Return a hash that changes whenever stored machine code might be outdated.

    The hash is computed from the sources, the version of llvmlite, and the name of the processor. All versions of
    Python use the same code, because kernels call nothing in Python.
    """
    import hashlib

    digest, engine = hashlib.sha256(), _KERNEL_FOLDER.parent
    sources = (*sorted(_KERNEL_FOLDER.glob("*.py")), *(engine / name for name in _OTHER_SOURCES))
    jobs_of_methods = sorted((engine / "methods").glob("*/warm_up.py"))
    for source in (*sources, *jobs_of_methods):
        digest.update(f"{source.relative_to(engine).as_posix()}|".encode())
        digest.update(source.read_bytes())
    digest.update(f"{_llvmlite()}|{processor()}".encode())
    return digest.hexdigest()[:16]


def _llvmlite() -> str:
    """Return the version of the library that loads machine code. Return an empty string if the library is missing.

    Each release of the library belongs to one release of Numba.
    """
    try:
        import llvmlite  # without its compiler, which takes a hundred times as long to load
    except ImportError:
        return ""
    version: str = llvmlite.__version__
    return version


def processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return "".join(line for line in file if line.startswith(("model name", "flags")))[:4096]
    except OSError:
        import platform

        return platform.processor()


# Reading


def pack() -> Pack | None:
    """Return the stored machine code. Return None if the file is missing or damaged.

    While another process compiles, a later call may return more code.
    """
    global loaded, _looked_at
    if (loaded is None or not loaded.is_whole) and (place := folder()) is not None:
        seen = _state(place / _FILE)
        stored = None if seen == _looked_at else _read(place)
        _looked_at = seen
        # A process that has loaded machine code cannot go on with Numba's own cache.
        if stored is not None and (loaded is None or not stored.fallback):
            loaded = stored
            with suppress(OSError):
                os.utime(place)
    return loaded


def _state(file: Path) -> tuple[int, int] | None:
    try:
        status = file.stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def is_stored(part: str = "") -> bool:
    """Return whether the machine code of a part of the kernels is stored, with the code of all parts before this part.

    If no part is given, return whether the machine code of all kernels is stored.
    """
    stored = pack()
    if stored is None or stored.is_whole:
        return stored is not None
    order = [*PARTS]
    return bool(part) and {*stored.parts}.issuperset(order[: order.index(part) + 1])


def stored_share() -> float:
    """Return the share of all machine code that is already stored, from 0 to 1."""
    stored = pack()
    if is_stored():
        return 1.0
    return 0.0 if stored is None else sum(PARTS.get(part, 0.0) for part in stored.parts)


def _read(place: Path) -> Pack | None:
    """Return the code stored in a folder. Return None if it is missing or damaged."""
    try:
        return Pack.read((place / _FILE).read_bytes())
    except (OSError, ValueError, TypeError):
        return None


def code_of_other_versions() -> dict[str, StoredKernel]:
    """Return the machine code in the folders of other versions. A kernel that did not change can use this code again.

    The code is listed under the keys that `dependencies.py` makes.
    """
    code_of_key = dict[str, StoredKernel]()
    for place in _folders(base()):
        with suppress(OSError):
            pack = _read(private_folder(place))
            code_of_key |= {} if pack is None else {code.key: code for code in pack.kernels.values()}
    return code_of_key


def use_code(content: bytes) -> None:
    """Use, in this process, machine code that the compiler process could not store in a file.

    Raise ValueError if the code is damaged.
    """
    global loaded
    loaded = Pack.read(content)


# Keeping


def can_be_made() -> bool:
    """Return whether machine code can be stored: its folder is writable, and the disk has enough free space."""
    import shutil  # loading takes time, and small commands never need it

    place = folder()
    return place is not None and os.access(place, os.W_OK) and shutil.disk_usage(place).free >= ROOM


def claim() -> Lock | None:
    """Take the lock that a process needs to compile machine code, and return it.

    Return None if another process has the lock. Raise OSError if nothing can be written.
    """
    place = folder()
    return None if place is None else Lock.acquire(place / _LOCK)


def is_being_made() -> bool:
    """Return whether another process is making machine code. Such a process has locked the compiler."""
    place = folder()
    if place is None or not (place / _LOCK).exists():
        return False
    try:
        claimed = Lock.of_existing(place / _LOCK)
    except OSError:
        return False
    if claimed is None:
        return (place / _LOCK).exists()
    claimed.release()
    return False


def store_pack(made: Pack) -> None:
    """Store this machine code in place of the stored code. Only the process that holds the lock may call this."""
    place = folder()
    assert place is not None
    global loaded
    loaded = made
    part = place / f"{_FILE}.part"
    part.write_bytes(made.written())
    os.replace(part, place / _FILE)
    remove_outdated(place)


def remove_outdated(today: Path) -> None:
    """Remove the folders of other versions that were not used for a month. Two versions may exist side by side."""
    import shutil

    for other in _folders(today.parent):
        if other == today:
            continue
        with suppress(OSError):
            status = other.lstat()
            is_ours = stat.S_ISDIR(status.st_mode) and (os.name != "posix" or status.st_uid == os.geteuid())
            if is_ours and time.time() - status.st_mtime > DAYS_KEPT * 86_400:
                shutil.rmtree(other)  # follows no link inside


def _folders(place: Path | None) -> list[Path]:
    """Return the folders of all versions in the folder `place`."""
    if place is None:
        return []
    try:
        return [path for path in sorted(place.iterdir()) if re.fullmatch(_FOLDER_NAMES, path.name)]
    except OSError:
        return []
