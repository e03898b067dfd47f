"""Tests of the numbers of runs. A run that is trained only while the user is typing does not use up a number."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.wiring import Program
from tests.gui.conftest import WAIT, Train, settle
from tests.gui.small_run import shown_run, small

pytestmark = pytest.mark.usefixtures("only_window")


def learn_size(qtbot: QtBot, program: Program, size: int) -> int:
    """Type a vocabulary size, and wait until a run of this size is learned. Return the number of the run."""
    small(program, size)
    qtbot.waitUntil(lambda: shown_run(program).recipe.vocab_size == size, timeout=WAIT)
    settle(qtbot, program)
    return shown_run(program).number


def test_run_numbers_stay_the_same_while_a_size_is_typed(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 290)
    train(program)
    program.live.is_on = True
    numbers = [learn_size(qtbot, program, size) for size in (291, 295, 299, 291)]
    assert numbers == [2, 2, 2, 2]
    assert [run.number for run in program.session.runs.all] == [1, 2]
    program.live.is_on = False
    program.session.train()
    qtbot.waitUntil(lambda: len(program.session.runs.all) == 3, timeout=WAIT)
    settle(qtbot, program)
    assert sorted(run.number for run in program.session.runs.all) == [1, 2, 3]


def test_a_bookmarked_run_keeps_its_number_when_a_different_size_is_typed(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program, 290)
    train(program)
    program.live.is_on = True
    learn_size(qtbot, program, 295)
    program.session.cursor.go_to(3)
    program.actions["bookmark"].trigger()
    assert [mark.run for mark in program.session.bookmarks.value] == [2]
    assert learn_size(qtbot, program, 299) == 3
    numbers = [run.number for run in program.session.runs.all]
    assert numbers == [1, 2, 3]
    assert learn_size(qtbot, program, 295) == 2
    assert len({run.number for run in program.session.runs.all}) == len(program.session.runs.all)
