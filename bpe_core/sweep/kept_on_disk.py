"""What a sweep has come to, on the disk while it goes on: little is lost when it is stopped, however it is stopped."""

from __future__ import annotations

import time
from pathlib import Path

from bpe_core.data_table import DataTable, write_data
from bpe_core.sweep.runs_in_session import RunsInSession

SECONDS_BETWEEN, TIMES_THE_WRITING = 2.0, 10


class KeptOnDisk:
    """Its table and its session, written every other second; more rarely where writing takes long."""

    def __init__(self, path: Path | None, runs: RunsInSession | None) -> None:
        self._path, self._runs = path, runs
        self._written, self._rest = time.monotonic(), SECONDS_BETWEEN
        self._table: DataTable | None = None

    def __call__(self, table: DataTable) -> None:
        self._table = table
        if time.monotonic() - self._written >= self._rest:
            self.write()

    def write(self) -> None:
        """What there is that was not written yet."""
        if self._table is None:
            return
        began = time.monotonic()
        if self._path is not None:
            write_data(self._table, self._path)
        if self._runs is not None:
            self._runs.write()
        self._table, self._written = None, time.monotonic()
        self._rest = max(SECONDS_BETWEEN, TIMES_THE_WRITING * (self._written - began))
