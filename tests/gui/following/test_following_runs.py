"""Tests of a window that follows a training run of another process.

The window shows the steps. It can pause the run, stop it, and take it over.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

import bpe_core as bpe
from app.session.run import Phase, Run
from app.window.charts.pairs_wording import headline
from app.window.pages import PAIRS
from app.wiring import Program
from app.worker import following
from bpe_core.following.file_follower import is_continued
from bpe_core.following.followed_run import FollowedRun
from bpe_core.following.step_lines import StepLines
from bpe_core.history.history import History
from bpe_core.session_file.requests import request_for
from bpe_core.studies.sessions import write_run
from bpe_core.support.atomic import is_being_written, reserve
from tests.core.following.trainings import TO_BE_KILLED, VOCABULARY, start_training, write_words
from tests.gui.conftest import WAIT, settle, wait_for_phase
from tests.gui.small_run import rows

pytestmark = pytest.mark.usefixtures("only_window")
TEXT = "low lower lowest, new newer newest " * 9


@pytest.fixture(autouse=True)
def frequent_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "SECONDS_BETWEEN_LOOKS", 0.05)
    monkeypatch.setattr(following, "TIMES_THE_LOOK", 0)


@pytest.fixture
def program(window_with: Callable[..., Program]) -> Iterator[Program]:
    """Return a window. After the test, stop following the runs in this window."""
    program = window_with()
    yield program
    for run in program.session.runs.all:
        if run.followed is not None:
            program.session.following.stop(run)


def wait_until(qtbot: QtBot, is_true: Callable[[], bool]) -> None:
    qtbot.waitUntil(is_true, timeout=WAIT)


def sentence(program: Program) -> str:
    program.training.catch_up()
    return program.status.sentence.text()


def main_action(program: Program) -> str:
    program.training.catch_up()
    return program.actions["main"].text().replace("&", "")


def followed_run(program: Program) -> Run:
    run = program.session.runs.shown
    assert run is not None
    assert run.followed is not None, run.sentence
    return run


def learned(program: Program) -> int:
    run = program.session.runs.shown
    return 0 if run is None else run.learned


def press(program: Program, title: str) -> None:
    """Press a button of the message bar."""
    buttons = program.messages.findChildren(QPushButton)
    next(button for button in buttons if button.text() == title and not button.isHidden()).click()


def small_history() -> History:
    return bpe.train(TEXT, "gpt2", merges=12).history


def test_a_window_follows_a_killed_and_resumed_training_run_and_can_take_over_the_run(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    write_words(tmp_path / "words.txt")
    session = tmp_path / "run.bpex"
    lengths: list[int] = []
    histories: list[History] = []

    def note(start: int, stop: int) -> None:
        run = followed_run(program)
        assert run.history is not None
        lengths.append(stop)
        histories.append(run.history)

    program.session.runs.show(None)
    program.session.runs.grew.connect(note)
    program.follow.begin(str(session))
    wait_until(qtbot, lambda: "no step is there yet" in sentence(program))
    training = start_training(tmp_path, between=TO_BE_KILLED)
    wait_until(qtbot, lambda: learned(program) > 100)
    assert sentence(program).startswith("Following run.bpex: merge ")
    assert "s old" in sentence(program)
    assert rows(program) == followed_run(program).learned
    assert program.session.cursor.position == followed_run(program).learned
    assert main_action(program) == "Pause"
    assert not program.actions["new_run"].isEnabled()

    training.kill()
    training.communicate()
    wait_for_phase(qtbot, program, Phase.PAUSED)
    assert "has stopped after merge" in sentence(program)
    assert main_action(program) == "Take Over"

    training = start_training(tmp_path, between=TO_BE_KILLED)
    wait_for_phase(qtbot, program, Phase.FOLLOWED)
    at_kill = learned(program)
    wait_until(qtbot, lambda: learned(program) > at_kill + 100)
    training.kill()
    training.communicate()
    wait_for_phase(qtbot, program, Phase.PAUSED)
    program.session.runs.grew.disconnect(note)

    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    assert program.filing.document.path == session
    assert is_being_written(session)  # no other training may begin to write it
    whole = program.session.runs.shown
    assert whole is not None
    assert whole.history is not None
    assert whole.followed is None
    uninterrupted = bpe.train((tmp_path / "words.txt").read_text(), "gpt2", vocab_size=VOCABULARY)
    assert whole.history.pairs() == uninterrupted.history.pairs()
    program.filing.document.new()
    assert is_being_written(session) is False
    assert len(lengths) > 3
    assert lengths == sorted(lengths)
    assert all(is_continued(history, whole.history) for history in histories)


def test_the_chart_of_leading_pairs_is_updated_between_saves_of_a_followed_training_run(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    write_words(tmp_path / "words.txt", 3_000)
    program.charts.show_page(PAIRS.id)
    model = program.pages.page(PAIRS).model
    shown: dict[int, tuple[int, int]] = {}

    def note() -> None:
        if model.bars and model.is_followed:
            shown[model.at] = model.bars[0].pair

    model.changed.connect(note)
    program.follow.begin(str(tmp_path / "run.bpex"))
    training = start_training(tmp_path, size=900, between=TO_BE_KILLED, saving=1_000.0)
    wait_for_phase(qtbot, program, Phase.ENDED)
    model.changed.disconnect(note)
    assert training.communicate()[1] == ""
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert len(shown) > 2
    for at, pair in shown.items():
        assert at == len(run.history) or run.history.pair(at) == pair
    program.session.cursor.go_to(5)
    settle(qtbot, program)
    assert "Open its session to see which pairs led" in headline(model, {})


def test_a_user_can_pause_and_stop_a_training_run_in_another_process(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    write_words(tmp_path / "words.txt")
    program.follow.begin(str(tmp_path / "run.bpex"))
    training = start_training(tmp_path, between=TO_BE_KILLED)
    wait_until(qtbot, lambda: learned(program) > 100)
    program.actions["main"].trigger()
    wait_until(qtbot, lambda: "paused after merge" in sentence(program))
    assert request_for(tmp_path / "run.bpex") == "pause"
    assert main_action(program) == "Resume"
    at_rest = learned(program)
    program.actions["main"].trigger()
    wait_until(qtbot, lambda: learned(program) > at_rest + 100)
    program.training.catch_up()
    program.actions["stop"].trigger()
    press(program, "Stop Its Training")
    wait_for_phase(qtbot, program, Phase.PAUSED)
    assert training.wait(WAIT / 1000) == 0
    training.communicate()
    assert main_action(program) == "Take Over"


def test_training_goes_on_after_a_window_stops_following_the_run(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    history = small_history()
    session = tmp_path / "run.bpex"
    words = bpe.train(TEXT, "gpt2", merges=12).inside.words()
    with reserve(session):
        write_run(history.first(5), words, session)
        program.follow.begin(str(session))
        wait_until(qtbot, lambda: learned(program) == 5)
        program.training.catch_up()
        program.actions["stop"].trigger()
        press(program, "Stop Following")
        run = program.session.runs.shown
        assert run is not None
        assert (run.phase, run.followed) == (Phase.ENDED, None)
        assert request_for(session) is None
        write_run(history.first(9), words, session)
        qtbot.wait(300)
        assert learned(program) == 5
        assert "does not follow the run any more" in sentence(program)


def test_a_new_session_does_not_show_the_run_that_the_last_session_waited_for(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    session = tmp_path / "run.bpex"
    program.session.runs.show(None)
    program.follow.begin(str(session))
    wait_until(qtbot, lambda: "no step is there yet" in sentence(program))
    program.filing.document.new()
    assert "run.bpex" not in sentence(program)
    settle(qtbot, program)  # no thread waits for the file any more
    write_run(small_history().first(5), bpe.train(TEXT, "gpt2", merges=12).inside.words(), session)
    qtbot.wait(300)
    assert program.session.runs.all == []


def test_the_window_keeps_the_known_steps_if_the_followed_file_vanishes_or_is_incomplete(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    history = small_history()
    session = tmp_path / "run.bpex"
    words = bpe.train(TEXT, "gpt2", merges=12).inside.words()
    with reserve(session):
        write_run(history.first(5), words, session)
        program.follow.begin(str(session))
        wait_until(qtbot, lambda: learned(program) == 5)
        whole = session.read_bytes()
        session.unlink()
        wait_until(qtbot, lambda: "cannot be read at present" in sentence(program))
        session.write_bytes(whole[:5_000])
        qtbot.wait(300)
        assert "cannot be read at present" in sentence(program)
        assert (learned(program), rows(program)) == (5, 5)
        assert "known only to the program that trains" in headline(program.pages.page(PAIRS).model, {})
        write_run(history.first(9), words, session)
        wait_until(qtbot, lambda: learned(program) == 9)
        assert rows(program) == 9


def test_a_run_is_not_taken_over_while_another_process_writes_the_run(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    session = tmp_path / "run.bpex"
    write_run(small_history().first(5), bpe.train(TEXT, "gpt2", merges=12).inside.words(), session)
    program.follow.begin(str(session))
    wait_until(qtbot, lambda: main_action(program) == "Take Over")
    with reserve(session):
        program.follow.take_over()
        assert "another process is writing it" in program.messages.sentence.text()
    assert program.filing.document.path is None


def test_a_session_that_another_program_is_writing_can_be_opened_and_followed(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    history = small_history()
    session = tmp_path / "run.bpex"
    words = bpe.train(TEXT, "gpt2", merges=12).inside.words()
    with reserve(session):
        write_run(history.first(5), words, session)
        program.filing.open(session)
        wait_until(qtbot, lambda: "Another program is writing run.bpex." in program.messages.sentence.text())
        assert not is_followed(program)
        press(program, "Follow It")
        wait_until(qtbot, lambda: is_followed(program))
        write_run(history.first(9), words, session)
        wait_until(qtbot, lambda: learned(program) == 9)


def is_followed(program: Program) -> bool:
    run = program.session.runs.shown
    return run is not None and run.followed is not None


def test_steps_from_a_broken_pipe_stay_in_the_window(qtbot: QtBot, program: Program) -> None:
    history = small_history()
    lines = StepLines()
    looks = [FollowedRun("far.bpex", "training", history.first(length)) for length in (4, 8)]
    data = [b"".join(lines.new_lines(look)) for look in looks]
    read, write = os.pipe()
    with open(read, "rb") as stream, open(write, "wb", buffering=0) as pipe:
        program.session.following.begin_stream(stream)
        pipe.write(data[0])
        wait_until(qtbot, lambda: learned(program) == 4)
        assert sentence(program) == "Following far.bpex: merge 4, 0 s old"
        assert not program.actions["main"].isEnabled()
        pipe.write(data[1][:-30])
        pipe.close()
        wait_until(qtbot, lambda: "The connection to far.bpex has ended after merge 8." in sentence(program))
        assert learned(program) == 8
        wait_for_phase(qtbot, program, Phase.ENDED)


def test_the_window_reports_a_program_that_sends_no_steps_through_standard_input(
    qtbot: QtBot, program: Program
) -> None:
    program.session.runs.show(None)
    program.session.following.begin_stream(io.BytesIO(b"Welcome\n"))
    wait_until(qtbot, lambda: "The connection to standard input has ended" in sentence(program))
