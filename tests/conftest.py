"""What every test stands on."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# Windows are drawn in memory unless a person asks for a real screen.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

# The first example may wait for a kernel to compile, so no example has a deadline.
_SLOW_START = [HealthCheck.too_slow]

settings.register_profile(
    "ci", derandomize=True, deadline=None, database=None, print_blob=True, suppress_health_check=_SLOW_START
)
settings.register_profile("explore", max_examples=2_000, deadline=None, suppress_health_check=_SLOW_START)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
