"""The list of runs: nothing is overwritten, each can be looked at, learned again by another rule, and compared."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.window.questions.compare.page import ComparePage
from app.wiring import Program
from tests.gui.conftest import WAIT, settle, wait_for_phase


@pytest.fixture
def trained(program: Program, train: Callable[[Program], None]) -> Program:
    assert program.form.choose(vocab_size=330)
    train(program)
    program.actions["runs"].trigger()
    return program


def lines(program: Program) -> list[str]:
    model = program.run_list
    return [str(model.data(model.index(row))) for row in range(model.rowCount())]


def wait_for_lines(qtbot: QtBot, program: Program, count: int) -> None:
    qtbot.waitUntil(lambda: len(lines(program)) == count and "74 merges" in lines(program)[0], timeout=WAIT)


def train_again(program: Program, rule: str) -> None:
    program.runs_panel.again_menu.aboutToShow.emit()
    next(action for action in program.runs_panel.again_menu.actions() if rule in action.text()).trigger()


def test_one_more_run_by_another_rule_leaves_the_first_alone(qtbot: QtBot, trained: Program) -> None:
    wait_for_lines(qtbot, trained, 1)
    assert not trained.window.docks["runs"].isHidden()
    first = trained.session.runs.all[0]
    before = [(merge.left, merge.right) for merge in first.history or ()]
    train_again(trained, "largest-text")
    wait_for_phase(qtbot, trained, Phase.ENDED)
    settle(qtbot, trained)
    wait_for_lines(qtbot, trained, 2)
    assert lines(trained)[0].startswith("Run 2: gpt2, ties largest-text, 74 merges\nThe lighthouse")
    second = trained.session.runs.shown
    assert second is not None
    assert second.recipe == first.recipe.with_changes(ties="largest-text")
    assert [(merge.left, merge.right) for merge in first.history or ()] == before
    assert [(merge.left, merge.right) for merge in second.history or ()] != before


def test_a_click_shows_a_run_and_comparing_puts_it_beside(qtbot: QtBot, trained: Program) -> None:
    train_again(trained, "largest-text")
    wait_for_phase(qtbot, trained, Phase.ENDED)
    wait_for_lines(qtbot, trained, 2)
    panel = trained.runs_panel
    assert not panel.compare.isEnabled(), "a run is not compared with itself"
    place = panel.list.visualRect(trained.run_list.index(1)).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert trained.session.runs.shown is trained.session.runs.all[0]
    panel.list.setCurrentIndex(trained.run_list.index(0))
    assert panel.compare.isEnabled()
    panel.compare.click()
    assert trained.charts.page is trained.pages[ComparePage]
    qtbot.waitUntil(lambda: trained.pages[ComparePage].model.answer is not None, timeout=WAIT)
    assert trained.pages[ComparePage].duel.other is trained.session.runs.all[1]
    settle(qtbot, trained)


def test_the_recipe_of_a_run_can_be_used_again_and_that_taken_back(qtbot: QtBot, trained: Program) -> None:
    wait_for_lines(qtbot, trained, 1)
    assert trained.form.choose(vocab_size=400)
    trained.runs_panel.recipe.click()
    assert trained.session.recipe.value == trained.session.runs.all[0].recipe
    trained.actions["undo"].trigger()
    assert trained.session.recipe.value.vocab_size == 400
