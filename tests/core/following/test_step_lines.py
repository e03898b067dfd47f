"""Tests of a run that is followed through lines of JSON.

The steps are read back unchanged, wherever the stream ends.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.command_line.main import run
from bpe_core.following.file_follower import is_continued
from bpe_core.following.followed_run import OVER, FollowedRun, FollowState
from bpe_core.following.step_lines import StepLines
from bpe_core.following.stream_follower import StreamFollower
from bpe_core.history.history import History
from bpe_core.methods.registry import METHODS
from bpe_core.studies.sessions import write_run
from tests.core.following.trainings import start_training, write_words
from tests.shared import ROOT, text_of

TEXT = text_of("poem") + text_of("prose")


def lines_of(history: History, *lengths: int, state: FollowState = "ended") -> bytes:
    """Return the lines that `StepLines` writes about a run that is checked several times.

    At each check, the run has as many steps as the next number in `lengths`. At the final check it has all
    steps of `history`, and its state is `state`.
    """
    lines = StepLines()
    looks = [FollowedRun("run.bpex", "training", history.first(length)) for length in lengths]
    looks.append(FollowedRun("run.bpex", state, history))
    return b"".join(line for look in looks for line in lines.new_lines(look))


def looks_at(stream: bytes) -> Iterator[FollowedRun]:
    follower = StreamFollower(io.BytesIO(stream))
    while True:
        followed = follower.look()
        yield followed
        if followed.state in OVER:
            return


@pytest.mark.parametrize("method", [name for name in METHODS if not METHODS[name].serves_languages])
def test_steps_of_every_method_that_are_written_to_a_pipe_are_read_back_unchanged(method: str) -> None:
    history = bpe.train(TEXT, method=method, vocab_size=330).history
    *parts, whole = looks_at(lines_of(history, 0, len(history) // 2))
    assert [part.learned for part in parts] == [0, len(history) // 2]
    assert whole.state == "ended"
    assert whole.history is not None
    assert whole.history.recipe == history.recipe
    assert whole.history.pairs() == history.pairs()
    assert [*map(repr, whole.history)] == [*map(repr, history)]  # a loss that is no number equals nothing
    assert whole.history.end_reason == history.end_reason


def test_the_name_of_a_followed_file_need_not_be_utf8() -> None:
    name = os.fsdecode(b"r\xffn.bpex")
    stream = b"".join(StepLines().new_lines(FollowedRun(name, "waiting", why=f"There is no file {name}.")))
    assert json.loads(stream)["name"] == name


def test_each_step_of_a_followed_run_is_printed_only_once() -> None:
    history = bpe.train(TEXT, "gpt2", merges=20).history
    lines = [json.loads(line) for line in lines_of(history, 4, 4, 11).splitlines()]
    assert [line["step"] for line in lines if "step" in line] == [*range(1, 21)]


def test_a_stream_that_is_truncated_at_any_byte_gives_the_complete_steps_before_the_cut() -> None:
    history = bpe.train(TEXT, "gpt2", merges=9).history
    stream = lines_of(history, 3, 6)
    for size in range(0, len(stream), 97):
        *_, last = looks_at(stream[:size])
        assert last.state == "cut"
        assert last.history is None or is_continued(last.history, history)
        assert f"after step {last.learned}" in last.sentence or f"after merge {last.learned}" in last.sentence


def test_a_stream_without_steps_is_refused_with_an_error_message() -> None:
    (only,) = looks_at(b"Welcome to this computer\n")
    assert only.state == "cut"
    assert "not valid JSON" in only.why


def test_a_second_training_run_in_the_same_stream_is_read_as_a_new_run() -> None:
    first, second = (bpe.train(text, "gpt2", merges=5).history for text in (TEXT, "other words, other steps " * 9))
    *_, last = looks_at(lines_of(first, state="stopped") + lines_of(second))
    assert last.history is not None
    assert last.history.pairs() == second.pairs()
    assert last.place == 2


def test_the_follow_command_prints_the_steps_of_a_finished_session_and_ends(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    study = bpe.train(TEXT, "gpt2", merges=20)
    write_run(study.history, study.inside.words(), tmp_path / "run.bpex")
    assert run(["follow", str(tmp_path / "run.bpex")]) == 0
    *_, last = looks_at(capfdbinary.readouterr().out)
    assert last.history is not None
    assert last.history.pairs() == study.history.pairs()


def test_a_program_that_reads_steps_from_a_pipe_follows_the_training_run_to_its_end(tmp_path: Path) -> None:
    write_words(tmp_path / "words.txt")
    command = [sys.executable, "-m", "app", "follow"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    near = subprocess.Popen([*command, "run.bpex"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
    far = subprocess.Popen([*command, "-"], cwd=tmp_path, env=environment, stdin=near.stdout, stdout=subprocess.PIPE)
    assert start_training(tmp_path, size=900).communicate()[1] == ""
    output = far.communicate()[0]
    assert near.stdout is not None
    near.stdout.close()
    assert (near.wait(), far.returncode) == (0, 0)
    *_, last = looks_at(output)
    whole = bpe.open(str(tmp_path / "run.bpex")).history
    assert last.history is not None
    assert last.history.pairs() == whole.pairs()
