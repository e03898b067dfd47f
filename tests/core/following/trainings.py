"""Helpers that start training runs in other processes, for tests that follow such runs."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from bpe_core.following.file_follower import is_continued
from bpe_core.following.followed_run import FollowedRun
from bpe_core.history.history import History
from tests.shared import PATIENCE, ROOT

# Each batch has few steps and the session is saved after nearly every batch, so that a test sees many states.
PROGRAM = """
import sys, time
from bpe_core.command_line.main import run
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.studies import sessions
sessions.SECONDS_BETWEEN = float(sys.argv[2])
sessions.TIMES_THE_WRITING = 0
advance = Trainer.advance
def advance_slowly(trainer, max_merges=None, seconds=None):
    time.sleep(float(sys.argv[1]))
    return advance(trainer, 20)
Trainer.advance = advance_slowly
sys.exit(run(sys.argv[3:]))
"""
VOCABULARY = 4_000


def write_words(path: Path, count: int = 20_000) -> None:
    path.write_text(" ".join(f"{number * 7919:x}" for number in range(count)))


TO_BE_KILLED = 0.3  # seconds between two batches of a training that must not end before it is killed


def start_training(
    folder: Path, *, size: int = VOCABULARY, between: float = 0.02, saving: float = 0.02
) -> subprocess.Popen[str]:
    """Start a process that trains on words.txt and saves to run.bpex.

    It waits `between` seconds after each batch, and at least `saving` seconds before it saves again.
    """
    words = [str(between), str(saving), "train", "words.txt", "--vocab-size", str(size), "-o", "run.bpex", "--quiet"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *words], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    )


def look_until(look: Callable[[], FollowedRun], is_reached: Callable[[FollowedRun], bool]) -> list[FollowedRun]:
    """Call `look` again and again until a state is reached. Return the results of all calls."""
    latest = time.monotonic() + PATIENCE
    seen = [look()]
    while not is_reached(seen[-1]):
        assert time.monotonic() < latest, seen[-1].sentence
        time.sleep(0.01)
        seen.append(look())
    return seen


def are_beginnings(seen: list[FollowedRun], whole: History) -> bool:
    """Return whether the followed runs are growing beginnings of the whole history.

    Each run must have the first steps of the history, and at least as many steps as the run before it.
    """
    lengths = [run.learned for run in seen]
    histories = [run.history for run in seen if run.history is not None]
    return lengths == sorted(lengths) and all(
        len(history) <= len(whole) and is_continued(history, whole) for history in histories
    )
