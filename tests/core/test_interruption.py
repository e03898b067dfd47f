"""Tests of Ctrl-C, `kill` and a closed terminal: commands end normally and keep their results."""

from __future__ import annotations

import contextlib
import os
import random
import select
import signal
import string
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bpe_core.command_line.commands import train
from bpe_core.command_line.interruption import Interruption
from bpe_core.command_line.main import run
from bpe_core.formats import read_history
from bpe_core.methods.kit.trainer import learn
from bpe_core.support.progress import Progress
from tests.shared import PATIENCE, ROOT

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows delivers Ctrl-C in another way")

ENDINGS = [
    pytest.param(getattr(signal, name, 0), code, id=name)
    for name, code in (("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129))
]

IN_THE_TERMINAL = """
import os, sys
os.open(os.ttyname(2), os.O_RDWR)  # the first one that a session opens is its terminal
from bpe_core.command_line.main import run
sys.exit(run(sys.argv[1:]))
"""


@contextlib.contextmanager
def start_process(command: list[str], **how: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a process, and kill it when its test ends or fails. `with Popen` alone would wait for ever."""
    with subprocess.Popen(command, cwd=ROOT, **how) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def start_at_terminal(arguments: list[str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start the command with a terminal as standard error.

    Yield the process, and the file descriptor from which a test reads what the terminal shows.
    """
    screen, terminal = os.openpty()
    command = [sys.executable, "-c", IN_THE_TERMINAL, *arguments]
    with start_process(command, stdin=subprocess.PIPE, stderr=terminal, start_new_session=True) as process:
        os.close(terminal)
        try:
            yield process, screen
        finally:
            with contextlib.suppress(OSError):  # a test may have closed the descriptor
                os.close(screen)


def read_until(screen: int, wanted: str, seconds: float = 120) -> str:
    """Return the output until the text `wanted` appears. If `wanted` is empty, return all output."""
    shown = ""
    while not wanted or wanted not in shown:
        ready, _, _ = select.select([screen], [], [], seconds)
        assert ready, f"{wanted!r} was never shown, only {shown!r}"
        try:
            shown += os.read(screen, 4096).decode(errors="replace")
        except OSError:  # the terminal's other end is closed
            assert not wanted, f"{wanted!r} was never shown, only {shown!r}"
            return shown
    return shown


@pytest.fixture(scope="module")
def long_text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text = tmp_path_factory.mktemp("long") / "endless.txt"
    text.write_text("".join(random.Random(1).choices(string.ascii_lowercase, k=3_000_000)))
    return text


@pytest.fixture
def long_training(tmp_path: Path, long_text: Path) -> list[str]:
    """Return the arguments of a training that takes a long time, because its long text is a single word."""
    arguments = ["train", str(long_text), "--preset", "raw-bytes", "--vocab-size", "4000000"]
    return [*arguments, "--output", str(tmp_path / "merges.csv")]


@posix_only
@pytest.mark.parametrize(("number", "code"), ENDINGS)
def test_a_signal_during_training_ends_the_command_and_keeps_the_learned_merges(
    long_training: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    """The signal is sent in this process at the first progress report of training."""
    original = learn

    def interrupted(words, recipe, *, progress, cancelled, **other):
        def report(where: Progress) -> None:
            progress(where)
            if where.stage == "training" and where.done > 0 and not cancelled():
                signal.raise_signal(number)

        return original(words, recipe, progress=report, cancelled=cancelled, **other)

    # Tests that run in the background inherit an ignored Ctrl-C, with which the work here would never end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    before = signal.getsignal(number)
    with monkeypatch.context() as patched:
        patched.setattr(train, "learn", interrupted)
        assert run([*long_training, "--quiet"]) == code
    assert signal.getsignal(number) is before
    history = read_history(tmp_path / "merges.csv")
    assert len(history) > 0
    assert history.end_reason == "stopped"
    undisturbed = [
        *long_training[:4],
        "--merges",
        str(len(history)),
        "--output",
        str(tmp_path / "undisturbed.csv"),
        "--quiet",
    ]
    assert run(undisturbed) == 0
    assert list(read_history(tmp_path / "undisturbed.csv")) == list(history)


@posix_only
def test_pressing_ctrl_c_in_a_terminal_ends_training_and_keeps_the_learned_merges(
    long_training: list[str], tmp_path: Path
) -> None:
    with start_at_terminal(long_training) as (process, screen):
        read_until(screen, "training")
        process.send_signal(signal.SIGINT)
        shown = read_until(screen, "")
        assert process.wait(PATIENCE) == 130
    # Without the signal, the training would never end.
    assert "Stopping. The steps learned so far are kept." in shown
    assert "Traceback" not in shown
    history = read_history(tmp_path / "merges.csv")
    assert (len(history) > 0, history.end_reason) == (True, "stopped")


@posix_only
def test_pressing_ctrl_c_twice_at_a_terminal_discards_the_training(long_training: list[str], tmp_path: Path) -> None:
    (tmp_path / "merges.csv").write_text("precious")
    with start_at_terminal(long_training) as (process, screen):
        read_until(screen, "training")
        process.send_signal(signal.SIGINT)
        read_until(screen, "Stopping")
        process.send_signal(signal.SIGINT)
        shown = read_until(screen, "")
        assert process.wait(PATIENCE) == 130
    assert "Traceback" not in shown
    content = (tmp_path / "merges.csv").read_text()
    assert content == "precious" or content.startswith("step,")  # the old content or a complete new file


@posix_only
def test_pressing_ctrl_c_immediately_ends_a_command_that_waits_for_standard_input(tmp_path: Path) -> None:
    output = tmp_path / "merges.csv"
    with start_at_terminal(["train", "-", "--output", str(output)]) as (process, screen):
        assert process.stdin is not None
        process.stdin.write(b"the lowest price is lower than the last one\n" * 400_000)
        process.stdin.flush()
        read_until(screen, "counting")
        time.sleep(0.5)  # the command has read all input and waits for more
        process.send_signal(signal.SIGINT)
        assert read_until(screen, "").endswith("The command was stopped, and nothing was written.\r\n")
        assert process.wait(PATIENCE) == 130
    assert not output.exists()


@posix_only
def test_closing_the_terminal_of_a_training_command_keeps_the_learned_merges(
    long_training: list[str], tmp_path: Path
) -> None:
    with start_at_terminal(long_training) as (process, screen):
        read_until(screen, "training")
        os.close(screen)
        assert process.wait(PATIENCE) == 129
    assert len(read_history(tmp_path / "merges.csv")) > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["merges.csv"]


ENCODE_AND_PRINT = """
import signal, sys, time
from bpe_core.methods.kit import encode_corpus
from bpe_core.command_line.main import run

def write_on(corpus, encoding, files, groups, file, *rest):
    file.write(b"half")
    print("writing", flush=True)
    while True:
        time.sleep(0.01)

encode_corpus._write_all = write_on
sys.exit(run(sys.argv[1:]))
"""


@posix_only
@pytest.mark.parametrize(("number", "code"), ENDINGS)
def test_a_signal_while_writing_leaves_the_old_file_and_no_temporary_file(
    tmp_path: Path, number: int, code: int
) -> None:
    (tmp_path / "text.txt").write_text("the lowest price is lower than the last one\n")
    (tmp_path / "ids.npy").write_text("precious")
    assert run(["train", str(tmp_path / "text.txt"), "--output", str(tmp_path / "merges.csv"), "--quiet"]) == 0
    arguments = ["encode", str(tmp_path / "text.txt"), "--merges", str(tmp_path / "merges.csv"), "--output"]
    command = [sys.executable, "-c", ENCODE_AND_PRINT, *arguments, str(tmp_path / "ids.npy")]
    with start_process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "writing\n"
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (code, "The command was stopped, and nothing was written.\n")
    assert (tmp_path / "ids.npy").read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ids.npy", "merges.csv", "text.txt"]


@posix_only
@pytest.mark.parametrize(("number", "code"), ENDINGS)
def test_a_signal_ends_any_command_with_the_exit_code_of_the_signal(
    number: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bpe_core.command_line.commands.presets.run", lambda options: signal.raise_signal(number))
    before = signal.getsignal(number)
    assert run(["presets"]) == code
    assert signal.getsignal(number) is before


@posix_only
def test_a_second_ctrl_c_raises_keyboard_interrupt() -> None:
    with Interruption("Stopping.") as interruption:
        interruption.worth_keeping = True
        signal.raise_signal(signal.SIGINT)
        assert interruption()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


@posix_only
def test_an_ignored_ctrl_c_stays_ignored_during_a_command() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interruption("Stopping.") as interruption:
            signal.raise_signal(signal.SIGINT)
            assert not interruption()
    finally:
        signal.signal(signal.SIGINT, before)
