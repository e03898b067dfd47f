"""Tests of the example method of the manual: it is found, checked, trained and explained as its page says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.shared import ROOT

PAGE = ROOT / "resources" / "manual" / "own-method.md"


@pytest.fixture
def method(tmp_path: Path) -> Path:
    code = PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    assert len(code.splitlines()) <= 100
    file = tmp_path / "alternating.py"
    file.write_text(code, encoding="utf-8")
    return file


def run(*arguments: str) -> str:
    command = [sys.executable, "-m", "bpe_core", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_method_of_the_manual_passes_the_conformance_check(method: Path) -> None:
    program = (
        "import sys; from pathlib import Path; import bpe_core as bpe\n"
        "from bpe_core.support.plugins import run_file; run_file(Path(sys.argv[1]))\n"
        "from bpe_core.methods.registry import METHODS\n"
        "print(len(bpe.check_method(METHODS['alternating'])))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(method)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 11


def test_the_train_command_accepts_the_example_method_of_the_manual_with_its_own_option(
    method: Path, tmp_path: Path
) -> None:
    text, table = tmp_path / "t.txt", tmp_path / "table.json"
    text.write_text("low lower lowest newer newest widest\n" * 4, encoding="utf-8")
    plugin = ("--plugin", str(method), "--yes")
    steps = run("train", str(text), *plugin, "--method", "alternating", "--every", "3", "--merges", "5")
    assert [line.split("→")[1].split()[0] for line in steps.splitlines()[:3]] == ["we", "lo", "lowe"]
    run("train", str(text), *plugin, "--method", "alternating", "--merges", "5", "--output", str(table))
    assert "lo | we | st" in run("look", str(table), "lowest", *plugin)
    assert "every" in run("train", "--help", *plugin)
