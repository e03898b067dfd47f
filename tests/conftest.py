"""The fixtures and hooks that all tests share."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

from bpe_core.kernels import readiness, stored_code
from bpe_core.verification import sampling
from tests.shared import ROOT

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("BPE_EXPLORER_CHECK_KERNELS", "1")  # here, and in the processes that tests start
os.environ["HF_HUB_CACHE"] = os.devnull  # whatever a person has there

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
settings.register_profile("once", settings.get_profile("ci"), max_examples=3)
settings.register_profile("explore", max_examples=2_000, deadline=None, suppress_health_check=_SLOW_START)
_profile = os.environ.get("HYPOTHESIS_PROFILE", "ci")
settings.load_profile(_profile)
EXPLORES = _profile == "explore"  # with time for longer random testing
ONCE = _profile == "once"  # each test with its first case, for another Python after one has run them all
EXAMPLES = settings().max_examples  # tests for rare cases ask for several times as many


def pytest_configure(config: pytest.Config) -> None:
    """Compile kernels and Python modules once, before several processes of tests start."""
    _ignore_no_signal()
    is_one_of_several = hasattr(config, "workerinput")
    # Processes of tests, and the next run of the tests, need not compile the program's Python again.
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if is_one_of_several or config.option.collectonly:
        return
    if not readiness.is_ready() and not stored_code.can_be_made():
        # Without a writable home, each of many processes would compile in its memory.
        folder = TemporaryDirectory(prefix="bpe-explorer-tests-")
        config.add_cleanup(folder.cleanup)
        os.environ[stored_code.LOCATION] = folder.name
        stored_code.folder.cache_clear()
    if not readiness.is_forbidden():  # or it would wait for code that another process makes
        readiness.wait_until_ready(600)


def _ignore_no_signal() -> None:
    """Restore the usual handling of Ctrl+C and of a closed terminal.

    Otherwise, tests that run in the background would ignore these signals, as would the processes that they start.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if sys.platform != "win32" and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True, scope="session")
def fewer_words() -> None:
    """Use only a tenth of the usual random words when a written file is checked. This saves time.

    All texts that are hard to split are still checked.
    """
    if not EXPLORES:
        sampling.WANTED_WORDS //= 10


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if ONCE:
        first = list({item.nodeid.partition("[")[0]: item for item in reversed(items)}.values())
        items[:] = reversed(first)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Import all test modules if the tests run in several processes. Each process begins with a different module.

    So one process compiles each file, and the other processes load the result.
    """
    if given := getattr(session.config, "workerinput", None):
        files = [file for name in session.config.args for file in _test_files(Path(name.partition("::")[0]))]
        first = int(given["workerid"].removeprefix("gw")) * len(files) // given["workercount"]
        for file in files[first:] + files[:first]:
            with suppress(Exception, pytest.skip.Exception):  # of which collecting tells
                import_module(".".join(file.resolve().relative_to(ROOT).with_suffix("").parts))


def _test_files(place: Path) -> list[Path]:
    return sorted(place.rglob("test_*.py")) if place.is_dir() else [place]


def pytest_sessionfinish() -> None:
    """Collect garbage now. Otherwise Python would search all loaded objects several times when the process ends."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish() -> None:
    """Exclude modules and tests from garbage collection. They exist until the end, so it is useless to search them."""
    gc.collect()
    gc.freeze()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Return the number of processors plus two. Tests of the window mostly wait, so two more workers are useful."""
    return (os.cpu_count() or 1) + 2
