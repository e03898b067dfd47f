"""How commands start: in any thread, and loading only what is asked for."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(
    ("arguments", "unwanted"),
    [(["--help"], {"numpy", "regex", "bpe_core.recipe"}), (["presets"], {"numpy", "regex", "numba", "llvmlite"})],
)
def test_only_what_is_asked_for_is_loaded(arguments: list[str], unwanted: set[str]) -> None:
    script = f"from bpe_core.command_line.main import run; run({arguments})"
    script += "; import sys; print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    assert not unwanted & set(done.stderr.split())


def test_every_command_has_a_line_and_a_file() -> None:
    folder = ROOT / "bpe_core" / "command_line" / "commands"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(COMMANDS)
