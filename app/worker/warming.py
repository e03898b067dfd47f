"""On the very first start the kernels are not compiled yet: that begins aside, and nobody waits for it."""

from __future__ import annotations

from app.worker.job import Job
from bpe_core.kernels import readiness


class WarmUpJob(Job):
    """Where the kernels are ready, this does nothing; they are loaded when they are first wanted."""

    def work(self) -> None:
        readiness.prepare()
