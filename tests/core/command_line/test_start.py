"""How commands start: in any thread, and loading only what is asked for."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

from bpe_core.command_line.commands import COMMANDS
from bpe_core.command_line.main import run
from tests.shared import ROOT


def test_commands_run_in_any_thread(text: Path, tmp_path: Path) -> None:
    codes: list[int] = []
    arguments = ["train", str(text), "--preset", "english", "--output", str(tmp_path / "x.csv"), "--quiet"]
    thread = threading.Thread(target=lambda: codes.append(run(arguments)))
    thread.start()
    thread.join()
    assert codes == [0]


# What no command of its line, or of a line above, may load; where a module is named, nothing of it.
FREE_OF = {
    "bpe_core.recipe": ["--help"],
    "numpy": ["presets", "presets gpt2", "train --help", "decode --help"],
    "bpe_core.counting.words bpe_core.learning.bpe.plain": [
        "decode --merges {table} 115 111",
        "verify {table}",
    ],
    "bpe_core.segmenting bpe_core.insight.ranked_words bpe_core.learning.trainer": ["ties --merges {table}"],
    "bpe_core.segmenting.batches bpe_core.text.scanner bpe_core.text.normalizing": [
        "encode --merges {table} so",
        "why --merges {table} so low",
    ],
    "regex concurrent.futures fractions bpe_core.kernels.readiness bpe_core.segmenting.word_tokens": [
        "words low lower",
        "sizes --merges {table} --corpus {text}",
        "race --merges {table} --corpus {text} --step 7",
    ],
    "hashlib zipfile tarfile sqlite3 importlib.metadata llvmlite numba pyarrow PySide6 numpy.ma": [
        "train {text} --merges 5",
    ],
}


def test_only_what_is_asked_for_is_loaded(text: Path, tmp_path: Path) -> None:
    """In one process, the commands that load least first."""
    table = tmp_path / "merges.csv"
    assert run(["train", str(text), "--merges", "20", "--output", str(table), "--quiet"]) == 0
    script = f"""
import contextlib, io, sys
from bpe_core.command_line.main import run
free_of, found = {FREE_OF}, []
for names, commands in free_of.items():
    unwanted = [name for line in [*free_of][[*free_of].index(names):] for name in line.split()]
    for told in commands:
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")):
            code = run(told.format(table={str(table)!r}, text={str(text)!r}).split())
        found += [f"{{told}} ended with {{code}}"] * bool(code)
        found += [f"{{told}} loads {{name}}" for name in unwanted if name in sys.modules]
print(*found, sep="\\n")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split("\n") == ["", ""]


ENDING = """
import atexit, threading, time
from bpe_core import own_process
from bpe_core.command_line import main

def run(argv):
    atexit.register(print, "what is done at the end")
    threading.Thread(target=lambda: (time.sleep(0.1), print("a thread"))).start()
    print("the command")
    return 7

main.run = run
own_process.end_process(own_process.run_alone([]))
"""


def test_a_process_that_ends_at_once_does_what_is_to_be_done_before() -> None:
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.stdout, done.stderr, done.returncode) == ("the command\na thread\nwhat is done at the end\n", "", 7)


def test_every_command_has_a_line_and_a_file() -> None:
    folder = ROOT / "bpe_core" / "command_line" / "commands"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(COMMANDS)
