"""Tests of the folders that stay after the program is removed. The manual names them for each system."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.window.manual.book import text_of

PRINT_FOLDERS = """
from app.settings import Settings, data_folder
from bpe_core.kernels import stored_code
print(stored_code.base(), data_folder(), Settings().place, sep="\\n")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux are compared")
def test_the_manual_names_every_folder_that_stays_after_the_program_is_removed(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "BPE_EXPLORER_"))}
    environment["HOME"] = str(tmp_path)
    printed = subprocess.run(
        [sys.executable, "-c", PRINT_FOLDERS], env=environment, capture_output=True, text=True, check=True
    ).stdout
    folders = [Path(line).relative_to(tmp_path) for line in printed.splitlines()]
    assert len(folders) == 3
    for folder in folders:
        named = folder if folder.suffix == "" else folder.parent
        assert f"`~/{named}`" in text_of("start.md")
