"""Tests of training in the window: without a pause, step by step, to a larger vocabulary, and stopped early."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.window.training.training_views import StatusLine
from app.wiring import Program
from bpe_core.kernels import readiness, stored_code
from resources import samples
from tests.gui.conftest import WAIT, Train, settle, wait_for_phase
from tests.gui.small_run import cell, moments, rows, shown_run, small, wait_for_rows

pytestmark = pytest.mark.usefixtures("only_window")


def main_action(program: Program) -> str:
    program.training.catch_up()
    return program.training.status.main


def test_a_paused_run_stays_paused_during_training_on_a_different_text(qtbot: QtBot, program: Program) -> None:
    small(program, 400)
    program.session.runs.set_pace(20.0)
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.LEARNING)
    program.session.runs.pause()
    wait_for_phase(qtbot, program, Phase.PAUSED)
    assert main_action(program) == "resume"
    first = shown_run(program)
    program.session.runs.set_pace(None)
    program.session.corpus.replace_by_text("another", "a new text with other words in it " * 20)
    assert main_action(program) == "train"
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    run = shown_run(program)
    assert (run is first, first.phase, [source.name for source in run.sources]) == (False, Phase.PAUSED, ["another"])


def test_the_train_button_trains_on_the_sample_immediately(program: Program, train: Train) -> None:
    assert rows(program) == 0
    train(program)
    assert rows(program) == program.session.runs.shown.learned > 100  # type: ignore[union-attr]
    assert cell(program, 0, 0) == "1"
    assert program.status.sentence.text().endswith(".")
    assert program.token_text.token_count() < program.token_text.byte_length


def test_cells_of_the_merge_table_agree_with_the_history(program: Program, train: Train) -> None:
    small(program)
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    assert run.names is not None
    for row, merge in enumerate(run.history):
        assert cell(program, row, 0) == str(merge.step)
        assert cell(program, row, 1) == run.names.text[merge.left] + run.names.text[merge.right]
        assert cell(program, row, 4) == f"{merge.count:,}"
        assert cell(program, row, 5).startswith("=") == merge.tied
        assert cell(program, row, 7) == f"{merge.tokens_left:,}"


@pytest.mark.parametrize(
    ("is_preparing", "why_not", "shown_text"),
    [(True, "", "Making machine code: 40 %"), (False, "", ""), (False, "numba is not installed", "By plain Python")],
)
def test_the_status_bar_shows_the_progress_of_compilation(
    program: Program, monkeypatch: pytest.MonkeyPatch, is_preparing: bool, why_not: str, shown_text: str
) -> None:
    monkeypatch.setattr(readiness, "is_ready", lambda: False)
    monkeypatch.setattr(readiness, "is_preparing", lambda: is_preparing)
    monkeypatch.setattr(readiness, "why_not", lambda: why_not)
    monkeypatch.setattr(stored_code, "stored_share", lambda: 0.4)
    bar = StatusLine(program.training)
    assert ("" if bar.faster.isHidden() else bar.faster.text()) == shown_text
    assert why_not in bar.faster.toolTip()


@pytest.mark.parametrize("sample", samples(), ids=lambda sample: sample.name)
def test_every_sample_text_can_be_trained(program: Program, train: Train, sample: object) -> None:
    action = next(action for action in program.samples_menu.actions() if action.text() == sample.title)  # type: ignore[attr-defined]
    action.trigger()
    small(program, 280)
    train(program)
    assert rows(program) == 24


def test_a_run_can_be_paused_and_stepped_and_resumed_and_stopped(qtbot: QtBot, program: Program) -> None:
    program.speed.slider.setValue(0)  # one merge a second
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.LEARNING)
    assert program.actions["main"].text() == "&Pause"
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.PAUSED)
    learned = rows(program)
    assert learned < 60
    for _ in range(3):
        program.actions["step"].trigger()
        wait_for_phase(qtbot, program, Phase.PAUSED)
    assert rows(program) == learned + 3
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.LEARNING)
    program.actions["stop"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    assert rows(program) >= learned + 3
    assert "stopped" in program.status.sentence.text()


def test_the_step_action_begins_a_run_and_pauses_after_one_merge(qtbot: QtBot, program: Program) -> None:
    program.actions["step"].trigger()
    wait_for_phase(qtbot, program, Phase.PAUSED)
    qtbot.waitUntil(lambda: rows(program) == 1, timeout=WAIT)


def test_moving_the_speed_slider_makes_a_slow_run_fast_immediately(qtbot: QtBot, program: Program) -> None:
    small(program)
    program.speed.slider.setValue(0)
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.LEARNING)
    program.speed.slider.setValue(100)
    wait_for_phase(qtbot, program, Phase.ENDED)
    assert rows(program) == 64


def test_training_by_single_steps_learns_the_same_merges_as_training_at_once(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program, 270)
    for step in range(14):
        program.actions["step"].trigger()
        wait_for_rows(qtbot, program, step + 1)
        wait_for_phase(qtbot, program, Phase.PAUSED, Phase.ENDED)
    stepped = [[cell(program, row, column) for column in range(9)] for row in range(14)]
    program.actions["new_run"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    assert [[cell(program, row, column) for column in range(9)] for row in range(14)] == stepped
    assert len(program.session.runs.all) == 2


def test_a_run_can_be_extended_to_a_larger_vocabulary(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 300)
    train(program)
    first = [cell(program, row, 1) for row in range(44)]
    assert not program.actions["extend"].isEnabled()
    small(program, 330)
    qtbot.waitUntil(lambda: program.actions["extend"].isEnabled(), timeout=WAIT)
    assert program.actions["main"].text() == "&Continue"
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: rows(program) == 74, timeout=WAIT)
    assert [cell(program, row, 1) for row in range(44)] == first
    assert len(program.session.runs.all) == 1


def test_the_window_says_why_a_run_ended_early(program: Program, train: Train) -> None:
    program.opening.open_sample(samples()[1])
    small(program, 30_000)
    train(program)
    assert "minimum count" in program.status.sentence.text()


def test_an_impossible_vocabulary_size_is_replaced_by_a_possible_size(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    program.form.choose_preset("unigram")
    train(program)
    assert re.search(r"8,000 .* only 589 .* Learning 316 instead", program.messages.sentence.text())
    assert (rows(program), program.form.value("vocab_size")) == (273, 316)
    program.messages.hide()
    small(program, 5_000)  # whoever chose it is asked
    program.actions["main"].trigger()
    qtbot.waitUntil(program.messages.isVisible, timeout=WAIT)
    assert rows(program) == 0
    next(button for button in program.messages.findChildren(QPushButton) if "316" in button.text()).click()
    wait_for_phase(qtbot, program, Phase.ENDED)
    wait_for_rows(qtbot, program, 273)
    assert program.form.value("vocab_size") == 316
    program.form.choose_preset("gpt2")
    assert program.form.value("vocab_size") == 32_000


def test_training_without_texts_is_refused(program: Program) -> None:
    program.corpus_panel.list.selectAll()
    program.corpus_panel.remove_button.click()
    program.training.catch_up()
    assert program.status.sentence.text() == "Open a text, then press Train."
    program.actions["main"].trigger()
    assert program.messages.isVisible()
    assert "no text to learn from" in program.messages.sentence.text()


def test_counting_the_corpus_can_be_cancelled(
    qtbot: QtBot, new_program: Callable[..., Program], tmp_path: Path
) -> None:
    path = tmp_path / "large.txt"
    path.write_text("".join(f"word{number} " for number in range(1_500_000)))
    program = new_program(path)
    qtbot.waitUntil(lambda: program.session.corpus.counts.is_busy, timeout=WAIT)
    program.actions["main"].trigger()
    program.actions["stop"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    settle(qtbot, program)
    assert "cancelled" in program.status.sentence.text()
    assert program.actions["main"].isEnabled()


def test_an_earlier_run_can_be_shown_again(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 280)
    train(program)
    first = [cell(program, row, 1) for row in range(24)]
    program.form.choose(ties="largest-text", vocab_size=290)
    program.actions["new_run"].trigger()
    wait_for_phase(qtbot, program, Phase.ENDED)
    assert rows(program) == 34
    program.running.runs_menu.aboutToShow.emit()
    titles = [action.text() for action in program.running.runs_menu.actions()]
    assert len(titles) == 2
    assert "largest-text" in titles[0]
    program.running.runs_menu.actions()[1].trigger()
    settle(qtbot, program)
    assert [cell(program, row, 1) for row in range(rows(program))] == first
    assert moments(program) == (24, 24, 24, 24)


def test_the_train_button_trains_on_an_opened_text_instead_of_continuing_the_previous_run(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path
) -> None:
    small(program, 300)
    train(program)
    sample, sample_texts = program.session.runs.shown, program.session.corpus.texts.value
    opened = tmp_path / "opened.txt"
    opened.write_text(samples()[0].text() * 2)
    program.opening.open_named([opened])
    qtbot.waitUntil(lambda: program.session.corpus.texts.value != sample_texts, timeout=WAIT)
    small(program, 320)
    qtbot.waitUntil(lambda: program.actions["extend"].isEnabled(), timeout=WAIT)
    assert program.actions["main"].text() == "&Train"
    train(program)
    run = program.session.runs.shown
    assert run is not None
    assert run is not sample
    assert "opened.txt" in [source.name for source in run.sources]
    assert sample is not None
    assert sample.learned == 44

    small(program, 330)
    qtbot.waitUntil(lambda: program.actions["main"].text() == "&Continue", timeout=WAIT)
    opened.write_text("another text")
    program.training.catch_up()
    small(program, 331)
    qtbot.waitUntil(lambda: program.actions["main"].text() == "&Train", timeout=WAIT)
