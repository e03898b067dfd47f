"""Tests of odd files as arguments.

Each command reports an odd file in a sentence, whichever argument names the file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bpe_core.command_line.main import run
from tests.shared import ROOT


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system does not tell the memory of a process")
def test_every_command_handles_devices_and_folders_and_circular_links_and_empty_files_without_a_traceback(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.core.command_line.odd_files", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    *wrong, last = done.stdout.splitlines()
    assert not wrong
    assert int(re.fullmatch(r"(\d+) commands", last)[1]) > 200  # type: ignore[index]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("argv", [["train"], ["steps"], ["repeat"], ["train", "text.txt", "--recipe"]])
def test_a_command_says_that_it_waits_for_a_named_pipe(argv: list[str], tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    waiting = subprocess.Popen(
        [sys.executable, "-m", "bpe_core", *argv, str(pipe)], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert waiting.stderr is not None
    assert waiting.stderr.readline() == f"bpe-explorer: Waiting for a program that writes to the pipe {pipe}.\n"
    waiting.kill()
    waiting.communicate()


def test_the_shelf_command_refuses_a_folder_that_does_not_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["shelf", "--folder", str(tmp_path / "nowhere")]) == 1
    assert "is not a folder. Name a folder with tokenizers." in capsys.readouterr().err


def test_a_report_page_is_written_even_if_cells_of_the_answer_contain_lists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.txt").write_text("low lower lowest")
    assert run(["train", str(tmp_path / "s.txt"), "--vocab-size", "258", "-o", str(tmp_path / "t.csv")]) == 0
    assert run(["lab", str(tmp_path / "t.csv"), "--text", "low", "--report", str(tmp_path / "lab.html")]) == 0
    assert "<table" in (tmp_path / "lab.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "argv",
    [
        ["train", ""],
        ["train", "s.txt", "-o", ""],
        ["train", "s.txt", "--output="],
        ["train", "--group", "a", ""],
        ["encode", "--merges", "", "low"],
    ],
)
def test_an_empty_file_name_is_refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """In an earlier version, an empty name meant the current folder, and a result with an empty name was not kept."""
    assert run(argv) == 2
    assert "the name is empty" in capsys.readouterr().err


def test_a_sidecar_file_with_deeply_nested_brackets_is_left_out_with_a_note(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "s.txt"
    text.write_text("low lower lowest " * 9)
    given = tmp_path / "in"
    assert run(["train", str(text), "--vocab-size", "258", "-o", str(tmp_path / "t.csv")]) == 0
    assert run(["export", "--merges", str(tmp_path / "t.csv"), f"{given}/"]) == 0
    (given / "generation_config.json").write_text('{"eos_token_id": ' + "[" * 800 + "1" + "]" * 800 + "}")
    assert run(["extend", f"{given}/", "--corpus", str(text), "--by", "1", "-o", f"{tmp_path}/out/"]) == 0
    assert "generation_config.json is damaged, and was left out." in "".join(capsys.readouterr())
    assert not (tmp_path / "out" / "generation_config.json").exists()
