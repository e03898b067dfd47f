"""Tests of a session file that is updated during training.

After a kill the same command resumes the training. The result is the same as without the kill.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.errors import OutputError
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.registry import METHODS
from bpe_core.recipes.recipe import Recipe
from bpe_core.studies import sessions
from tests.shared import ROOT

TEXT = "".join(
    (Path(__file__).parents[2] / "texts" / name).read_text(encoding="utf-8") for name in ("poem.txt", "prose.txt")
)


class SimulatedKill(BaseException):
    """An exception that stands for a killed process: nothing is written after it is raised."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def frequent_writes(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Make training write the session file after each batch of seven steps."""
    monkeypatch.setattr(sessions, "SECONDS_BETWEEN", 0.0)
    monkeypatch.setattr(sessions, "TIMES_THE_WRITING", 0)
    advance = Trainer.advance

    def by_few(trainer: Trainer, max_merges: int | None = None, seconds: float | None = None) -> Any:
        return advance(trainer, 7)

    monkeypatch.setattr(Trainer, "advance", by_few)
    return monkeypatch


def kill_at(patch: pytest.MonkeyPatch, number: int) -> None:
    """Raise SimulatedKill when the session file has been written `number` times."""
    write, written = sessions.write_run, 0

    def written_and_killed(*arguments: Any) -> None:
        nonlocal written
        write(*arguments)
        written += 1
        if written == number:
            raise SimulatedKill

    patch.setattr(sessions, "write_run", written_and_killed)


def write_partial_session(patch: pytest.MonkeyPatch, method: str) -> None:
    """Train with a method until a simulated kill.

    A session file with the first steps remains.
    """
    with patch.context() as killing:
        kill_at(killing, 2)
        with pytest.raises(SimulatedKill):
            run([*training_arguments(method), "-o", "it.bpex"])


def training_arguments(method: str) -> list[str]:
    parity = ["--group", "a", "s.txt", "--group", "b", "s.txt", "--ratio", "a=1", "b=1", "--twice"]
    texts = parity if METHODS[method].serves_languages else ["s.txt"]
    return ["train", *texts, "--method", method, "--vocab-size", "330"]


@pytest.mark.parametrize("method", METHODS)
def test_a_training_run_that_is_killed_and_resumed_makes_the_same_steps_as_an_uninterrupted_run(
    method: str, folder: Path, frequent_writes: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_partial_session(frequent_writes, method)
    partial = bpe.open("it.bpex").history
    assert run([*training_arguments(method), "-o", "whole.bpex"]) == 0
    whole = bpe.open("whole.bpex").history
    assert 0 < len(partial) <= len(whole)
    capsys.readouterr()
    assert run([*training_arguments(method), "-o", "it.bpex"]) == 0
    warnings = capsys.readouterr().err
    is_partial = len(partial) < len(whole) and not METHODS[method].serves_languages
    assert ("that it.bpex holds." in warnings) == is_partial
    again = bpe.open("it.bpex").history
    assert again.pairs() == whole.pairs()
    assert again.end_reason == whole.end_reason
    assert again.tokens_after.tolist() == whole.tokens_after.tolist()
    assert Path("it.bpex").read_bytes() == Path("whole.bpex").read_bytes()


@pytest.mark.parametrize(
    "other",
    [
        ["train", "s.txt", "--vocab-size", "331"],
        ["train", "s.txt", "--vocab-size", "330", "--ties", "lowest-ids"],
        ["train", "s.txt", "s.txt", "--twice", "--vocab-size", "330"],
    ],
)
def test_training_with_a_different_recipe_does_not_resume_a_killed_run(
    other: list[str], folder: Path, frequent_writes: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_partial_session(frequent_writes, "bpe")
    capsys.readouterr()
    assert run([*other, "-o", "it.bpex"]) == 0
    assert "that it.bpex holds." not in capsys.readouterr().err
    assert run([*other, "-o", "whole.bpex"]) == 0
    assert bpe.open("it.bpex").history.pairs() == bpe.open("whole.bpex").history.pairs()


def test_training_continues_while_its_session_file_cannot_be_written(
    folder: Path, frequent_writes: pytest.MonkeyPatch
) -> None:
    write, tries = sessions.write_run, 0

    def full_at_first(*arguments: Any) -> None:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise OutputError("Could not write it.bpex: no room.")
        write(*arguments)

    frequent_writes.setattr(sessions, "write_run", full_at_first)
    assert run([*training_arguments("bpe"), "-o", "it.bpex"]) == 0
    assert len(bpe.open("it.bpex").history) == 74


def test_the_manifest_of_a_session_is_written_only_when_the_training_ends(
    folder: Path, frequent_writes: pytest.MonkeyPatch
) -> None:
    command = [*training_arguments("bpe"), "-o", "it.bpex", "--manifest", "how.json"]
    assert run(command) == 0
    assert Path("how.json").exists()
    with frequent_writes.context() as killing:
        kill_at(killing, 2)
        with pytest.raises(SimulatedKill):
            run(command)
    assert 0 < len(bpe.open("it.bpex").history) < 74
    assert not Path("how.json").exists()  # which would describe the whole run
    assert run(command) == 0
    assert len(bpe.open("it.bpex").history) == 74
    assert Path("how.json").exists()


def test_training_writes_no_session_file_in_its_first_seconds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    growing = sessions.GrowingRun("it.bpex", bpe.train([TEXT], "gpt2", vocab_size=260).inside.words(), ())
    trainer = Trainer(bpe.train([TEXT], "gpt2", vocab_size=260).inside.words(), Recipe.preset("gpt2", vocab_size=300))
    trainer.advance(5)
    growing.keep(trainer)
    assert not Path("it.bpex").exists()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows kills processes in another way")
def test_a_killed_training_process_leaves_a_session_file_with_all_learned_steps(folder: Path) -> None:
    script = (
        "from bpe_core.studies import sessions; from bpe_core.command_line.main import run; import sys; "
        "sessions.SECONDS_BETWEEN = 0.0; sys.exit(run(sys.argv[1:]))"
    )
    words = " ".join(f"{number * 7919:x}" for number in range(60_000))
    Path("s.txt").write_text(words)
    command = [sys.executable, "-c", script, "train", "s.txt", "--vocab-size", "30000", "-o", "it.bpex", "--quiet"]
    process = subprocess.Popen(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)})
    latest = time.monotonic() + 300
    while not Path("it.bpex").exists() and process.poll() is None and time.monotonic() < latest:
        time.sleep(0.01)
    process.kill()
    process.wait()
    history = bpe.open("it.bpex").history
    assert 0 < len(history) <= 30_000 - 256
