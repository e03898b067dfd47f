"""The command `bpe-explorer doctor`.

It lists the parts that the program uses on this computer, the place of each part, and why a part is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from bpe_core.formats.all_formats import ROWS
from bpe_core.kernels import readiness, stored_code
from bpe_core.methods.registry import METHODS
from bpe_core.questions import QUESTIONS
from bpe_core.support import optional_packages as optional
from bpe_core.support.limits import available_memory, size_text
from bpe_core.support.plugins import Registry, left_out
from bpe_core.support.progress import Progress, Work
from bpe_core.support.version import PROGRAM, program_version, version_of
from bpe_core.text.patterns import NAMED_PATTERNS

examples = """\
examples:
  bpe-explorer doctor
      Show versions, packages, compiled code, folders, memory, and whether a window can be opened.

  bpe-explorer doctor --prepare
      Make all machine code now, for a container or a class; otherwise the first start makes it in the background.

  bpe-explorer doctor --json > here.json
      Print the description as JSON, for a script or to send by mail.
"""

FOR_DEVELOPERS = ("test", "bench")  # extras for development
_REQUIREMENT = re.compile(r"([\w.-]+)")
_EXTRA = re.compile(r"extra == ['\"](\w+)['\"]")
_PYTHON = re.compile(r"python_version (<|>=) ['\"]3\.(\d+)['\"]")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the description as JSON")
    parser.add_argument("--prepare", action="store_true", help="make all machine code first, which takes minutes")


def run(options: argparse.Namespace) -> int:
    done = 1 if options.prepare and not _prepare_machine_code() else 0
    facts = {
        "program": _program(),
        "packages": _packages(),
        "plug-ins": _plugins(),
        "kernels": _kernels(),
        "computer": _computer(),
        "window": optional.window_facts(),
    }
    if options.json:
        print(json.dumps(facts, ensure_ascii=False, indent=1))
        return done
    for title, rows in facts.items():
        print(f"{title}:")
        width = max(map(len, rows), default=0)
        for name, value in rows.items():
            print(f"  {name:<{width}}  {value}")
    return done


def _prepare_machine_code() -> bool:
    """Compile all machine code, and report the progress on standard error.

    Return whether there is machine code now. If not, report the reason.
    """
    if readiness.why_not():
        print(f"No machine code was made: {readiness.why_not()}.", file=sys.stderr)
        return False
    reported = -1

    def show_progress(progress: Progress) -> None:
        nonlocal reported
        if progress.done > reported:
            reported = progress.done
            print(f"{progress.stage}: {progress.done} %", file=sys.stderr, flush=True)

    is_made = readiness.make_now(Work(show_progress))
    if not is_made:
        print(f"Compiling failed: {readiness.why_not()}.", file=sys.stderr)
    return is_made


def _program() -> dict[str, Any]:
    return {
        "version": program_version(),
        "from": str(Path(__file__).parents[3]),
        "Python": f"{platform.python_version()} ({sys.executable})",
        "system": platform.platform(),
    }


def _packages() -> dict[str, Any]:
    try:
        wanted = metadata.requires(PROGRAM) or []
    except metadata.PackageNotFoundError:
        wanted = ["numpy", "numba", "regex"]
    facts: dict[str, Any] = {}
    for line in wanted:
        requirement = _REQUIREMENT.match(line)
        extra = _EXTRA.search(line)
        if requirement is None or not _is_for_this_python(line) or (extra and extra[1] in FOR_DEVELOPERS):
            continue
        how = f"pip install '{PROGRAM}[{extra[1]}]'" if extra else f"pip install {requirement[1]}"
        facts.setdefault(requirement[1], version_of(requirement[1]) or f"not installed: {how}")
    return facts


def _plugins() -> dict[str, Any]:
    registries: tuple[Registry[Any], ...] = (METHODS, ROWS, NAMED_PATTERNS, QUESTIONS)
    parts = {
        f"{registry.kind[:-1]} {name}": registry.sources[name]
        for registry in registries
        for name in registry.from_plugins
    }
    return parts | {f"left out ({place})": sentence for place, sentence in enumerate(left_out, 1)}


def _is_for_this_python(requirement: str) -> bool:
    limit = _PYTHON.search(requirement)
    if limit is None:
        return True
    is_older = sys.version_info[:2] < (3, int(limit[2]))
    return is_older if limit[1] == "<" else not is_older


def _kernels() -> dict[str, Any]:
    folder = stored_code.folder() if readiness.kernels_exist() else None
    facts: dict[str, Any] = {"in use": readiness.is_ready(), "way": readiness.state().way, "because": _why()}
    if folder is not None and readiness.is_ready():
        files = [file.stat() for file in folder.rglob("*") if file.is_file()]
        made = datetime.fromtimestamp(max(file.st_mtime for file in files), UTC)
        facts |= {
            "made": f"{made:%Y-%m-%d %H:%M} UTC",
            "files": len(files),
            "bytes": sum(file.st_size for file in files),
        }
    return facts | {"folder": str(folder or stored_code.base() or "none")}


def _why() -> str:
    state = readiness.state()
    if state.way == readiness.MACHINE_CODE:
        return f"made for this processor and this Python by Numba {version_of('numba')}"
    if state.way == readiness.BY_NUMBA:
        return f"{state.why} To try again: {readiness.COMPILE}"
    if state.is_being_made:
        return f"{readiness.BEING_MADE}: {state.percent}"
    later = "not made yet; the first large task makes it in the background. To make it now: "
    return state.why or later + readiness.COMPILE


def _computer() -> dict[str, Any]:
    free = available_memory()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return {
        "processor": platform.machine(),
        "cores": cores,
        "memory": "not known" if free is None else f"{size_text(free)} can be used (BPE_EXPLORER_MEMORY limits it)",
    }
