"""A context in which the engine always uses machine code, even for a short text, or never uses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from bpe_core.kernels import readiness

NEVER = 2**62  # bytes


@contextmanager
def machine_code(*, is_used: bool) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readiness, "is_loaded", lambda: is_used)
        patch.setattr(readiness, "is_forbidden", lambda: not is_used)
        patch.setattr(readiness, "SAMPLE", 0 if is_used else NEVER)
        yield
