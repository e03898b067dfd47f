"""Tests of the free memory that the system reports, and of the messages about too little memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from bpe_core.counting.count_words import count_words
from bpe_core.counting.words import WordTable
from bpe_core.errors import TooLarge
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.recipes.recipe import Recipe
from bpe_core.support import limits
from bpe_core.support.limits import available_memory, check_room, size_text, watching_memory
from bpe_core.text.corpus import Corpus
from tests.shared import PATIENCE

MB, GB = 2**20, 2**30
linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads what Linux writes in /proc")


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a simulated Linux system, in which tests write the files `proc/...` and `cgroup/...`."""
    monkeypatch.setattr(limits, "PROC", tmp_path / "proc")
    monkeypatch.setattr(limits, "CGROUP", tmp_path / "cgroup")
    monkeypatch.delenv(limits.SETTING, raising=False)
    return tmp_path


def write(folder: Path, **files: str) -> None:
    """Write files: `write(folder, proc__meminfo="...")` writes folder/proc/meminfo."""
    for name, text in files.items():
        path = folder.joinpath(*name.replace("__", "/").split("/"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "ascii")


def meminfo(available: int) -> str:
    return f"MemTotal:       24683520 kB\nMemFree:          999 kB\nMemAvailable:   {available // 1024} kB\n"


def group(folder: Path, names: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in names.items():
        (folder / name).write_text(text, "ascii")


def version_2(limit: str, used: int, *, kept: int = 0) -> dict[str, str]:
    facts = f"anon 5\nfile 7\ninactive_anon 3\ninactive_file {kept // 2}\nactive_file {kept - kept // 2}\n"
    return {"memory.max": f"{limit}\n", "memory.current": f"{used}\n", "memory.stat": facts}


def version_1(limit: int, used: int, *, kept: int = 0) -> dict[str, str]:
    facts = f"inactive_file 1\ntotal_inactive_file {kept // 2}\ntotal_active_file {kept - kept // 2}\n"
    return {"memory.limit_in_bytes": f"{limit}\n", "memory.usage_in_bytes": f"{used}\n", "memory.stat": facts}


@linux_only
class TestMemoryThatLinuxReports:
    def test_available_memory_without_a_container_is_the_free_memory_of_the_machine(self, system: Path) -> None:
        write(system, proc__meminfo=meminfo(3 * GB))
        assert available_memory() == 3 * GB

    def test_no_work_is_refused_if_the_available_memory_is_unknown(self, system: Path) -> None:
        assert available_memory() is None
        check_room(2**60, "This", "Do that.")
        assert not watching_memory(lambda: False, "This", "Do that.")()

    @pytest.mark.parametrize("text", ["", "MemTotal: 5 kB\n", "MemAvailable: many kB\n", "MemAvailable:\n"])
    def test_an_unreadable_meminfo_gives_no_memory_limit(self, system: Path, text: str) -> None:
        write(system, proc__meminfo=text)
        assert available_memory() is None

    def test_available_memory_in_a_container_is_limited_by_its_control_group(self, system: Path) -> None:
        write(system, proc__meminfo=meminfo(30 * GB), proc__self__cgroup="0::/\n")
        group(system / "cgroup", version_2(str(2 * GB), 1500 * MB, kept=1 * GB))
        assert available_memory() == 2 * GB - 1500 * MB + 1 * GB

    def test_a_container_without_a_memory_limit_has_the_memory_of_the_machine(self, system: Path) -> None:
        write(system, proc__meminfo=meminfo(30 * GB), proc__self__cgroup="0::/\n")
        group(system / "cgroup", version_2("max", 1500 * MB))
        assert available_memory() == 30 * GB

    def test_the_smallest_memory_limit_of_all_parent_control_groups_is_used(self, system: Path) -> None:
        write(system, proc__meminfo=meminfo(30 * GB), proc__self__cgroup="0::/user.slice/one.scope\n")
        group(system / "cgroup/user.slice", version_2(str(4 * GB), 3 * GB))
        group(system / "cgroup/user.slice/one.scope", version_2(str(3 * GB), 1 * GB))
        assert available_memory() == 1 * GB

    def test_memory_limits_of_version_1_control_groups_are_read(self, system: Path) -> None:
        write(system, proc__meminfo=meminfo(30 * GB), proc__self__cgroup="9:cpu:/a\n4:memory:/docker/0a1b\n0::/x\n")
        # A container sees its own control group like this.
        group(system / "cgroup/memory", version_1(5 * GB, 2 * GB, kept=1 * GB))
        assert available_memory() == 4 * GB
        group(system / "cgroup/memory/docker", version_1(2**63 - 4096, 2 * GB))  # no limit
        assert available_memory() == 4 * GB

    @pytest.mark.parametrize("broken", [{"memory.max": "?"}, {"memory.current": ""}, {"memory.stat": "\x7f"}])
    def test_unreadable_values_of_a_control_group_are_left_out_of_the_memory_limit(
        self, system: Path, broken: dict[str, str]
    ) -> None:
        write(system, proc__meminfo=meminfo(3 * GB), proc__self__cgroup="0::/\n")
        group(system / "cgroup", version_2(str(4 * GB), 2 * GB) | broken)
        expected = 2 * GB if "memory.stat" in broken else 3 * GB  # without memory.stat no cached memory is known
        assert available_memory() == expected

    def test_the_available_memory_of_this_machine_is_plausible(self) -> None:
        memory = available_memory()
        assert memory is not None
        assert 0 < memory < 2**60


@linux_only
class TestMemoryVariable:
    def test_the_environment_variable_can_lower_the_memory_limit(
        self, system: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        page = os.sysconf("SC_PAGE_SIZE")
        write(system, proc__meminfo=meminfo(30 * GB))
        write(system, proc__self__statm=f"999999999 {3 * GB // page} {1 * GB // page} 1 0 5 0\n")
        monkeypatch.setenv(limits.SETTING, "5120")
        assert available_memory() == 3 * GB  # 5 GB are allowed, 3 GB are in use, and 1 GB of the used memory is files

    @pytest.mark.parametrize("value", ["", " ", "lots", "-5", "1.5"])
    def test_a_memory_setting_in_the_environment_is_ignored_unless_the_value_is_a_number(
        self, system: Path, monkeypatch: pytest.MonkeyPatch, value: str
    ) -> None:
        write(system, proc__meminfo=meminfo(1 * GB), proc__self__statm="9 5 1 1 0 5 0\n")
        monkeypatch.setenv(limits.SETTING, value)
        assert available_memory() == 1 * GB

    def test_the_measured_memory_in_use_grows_with_an_array(self) -> None:
        before = limits.used_memory()
        array = np.full(200 * MB, 1, np.uint8)
        after = limits.used_memory()
        assert before is not None
        assert after is not None
        assert 150 * MB < after - before < 400 * MB
        del array


class TestMessages:
    @pytest.fixture
    def room(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """Return a list with the number of free bytes as its only item. Tests change this item."""
        left = [0]
        monkeypatch.setattr(limits, "available_memory", lambda: left[0])
        return left

    def test_work_that_needs_more_memory_than_is_free_is_refused(self, room: list[int]) -> None:
        room[0] = 1_000_000_000
        check_room(1_000_000_000 - limits.RESERVE, "Training", "Take less.")
        with pytest.raises(TooLarge) as refused:
            check_room(1_000_000_001 - limits.RESERVE, "Training", "Take less.")
        assert str(refused.value) == (
            "Training needs about 732 MB more memory, but only 1.0 GB is free, of which 268 MB is left for other "
            "programs. Take less."
        )

    def test_the_memory_check_is_skipped_for_work_that_needs_little_memory(self, room: list[int]) -> None:
        check_room(limits.WORTH_ASKING - 1, "Training", "Take less.")

    def test_a_long_computation_checks_the_free_memory_every_few_seconds(
        self, room: list[int], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now = [100.0]
        monkeypatch.setattr(time, "monotonic", lambda: now[0])
        stop = [False]
        check = watching_memory(lambda: stop[0], "Counting", "Take less.")
        assert not check()  # the memory is not checked yet
        now[0] += limits.LOOK_SECONDS
        with pytest.raises(TooLarge, match=r"^Counting was stopped: only 0 MB of memory is free\. Take less\.$"):
            check()
        now[0] += limits.LOOK_SECONDS
        room[0], stop[0] = limits.RESERVE, True
        assert check()

    @pytest.mark.parametrize(
        ("size", "text"), [(0, "0 MB"), (1_400_000, "1 MB"), (999_400_000, "999 MB"), (24_375_205_888, "24.4 GB")]
    )
    def test_memory_sizes_are_written_with_readable_units(self, size: int, text: str) -> None:
        assert size_text(size) == text

    def test_training_checks_the_free_memory_before_it_begins(self, room: list[int]) -> None:
        words = WordTable(np.zeros(100 * MB, np.uint8), np.array([0, 100 * MB]), np.array([1]))
        with pytest.raises(TooLarge, match=r"^Training needs about .* GB more memory"):
            Trainer(words, Recipe.preset("raw-bytes"))

    def test_counting_without_a_pattern_checks_the_memory_before_joining_a_text(self, room: list[int]) -> None:
        room[0] = limits.RESERVE + 10 * MB  # enough for small work
        with pytest.raises(TooLarge, match=r"^Holding a text as one word needs about 70 MB"):
            count_words(Corpus.from_texts(["x" * 70_000_000]), Recipe.preset("raw-bytes"))

    def test_splitting_a_long_text_as_a_whole_checks_the_memory_first(self, room: list[int]) -> None:
        room[0] = limits.RESERVE + 10 * MB  # enough for small work
        with pytest.raises(TooLarge, match=r"^Splitting a text as a whole needs about"):
            count_words(
                Corpus.from_texts(["low " * 5_000_000]), Recipe(pattern="custom", custom_pattern=r"(?<=,,)-|\w+")
            )


@linux_only
def test_training_with_too_little_memory_ends_with_an_error_message_and_is_not_killed(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"abcdefghij" * 4_000_000)
    command = [sys.executable, "-m", "bpe_core", "train", str(path), "--preset", "raw-bytes", "--merges", "10"]
    done = subprocess.run(
        [*command, "--output", str(tmp_path / "merges.csv")],
        env={**os.environ, limits.SETTING: "700"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 1, done.stderr
    assert "Training needs about" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "merges.csv").exists()
