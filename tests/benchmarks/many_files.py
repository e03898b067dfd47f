"""A benchmark of a folder with as many files as the source code of a large program.

A command and a window open the folder, count its words, and learn a vocabulary from it.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

FILES = 44_175
BYTES_A_FILE = 20_000  # on average
FILES_A_FOLDER = 400
MERGES = 1_000


def make_folder(folder: Path, text: bytes) -> None:
    """Write many files into a folder. Each file has a few whole lines of the text."""
    chosen = random.Random(44_175)
    for number in range(FILES):
        parent = folder / f"part{number // FILES_A_FOLDER:03}"
        parent.mkdir(exist_ok=True)
        size = round(BYTES_A_FILE * chosen.uniform(0.2, 1.8))
        begin = text.find(b"\n", chosen.randrange(max(1, len(text) - size))) + 1
        stretch = text[begin : begin + size]
        (parent / f"file{number:05}.txt").write_bytes(stretch[: stretch.rfind(b"\n") + 1] or b"nothing\n")


def processor_seconds(who: int) -> float:
    """Return the processor time of this process or of its child processes, whichever `who` names.

    On a busy machine, processor time varies less than elapsed time.
    """
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def measure(text: Path, open_window: Callable[[Path], None]) -> None:
    """Measure a command and then the window.

    The command runs twice, and the second run is measured. By then the files are in the system's memory.
    """
    with TemporaryDirectory() as top:
        folder = Path(top) / "many"
        folder.mkdir()
        make_folder(folder, text.read_bytes())
        for _ in range(2):
            began, before = time.perf_counter(), processor_seconds(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-m", "bpe_core", "train", str(folder)]
            options = ["--vocab-size", str(256 + MERGES), "--output", str(Path(top) / "merges.csv")]
            subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            seconds = time.perf_counter() - began
            worked = processor_seconds(resource.RUSAGE_CHILDREN) - before
        print(f"command line, {FILES:,} files: {seconds:.1f} s, {worked:.1f} s of the processor", flush=True)
        open_window(folder)
