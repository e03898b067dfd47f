"""Tests of the command `doctor`, which lists the libraries and kernels in use, and of compiling on a full disk."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from subprocess import Popen

import pytest

from bpe_core.command_line.main import run
from bpe_core.kernels import readiness, stored_code


def test_the_doctor_command_reports_which_optional_libraries_are_used_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told() -> dict[str, dict[str, object]]:
        assert run(["doctor", "--json"]) == 0
        facts: dict[str, dict[str, object]] = json.loads(capsys.readouterr().out)
        return facts

    here = told()
    assert str(here["packages"]["numpy"])[0].isdecimal()
    assert here["kernels"]["in use"] is readiness.is_ready()
    assert here["kernels"]["folder"] == str(stored_code.folder())
    assert run(["doctor"]) == 0
    printed = capsys.readouterr().out
    assert all(f"{title}:\n" in printed for title in here)

    monkeypatch.setenv("BPE_EXPLORER_PLAIN", "1")
    assert here["kernels"] != told()["kernels"]
    assert "BPE_EXPLORER_PLAIN" in str(told()["kernels"]["because"])
    monkeypatch.delenv("BPE_EXPLORER_PLAIN")

    # nothing can be kept: a file is in the place of the folder
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(stored_code.LOCATION, str(tmp_path / "file"))
    monkeypatch.setattr(stored_code, "folder", stored_code.folder.__wrapped__)
    monkeypatch.setattr(readiness, "is_ready", lambda part="": False)
    nowhere = told()["kernels"]
    assert nowhere["in use"] is False
    assert stored_code.LOCATION in str(nowhere["because"])

    monkeypatch.setattr(readiness, "kernels_exist", lambda: False)
    assert "pip install numba" in str(told()["kernels"]["because"])


def test_the_compiler_reports_a_full_disk_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    full = (
        "import sys; from bpe_core import compiler; from bpe_core.kernels import stored_code\n"
        "def make(keep): raise OSError(28, 'No space left on device')\n"
        "compiler.make = make; compiler._is_made = lambda: False; sys.exit(compiler.main([]))"
    )
    monkeypatch.setattr(readiness, "is_ready", lambda part="": False)
    monkeypatch.setattr(readiness, "start_compiler", lambda **how: Popen([sys.executable, "-c", full], **how))
    assert run(["doctor", "--prepare"]) == 1
    complaint = capfd.readouterr().err
    assert "No machine code was stored in " in complaint
    assert complaint.endswith("No space left on device.\n")
    assert "Traceback" not in complaint
