"""Machine code kept from one start to the next: one file that holds all of it, and whether it is as it was made.

It is trusted like our own code, so the file lies beside that, where installing puts it (`building.py`), or in a folder
that belongs to the person alone. It begins with a checksum of the rest, is read once by each process, and stays in
memory, so nothing that is damaged is ever used. This module imports neither Numba nor llvmlite's compiler.
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
from functools import cache
from pathlib import Path
from typing import NamedTuple

from bpe_core.support.lock import Lock
from bpe_core.support.private_folder import home, private_folder

LOCATION = "BPE_EXPLORER_CACHE"
DAYS_KEPT = 30  # since it was last used
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

# The parts of the work in the order of need, each with its share of the time. They are kept one by one; a part may use
# what those before it have.
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


class KeptKernel(NamedTuple):
    symbol: str  # its name inside the object file
    answer: str  # a letter for each number of the answer (see `calling.py`)
    code: bytes  # the object file
    key: str = ""  # the key of its source (see `dependencies.py`)


@dataclass(frozen=True)
class Pack:
    """The machine code that is kept, by the name of the kernel and the kinds of its arguments."""

    fallback: str = ""  # why Numba's own cache is used instead of machine code kept here; empty if it is not
    parts: tuple[str, ...] = ()  # the parts that are made
    kernels: Mapping[tuple[str, str], KeptKernel] = field(default_factory=dict)
    tables: Mapping[str, bytes] = field(default_factory=dict)  # what the scanner reads (see `kept_tables.py`)

    def joined(self, other: Pack) -> Pack:
        kernels = {**self.kernels, **other.kernels}
        return replace(self, parts=self.parts + other.parts, kernels=kernels, tables={**self.tables, **other.tables})

    @property
    def is_whole(self) -> bool:
        return bool(self.fallback) or {*self.parts} >= PARTS.keys()

    def written(self) -> bytes:
        """Return a checksum, a line that describes the rest, all machine code, and all tables."""
        made = sorted(self.kernels.items())
        rows = [(*name, code.key, code.symbol, code.answer, len(code.code)) for name, code in made]
        tables = sorted(self.tables.items())
        lengths = [(key, len(table)) for key, table in tables]
        head = json.dumps((self.fallback, self.parts, rows, lengths)).encode()
        content = b"".join([head, b"\n", *(code.code for _, code in made), *(table for _, table in tables)])
        return _checksum(content) + content

    @classmethod
    def read(cls, content: bytes) -> Pack:
        """Return the pack, or raise a ValueError where the content is not what was written.

        >>> content = Pack(kernels={("scan", "i8"): KeptKernel("f", "", b"1, 2")}).written()
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
        fallback, parts, rows, *more = json.loads(header)  # former versions kept no tables
        kernels, tables, start = {}, {}, 0
        for name, kinds, key, symbol, answer, length in rows:
            kernels[name, kinds] = KeptKernel(symbol, answer, code[start : (start := start + length)], key)
        for key, length in more[0] if more else ():
            tables[key] = code[start : (start := start + length)]
        return cls(fallback, tuple(parts), kernels, tables)


def _checksum(content: bytes) -> bytes:
    import hashlib  # takes a while to load, and small commands never need it

    return hashlib.sha256(content).digest()


# In the environment of a process that compiles: whether for ourselves or for Numba's own cache. Set before it starts,
# as decorators go by it (see `jit.py`).
COMPILES = "BPE_EXPLORER_COMPILES"
MACHINE_CODE, FOR_NUMBA = "machine code", "for Numba"

_pack: Pack | None = None  # the packs that this process has read, received or made
_looked_at: object = None  # the file as it was when it was last read, until it is whole


def is_making() -> bool:
    return COMPILES in os.environ


# Where it is kept


