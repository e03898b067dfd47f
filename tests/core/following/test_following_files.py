"""Tests of a follower of a session file.

Meanwhile another process writes, replaces or damages the file, or is killed.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.following.file_follower import FileFollower
from bpe_core.studies.sessions import write_run
from bpe_core.support.atomic import is_being_written, reserve
from tests.core.following.trainings import TO_BE_KILLED, are_beginnings, look_until, start_training, write_words

TEXT = "low lower lowest, new newer newest " * 9


def save_run(path: Path, text: str, merges: int, steps: int | None = None) -> None:
    """Write a session with a run of `merges` merges.

    If `steps` is given, the session holds only the first `steps` merges of the run.
    """
    study = bpe.train(text, "gpt2", merges=merges)
    write_run(study.history.first(merges if steps is None else steps), study.inside.words(), path)


def test_a_follower_shows_a_training_run_from_its_start_even_if_the_run_is_killed_and_resumed(tmp_path: Path) -> None:
    write_words(tmp_path / "words.txt")
    follower = FileFollower(tmp_path / "run.bpex")
    assert follower.look().state == "waiting"

    training = start_training(tmp_path, between=TO_BE_KILLED)
    seen = look_until(follower.look, lambda run: run.learned > 100)
    assert {run.state for run in seen} <= {"waiting", "training"}
    training.kill()
    training.communicate()
    seen += look_until(follower.look, lambda run: run.state == "stopped")
    assert seen[-1].can_be_taken_over

    resumed = start_training(tmp_path)
    seen += look_until(follower.look, lambda run: run.state == "ended")
    assert resumed.communicate()[1] == ""
    whole = bpe.open(str(tmp_path / "run.bpex")).history
    assert len(whole) == seen[-1].learned
    assert len({run.learned for run in seen}) > 3
    assert are_beginnings(seen, whole)
    assert {run.place for run in seen} == {1}
    assert not seen[-1].can_be_taken_over


@pytest.fixture
def followed(tmp_path: Path) -> FileFollower:
    """Return a follower that has read a session with 12 steps."""
    save_run(tmp_path / "run.bpex", TEXT, 12)
    follower = FileFollower(tmp_path / "run.bpex")
    assert follower.look().learned == 12
    return follower


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99])
def test_a_follower_keeps_its_steps_while_the_file_is_half_written(followed: FileFollower, share: float) -> None:
    whole = followed.path.read_bytes()
    followed.path.write_bytes(whole[: int(share * len(whole))])
    broken = followed.look()
    assert broken.state == "unreadable"
    assert broken.learned == 12
    assert broken.why
    followed.path.write_bytes(whole)
    assert followed.look().state == "ended"


def test_following_a_session_file_shows_no_steps_that_were_altered_by_a_different_program(
    followed: FileFollower,
) -> None:
    with contextlib.closing(sqlite3.connect(followed.path, isolation_level=None)) as connection:
        connection.execute("UPDATE merges SET count = count + 1 WHERE step = 7")
    changed = followed.look()
    assert (changed.state, changed.learned, changed.place) == ("unreadable", 12, 1)
    assert "a stored checksum differs" in changed.why


def test_following_a_file_keeps_the_known_steps_while_the_file_is_missing(followed: FileFollower) -> None:
    away = followed.path.rename(followed.path.with_name("away"))
    gone = followed.look()
    assert (gone.state, gone.learned) == ("unreadable", 12)
    assert "cannot be read at present" in gone.sentence
    away.rename(followed.path)
    assert followed.look().state == "ended"


def test_a_follower_keeps_its_steps_if_the_file_is_replaced_by_an_older_copy_of_the_run(tmp_path: Path) -> None:
    for steps in (5, 12):
        save_run(tmp_path / f"{steps}.bpex", TEXT, 12, steps)
    place = tmp_path / "run.bpex"
    shutil.copy(tmp_path / "12.bpex", place)
    follower = FileFollower(place)
    assert follower.look().learned == 12
    shutil.copy(tmp_path / "5.bpex", place)
    assert (follower.look().learned, follower.look().place) == (12, 1)


def test_a_new_run_in_the_followed_file_is_shown_as_a_second_run(followed: FileFollower) -> None:
    save_run(followed.path, "other words, other steps " * 9, 3)
    other = followed.look()
    assert (other.learned, other.place) == (3, 2)


def test_following_a_file_that_is_not_a_session_waits_and_reports_the_reason(tmp_path: Path) -> None:
    (tmp_path / "run.bpex").write_text("no session")
    run = FileFollower(tmp_path / "run.bpex").look()
    assert run.state == "waiting"
    assert "is not a session" in run.sentence


def test_the_age_of_a_followed_run_is_the_time_since_the_last_change_of_its_file(followed: FileFollower) -> None:
    an_hour_ago = time.time() - 7_250
    os.utime(followed.path, (an_hour_ago, an_hour_ago))
    assert FileFollower(followed.path).look().age == pytest.approx(7_250, abs=60)


def test_following_a_session_file_writes_no_file(followed: FileFollower) -> None:
    before = sorted(path.name for path in followed.path.parent.iterdir())
    followed.look()
    assert sorted(path.name for path in followed.path.parent.iterdir()) == before


def test_a_session_file_is_reported_as_being_written_only_while_a_process_locks_it(tmp_path: Path) -> None:
    path = tmp_path / "run.bpex"
    assert is_being_written(path) is False
    with reserve(path):
        assert is_being_written(path) is True
        assert is_being_written(path) is True
    assert is_being_written(path) is False
