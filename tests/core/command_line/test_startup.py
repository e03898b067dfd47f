"""Tests of the start of commands: they run in any thread and load only the modules that they need."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from bpe_core.command_line.main import run
from tests.shared import ROOT


def test_a_command_does_not_run_in_the_main_thread(text: Path, tmp_path: Path) -> None:
    codes: list[int] = []
    arguments = ["train", str(text), "--preset", "english", "--output", str(tmp_path / "x.csv"), "--quiet"]
    thread = threading.Thread(target=lambda: codes.append(run(arguments)))
    thread.start()
    thread.join()
    assert codes == [0]


# Slow modules, which no small command may load.
FREE_OF = {
    "numba pyarrow PySide6": [
        "--help",
        "presets",
        "train --help",
        "decode --merges {table} 115 111",
        "encode --merges {table} so",
        "why --merges {table} so",
        "words low lower",
        "race {table} --corpus {text} --step 7",
        "train {text} --merges 5",
    ],
}


def test_each_command_loads_only_the_modules_that_the_command_needs(text: Path, tmp_path: Path) -> None:
    """One process runs all commands. Commands that load few modules run first."""
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


def test_a_command_process_enables_garbage_collection_only_for_its_command() -> None:
    script = """
import gc
from bpe_core.command_line import main
searched = []
when_begun = main.command_named
def noted(name):
    searched.append(gc.isenabled())
    return when_begun(name)
main.command_named = noted
code = main.run(["presets"])
assert gc.get_freeze_count() == 0
code += main.run_as_process(["presets"])
assert gc.get_freeze_count() > 0 and not gc.get_objects(2)
print(code, searched)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.splitlines()[-1] == "0 [True, True]"


def test_the_linear_algebra_of_a_command_starts_no_threads_unless_the_user_asks_for_threads() -> None:
    script = """
import os, sys
from bpe_core.command_line import main
assert "numpy" not in sys.modules
main.run_as_process(["presets"])
print("numpy" in sys.modules, os.environ["OPENBLAS_NUM_THREADS"])
"""
    for asked, used in (({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2")):
        others = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        command = [sys.executable, "-c", script]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env={**others, **asked})
        assert done.stdout.splitlines()[-1] == f"True {used}"