@cache
def folder() -> Path | None:
    """Return the folder for this version of the kernels: the installed one, else the person's own, else None."""
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
    """Return the file of the machine code, if it is valid, and its place in an installed package."""
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
    """Return a fingerprint that changes whenever kept code could be outdated.

    It covers sources, Python, llvmlite and the processor.
    """
    import hashlib

    digest, engine = hashlib.sha256(), _KERNEL_FOLDER.parent
    sources = (*sorted(_KERNEL_FOLDER.glob("*.py")), *(engine / name for name in _OTHER_SOURCES))
    jobs_of_methods = sorted((engine / "methods").glob("*/warm_up.py"))
    for source in (*sources, *jobs_of_methods):
        digest.update(f"{source.relative_to(engine).as_posix()}|".encode())
        digest.update(source.read_bytes())
    digest.update(f"{sys.implementation.cache_tag}|{_llvmlite()}|{processor()}".encode())
    return digest.hexdigest()[:16]


def _llvmlite() -> str:
    """Return the version of the library that loads machine code; empty if it is missing.

    It belongs to one release of Numba.
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
    """Return the code kept so far; None if it is missing or damaged. It grows while another process makes more."""
    global _pack, _looked_at
    if (_pack is None or not _pack.is_whole) and (place := folder()) is not None:
        seen = _state(place / _FILE)
        found = None if seen == _looked_at else _read(place)
        _looked_at = seen
        # A process that has loaded machine code cannot go on with Numba's own cache.
        if found is not None and (_pack is None or not found.fallback):
            _pack = found
            with suppress(OSError):
                os.utime(place)
    return _pack


def _state(file: Path) -> tuple[int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def has(part: str = "") -> bool:
    """Return whether this part and those before it are there; without a part, whether everything is."""
    found = _pack if _pack is not None and _pack.is_whole else pack()
    if found is None or found.is_whole:
        return found is not None
    order = [*PARTS]
    return bool(part) and {*found.parts}.issuperset(order[: order.index(part) + 1])


def share() -> float:
    """Return how much of the work is done, from 0 to 1."""
    found = pack()
    if has():
        return 1.0
    return 0.0 if found is None else sum(PARTS.get(part, 0.0) for part in found.parts)


def _read(place: Path) -> Pack | None:
    """Return the code kept in a folder; None if it is damaged."""
    try:
        return Pack.read((place / _FILE).read_bytes())
    except (OSError, ValueError, TypeError):
        return None


def made_before() -> dict[str, KeptKernel]:
    """Return machine code of other versions of the kernels that were used recently, by its key."""
    found = dict[str, KeptKernel]()
    for place in _folders(base()):
        with suppress(OSError):
            pack = _read(private_folder(place))
            found |= {} if pack is None else {code.key: code for code in pack.kernels.values()}
    return found


def take(content: bytes) -> None:
    """Use code that another process made and could not keep; raise a ValueError if it is damaged."""
    global _pack
    _pack = Pack.read(content)


# Keeping


def can_be_made() -> bool:
    """Return whether there is a writable folder to keep the code in, on a disk with room."""
    import shutil  # takes a while to load, and small commands never need it

    place = folder()
    return place is not None and os.access(place, os.W_OK) and shutil.disk_usage(place).free >= ROOM


def claim() -> Lock | None:
    """Claim the right to make the code, which one process has at a time; raise an OSError if nothing can be written."""
    place = folder()
    return None if place is None else Lock.acquire(place / _LOCK)


def is_being_made() -> bool:
    """Return whether another process has claimed it."""
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


def keep(made: Pack) -> None:
    """Put the code in place of the former one, as a whole; only for the process with the claim."""
    place = folder()
    assert place is not None
    global _pack
    _pack = made
    part = place / f"{_FILE}.part"
    part.write_bytes(made.written())
    os.replace(part, place / _FILE)
    remove_outdated(place)


def remove_outdated(today: Path) -> None:
    """Remove the folders of other versions that were not used for a month; two versions may exist side by side."""
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
    """Return the folders of all versions."""
    if place is None:
        return []
    try:
        return [path for path in sorted(place.iterdir()) if re.fullmatch(_FOLDER_NAMES, path.name)]
    except OSError:
        return []
