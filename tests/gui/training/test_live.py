"""Tests of live learning. A change is learned at once, and an undo needs no learning."""

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
def watching(qtbot: QtBot, settings: Settings, new_program: Callable[..., Program]) -> Program:
    settings.put(LIVE, True)
    program = new_program()
    program.actions["main"].trigger()
    ended(qtbot, program, "gpt2")
    return program


def ended(qtbot: QtBot, program: Program, pattern: str, least: int = 2) -> None:
    def is_there() -> None:
        run = program.session.runs.shown
        assert run is not None
        assert (run.recipe.pattern, run.recipe.min_frequency, run.phase) == (pattern, least, Phase.ENDED)

    qtbot.waitUntil(is_there, timeout=WAIT)
    settle(qtbot, program)


def test_a_changed_recipe_is_learned_at_once_and_the_time_cursor_stays(qtbot: QtBot, watching: Program) -> None:
    said: list[str] = []
    watching.session.background.noticed.connect(lambda notice: said.append(notice.sentence))
    watching.session.cursor.go_to(40)
    watching.form.choose(pattern="whitespace")
    ended(qtbot, watching, "whitespace")
    qtbot.waitUntil(lambda: watching.session.cursor.position == 40, timeout=WAIT)
    qtbot.waitUntil(lambda: any("The merges differ from merge " in sentence for sentence in said), timeout=WAIT)
    assert len(watching.session.runs.all) == 2, "what the person trained stays"


@pytest.mark.parametrize("place", ["the end", "its last step", "step 200"])
def test_the_time_cursor_stays_at_the_end_or_at_its_step_after_live_training(
    qtbot: QtBot, watching: Program, place: str
) -> None:
    cursor = watching.session.cursor
    if place == "the end":
        cursor.go_live()
    else:
        cursor.go_to(200 if place == "step 200" else cursor.end)
    before = cursor.position
    watching.form.choose(min_frequency=20)
    ended(qtbot, watching, "gpt2", 20)
    qtbot.waitUntil(lambda: cursor.position == cursor.end < 200, timeout=WAIT)
    watching.actions["undo"].trigger()
    ended(qtbot, watching, "gpt2")
    qtbot.waitUntil(lambda: cursor.position == before, timeout=WAIT)


def test_undoing_a_recipe_change_shows_the_earlier_run_without_training(
    qtbot: QtBot, watching: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    watching.form.choose(pattern="whitespace")
    ended(qtbot, watching, "whitespace")
    watching.form.choose(min_frequency=3)
    ended(qtbot, watching, "whitespace", 3)
    assert len(watching.session.runs.all) == 2, "a draft makes room for the next"
    monkeypatch.setattr(watching.session, "train", lambda **_: pytest.fail("it was learned again"))
    for pattern in ("whitespace", "gpt2"):
        watching.actions["undo"].trigger()
        ended(qtbot, watching, pattern)


def test_a_large_corpus_is_not_learned_live_and_live_training_can_be_turned_off(
    qtbot: QtBot, watching: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LARGEST", 100)
    said: list[str] = []
    watching.session.background.noticed.connect(lambda notice: said.append(notice.sentence))
    watching.form.choose(pattern="whitespace")
    qtbot.waitUntil(lambda: any("The recipe has changed. Press Train" in sentence for sentence in said), timeout=WAIT)
    assert len(watching.session.runs.all) == 1
    monkeypatch.undo()
    watching.actions["live_learning"].trigger()
    watching.form.choose(pattern="cl100k")
    qtbot.wait(200)
    assert len(watching.session.runs.all) == 1


def test_opening_a_large_text_shows_a_notice_to_press_train(
    qtbot: QtBot, watching: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LARGEST", 100)
    notices: list[Notice] = []
    watching.session.background.noticed.connect(notices.append)
    opened = tmp_path / "big.txt"
    opened.write_text("tide and tidings " * 120_000)
    watching.opening.open_named([opened])
    wait_for_sentence(qtbot, watching, "Press Train to learn from big.txt, 2 MB.")
    assert not notices[-1].is_error
    assert watching.messages.isVisible()
    watching.actions["undo"].trigger()
    qtbot.waitUntil(lambda: not watching.messages.isVisible(), timeout=WAIT)
