"""Tests of locks: only one process can hold a lock, and the lock becomes free when this process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_core.support.lock import Lock
from tests.shared import ROOT

HOLDER = """
import sys, time
from pathlib import Path
from bpe_core.support.lock import Lock
lock = Lock.acquire(Path(sys.argv[1]))
print("held" if lock else "refused", flush=True)
time.sleep(100)
"""


def test_only_one_process_at_a_time_can_hold_a_file_lock(tmp_path: Path) -> None:
    first = Lock.acquire(tmp_path / "lock")
    assert first is not None
    assert Lock.acquire(tmp_path / "lock") is None
    first.release()
    first.release()
    assert list(tmp_path.iterdir()) == []
    again = Lock.acquire(tmp_path / "lock")
    assert again is not None
    again.release()


def test_a_lock_in_a_missing_folder_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        Lock.acquire(tmp_path / "no" / "lock")


@pytest.mark.skipif(os.name != "posix", reason="Windows kills processes in another way")
def test_the_lock_of_a_killed_process_is_free_again(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "lock")]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert Lock.acquire(tmp_path / "lock") is None
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        lock = Lock.acquire(tmp_path / "lock")
        assert lock is not None
        lock.release()
