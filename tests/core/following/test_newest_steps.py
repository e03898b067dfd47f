"""Tests of the small file beside a growing session, which holds the newest steps and the leading pairs."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path

import pytest

import bpe_core as bpe
from bpe_core.errors import FormatError
from bpe_core.following.file_follower import FileFollower
from bpe_core.following.followed_run import FollowedRun
from bpe_core.following.step_lines import StepLines
from bpe_core.following.stream_follower import StreamFollower
from bpe_core.history.packed import packed
from bpe_core.methods.kit.leading import LeadingPairs
from bpe_core.methods.kit.trainer import Trainer
from bpe_core.methods.registry import METHODS
from bpe_core.session_file import newest_steps
from bpe_core.session_file.newest_steps import StepsWriter, read_newest_steps, steps_file
from bpe_core.studies.sessions import write_run
from bpe_core.support.atomic import reserve
from tests.core.following.trainings import TO_BE_KILLED, are_beginnings, look_until, start_training, write_words
from tests.shared import text_of

TEXT = text_of("poem") + text_of("prose")


def trainer_of(method: str = "bpe", steps: int = 12) -> Trainer:
    study = bpe.train(TEXT, method=method, vocab_size=330)
    trainer = Trainer(study.inside.words(), study.history.recipe)
    trainer.advance(max_merges=steps)
    return trainer


WITHOUT_LANGUAGES = [name for name in METHODS if not METHODS[name].serves_languages]


@pytest.mark.parametrize("method", WITHOUT_LANGUAGES)
def test_the_newest_steps_of_every_method_are_read_back_unchanged(tmp_path: Path, method: str) -> None:
    trainer = trainer_of(method)
    session = tmp_path / "run.bpex"
    StepsWriter(session, ["a text"]).write(trainer)
    if trainer.history.scores is not None:
        assert not steps_file(session).exists()  # such a run is followed by its session alone
        return
    read = read_newest_steps(steps_file(session))
    assert packed(read.history) == packed(trainer.history)
    assert read.names == ("a text",)
    assert read.leading == trainer.leading()


@pytest.mark.parametrize("method", WITHOUT_LANGUAGES)
def test_leading_pairs_written_as_json_lines_are_read_back_unchanged(method: str) -> None:
    trainer = trainer_of(method)
    history = trainer.history
    leading = trainer.leading()
    values = json.loads(json.dumps(leading.as_values()))
    again = LeadingPairs.of_values(values, history.index_count)
    assert again is not None
    assert [pair.reasons.keys() for pair in again.pairs] == [pair.reasons.keys() for pair in leading.pairs]
    assert again.as_values() == values
    assert "NaN" not in json.dumps(values)
    lines = b"".join(StepLines().new_lines(FollowedRun("far", "training", history, leading=leading)))
    followed = StreamFollower(io.BytesIO(lines)).look().leading
    assert followed is not None
    assert followed.as_values() == values


@pytest.mark.parametrize(
    "values",
    [
        None,
        {"at": "3", "pairs": []},
        {"at": 3, "pairs": [[1, 2]]},
        {"at": 3, "pairs": [[1, 2, 3, {"x": []}]]},
        {"at": 3, "pairs": [[1, 999, 3, {}]]},
        {"at": 3, "pairs": [[-1, 2, 3, {}]]},
        {"at": 3, "pairs": [[1, 2, 3, {}]] * 100},
    ],
)
def test_invalid_leading_pairs_from_another_program_are_left_out(values: object) -> None:
    assert LeadingPairs.of_values(values, 300) is None


@pytest.mark.parametrize("place", range(0, 4_000, 61))
def test_a_damaged_file_of_newest_steps_is_refused_or_contains_only_valid_steps(tmp_path: Path, place: int) -> None:
    trainer = trainer_of()
    session = tmp_path / "run.bpex"
    StepsWriter(session, []).write(trainer)
    path = steps_file(session)
    data = bytearray(path.read_bytes())
    place %= len(data)
    for damaged in (bytes(data[:place]), bytes(data[:place] + b"\xff" + data[place + 1 :])):
        path.write_bytes(damaged)
        try:
            history = read_newest_steps(path).history
        except FormatError:
            continue
        assert len(history) <= len(trainer.history)
        assert all(step.index < history.index_count for step in history)


def test_a_followed_run_shows_steps_and_leading_pairs_before_its_session_is_saved(tmp_path: Path) -> None:
    session = tmp_path / "run.bpex"
    trainer = trainer_of(steps=4)
    follower = FileFollower(session)
    with reserve(session):
        writer = StepsWriter(session, ["a text"])
        assert follower.look().state == "waiting"
        for steps in (4, 9):
            trainer.advance(max_merges=steps - len(trainer.history))
            writer.write(trainer)
            run = follower.look()
            assert (run.state, run.learned, run.texts) == ("training", steps, ("a text",))
            assert run.leading == trainer.leading()
        write_run(trainer.history.first(6), trainer.words, session)
        assert follower.look().learned == 9
        trainer.advance()
        write_run(trainer.history, trainer.words, session)
        writer.remove()
        assert follower.look().state == "ended"
        assert follower.look().learned == len(trainer.history)


def test_newest_steps_left_behind_by_a_killed_training_run_are_not_read(tmp_path: Path) -> None:
    session = tmp_path / "run.bpex"
    trainer = trainer_of(steps=9)
    StepsWriter(session, []).write(trainer)
    write_run(trainer.history.first(6), trainer.words, session)
    run = FileFollower(session).look()
    assert (run.state, run.learned) == ("stopped", 6)
    StepsWriter(session, [])  # the next training
    assert not steps_file(session).exists()


def test_writing_the_newest_steps_takes_at_most_two_per_cent_of_the_running_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    written: list[float] = []
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])

    def write_slowly(trainer: object) -> bytes:
        written.append(clock[0])
        clock[0] += 0.05
        return b""

    monkeypatch.setattr(newest_steps, "packed", write_slowly)
    writer = StepsWriter(tmp_path / "run.bpex", [])
    trainer = trainer_of()
    while clock[0] < 200:
        writer.write_if_due(trainer)
        clock[0] += 0.01
    assert 25 <= len(written) <= 0.02 * 100 / 0.05 + 1


def test_the_newest_steps_are_visible_between_saves_and_the_file_of_these_steps_is_removed_after_training(
    tmp_path: Path,
) -> None:
    write_words(tmp_path / "words.txt")
    session = tmp_path / "run.bpex"
    follower = FileFollower(session)
    training = start_training(tmp_path, size=1_500, saving=1_000.0)
    seen = look_until(follower.look, lambda run: run.state == "ended")
    assert training.communicate()[1] == ""
    whole = bpe.open(str(session)).history
    assert are_beginnings(seen, whole)
    assert len({run.learned for run in seen}) > 1, "a busy machine may miss many steps, but not all"
    followed = [run for run in seen if run.state == "training"]
    assert all(run.leading is not None and run.leading.at == run.learned for run in followed)
    pairs = {tuple(pair) for pair in whole.pairs()}
    for run in followed:
        assert run.leading is not None
        assert (run.leading.pairs[0].left, run.leading.pairs[0].right) in pairs
    assert not steps_file(session).exists()


def test_stopping_training_removes_the_file_of_newest_steps_and_a_killed_run_can_be_resumed(
    tmp_path: Path,
) -> None:
    write_words(tmp_path / "words.txt", 3_000)
    session = tmp_path / "run.bpex"
    training = start_training(tmp_path, size=600, between=TO_BE_KILLED)
    look_until(FileFollower(session).look, lambda run: run.learned > 40)
    training.terminate()
    training.communicate()
    assert not steps_file(session).exists()
    training = start_training(tmp_path, size=600, between=TO_BE_KILLED)
    look_until(FileFollower(session).look, lambda run: run.state == "training" and run.leading is not None)
    training.kill()
    training.communicate()
    training = start_training(tmp_path, size=600)
    assert training.communicate()[1] == ""
    assert not steps_file(session).exists()
    uninterrupted = bpe.train((tmp_path / "words.txt").read_text(), "gpt2", vocab_size=600).history
    assert bpe.open(str(session)).history.pairs() == uninterrupted.pairs()
