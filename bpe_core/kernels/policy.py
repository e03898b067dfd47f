"""Plain Python or compiled kernels: the one rule that counting, learning, ranking and encoding go by.

Loading machine code takes a twentieth of a second, and compiling it twenty, though only once. So little work is
done in plain Python, more of it as soon as the kernels are there, and only very much waits for them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from bpe_core.records import dataclass

PATIENCE = 300.0  # seconds to wait for the compiler
WORTH_COMPILING = 30_000_000  # where compiled code cannot be kept; plain Python does some million a second


@dataclass(frozen=True)
class Policy:
    """From which size on one kind of work wants its kernels, in whatever that work is measured."""

    module: str  # that drives the kernels
    small: int  # less than this plain Python has done before machine code is loaded
    small_when_loaded: int = 0  # the same where it is there already
    large: int = sys.maxsize  # plain Python would need longer than the compiler

    @property
    def are_loaded(self) -> bool:
        if self.module not in sys.modules:
            return False
        from bpe_core.kernels import readiness  # here and below: whoever has little to do never asks

        return not readiness.forbidden()

    @property
    def least(self) -> int:
        """Less than this is left to plain Python."""
        return self.small_when_loaded if self.are_loaded else self.small

    def allows(self, size: int) -> bool:
        """Whether work of that size should use the kernels now."""
        if size < self.least or self.are_loaded:
            return size >= self.least
        from bpe_core.kernels import readiness

        return readiness.ready()

    def chooses(
        self, size: int, *, waiting: Callable[[], None] = lambda: None, cancelled: Callable[[], bool] = lambda: False
    ) -> bool:
        """The same; where the kernels are wanted and not there, they are compiled aside, and a large work waits."""
        if size < self.least:
            return False
        if self.allows(size):
            return True
        from bpe_core.kernels import readiness

        readiness.prepare()
        if readiness.forbidden() or not readiness.kernels_exist():
            return False
        if size >= self.large:
            waiting()
            if readiness.wait_until_ready(PATIENCE, cancelled):
                return True
        if size < min(self.large, WORTH_COMPILING) or cancelled() or not readiness.must_compile_here():
            return False
        readiness.compile_here()
        return True
