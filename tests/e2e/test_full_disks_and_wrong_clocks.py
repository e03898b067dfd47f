"""The tests with a full disk, with a read-only disk, and with a clock that shows a time in the past.

The program prints an error message, and the window still works.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.shared import ROOT

SECONDS = 600
# Its own disk is the only one that a test may fill or close.
DISKS = {"full": ("size=16k", "No space left on device"), "closed": ("size=16k,ro", "Read-only file system")}
PAST = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t which, struct timespec *told) {
    int failed = syscall(SYS_clock_gettime, which, told);
    if (!failed && which == CLOCK_REALTIME) told->tv_sec %= 600;
    return failed;
}
int gettimeofday(struct timeval *told, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    told->tv_sec = now.tv_sec;
    told->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *told) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (told) *told = now.tv_sec;
    return now.tv_sec;
}
"""


def program(*arguments: str, module: str = "app", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


def run_in_one_process(*commands: list[str], **environment: str) -> list[tuple[int, str, str]]:
    """Run commands in one process.

    Return the exit code, the text on standard error and the printed text of each command.
    """
    done = program(json.dumps(commands), module="tests.e2e.command_sequence", **environment)
    assert done.returncode == 0, done.stderr
    return [(code, said, printed) for code, said, printed in json.loads(done.stdout)]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    place = tmp_path / "disk"
    place.mkdir()

    def mounted(options: str) -> Path:
        command = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
        if shutil.which("mount") is None or subprocess.run(command, check=False, capture_output=True).returncode:
            pytest.skip("no disk of its own can be mounted here, as root may on Linux")
        return place

    yield mounted
    if place.is_mount():
        subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("kind", DISKS)
def test_commands_work_when_the_home_folder_lies_on_a_full_or_read_only_disk(
    disk: Callable[[str], Path], tmp_path: Path, kind: str
) -> None:
    options, reason = DISKS[kind]
    home = disk(options)
    if kind == "full":
        (home / "in the way").write_bytes(bytes(16_384))
    places = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "BPE_EXPLORER_CACHE": ""}
    opened = program("--screenshot", str(tmp_path / "window.png"), **places)
    assert (opened.returncode, "Traceback" in opened.stderr) == (0, False), opened.stderr
    assert not QImage(str(tmp_path / "window.png")).isNull()
    train = ["train", "README.md", "--vocab-size", "300", "--output", str(home / "merges.csv")]
    (code, said, _), (_, _, printed) = run_in_one_process(train, ["doctor"], **places)
    assert code == 1
    assert said.splitlines()[-1].endswith(f"{reason}. Existing files are unchanged.")
    assert "nothing can be stored in" in printed


def test_commands_work_when_the_system_clock_shows_1970(tmp_path: Path) -> None:
    """A computer whose clock has an empty battery starts in the first minutes of 1970."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("without a C compiler on Linux there is no clock of its own for a process")
    (tmp_path / "past.c").write_text(PAST)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", "past.so", "past.c"], cwd=tmp_path, check=True)
    past = {"LD_PRELOAD": str(tmp_path / "past.so"), "BPE_EXPLORER_SETTINGS": str(tmp_path / "settings.ini")}
    year = subprocess.run(["date", "+%Y"], env={**os.environ, **past}, capture_output=True, text=True, check=True)
    assert year.stdout == "1970\n"
    opened = program("--screenshot", str(tmp_path / "window.png"), **past)
    assert (opened.returncode, "Traceback" in opened.stderr) == (0, False), opened.stderr
    made = str(tmp_path / "merges.csv")
    manifest = str(tmp_path / "how.json")
    train = ["train", "README.md", "--vocab-size", "300", "--output", made, "--manifest", manifest]
    for code, said, _ in run_in_one_process(train, ["repeat", manifest], **past):
        assert code == 0, said
