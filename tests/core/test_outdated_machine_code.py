"""Tests that machine code of other versions is removed after a month without use, and that other files stay."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from bpe_core.kernels import stored_code
from bpe_core.kernels.stored_code import DAYS_KEPT, Pack, remove_outdated

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")


def old(folder: Path, days: float = DAYS_KEPT + 1) -> Path:
    folder.mkdir(parents=True)
    (folder / "code").write_text("machine code")
    then = time.time() - days * 86_400
    os.utime(folder, (then, then))
    return folder


def test_only_old_machine_code_folders_of_this_program_are_removed(tmp_path: Path) -> None:
    today = old(tmp_path / "kernels-0000000000000000")
    gone = old(tmp_path / "kernels-00000000000000aa")
    stays = [
        old(tmp_path / "kernels-00000000000000bb", days=DAYS_KEPT - 1),
        old(tmp_path / "kernels-of-another-program"),
        old(tmp_path / "safety copies"),
    ]
    elsewhere = old(tmp_path / "elsewhere" / "kernels-00000000000000cc")
    link = tmp_path / "kernels-00000000000000cc"
    link.symlink_to(elsewhere)
    remove_outdated(today)
    assert not gone.exists()
    assert all((folder / "code").exists() for folder in (today, *stays, elsewhere))
    assert link.is_symlink()


def test_using_machine_code_prevents_the_removal_of_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    used = old(tmp_path / "kernels-00000000000000aa")
    (used / "code").write_bytes(Pack(fallback="to be tried").written())
    os.utime(used, (0, 0))
    monkeypatch.setattr(stored_code, "folder", lambda: used)
    monkeypatch.setattr(stored_code, "loaded", None)
    assert stored_code.pack() is not None
    remove_outdated(tmp_path / "kernels-0000000000000000")
    assert used.exists()
