"""Tests of the race of trainers in a lesson.

The trainers learn from the user's own text. The bars show how much work each trainer does.
"""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.window.lessons.race_view import RaceView
from app.wiring import Program
from bpe_core.lessons.fast_trainers import RACED, Race, words_of_race
from tests.gui.conftest import WAIT, settle
from tests.gui.lessons.lesson_names import lesson_named

OWN = "the miller mills the meal at the mill, and the mill mills the meal for the miller " * 4


def wait_for_end(qtbot: QtBot, race: RaceView) -> None:
    qtbot.waitUntil(lambda: bool(race.bars.lines()) and race.again_button.isEnabled(), timeout=WAIT)


@pytest.mark.parametrize(("own", "caption"), [(OWN, "of the beginning of your text"), ("short", "of a short story")])
def test_the_race_of_a_lesson_shows_the_work_of_each_trainer(
    qtbot: QtBot, program: Program, own: str, caption: str
) -> None:
    settle(qtbot, program)
    program.token_text.replace(0, program.token_text.length, own)
    lesson = lesson_named("fast")
    program.teaching.begin(lesson.name, len(lesson.steps) - 1)
    race = program.lesson_panel.step.race
    wait_for_end(qtbot, race)
    words = words_of_race(own if own == OWN else lesson.text, lesson.steps[-1].recipe)
    expected = Race(words, lesson.steps[-1].race).run(RACED)
    assert len(race.bars.lines()) == 4
    naive = expected.work["naive"]
    assert race.bars.lines()[0] == f"Naive: {naive.places:,} places, {naive.pairs:,} pairs"
    assert caption in race.caption.text()
    assert race.caption.text().startswith(f"{expected.merges:,} merges")
    page = program.course.page()
    assert page is not None
    assert not page.words


def test_a_race_of_trainers_shows_only_its_result_if_animations_are_off(qtbot: QtBot, program: Program) -> None:
    settle(qtbot, program)
    program.session.playing.has_motion = False
    program.token_text.replace(0, program.token_text.length, OWN)
    program.teaching.begin(lesson_named("fast").name, 0)
    race = program.lesson_panel.step.race
    wait_for_end(qtbot, race)
    shown = list[str]()
    race.again_button.clicked.connect(lambda: shown.append(race.caption.text()))
    race.again_button.click()
    qtbot.wait(200)
    assert race.caption.text() == shown[0]
    wait_for_end(qtbot, race)
    assert race.caption.text() != shown[0]


def test_a_repeated_race_of_trainers_does_the_same_amount_of_work_as_the_first_race(
    qtbot: QtBot, program: Program
) -> None:
    settle(qtbot, program)
    program.token_text.replace(0, program.token_text.length, OWN)
    program.teaching.begin(lesson_named("fast").name, 0)
    race = program.lesson_panel.step.race
    wait_for_end(qtbot, race)
    before = race.bars.lines()
    race.again_button.click()
    assert race.bars.lines() != before
    wait_for_end(qtbot, race)
    assert race.bars.lines() == before
