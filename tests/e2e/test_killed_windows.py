"""Tests of a window that is killed while it trains, counts, saves or exports.

By default, only a few windows are killed, and at most three seconds of work may be lost, because other tests run at the
same time. The environment variable BPE_LONG=1 sets the number of kills to 200, and BPE_KILLS=7 sets it to seven. With
BPE_KILLS, at most one second of work may be lost.

A window is killed while it works. A second window restores the work, and is also killed. Afterwards the files
must still contain all of the restored work.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

import pytest

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.formats import read_history
from bpe_core.history.history import History
from bpe_core.methods.kit.trainer import learn
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedRun
from bpe_core.text.corpus import Corpus
from tests.core.learning import all_columns
from tests.e2e.busy_window import VOCABULARY, text_of_many_words
from tests.shared import ROOT

KILLS = int(os.environ.get("BPE_KILLS", "200" if os.environ.get("BPE_LONG") else "2"))
MOST_LOST_SECONDS = 1.0 if "BPE_KILLS" in os.environ else 3.0  # beside other tests, a process waits for its turn
START_SECONDS = 60
LATEST_SECONDS = 5.0 if KILLS > 2 else 1.5  # how long it may be at work before it is killed

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows kills processes in another way")


class BusyWindow:
    """A process that runs the window of `busy_window.py`. The object collects the lines that the process prints."""

    def __init__(self, folder: Path, seed: int, *further: str) -> None:
        environment = {
            **os.environ,
            "QT_QPA_PLATFORM": "offscreen",
            "BPE_EXPLORER_SETTINGS": str(folder / "settings.ini"),
        }
        command = [sys.executable, "-m", "tests.e2e.busy_window", str(folder), str(seed), *further]
        self.errors = folder / "errors.txt"
        with self.errors.open("w") as errors:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        self.told: list[tuple[float, int, int]] = []
        self._ready, self._learns = threading.Event(), threading.Event()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line == "ready\n":
                self._ready.set()
            elif line.endswith("\n"):
                moment, run, learned = line.split()
                self.told.append((float(moment), int(run), int(learned)))
                if int(learned):
                    self._learns.set()

    def kill_after(self, seconds: float, *, learns: bool = False) -> float:
        """Kill the window, and return the moment of the kill.

        The kill comes `seconds` after the window is ready. With `learns`, it comes `seconds` after the first step is
        learned.
        """
        assert (self._learns if learns else self._ready).wait(START_SECONDS)
        time.sleep(seconds)
        assert self._process.poll() is None, "it ended by itself"
        moment = time.monotonic()
        self.end()
        return moment

    def end(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._reader.join()
        assert self._process.stdout is not None
        self._process.stdout.close()

    def seconds_lost(self, killed: float, recovered: Mapping[int, int]) -> float:
        """Return the seconds between the window's report of the first lost merge and the kill.

        `killed` is the time of the kill. `recovered` maps the number of a run to the number of its merges that were
        found in files. Return 0 if no merge is lost.
        """
        lost = (killed - moment for moment, run, learned in self.told if learned > recovered.get(run, 0))
        return max(lost, default=0.0)


@pytest.fixture(scope="module")
def run_without_kill() -> History:
    """Return the history that the run in `busy_window.py` has if it is trained without interruption."""
    return learn(words(), Recipe.preset("gpt2", vocab_size=VOCABULARY))


def words() -> WordTable:
    return count_words(Corpus.from_texts([text_of_many_words()]), Recipe.preset("gpt2"))


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_window_killed_at_any_moment_can_restore_almost_all_of_its_work(
    tmp_path: Path, run_without_kill: History, seed: int
) -> None:
    chosen = random.Random(seed)
    program = BusyWindow(tmp_path, seed)
    killed = kill(program, chosen.uniform(0.0, LATEST_SECONDS), learns=seed % 4 != 3)  # every fourth, while it counts
    assert len(copies_in(tmp_path)) <= 1
    recovered, learned = runs_in_folder(tmp_path)
    lost = program.seconds_lost(killed, learned)
    sys.stdout.write(f"seconds lost: {lost:.2f} of {sum(learned.values()):,} merges in {len(learned)} runs\n")
    assert lost <= MOST_LOST_SECONDS
    for run in recovered:
        check_it_goes_on(run, run_without_kill)
    if (tmp_path / "merges.csv").exists():
        exported = read_history(tmp_path / "merges.csv")
        assert all_columns(exported) == all_columns(run_without_kill.first(len(exported)))
    kill(BusyWindow(tmp_path, seed, "recover"), chosen.uniform(0.0, 1.0))
    assert len(copies_in(tmp_path)) <= 2  # what was left, and what is to take its place
    assert runs_in_folder(tmp_path)[1] == learned


def kill(program: BusyWindow, seconds: float, *, learns: bool = False) -> float:
    """Kill the program, and return the moment of the kill. The program must not have ended before."""
    try:
        killed = program.kill_after(seconds, learns=learns)
    except AssertionError:
        program.end()
        raise
    assert "Traceback" not in program.errors.read_text()
    return killed


def copies_in(folder: Path) -> list[Path]:
    return sorted((folder / "settings.data" / "unsaved").glob("*.bpex"))


def runs_in_folder(folder: Path) -> tuple[list[SavedRun], dict[int, int]]:
    """Return all runs in the files of a folder, and the number of steps in the longest copy of each run."""
    recovered = [run for path in (*copies_in(folder), *folder.glob("*.bpex")) for run in runs_of(path)]
    return recovered, {run.number: run.learned for run in sorted(recovered, key=lambda run: run.learned)}


def runs_of(path: Path) -> list[SavedRun]:
    """Check that a session file is valid, and return its runs."""
    is_copy = path.parent.name == "unsaved"
    if is_copy and not has_tables(path):
        return []  # killed while it was being made: nothing had been promised yet
    runs = list(read_session(path, is_safety_copy=is_copy).runs)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return runs


def has_tables(path: Path) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        return bool(connection.execute("SELECT name FROM sqlite_master").fetchall())


def check_it_goes_on(run: SavedRun, undisturbed: History) -> None:
    assert run.words is not None
    history = learn(run.words, run.recipe, history=run.history)
    assert all_columns(history) == all_columns(undisturbed)
