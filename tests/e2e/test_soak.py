"""Random acts for a long time: nothing unexpected happens, memory does not grow, no network is reached.

A few seconds always; BPE_LONG=1 in the environment asks for an hour, BPE_SOAK_SECONDS=1200 for twenty minutes.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.eavesdropper import HEARD
from tests.shared import ROOT

SECONDS = float(os.environ.get("BPE_SOAK_SECONDS", "3600" if os.environ.get("BPE_LONG") else "2.5"))
SECONDS_TO_SETTLE = 600  # what is loaded once and remembered is there then
MOST_GROWTH = 1.10

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what Linux writes in /proc")


def test_a_long_time_of_random_deeds(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "BPE_EXPLORER_SETTINGS": str(tmp_path / "settings.ini"),
    }
    command = [sys.executable, "-m", "tests.e2e.soak", str(tmp_path), str(SECONDS), "1"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=2 * SECONDS + 600
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert HEARD not in done.stderr, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert int(lines[-1][2]) > 0, "nothing was done"
    began = float(lines[0][0])
    used = [int(memory) for moment, memory, *_ in lines if float(moment) - began > SECONDS_TO_SETTLE]
    if len(used) > SECONDS_TO_SETTLE:
        fifth = len(used) // 5
        before, after = statistics.median(used[:fifth]), statistics.median(used[-fifth:])
        sys.stdout.write(f"memory: {before / 2**20:.0f} MiB, at the end {after / 2**20:.0f} MiB\n")
        assert after <= MOST_GROWTH * before
