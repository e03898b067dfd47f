"""Tests of the list of runs. No run is overwritten.

Each run can be shown, compared, and trained again with a different tie rule.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.window.questions.compare.answers import ComparePage
from app.wiring import Program
from tests.gui.conftest import WAIT, Train, settle, wait_for_phase, wait_for_sentence

pytestmark = pytest.mark.usefixtures("only_window")


@pytest.fixture
def trained_window(program: Program, train: Callable[[Program], None]) -> Program:
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


def test_training_with_a_different_tie_rule_keeps_the_first_run(qtbot: QtBot, trained_window: Program) -> None:
    wait_for_lines(qtbot, trained_window, 1)
    assert not trained_window.window.docks["runs"].isHidden()
    first = trained_window.session.runs.all[0]
    before = [(merge.left, merge.right) for merge in first.history or ()]
    train_again(trained_window, "largest-text")
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    settle(qtbot, trained_window)
    wait_for_lines(qtbot, trained_window, 2)
    assert lines(trained_window)[0].startswith("Run 2: gpt2, ties largest-text, 74 merges\nThe lighthouse")
    second = trained_window.session.runs.shown
    assert second is not None
    assert second.recipe == first.recipe.with_changes(ties="largest-text")
    assert [(merge.left, merge.right) for merge in first.history or ()] == before
    assert [(merge.left, merge.right) for merge in second.history or ()] != before


def test_clicking_a_run_in_the_list_shows_the_run_and_the_compare_button_opens_a_comparison(
    qtbot: QtBot, trained_window: Program
) -> None:
    train_again(trained_window, "largest-text")
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    wait_for_lines(qtbot, trained_window, 2)
    panel = trained_window.runs_panel
    assert not panel.compare.isEnabled(), "a run is not compared with itself"
    place = panel.list.visualRect(trained_window.run_list.index(1)).center()
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert trained_window.session.runs.shown is trained_window.session.runs.all[0]
    panel.list.setCurrentIndex(trained_window.run_list.index(0))
    assert panel.compare.isEnabled()
    panel.compare.click()
    assert trained_window.charts.page is trained_window.pages[ComparePage]
    qtbot.waitUntil(lambda: trained_window.pages[ComparePage].model.answer is not None, timeout=WAIT)
    assert [lane.run.number for lane in trained_window.pages[ComparePage].lanes.pair] == [1, 2]
    settle(qtbot, trained_window)


def test_differences_from_the_recipe_of_the_shown_run_are_listed_and_can_be_reverted(
    qtbot: QtBot, trained_window: Program
) -> None:
    shown, first = trained_window.shown_recipe, trained_window.session.runs.all[0]

    def rows() -> list[str]:
        cells = ([shown.grid.itemAtPosition(row, column) for column in range(3)] for row in range(8))
        return [" | ".join(cell.widget().text() for cell in row) for row in cells if all(row)]  # type: ignore[union-attr]

    wait_for_lines(qtbot, trained_window, 1)
    trained_window.window.show_room("build")
    assert shown.isHidden(), "nothing differs"
    size = first.recipe.vocab_size
    assert trained_window.form.choose(vocab_size=400)
    assert trained_window.form.choose(ties="largest-text")
    assert trained_window.form.choose(special_tokens=("<s>",))
    assert shown.isVisible()
    assert rows() == [
        " | next | run 1", "Special tokens | <s> | –", f"Vocabulary | 400 | {size}", "Ties | largest text | first seen",
    ]  # fmt: skip
    shown.use.click()
    assert trained_window.session.recipe.value == first.recipe
    assert shown.isHidden()
    trained_window.actions["undo"].trigger()
    assert trained_window.session.recipe.value.vocab_size == 400
    assert shown.isVisible()
    trained_window.session.recipe.put_quietly(first.recipe)
    assert first.history is not None
    trained_window.session.runs.branch(first, 10, "forbid", first.history.pair(9))
    assert rows()[1].startswith("Interventions | – | forbid:"), "what was done by hand is no part of the next recipe"
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    settle(qtbot, trained_window)


def press_answer(program: Program, title: str) -> None:
    next(button for button in program.messages.findChildren(QPushButton) if button.text() == title).click()


def numbers(program: Program) -> list[int]:
    return [run.number for run in program.session.runs.all]


def test_deleting_a_run_deletes_its_branches_and_bookmarks_and_undo_restores_them(
    qtbot: QtBot, trained_window: Program
) -> None:
    runs, panel = trained_window.session.runs, trained_window.runs_panel
    first = runs.all[0]
    assert first.history is not None
    runs.branch(first, 10, "forbid", first.history.pair(9))
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    train_again(trained_window, "largest-text")
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    settle(qtbot, trained_window)
    wait_for_lines(qtbot, trained_window, 3)
    runs.show(first)
    trained_window.session.cursor.go_to(5)
    trained_window.actions["bookmark"].trigger()
    panel.list.setCurrentIndex(trained_window.run_list.index(1))
    assert lines(trained_window)[1].startswith("Run 1:")
    panel.delete.click()
    assert numbers(trained_window) == [3]
    assert runs.shown is runs.all[0]
    assert trained_window.bookmarks.rowCount() == 0
    wait_for_sentence(qtbot, trained_window, "Run 1 and its branch deleted.")
    assert trained_window.form.choose(vocab_size=331)  # a later change, which stays
    press_answer(trained_window, "Undo")
    assert numbers(trained_window) == [1, 2, 3]
    assert runs.shown is first
    assert trained_window.bookmarks.rowCount() == 1
    assert trained_window.session.recipe.value.vocab_size == 331
    wait_for_lines(qtbot, trained_window, 3)

    panel.list.setCurrentIndex(trained_window.run_list.index(2))
    panel.delete.click()
    assert numbers(trained_window) == [1, 3], "a branch goes alone"
    trained_window.actions["undo"].trigger()
    assert numbers(trained_window) == [1, 2, 3]
    trained_window.actions["redo"].trigger()
    assert numbers(trained_window) == [1, 3]
    settle(qtbot, trained_window)


def test_the_name_given_to_a_run_is_saved_in_the_session_file(
    qtbot: QtBot, trained_window: Program, tmp_path: Path
) -> None:
    wait_for_lines(qtbot, trained_window, 1)
    index = trained_window.run_list.index(0)
    assert trained_window.run_list.flags(index) & Qt.ItemFlag.ItemIsEditable
    assert trained_window.run_list.setData(index, " lighthouse ")
    wait_for_shown(qtbot, trained_window, "Run 1: lighthouse, 74 merges")
    assert trained_window.training.status.run == "Run 1: lighthouse"
    assert trained_window.filing.document.holds_own_work
    with qtbot.waitSignal(trained_window.filing.document.saved, timeout=WAIT):
        trained_window.filing.document.save(tmp_path / "named.bpex")
    trained_window.actions["undo"].trigger()
    wait_for_shown(qtbot, trained_window, "Run 1: gpt2, 74 merges")
    with qtbot.waitSignal(trained_window.filing.document.opened, timeout=WAIT):
        trained_window.filing.document.open(tmp_path / "named.bpex")
    wait_for_shown(qtbot, trained_window, "Run 1: lighthouse, 74 merges")
    trained_window.actions["main"].trigger()
    assert numbers(trained_window) == [1], "it has learned just that"
    settle(qtbot, trained_window)


def wait_for_shown(qtbot: QtBot, program: Program, line: str) -> None:
    qtbot.waitUntil(lambda: lines(program)[0].startswith(line), timeout=WAIT)


def test_a_run_that_is_being_trained_cannot_be_deleted(qtbot: QtBot, trained_window: Program) -> None:
    wait_for_lines(qtbot, trained_window, 1)
    run = trained_window.session.runs.all[0]
    run.phase = Phase.LEARNING
    trained_window.session.delete(run)
    run.phase = Phase.ENDED
    assert numbers(trained_window) == [1]
    assert trained_window.messages.sentence.text() == "Run 1 is still training. Stop the training first."


def test_training_the_same_recipe_again_shows_the_existing_run(qtbot: QtBot, trained_window: Program) -> None:
    wait_for_lines(qtbot, trained_window, 1)
    train_again(trained_window, "largest-text")
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    trained_window.run_list.setData(trained_window.run_list.index(1), "mine")  # a name is no other recipe
    trained_window.actions["main"].trigger()
    assert numbers(trained_window) == [1, 2]
    assert trained_window.session.runs.shown is trained_window.session.runs.all[0]
    assert "Run 1 has the same recipe and texts" in trained_window.messages.sentence.text()
    trained_window.actions["new_run"].trigger()
    assert numbers(trained_window) == [1, 2, 3]
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    settle(qtbot, trained_window)


def test_training_includes_texts_that_are_still_being_opened(
    qtbot: QtBot, trained_window: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(trained_window.session.corpus), "is_listing", True)
    trained_window.actions["main"].trigger()
    assert "would give the same result" not in trained_window.messages.sentence.text()
    monkeypatch.undo()
    trained_window.session.corpus.listed.emit()
    qtbot.waitUntil(lambda: numbers(trained_window) == [1, 2], timeout=WAIT)
    wait_for_phase(qtbot, trained_window, Phase.ENDED)
    settle(qtbot, trained_window)


def test_training_again_after_a_file_changed_makes_a_new_run(
    qtbot: QtBot, program: Program, tmp_path: Path, train: Train
) -> None:
    path = tmp_path / "one.txt"
    path.write_text("one two three " * 50)
    program.opening.add_paths([path])
    assert program.form.choose(vocab_size=260)
    train(program)
    program.actions["main"].trigger()
    assert numbers(program) == [1]
    path.write_text("four five six " * 60)
    train(program)
    assert numbers(program) == [1, 2]
