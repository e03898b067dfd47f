"""The process that makes one measurement.

Each measurement has a new process, so that it inherits no memory and no caches.

The process is `python -m tests.benchmarks.measure '{"job": ...}'`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass

from tests.benchmarks.jobs import Measurement, Task, perform
from tests.shared import ROOT


@dataclass(frozen=True)
class Failure:
    """A failed measurement and the reason for its failure."""

    reason: str


def measure(task: Task, seconds: float) -> Measurement | Failure:
    command = [sys.executable, "-m", "tests.benchmarks.measure", json.dumps(asdict(task))]
    # One thread for libraries that choose threads by the environment; training may use all cores.
    uses_all = task.job in ("train", "train-languages", "unsplit", "wordpiece", "unigram")
    threads = {} if uses_all else {"RAYON_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT, timeout=seconds, env={**os.environ, **threads}
        )
    except subprocess.TimeoutExpired:
        return Failure(f"took more than {seconds:,.0f} s")
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines:
        return Measurement(**json.loads(lines[-1]))
    complaints = done.stderr.strip().splitlines()
    if complaints:
        return Failure(complaints[-1].removeprefix("NotImplementedError: ")[:200])
    return Failure(f"ended with the code {done.returncode}")


def main() -> None:
    task = Task(**json.loads(sys.argv[1]))
    answer = os.dup(1)
    with tempfile.TemporaryFile() as chatter:  # some libraries print their progress
        os.dup2(chatter.fileno(), 1)
        measured = perform(task)
        sys.stdout.flush()
    os.write(answer, json.dumps(asdict(measured)).encode())


if __name__ == "__main__":
    main()
