"""Whether the compiled kernels can be used without waiting, and making them so.

Compiling takes some twenty seconds, loading from the cache half of one. So a cold cache is
warmed by a second process while everything already works in plain Python; a file in the
cache folder tells that it is complete. This module does not import Numba.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

_KERNEL_FOLDER = Path(__file__).parent
_COMPLETE = "complete"

_lock = threading.Lock()
_compiler: subprocess.Popen[bytes] | None = None
_compiler_failed = False


@cache
def cache_folder() -> Path | None:
    """A writable per-user folder of this very version of the kernels; None where there is none."""
    for base in _candidate_folders():
        folder = base / f"kernels-{_fingerprint()}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


def _candidate_folders() -> list[Path]:
    chosen = os.environ.get("BPE_EXPLORER_CACHE")
    if chosen:
        return [Path(chosen)]
    if sys.platform == "win32":
        local = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        local = Path.home() / "Library" / "Caches"
    else:
        local = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return [local / "bpe-explorer", Path(tempfile.gettempdir()) / f"bpe-explorer-{_user()}"]


def _user() -> str:
    return str(os.getuid()) if hasattr(os, "getuid") else "user"


@cache
def _fingerprint() -> str:
    """Changes whenever what is cached could be stale: sources, their place, Python, Numba, processor."""
    from importlib import metadata  # takes a while to load, and a window opens before this is asked

    digest = hashlib.sha256()
    for source in sorted(_KERNEL_FOLDER.glob("*.py")):
        digest.update(f"{source}|{source.stat().st_mtime_ns}|".encode())
        digest.update(source.read_bytes())
    digest.update(f"{sys.version}|{metadata.version('numba')}|{_processor()}".encode())
    return digest.hexdigest()[:16]


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return "".join(line for line in file if line.startswith(("model name", "flags")))[:4096]
    except OSError:
        import platform

        return platform.processor()


def kernels_exist() -> bool:
    """Whether Numba is installed at all; without it everything runs in plain Python."""
    return find_spec("numba") is not None


def forbidden() -> bool:
    """Whether the person wants plain Python, to compare it or to work around trouble."""
    return bool(os.environ.get("BPE_EXPLORER_PLAIN"))


def ready() -> bool:
    """Whether importing the kernels takes a moment only."""
    if forbidden() or not kernels_exist():
        return False
    if "bpe_core.warm_up" in sys.modules:
        return True  # this process has compiled or loaded them
    folder = cache_folder()
    return folder is not None and (folder / _COMPLETE).exists()


def mark_complete() -> None:
    folder = cache_folder()
    if folder is not None:
        (folder / _COMPLETE).touch()


def prepare() -> None:
    """Begin compiling in a second process unless that is done, under way or impossible."""
    global _compiler
    with _lock:
        if _compiler is not None or forbidden() or not kernels_exist() or ready():
            return
        if cache_folder() is None:
            return  # a second process would have nowhere to leave its work
        # -P: a file named like one of our modules in the person's folder must not be imported.
        command = [sys.executable, "-P", "-m", "bpe_core.warm_up"]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        _compiler = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            start_new_session=True,  # Ctrl-C in the terminal is for the work, not for the compiler
        )


def preparing() -> bool:
    """Whether the second process is at work right now."""
    return _compiler is not None and _compiler.poll() is None


def wait_until_ready(seconds: float, cancelled: Callable[[], bool] = lambda: False) -> bool:
    """Wait for the compiler at most that long; True when the kernels can be used."""
    prepare()
    deadline = time.monotonic() + seconds
    while not ready():
        if not preparing() or cancelled() or time.monotonic() > deadline:
            return ready()
        time.sleep(0.05)
    return True
