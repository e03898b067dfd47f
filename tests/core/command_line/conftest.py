"""Fixtures for tests of commands: a text, and a table learned from the text.

The function `program` runs a command in a separate process.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from tests.shared import ROOT

TEXT = "the lowest price is lower than the last one\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def table(tmp_path: Path, text: Path) -> Path:
    path = tmp_path / "merges.csv"
    assert run(["train", str(text), "--preset", "english", "--output", str(path), "--quiet"]) == 0
    return path


def program(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run the command in another process and return the completed process."""
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        [sys.executable, "-m", "bpe_core", *arguments], capture_output=True, encoding="utf-8", cwd=ROOT, **options
    )
