"""Tests of requests that tell a training run in another process to pause, to continue or to stop."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.following.file_follower import FileFollower
from bpe_core.session_file.requests import make_request, request_file, request_for, withdraw_request
from tests.core.following.trainings import TO_BE_KILLED, are_beginnings, look_until, start_training, write_words

SECONDS_OF_REST = 1.5


def test_a_paused_training_run_adds_no_steps_and_later_learns_the_same_steps_as_without_a_pause(
    tmp_path: Path,
) -> None:
    write_words(tmp_path / "words.txt")
    session = tmp_path / "run.bpex"
    follower = FileFollower(session)
    training = start_training(tmp_path, between=0.1)
    seen = look_until(follower.look, lambda run: run.learned > 100)

    make_request(session, "pause")
    seen += look_until(follower.look, lambda run: run.state == "paused")
    time.sleep(SECONDS_OF_REST)
    at_first = follower.look()
    time.sleep(SECONDS_OF_REST)
    later = follower.look()
    assert later.learned == at_first.learned
    assert "paused after" in later.sentence
    assert training.poll() is None

    withdraw_request(session)
    seen += [at_first, later, *look_until(follower.look, lambda run: run.state == "ended")]
    assert training.communicate()[1] == ""
    assert are_beginnings(seen, bpe.open(str(session)).history)


def test_a_training_run_that_is_asked_to_stop_saves_its_steps_and_can_be_continued(tmp_path: Path) -> None:
    write_words(tmp_path / "words.txt")
    session = tmp_path / "run.bpex"
    follower = FileFollower(session)
    training = start_training(tmp_path, size=900, between=TO_BE_KILLED)
    seen = look_until(follower.look, lambda run: run.learned > 50)
    request_file(session).write_text("STOP \n")  # as a person may write it
    assert training.wait() == 0
    training.communicate()
    seen.append(follower.look())
    assert seen[-1].can_be_taken_over
    assert request_for(session) is None

    start_training(tmp_path, size=900).communicate()
    seen.append(follower.look())
    assert seen[-1].state == "ended"
    assert are_beginnings(seen, bpe.open(str(session)).history)


@pytest.mark.parametrize("content", [b"", b"please stop", b"\xff\xfe", b"pause" * 99])
def test_an_unknown_request_to_a_training_run_is_ignored(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "run.bpex.request").write_bytes(content)
    assert request_for(tmp_path / "run.bpex") is None
