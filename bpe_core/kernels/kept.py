"""Where machine code is kept from one start to the next, and whether it is still as it was made.

It is trusted like our own code, so it lies beside that, where installing puts it (`building.py`), or in a folder that
belongs to the person alone. A power cut may leave files cut off or empty; so it is made in a folder beside, sealed
with a list of what is in it, and looked through before any of it is loaded. This module does not import Numba.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from bpe_core.kernels.outdated import note_use, remove_outdated
from bpe_core.lock import Lock
from bpe_core.private_folder import home, private_folder

_KERNEL_FOLDER = Path(__file__).parent
_INSTALLED = "made"  # in it, what installing has made
# What tells which kernels are made, whose numbers they are compiled with, and what the tables beside them come from.
_OTHER_SOURCES = (
    "warm_up.py",
    "segmenting/merging.py",
    "text/patterns.py",
    "text/older_unicode.py",
    "text/scanner/*.py",
)
_CODE = "code"
_SEAL = "seal"  # the list of all other files
LOCATION = "BPE_EXPLORER_CACHE"

_making: Path | None = None  # where this very process makes machine code
_sound = False  # once true it stays so, for nobody changes what is kept


@cache
def folder() -> Path | None:
    """The folder for this very version of the kernels: ours where they were installed, else the person's own.

    None where there can be none.
    """
    name = f"kernels-{_fingerprint()}"
    installed = _KERNEL_FOLDER / _INSTALLED / name
    if not os.environ.get(LOCATION) and _is_as_made(installed / _CODE):
        return installed
    place = base()
    try:
        return None if place is None else private_folder(place / name)
    except OSError:
        return None


def to_install() -> tuple[Path, str] | None:
    """The folder of the machine code, if it is sound, and where an installed package has it."""
    place = folder()
    if place is None or not is_sound():
        return None
    return place / _CODE, f"{_KERNEL_FOLDER.parent.name}/{_KERNEL_FOLDER.name}/{_INSTALLED}/{place.name}/{_CODE}"


def base() -> Path | None:
    """Where the program may keep what it could make again."""
    chosen = os.environ.get(LOCATION)
    if chosen:
        return Path(chosen)
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME"
    told = Path(os.environ.get(variable, ""))
    if told.is_absolute():
        return told / "bpe-explorer"
    own = home()
    if own is None:
        return None
    caches = {"win32": "AppData/Local", "darwin": "Library/Caches"}.get(sys.platform, ".cache")
    return own / caches / "bpe-explorer"


def _fingerprint() -> str:
    """Changes whenever what is kept could be stale: what it was made of, Python, whose objects it reads, the processor.

    Not the packages it was made with: they have no part in it any more.
    """
    import hashlib  # takes a while to load, and whoever has little to do never asks

    digest = hashlib.sha256()
    engine = _KERNEL_FOLDER.parent
    others = (source for name in _OTHER_SOURCES for source in sorted(engine.glob(name)))
    for source in (*sorted(_KERNEL_FOLDER.glob("*.py")), *others):
        digest.update(f"{source.relative_to(engine).as_posix()}|".encode())
        digest.update(source.read_bytes())
    digest.update(f"{sys.version}|{_processor()}".encode())
    return digest.hexdigest()[:16]


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return "".join(line for line in file if line.startswith(("model name", "flags")))[:4096]
    except OSError:
        import platform

        return platform.processor()


# Reading


def is_sound() -> bool:
    """Whether all machine code is there, and as it was made."""
    global _sound
    place = folder()
    if place is not None and not _sound:
        _sound = _is_as_made(place / _CODE)
        if _sound:
            note_use(place)
    return _sound


def _is_as_made(code: Path) -> bool:
    try:
        return (code / _SEAL).read_bytes() == _description(code)
    except OSError:
        return False


def distrust() -> None:
    """Something in it could not be loaded after all: the next process makes it anew."""
    place = folder()
    if place is not None:
        with suppress(OSError):
            (place / _CODE / _SEAL).unlink()


def _description(code: Path) -> bytes:
    """The name of each file, its size, and a checksum of what it holds."""
    import hashlib

    lines = []
    for file in sorted(code.iterdir()):
        if file.name != _SEAL:
            content = file.read_bytes()
            lines.append(f"{file.name} {len(content)} {hashlib.sha256(content).hexdigest()}\n")
    return "".join(lines).encode()


# Making


def place_of_code() -> Path | None:
    """Where kernels are read from, once it is sound, or written to by the process that makes them."""
    place = folder()
    return _making or (None if place is None else place / _CODE)


def is_making() -> bool:
    return _making is not None


def can_be_made() -> bool:
    """Whether a second process would have somewhere to leave its work."""
    place = folder()
    return place is not None and os.access(place, os.W_OK)


def claim() -> Lock | None:
    """The right to make it, which one process has at a time; an OSError where nothing can be written."""
    place = folder()
    return None if place is None else Lock.acquire(place / "lock")


@contextmanager
def made_into(place: Path) -> Iterator[None]:
    """While entered, kernels are compiled into that folder."""
    global _making
    place.mkdir(mode=0o700)
    _making = place
    try:
        yield
    finally:
        _making = None


@contextmanager
def made_anew() -> Iterator[Path]:
    """While entered, kernels are compiled into a folder of their own; if all goes well, that is where they are kept.

    Only for whoever has claimed it. What was there is thrown away, and what another process left half-done.
    """
    import shutil  # which whoever only uses what is kept can do without

    place = folder()
    assert place is not None
    code, half_done = place / _CODE, place / f"{_CODE}.part"
    for old in (code, half_done):
        if old.exists():
            shutil.rmtree(old)
    try:
        with made_into(half_done):
            yield half_done
        (half_done / _SEAL).write_bytes(_description(half_done))
        half_done.rename(code)
        remove_outdated(place)
    except BaseException:
        shutil.rmtree(half_done, ignore_errors=True)
        raise
