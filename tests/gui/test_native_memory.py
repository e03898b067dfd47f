"""Freed memory goes back to the system where the C library would keep it."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from tests.shared import ROOT

GIVEN_BACK = """
import threading
from app.system import native_memory

native_memory.give_back_early()

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def fill_and_free():
    pieces = [bytearray(100_000) for _ in range(2_000)]
    kept = [bytes(100_000) for _ in range(3)]  # behind them: what is free before cannot simply be cut off
    pieces.clear()
    return kept

kept = []
threads = [threading.Thread(target=lambda: kept.append(fill_and_free())) for _ in range(4)]
before = resident()
for thread in threads:
    thread.start()
    thread.join()
native_memory.give_back_now()
assert resident() - before < 20e6, (resident() - before) / 1e6
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library, which is left alone")
def test_what_threads_have_freed_is_given_back() -> None:
    subprocess.run([sys.executable, "-c", GIVEN_BACK], cwd=ROOT, check=True)
