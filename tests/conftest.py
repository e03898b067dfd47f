"""Fixtures of all tests."""

from __future__ import annotations

import gc
import os
import sys
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from bpe_core.kernels import kept, readiness
from bpe_core.verification import sampling

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("BPE_EXPLORER_CHECK_KERNELS", "1")  # here, and in the processes that tests start

# The first example may wait for a kernel to compile, so no example has a deadline.
_SLOW_START = [HealthCheck.too_slow]

settings.register_profile(
    "ci",
    max_examples=15,
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=_SLOW_START,
)
settings.register_profile("explore", max_examples=2_000, deadline=None, suppress_health_check=_SLOW_START)
_profile = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(_profile)
EXPLORES = _profile == "explore"  # with time for longer random testing
EXAMPLES = settings().max_examples  # where rare cases matter most, tests ask for several times as many


def pytest_configure(config: pytest.Config) -> None:
    """Compile once, kernels and Python, before several processes would each do so."""
    is_one_of_several = hasattr(config, "workerinput")
    # The processes that tests start, and the next run of the tests, need not compile all of the program's Python anew.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if is_one_of_several or config.option.collectonly:
        return
    if not readiness.ready() and not kept.can_be_made():
        # Without a home that can be written to, each of many processes would compile in its memory.
        folder = TemporaryDirectory(prefix="bpe-explorer-tests-")
        config.add_cleanup(folder.cleanup)
        os.environ[kept.LOCATION] = folder.name
        kept.folder.cache_clear()
    readiness.wait_until_ready(600)


@pytest.fixture(autouse=True, scope="session")
def fewer_words() -> None:
    """A written file is checked with a tenth of the made words; the hard texts, and one's own, are all there still."""
    if not EXPLORES:
        sampling.WANTED_WORDS //= 10


def pytest_collection_finish() -> None:
    """What was loaded and collected stays to the end: no search for garbage needs to pass through it."""
    gc.collect()
    gc.freeze()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two more than there are processors: a test of the window waits for most of its time."""
    return (os.cpu_count() or 1) + 2
