"""Machine code of other versions goes when nobody has used it for a month; nothing else is ever removed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bpe_core.kernels.outdated import DAYS_KEPT, remove_outdated
from tests.shared import ROOT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="locks of folders are of POSIX")
HOLD = """
import sys
from pathlib import Path
from bpe_core.kernels.outdated import note_use
note_use(Path(sys.argv[1]))
{age}
print("held", flush=True)
sys.stdin.read()
"""


def old(folder: Path, days: float = DAYS_KEPT + 1) -> Path:
    (folder / "code").mkdir(parents=True)
    (folder / "code" / "seal").write_text("sealed")
    then = time.time() - days * 86_400
    os.utime(folder, (then, then))
    return folder


def test_only_what_is_ours_and_old_goes(tmp_path: Path) -> None:
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
    assert all((folder / "code" / "seal").exists() for folder in (today, *stays, elsewhere))
    assert link.is_symlink()


def test_what_a_living_process_uses_stays(tmp_path: Path) -> None:
    used = old(tmp_path / "kernels-00000000000000aa")
    age = "import os; os.utime(sys.argv[1], (0, 0))"  # as if it had been running for years
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(age=age), str(used)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    remove_outdated(tmp_path / "kernels-0000000000000000")
    assert (used / "code" / "seal").exists()
    process.communicate()
    remove_outdated(tmp_path / "kernels-0000000000000000")
    assert not used.exists()


def test_to_use_it_makes_it_new(tmp_path: Path) -> None:
    used = old(tmp_path / "kernels-00000000000000aa")
    subprocess.run(
        [sys.executable, "-c", HOLD.format(age=""), str(used)], cwd=ROOT, stdin=subprocess.DEVNULL, check=True
    )
    remove_outdated(tmp_path / "kernels-0000000000000000")
    assert used.exists()
