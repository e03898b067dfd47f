"""Tests of `train --watch`: others can follow the training through a session file, or through a port of
this computer.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.following.server import HOST
from bpe_core.following.stream_follower import StreamFollower
from tests.core.following.trainings import PROGRAM, are_beginnings, look_until, write_words
from tests.shared import PATIENCE, ROOT


def free_port() -> int:
    with socket.create_server((HOST, 0)) as server:
        return int(server.getsockname()[1])


def connect(port: int) -> socket.socket:
    """Connect to the port of a training run. Try again until the run accepts the connection."""
    latest = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((HOST, port))
        except OSError:
            assert time.monotonic() < latest
            time.sleep(0.01)


def test_a_reader_that_reconnects_receives_all_steps_of_a_training_run(tmp_path: Path) -> None:
    write_words(tmp_path / "words.txt")
    port = free_port()
    words = ["train", "words.txt", "--vocab-size", "2000", "-o", "table.csv", "--watch", str(port), "--quiet"]
    command = [sys.executable, "-c", PROGRAM, "0.02", "0.02", *words]
    training = subprocess.Popen(command, cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE)
    with connect(port) as connection, connection.makefile("rb") as stream:
        seen = look_until(StreamFollower(stream).look, lambda run: run.learned > 20)
    with connect(port) as connection, connection.makefile("rb") as stream:
        again = look_until(StreamFollower(stream).look, lambda run: run.state == "ended")
    assert training.communicate()[1] == b""
    whole = bpe.open(str(tmp_path / "table.csv")).history
    assert again[-1].learned == len(whole)
    assert again[-1].texts == ("words.txt",)
    assert are_beginnings(seen, whole)
    assert are_beginnings(again, whole)


def test_the_session_file_of_the_watch_option_has_the_same_merges_as_the_trained_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_words(Path("words.txt"))
    assert run(["train", "words.txt", "--merges", "40", "-o", "table.csv", "--watch", "run.bpex", "--quiet"]) == 0
    assert bpe.open("run.bpex").history.pairs() == bpe.open("table.csv").history.pairs()


def test_a_port_that_another_program_uses_is_refused_with_an_error_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_words(Path("words.txt"))
    with socket.create_server((HOST, 0)) as other:
        port = str(other.getsockname()[1])
        assert run(["train", "words.txt", "--merges", "4", "-o", "table.csv", "--watch", port]) == 1
    assert "Choose another port." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("output", "watched", "sentence"),
    [
        ("run.bpex", "other.bpex", "can be followed without --watch"),
        ("table.csv", "other.csv", "is neither a session nor a port"),
        ("run.bpex", "4711", "can be followed without --watch"),
        ("table.csv", "99999", "is not a port"),
        ("table.csv", "nowhere/other.bpex", "does not exist"),
    ],
)
def test_the_watch_option_refuses_unsuitable_files_and_ports_before_training_begins(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    output: str,
    watched: str,
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    write_words(Path("words.txt"))
    assert run(["train", "words.txt", "--merges", "4", "-o", output, "--watch", watched]) == 1
    assert sentence in capsys.readouterr().err
