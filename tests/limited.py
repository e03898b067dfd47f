"""A function that runs a process with a limit on its memory and a limit on its time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.shared import ROOT

resource = pytest.importorskip("resource", reason="Windows holds no process to a limit in this way")

MEMORY = 3 * 2**30  # bytes of addresses, most of which the libraries reserve and never touch
_HELD = """
import resource, runpy, sys
memory, seconds, module, *rest = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
sys.argv = [module, *rest]
runpy.run_module(module, run_name="__main__", alter_sys=True)
"""


def run_with_limits(
    module: str, *arguments: str, memory: int = MEMORY, seconds: int = 60, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a Python module in a separate process.

    If the process exceeds `memory` or `seconds`, it fails or is killed.
    """
    return subprocess.run(
        [sys.executable, "-c", _HELD, str(memory), str(seconds), module, *arguments],
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        cwd=ROOT,
        env=os.environ | environment,
        timeout=20 * seconds,  # of a machine at work; its own seconds are held above
    )
