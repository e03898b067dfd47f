"""Tests that take every lesson in the window, as a student does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.window.charts.pairs_page import PairsPage
from app.window.lessons.course import LOOKED, LessonPage
from app.window.lessons.wiring import LESSON_STAGE
from app.wiring import Program
from bpe_core.lessons.answers import how_to_write, text_of_step
from bpe_core.lessons.lessons import Lesson, as_plain, lessons
from tests.gui.conftest import WAIT, settle
from tests.gui.lessons.lesson_names import NAMES, lesson_named

LEFT = Qt.MouseButton.LeftButton
SMALL = QSize(1280, 800)


def page_of(qtbot: QtBot, program: Program) -> LessonPage:
    """Wait until the page of the lesson is ready. Return it."""

    def is_there() -> None:
        assert program.course.page() is not None
        assert not program.course.is_busy

    qtbot.waitUntil(is_there, timeout=WAIT)
    page = program.course.page()
    assert page is not None
    return page


def begin(qtbot: QtBot, program: Program, lesson: Lesson) -> None:
    """Begin a lesson by clicking its row in the list of lessons."""
    settle(qtbot, program)
    program.actions["lessons"].trigger()
    qtbot.mouseClick(program.lesson_panel.list.buttons[lesson.name], LEFT)


def assert_answer_is_hidden(program: Program, page: LessonPage) -> None:
    assert not program.pages[PairsPage].isVisible()
    assert program.session.runs.shown is not None
    assert program.session.runs.shown.learned == page.step.merges
    assert page.reply.after == ""


def wait_for_all_in_sight(qtbot: QtBot, program: Program) -> None:
    """Wait until the question and all answers are visible on a small screen without scrolling."""
    view = program.lesson_panel.step
    assert program.window.height() <= SMALL.height()

    def is_in_sight() -> None:
        seen = view.area.viewport().rect()
        for part in (view.say, view.entry, view.entry_button, *view.choice_buttons):
            if part.isVisible():
                place = QRect(part.mapTo(view.area.viewport(), QPoint()), part.size())
                assert seen.contains(place), (part.accessibleName(), place, seen)

    qtbot.waitUntil(is_in_sight, timeout=WAIT)


@pytest.mark.usefixtures("only_window")
def test_buttons_of_a_lesson_page_are_directly_below_its_text(qtbot: QtBot, program: Program) -> None:
    program.window.resize(SMALL)
    begin(qtbot, program, lesson_named(NAMES[0]))
    page_of(qtbot, program)
    view = program.lesson_panel.step

    def is_below() -> None:
        bottom = view.area.mapTo(view, QPoint(0, view.area.height())).y()
        top = view.next_button.mapTo(view, QPoint()).y()
        assert 0 <= top - bottom < view.next_button.height()
        assert top < view.height() / 2, "the first step is short"
        assert view.area.verticalScrollBar().maximum() == 0

    qtbot.waitUntil(is_below, timeout=WAIT)


def solve(qtbot: QtBot, program: Program, page: LessonPage) -> None:
    """Give a wrong answer first if the page allows one. Then give the right answer by clicking or typing."""
    buttons = program.lesson_panel.step.choice_buttons
    qtbot.waitUntil(lambda: all(b.height() >= b.sizeHint().height() for b in buttons), timeout=WAIT)
    if page.step.kind == "predict":
        predict(qtbot, program, page)
    else:
        answer_page(qtbot, program, page)
    qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)


def predict(qtbot: QtBot, program: Program, page: LessonPage) -> None:
    view, course = program.lesson_panel.step, program.course
    assert_answer_is_hidden(program, page)
    bench = course.bench_of_step()
    assert bench is not None
    merge = bench.to_the_end.history[page.step.merges]
    right = text_of_step((merge.left, merge.right), bench)
    assert right in page.candidates
    view.entry.setText("nonsense")
    qtbot.keyClick(view.entry, Qt.Key.Key_Return)
    assert how_to_write(bench) in view.feedback.sentence.text()
    if page.number % 2:
        view.entry.setText(right.replace(" ", ""))
        qtbot.mouseClick(view.entry_button, LEFT)
    else:
        qtbot.mouseClick(view.choice_buttons[page.candidates.index(right)], LEFT)
    qtbot.waitUntil(lambda: course.can_go_on, timeout=WAIT)
    done = page_of(qtbot, program)
    assert done.reply.feedback is not None
    assert done.reply.feedback.mood == "right"
    assert right in view.feedback.sentence.text()
    run = program.session.runs.shown
    assert run is not None
    assert run.learned == page.step.merges + 1
    assert program.session.cursor.position == run.learned


def answer_page(qtbot: QtBot, program: Program, page: LessonPage) -> None:
    view, course = program.lesson_panel.step, program.course
    bench = course.bench_of_step()
    assert bench is not None
    assert page.step.query is not None
    right = page.step.query.answer(bench)
    if page.step.choices:
        buttons = {button.text(): button for button in view.choice_buttons}
        wrong = next(choice for choice in page.step.choices if choice != right)
        qtbot.mouseClick(buttons[wrong], LEFT)
        assert as_plain(page.step.why_not(wrong)) in view.feedback.sentence.text()
        buttons = {button.text(): button for button in view.choice_buttons}
        assert not buttons[wrong].isEnabled()
        qtbot.mouseClick(buttons[right], LEFT)
    elif view.cells:
        view.cells[0].setText("3/1000")
        qtbot.mouseClick(view.entry_button, LEFT)
        assert f"Look again at {page.step.query.cells[0]}. " in view.feedback.sentence.text()
        for cell, number in zip(view.cells, right.split(), strict=True):
            cell.setText(number)
        qtbot.keyClick(view.cells[-1], Qt.Key.Key_Return)
    else:
        view.entry.setText("certainly not this")
        qtbot.mouseClick(view.entry_button, LEFT)
        assert as_plain(page.step.hint) in view.feedback.sentence.text()
        assert view.show_button.isVisible()
        view.entry.setText(right)
        qtbot.keyClick(view.entry, Qt.Key.Key_Return)
    assert f"Right: {right}" in view.feedback.sentence.text()


@pytest.mark.usefixtures("only_window")
@pytest.mark.parametrize("lesson", lessons(), ids=NAMES)
def test_a_user_can_take_every_lesson_to_its_end(qtbot: QtBot, program: Program, lesson: Lesson) -> None:
    program.window.resize(SMALL)
    begin(qtbot, program, lesson)
    view = program.lesson_panel.step
    for number in range(len(lesson.steps)):
        page = page_of(qtbot, program)
        assert page.number == number + 1
        assert program.lesson_panel.currentWidget() is view
        assert not page.reply.is_done
        assert view.next_button.isEnabled() == (page.step.kind == "read")
        if page.step.kind != "read":
            assert program.window.stage == LESSON_STAGE
            assert not [id for id, dock in program.window.docks.items() if dock.isVisible()]
            assert not program.actions["step"].isVisible(), "nothing beside the lesson makes its steps"
            assert not program.charts.isVisible()
            wait_for_all_in_sight(qtbot, program)
            solve(qtbot, program, page)
            assert view.after.isVisible() == bool(page.step.after)
        qtbot.mouseClick(view.next_button, LEFT)
    assert program.lesson_panel.currentWidget() is program.lesson_panel.end
    asked = sum(step.kind != "read" for step in lesson.steps)
    predicted = sum(step.kind == "predict" for step in lesson.steps)
    assert f"{predicted} of {asked} answers were right at the first try" in program.lesson_panel.end.score.text()
    program.course.leave()
    assert program.window.stage == ""
    assert program.actions["step"].isVisible()
    assert program.lesson_panel.list.isVisible()


@pytest.mark.usefixtures("dropping")
def test_a_lesson_stored_in_the_folder_of_a_method_can_be_taken_to_the_end(qtbot: QtBot, program: Program) -> None:
    lesson = lesson_named("adding")
    begin(qtbot, program, lesson)
    for _ in lesson.steps:
        solve(qtbot, program, page_of(qtbot, program))
        qtbot.mouseClick(program.lesson_panel.step.next_button, LEFT)
    assert program.lesson_panel.currentWidget() is program.lesson_panel.end


@pytest.mark.usefixtures("only_window")
def test_a_user_can_take_a_lesson_with_the_keyboard_alone(qtbot: QtBot, program: Program) -> None:
    settle(qtbot, program)
    program.actions["lessons"].trigger()
    enter, space = Qt.Key.Key_Return, Qt.Key.Key_Space

    def focus() -> QWidget:
        widget = program.window.focusWidget()
        assert widget is not None
        return widget

    qtbot.waitUntil(lambda: focus() in program.lesson_panel.list.buttons.values(), timeout=WAIT)
    qtbot.keyClick(focus(), space)
    lesson = lessons()[0]
    view, course = program.lesson_panel.step, program.course
    for _ in lesson.steps:
        page = page_of(qtbot, program)
        if page.step.query is not None:
            bench = course.bench_of_step()
            assert bench is not None
            right = page.step.query.answer(bench)
            if page.step.choices:
                qtbot.waitUntil(lambda: focus() in view.choice_buttons, timeout=WAIT)
                while focus().text() != right:  # type: ignore[attr-defined]
                    qtbot.keyClick(focus(), Qt.Key.Key_Tab)
                qtbot.keyClick(focus(), space)
            else:
                for typed in ("certainly not this", right):
                    qtbot.waitUntil(lambda: focus() is view.entry, timeout=WAIT)
                    qtbot.keyClicks(focus(), typed)
                    qtbot.keyClick(focus(), enter)
        elif page.step.kind == "predict":
            for _ in range(2):
                qtbot.waitUntil(lambda: focus() in view.choice_buttons or course.can_go_on, timeout=WAIT)
                if not course.is_busy and not course.can_go_on:
                    qtbot.keyClick(focus(), space)
        qtbot.waitUntil(lambda: course.can_go_on and focus() is view.next_button, timeout=WAIT)
        qtbot.keyClick(focus(), space)
    assert course.is_at_end
    assert focus() is program.lesson_panel.end.next_button


@pytest.mark.usefixtures("only_window")
def test_a_lesson_page_that_changes_the_tie_rule_begins_without_an_answer(qtbot: QtBot, program: Program) -> None:
    """The merges of the previous run must not count as answers on this page."""
    program.teaching.begin(lesson_named("ties").name, 0)
    for _ in range(3):
        page = page_of(qtbot, program)
        if page.step.kind == "predict":
            program.course.show_answer()
            qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)
        program.course.next()
    page = page_of(qtbot, program)
    assert page.step.recipe.ties == "largest-text"
    assert page.reply.feedback is None
    assert not page.reply.is_done
    assert_answer_is_hidden(program, page)


@pytest.mark.usefixtures("only_window")
def test_clicking_between_two_tokens_answers_a_lesson_with_their_pair(qtbot: QtBot, program: Program) -> None:
    settle(qtbot, program)
    program.actions["lessons"].trigger()
    program.teaching.begin(lesson_named("weights").name, 1)
    page_of(qtbot, program)
    words = program.lesson_panel.step.words
    # It can be clicked on when its tiles are laid out, of which nothing else tells.
    qtbot.waitUntil(lambda: words.isVisible() and words.width() > 100 and bool(words._tiles[0]), timeout=WAIT)
    right_o = words.area_of(0, 2)  # of book
    qtbot.mouseClick(words, LEFT, pos=right_o.center().toPoint() - QPoint(round(right_o.width() / 2) + 1, 0))
    qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)
    feedback = page_of(qtbot, program).reply.feedback
    assert feedback is not None
    assert feedback.mood == "right"
    assert "45 times" in feedback.sentence


@pytest.mark.usefixtures("only_window")
def test_going_back_in_a_lesson_shows_the_earlier_page_unchanged(qtbot: QtBot, program: Program) -> None:
    lesson = lesson_named("weights")
    program.teaching.begin(lesson.name, 0)
    shown: list[tuple[str, ...]] = []
    for _ in range(5):
        page = page_of(qtbot, program)
        if page.step.kind != "read":
            program.course.show_answer()
            qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)
        shown.append(tuple(" ".join(word.texts) for word in page_of(qtbot, program).words))
        program.course.next()
    for number in range(4, -1, -1):
        program.course.back()
        page = page_of(qtbot, program)
        assert page.number == number + 1
        qtbot.waitUntil(
            lambda number=number: (
                tuple(" ".join(word.texts) for word in page_of(qtbot, program).words)  # type: ignore[misc]
                == shown[number]
            ),
            timeout=WAIT,
        )


@pytest.mark.usefixtures("only_window")
def test_leaving_a_lesson_restores_the_session_and_the_window(
    qtbot: QtBot, program: Program, train: Callable[[Program], None]
) -> None:
    assert program.form.choose(vocab_size=300)
    train(program)
    session = program.session
    session.cursor.go_to(17)

    def world() -> tuple[object, ...]:
        return (
            session.corpus.texts.value, session.recipe.value, program.token_text.text(), session.runs.shown,
            session.cursor.position, session.undo.canUndo(), len(session.runs.all),
        )  # fmt: skip

    before = world()
    begin(qtbot, program, lesson_named("newer"))
    for _ in range(3):
        page = page_of(qtbot, program)
        if page.step.kind != "read":
            program.course.show_answer()
            qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)
        program.course.next()
    page_of(qtbot, program)
    assert world() != before
    qtbot.mouseClick(program.lesson_panel.step.leave_button, LEFT)
    settle(qtbot, program)
    assert world() == before
    assert program.window.stage == ""
    state = program.lesson_panel.list.buttons[lesson_named("newer").name].description()
    assert "go on at step 4" in state


def test_the_list_of_lessons_remembers_which_lessons_are_done(
    qtbot: QtBot, program: Program, new_program: Callable[..., Program]
) -> None:
    lesson = lesson_named("first-merge")
    program.teaching.begin(lesson.name, len(lesson.steps) - 1)
    page_of(qtbot, program)
    program.course.show_answer()
    program.course.next()
    assert program.course.is_at_end
    program.lesson_panel.end.leave_button.click()
    other = new_program()
    other.actions["lessons"].trigger()
    assert "(done)" in other.lesson_panel.list.buttons[lesson.name].description()


@pytest.mark.usefixtures("only_window")
def test_a_window_without_a_run_offers_a_lesson(qtbot: QtBot, program: Program) -> None:
    assert program.pages[PairsPage].invitation.isVisible()
    qtbot.mouseClick(program.pages[PairsPage].invitation, LEFT)
    assert program.lesson_panel.list.isVisible()
    assert isinstance(program.actions["lessons"], QAction)


@pytest.mark.usefixtures("only_window")
def test_a_wrong_prediction_in_a_lesson_can_be_tried_again(qtbot: QtBot, program: Program) -> None:
    program.teaching.begin(lesson_named("weights").name, 1)
    page = page_of(qtbot, program)
    assert not program.course.predict("b + o")
    view, run = program.lesson_panel.step, program.session.runs.shown
    assert run is not None
    assert run.learned == page.step.merges
    assert "23 times" in view.feedback.sentence.text()
    assert "o + o" not in view.feedback.sentence.text(), "the answer is not given away"
    assert [button.text() for button in view.choice_buttons if not button.isEnabled()] == ["b + o"]
    assert program.course.predict("o + k")
    qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)
    assert "o + o occurs 45 times" in view.feedback.sentence.text()


@pytest.mark.usefixtures("only_window")
def test_an_answer_does_not_count_if_the_user_has_already_seen_the_solution(qtbot: QtBot, program: Program) -> None:
    """The window shows the next pair, and the user may look at it before answering."""
    settle(qtbot, program)
    program.teaching.begin(lesson_named("weights").name, 1)
    page_of(qtbot, program)
    assert program.course.page() is not None
    program.window.set_stage("")
    assert program.charts.isVisible(), "one may look"
    program.actions["lessons"].trigger()
    assert program.window.stage == LESSON_STAGE
    assert program.lesson_panel.step.feedback.sentence.text() == LOOKED
    assert program.course.predict("o + o")
    qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)
    assert "0 of 1 answers were right" in program.course.score()
    program.window.set_stage("")  # nothing is asked any more
    assert "0 of 1 answers were right" in program.course.score()
    program.course.leave()


@pytest.mark.usefixtures("only_window")
def test_a_lesson_page_stays_visible_after_the_compare_room_is_opened_twice(qtbot: QtBot, program: Program) -> None:
    settle(qtbot, program)
    program.teaching.begin(lesson_named("weights").name, 1)
    page_of(qtbot, program)
    for way_back in (f"room_{program.window.room}", "lessons"):
        for name in ("lab", "lab", "duel"):
            program.actions[name].trigger()
            settle(qtbot, program)
        assert (program.window.room, program.window.stage) == ("compare", "")
        program.actions[way_back].trigger()
        assert program.window.stage == LESSON_STAGE
        assert program.lesson_panel.step.isVisible()
    assert program.course.predict("o + o")
    qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)
    program.course.leave()
    assert program.window.stage == ""


@pytest.mark.usefixtures("only_window")
def test_lessons_are_shared_as_a_web_page(
    qtbot: QtBot, program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lessons.html"
    monkeypatch.setattr("app.window.publishing.wiring.ask_where_to_save", lambda *_: path)
    settle(qtbot, program)
    program.actions["lessons"].trigger()
    qtbot.mouseClick(program.lesson_panel.list.share_button, LEFT)
    qtbot.waitUntil(path.is_file, timeout=WAIT)
    assert "<title>Lessons on tokens</title>" in path.read_text(encoding="utf-8")
    settle(qtbot, program)
    program.teaching.begin(lesson_named("weights").name, 0)
    page_of(qtbot, program)
    path.unlink()
    program.actions["share"].trigger()
    qtbot.waitUntil(path.is_file, timeout=WAIT)
    assert "<title>Words have weights</title>" in path.read_text(encoding="utf-8")


def test_a_lesson_question_with_several_fields_can_be_answered_with_the_keyboard_alone(
    qtbot: QtBot, program: Program
) -> None:
    lesson = next(
        any_lesson for any_lesson in lessons() if any(step.query and step.query.cells for step in any_lesson.steps)
    )
    number = next(place for place, step in enumerate(lesson.steps) if step.query and step.query.cells)
    view = program.lesson_panel.step
    program.teaching.begin(lesson.name, number)
    page = page_of(qtbot, program)
    bench = program.course.bench_of_step()
    assert bench is not None
    assert page.step.query is not None
    for right in (False, True):
        numbers = page.step.query.answer(bench).split()
        if not right:
            numbers[0] = "3/1000"
        for cell, typed in zip(view.cells, numbers, strict=True):
            qtbot.waitUntil(cell.hasFocus, timeout=WAIT)
            qtbot.keyClicks(cell, typed)
            if cell is view.cells[-1]:
                qtbot.keyClick(cell, Qt.Key.Key_Return)
            else:
                program.window.focusNextPrevChild(True)
    qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)
