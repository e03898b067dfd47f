"""What must be true before the first kernel is called."""

from __future__ import annotations

import subprocess
import sys

from tests.shared import ROOT

SCRIPT = """
from bpe_core.kernels import jit
from numba.core.typing.typeof import typeof_impl
before = set(typeof_impl.registry)
from bpe_core.warm_up import _learn
_learn()
assert set(typeof_impl.registry) == before, set(typeof_impl.registry) - before
"""


def test_numba_is_set_up_before_threads_can_meet_in_it() -> None:
    """Its tables of types are read without a lock: nothing may be entered once kernels are called."""
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
