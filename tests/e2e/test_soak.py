"""Tests that perform random actions for a long time.

The actions must raise no error, leak no memory and use no network. By default the tests take a few seconds.
Environment variables change this: BPE_LONG=1 requests 5,000 actions, BPE_SOAK_DEEDS=1000 requests 1,000
actions, and BPE_SOAK_SEED=7 requests different random actions.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e.network_monitor import HEARD
from tests.e2e.soak import AT_REST, SETTLED
from tests.shared import ROOT

SECONDS = 2.5
DEEDS = int(os.environ.get("BPE_SOAK_DEEDS", "5000" if os.environ.get("BPE_LONG") else "12"))
SEED = os.environ.get("BPE_SOAK_SEED", "1")
MOST_GROWTH = 1.3
MOST_GROWTH_AT_REST = 1.2  # in a new session, which differs less from one time to the other
LONGEST = 12_000  # seconds, on a busy machine

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what Linux writes in /proc")


class Moment(NamedTuple):
    memory: int
    done: int
    objects: int
    is_at_rest: bool

    @classmethod
    def read(cls, line: str) -> Moment:
        _, memory, done, objects, what = line.split(maxsplit=4)
        return cls(int(memory), int(done), int(objects), what == AT_REST)


def test_a_long_run_of_random_window_actions_raises_no_error_and_leaks_no_memory(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "QT_QPA_PLATFORM": "offscreen",
        "BPE_EXPLORER_SETTINGS": str(tmp_path / "settings.ini"),
    }
    command = [sys.executable, "-m", "tests.e2e.soak", str(tmp_path), str(SECONDS), SEED, str(DEEDS)]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=LONGEST
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    assert HEARD not in done.stderr, done.stderr
    moments = [Moment.read(line) for line in done.stdout.splitlines()]
    assert moments[-1].done > 0, "nothing was done"
    if DEEDS < 2 * SETTLED:
        return
    acting = [moment for moment in moments if not moment.is_at_rest]
    early = [moment for moment in acting if abs(moment.done - SETTLED) <= SETTLED // 10]
    late = [moment for moment in acting if moment.done >= DEEDS - SETTLED]  # several sessions, which differ in size
    assert_flat("while acting", early, late, MOST_GROWTH)
    at_rest = [moment for moment in moments if moment.is_at_rest]
    assert len(at_rest) == 2
    assert_flat(AT_REST, at_rest[:1], at_rest[1:], MOST_GROWTH_AT_REST)


def assert_flat(when: str, early: list[Moment], late: list[Moment], most_growth: float) -> None:
    for name in ("memory", "objects"):
        before, after = (statistics.median(getattr(moment, name) for moment in some) for some in (early, late))
        times = f"after {early[0].done:,} deeds, {after:,.0f} after {late[-1].done:,}"
        sys.stdout.write(f"{name} {when}: {before:,.0f} {times}\n")
        assert after <= most_growth * before, name
