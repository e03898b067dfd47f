"""Tests of training while a person edits. A change is learned at once, and an undone change needs no training."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.session import live
from app.session.background import Notice
from app.session.run import Phase
from app.settings import LIVE, Settings
from app.wiring import Program
from tests.gui.conftest import WAIT, settle, wait_for_sentence


@pytest.fixture
def live_window(qtbot: QtBot, settings: Settings, new_program: Callable[..., Program]) -> Program:
    settings.put(LIVE, True)
    program = new_program()
    program.actions["main"].trigger()
    wait_for_steps(qtbot, program, "gpt2")
    return program


def wait_for_steps(qtbot: QtBot, program: Program, pattern: str, least: int = 2) -> None:
    def is_there() -> None:
        run = program.session.runs.shown
        assert run is not None
        assert (run.recipe.pattern, run.recipe.min_frequency, run.phase) == (pattern, least, Phase.ENDED)

    qtbot.waitUntil(is_there, timeout=WAIT)
    settle(qtbot, program)


def test_changing_the_recipe_retrains_immediately_and_keeps_the_position_of_the_time_slider(
    qtbot: QtBot, live_window: Program
) -> None:
    said: list[str] = []
    live_window.session.background.noticed.connect(lambda notice: said.append(notice.sentence))
    live_window.session.cursor.go_to(40)
    live_window.form.choose(pattern="whitespace")
    wait_for_steps(qtbot, live_window, "whitespace")
    qtbot.waitUntil(lambda: live_window.session.cursor.position == 40, timeout=WAIT)
    qtbot.waitUntil(lambda: any("The merges differ from merge " in sentence for sentence in said), timeout=WAIT)
    assert len(live_window.session.runs.all) == 2, "what the person trained stays"


@pytest.mark.parametrize("place", ["the end", "its last step", "step 200"])
def test_undoing_a_change_during_live_training_moves_the_time_slider_back_to_the_earlier_step(
    qtbot: QtBot, live_window: Program, place: str
) -> None:
    cursor = live_window.session.cursor
    if place == "the end":
        cursor.go_live()
    else:
        cursor.go_to(200 if place == "step 200" else cursor.end)
    before = cursor.position
    live_window.form.choose(min_frequency=20)
    wait_for_steps(qtbot, live_window, "gpt2", 20)
    qtbot.waitUntil(lambda: cursor.position == cursor.end < 200, timeout=WAIT)
    live_window.actions["undo"].trigger()
    wait_for_steps(qtbot, live_window, "gpt2")
    qtbot.waitUntil(lambda: cursor.position == before, timeout=WAIT)


def test_undoing_a_recipe_change_shows_the_earlier_run_without_training(
    qtbot: QtBot, live_window: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_window.form.choose(pattern="whitespace")
    wait_for_steps(qtbot, live_window, "whitespace")
    live_window.form.choose(min_frequency=3)
    wait_for_steps(qtbot, live_window, "whitespace", 3)
    assert len(live_window.session.runs.all) == 2, "a draft makes room for the next"
    monkeypatch.setattr(live_window.session, "train", lambda **_: pytest.fail("it was learned again"))
    for pattern in ("whitespace", "gpt2"):
        live_window.actions["undo"].trigger()
        wait_for_steps(qtbot, live_window, pattern)


def test_live_training_is_not_used_for_a_large_corpus_and_can_be_turned_off(
    qtbot: QtBot, live_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LARGEST", 100)
    said: list[str] = []
    live_window.session.background.noticed.connect(lambda notice: said.append(notice.sentence))
    live_window.form.choose(pattern="whitespace")
    qtbot.waitUntil(lambda: any("The recipe has changed. Press Train" in sentence for sentence in said), timeout=WAIT)
    assert len(live_window.session.runs.all) == 1
    monkeypatch.undo()
    live_window.actions["live_learning"].trigger()
    live_window.form.choose(pattern="cl100k")
    qtbot.wait(200)
    assert len(live_window.session.runs.all) == 1


def test_opening_a_large_text_shows_a_notice_that_asks_the_user_to_press_the_train_button(
    qtbot: QtBot, live_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LARGEST", 100)
    notices: list[Notice] = []
    live_window.session.background.noticed.connect(notices.append)
    opened = tmp_path / "big.txt"
    opened.write_text("tide and tidings " * 120_000)
    live_window.opening.open_named([opened])
    wait_for_sentence(qtbot, live_window, "Press Train to learn from big.txt, 2.0 MB.")
    assert not notices[-1].is_error
    assert live_window.messages.isVisible()
    live_window.actions["undo"].trigger()
    qtbot.waitUntil(lambda: not live_window.messages.isVisible(), timeout=WAIT)
