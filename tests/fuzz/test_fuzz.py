"""The tests that give randomly damaged inputs of each kind to the program.

The environment variable BPE_FUZZ_SECONDS sets the duration of the test. If BPE_LONG is set, the test takes an
hour. Without BPE_LONG, each run uses the same inputs, so only a change of the program can cause a new
failure. With BPE_LONG, the inputs are random. The file `known_failures.txt` has a line for each input that
ever failed, and each run tries these inputs again.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.fuzz.target import KINDS
from tests.limited import run_with_limits

LONG = bool(os.environ.get("BPE_LONG"))
SECONDS = 3_600.0 if LONG else float(os.environ.get("BPE_FUZZ_SECONDS", "0.5"))
# One process for all kinds, where to start one for each would take as long as what it does.
TOGETHER = [*KINDS] if SECONDS > 5 else [",".join(KINDS)]
KNOWN_FAILURES = Path(__file__).with_name("known_failures.txt").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("kinds", TOGETHER)
def test_any_fuzzed_input_leads_to_a_result_or_an_error_message(kinds: str) -> None:
    seed = random.SystemRandom().randrange(10**6) if LONG else 1
    done = run_with_limits("tests.fuzz.target", kinds, str(SECONDS), str(seed), seconds=60 + round(4 * SECONDS))
    assert done.returncode == 0, done.stderr[-4_000:]


def test_inputs_that_failed_in_earlier_fuzzing_no_longer_fail() -> None:
    inputs = [word for line in KNOWN_FAILURES if line and not line.startswith("#") for word in line.split()]
    done = run_with_limits("tests.fuzz.target", "again", *inputs)
    assert done.returncode == 0, done.stderr[-4_000:]
