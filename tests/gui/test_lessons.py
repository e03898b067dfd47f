"""The lessons: what the engine answers, and every lesson taken in the window as a student takes it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.window.charts.pairs_page import PairsPage
from app.window.lessons.bench import Bench
from app.window.lessons.course import LessonPage
from app.window.lessons.lessons import Lesson, LessonStep, filled, is_same_answer, lessons
from app.window.lessons.predictions import candidates, written
from app.window.lessons.replacing_text import words_by_replacing_text
from app.window.lessons.rich_text import as_html
from app.wiring import Program
from bpe_core import Corpus, Recipe, Tokenizer, count_words
from tests.gui.conftest import WAIT, settle
from tests.shared import here, path_of

LEFT = Qt.MouseButton.LeftButton
NAMES = [lesson.name for lesson in lessons()]


def lesson_named(part: str) -> Lesson:
    return next(lesson for lesson in lessons() if part in lesson.name)


def bench_of(lesson: Lesson, step: LessonStep) -> Bench:
    """The lesson's corpus as it stands when a step begins."""
    whole = Bench.of_text(lesson.corpus, step.recipe)
    return Bench(whole.words, whole.history.first(step.merges))


# -- what the lessons say ------------------------------------------------------------------


@pytest.mark.parametrize("lesson", lessons(), ids=NAMES)
def test_every_step_can_be_answered_by_the_engine(lesson: Lesson) -> None:
    for step in lesson.steps:
        bench = bench_of(lesson, step)
        assert len(bench.history) == step.merges, "the merges made before this step are there"
        for text in (step.say, step.after):
            told = filled(text, step, bench)
            assert not re.search(r"\{\w+\}", told), told
            assert "<p" in as_html(told, "#eee", "monospace") or not told
        if step.query is not None:
            answer = step.query.answer(bench)
            assert answer
            assert not step.choices or answer in step.choices
            assert len(set(step.choices)) == len(step.choices)
        elif step.kind == "predict":
            merged = bench.to_the_end.history[step.merges]
            assert (merged.left, merged.right) in candidates(bench)


# What independent code found out about the articles' examples, by lesson and step.
FACTS = {
    ("first-merge", 1): "4",
    ("first-merge", 5): "5",
    ("weights", 2): "26",
    ("end-of-word", 2): "b ook s </w>",
    ("end-of-word", 3): "car + </w>",
    ("end-of-word", 4): "low l y </w>",
    ("merge-order", 2): "a bc",
    ("merge-order", 3): "ab c",
    ("merge-order", 4): "cat c h",
    ("newer", 1): "6",
    ("newer", 4): "new e r </w>",
    ("printed-mistakes", 1): "1744",
    ("printed-mistakes", 3): "9",
    ("printed-mistakes", 5): "ha t",
}
MERGED = {  # the merge that is to be predicted, and its count
    ("first-merge", 2): ("a + a", 4),
    ("first-merge", 3): ("aa + a", 2),
    ("first-merge", 4): ("aaa + b", 2),
    ("weights", 1): ("o + o", 45),
    ("weights", 3): ("oo + k", 26),
    ("weights", 4): ("oo + b", 19),
    ("ties", 1): ("e + s", 9),
    ("ties", 2): ("es + t", 9),
    ("ties", 3): ("s + t", 9),
    ("end-of-word", 1): ("ook + </w>", 20),
    ("newer", 2): ("n + e", 6),
    ("printed-mistakes", 2): ("n + e", 6),
}


@pytest.mark.parametrize(("place", "fact"), FACTS.items(), ids=str)
def test_exercises_have_the_answers_that_are_known(place: tuple[str, int], fact: str) -> None:
    lesson = lesson_named(place[0])
    step = lesson.steps[place[1]]
    assert step.query is not None
    assert step.query.answer(bench_of(lesson, step)) == fact


@pytest.mark.parametrize(("place", "fact"), MERGED.items(), ids=str)
def test_predictions_have_the_outcome_that_is_known(place: tuple[str, int], fact: tuple[str, int]) -> None:
    lesson = lesson_named(place[0])
    step = lesson.steps[place[1]]
    assert step.kind == "predict"
    bench = bench_of(lesson, step)
    merge = bench.to_the_end.history[step.merges]
    assert (written((merge.left, merge.right), bench), merge.count) == fact


def test_values_told_are_those_that_are_known() -> None:
    def told(name: str, number: int) -> str:
        lesson = lesson_named(name)
        step = lesson.steps[number]
        return filled(step.say + step.after, step, bench_of(lesson, step))

    assert "As numbers: 258 100 258 97 99" in told("first-merge", 5)
    assert "together 26 times" in told("weights", 2)
    assert "has 19" in told("weights", 2)
    assert "10 times. After it comes `ca + r`, then `ca + t`" in told("weights", 6)
    assert "with 19 would be next" in told("end-of-word", 1)
    assert "the third merge is `ca + t`" in told("end-of-word", 3)
    assert "counts 5" in told("end-of-word", 3)
    assert "it would be `low l y`" in told("end-of-word", 4)
    assert "`low est</w>`" in told("newer", 0)
    assert "`n e w e r </w>`" in told("newer", 1)
    assert "only 5 times now; three pairs stand 6 times" in told("printed-mistakes", 2)


def test_the_six_rules_as_printed_cut_words_as_the_article_says() -> None:
    bench = Bench.of_words({"low": 5, "lower": 2, "newest": 6, "widest": 3}, Recipe.preset("words", marker="symbol"))
    printed = bench.with_rules(["e s", "es t", "est </w>", "l o", "lo w", "low </w>"])
    for word, cut in (("lowest", "low est</w>"), ("newest", "n e w est</w>"), ("newer", "n e w e r </w>")):
        assert printed.texts(Tokenizer(printed.history).encode(word)) == cut


# Distinct tokens by merging symbols and by replacing text, and the steps in which the two do not the same.
POEMS = {"poem": (135, 145, 23), "data/raven.txt": (173, 263, 46)}


@pytest.mark.parametrize("name", here(*POEMS))
def test_the_numbers_about_the_poem_are_true(name: str) -> None:
    recipe = Recipe.preset("clean-words", merges=150)
    bench = Bench.trained(count_words(Corpus.from_files([path_of(name)]), recipe), recipe)
    right = len({id for word in bench.words_at(150) for id in word.ids})
    wrong = len({piece for word in words_by_replacing_text(bench, 150) for piece in word.split()})
    assert (right, wrong, steps_that_replace_too_much(bench)) == POEMS[name]


def test_the_numbers_about_the_poem_are_told() -> None:
    said = " ".join(step.say for step in lesson_named("printed-mistakes").steps)
    right, wrong, too_much = POEMS["data/raven.txt"]
    assert f"left with {wrong} distinct tokens" in said
    assert f"there are {right}. In {too_much} of its 150 steps" in said


def steps_that_replace_too_much(bench: Bench) -> int:
    """How many steps join anything that is not the pair they are about, when text is replaced."""
    words = [" ".join(word.texts) for word in bench.words_at(0)]
    weights = [count for _, count in bench.words]
    found = 0
    for _ in range(len(bench.history)):
        counts: Counter[tuple[str, str]] = Counter()
        for word, weight in zip(words, weights, strict=True):
            for pair in pairwise(word.split()):
                counts[pair] += weight
        left, right = max(counts, key=lambda pair: counts[pair])
        proper = [" ".join(_joined(word.split(), left, right)) for word in words]
        words = [word.replace(f"{left} {right}", left + right) for word in words]
        found += words != proper
    assert words == words_by_replacing_text(bench, len(bench.history))
    return found


def _joined(pieces: list[str], left: str, right: str) -> list[str]:
    found: list[str] = []
    while pieces:
        if pieces[:2] == [left, right]:
            found, pieces = [*found, left + right], pieces[2:]
        else:
            found, pieces = [*found, pieces[0]], pieces[1:]
    return found


def test_together_they_teach_what_they_should() -> None:
    assert len(lessons()) == 9
    for words in ("by hand", "weights", "equal", "ends", "greedily", "newer", "emoji", "vocabulary", "mistakes"):
        assert any(words in lesson.title for lesson in lessons()), words
    for lesson in lessons():
        assert any(step.kind == "predict" for step in lesson.steps), f"{lesson.name} lets nothing be predicted"
        assert any(step.kind == "ask" for step in lesson.steps)


# -- in the window -------------------------------------------------------------------------


def page_of(qtbot: QtBot, program: Program) -> LessonPage:
    """The step that is shown, when the engine is ready for it."""

    def is_there() -> None:
        assert program.course.page() is not None
        assert not program.course.is_busy

    qtbot.waitUntil(is_there, timeout=WAIT)
    page = program.course.page()
    assert page is not None
    return page


def begin(qtbot: QtBot, program: Program, lesson: Lesson) -> None:
    """By a click in the list of lessons."""
    settle(qtbot, program)
    program.actions["lessons"].trigger()
    qtbot.mouseClick(program.lesson_panel.list.buttons[lesson.name], LEFT)


def assert_nothing_gives_it_away(program: Program, page: LessonPage) -> None:
    assert program.pages[PairsPage].model.bars == ()
    assert program.session.runs.shown is not None
    assert program.session.runs.shown.learned == page.step.merges
    assert page.after == ""


def solve(qtbot: QtBot, program: Program, page: LessonPage) -> None:
    """Err first, where one can; then do it right, by whatever means the step offers."""
    if page.step.kind == "predict":
        predict(qtbot, program, page)
    else:
        answer(qtbot, program, page)
    qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)


def predict(qtbot: QtBot, program: Program, page: LessonPage) -> None:
    view, course = program.lesson_panel.step, program.course
    qtbot.waitUntil(lambda: program.pages[PairsPage].model.bars == (), timeout=WAIT)
    assert_nothing_gives_it_away(program, page)
    bench = course.bench_of_step()
    assert bench is not None
    merge = bench.to_the_end.history[page.step.merges]
    right = written((merge.left, merge.right), bench)
    assert right in page.candidates
    view.entry.setText("nonsense")
    qtbot.keyClick(view.entry, Qt.Key.Key_Return)
    assert "with a plus between them" in view.feedback.sentence.text()
    if page.number % 2:
        view.entry.setText(right.replace(" ", ""))
        qtbot.mouseClick(view.entry_button, LEFT)
    else:
        qtbot.mouseClick(view.choice_buttons[page.candidates.index(right)], LEFT)
    qtbot.waitUntil(lambda: course.can_go_on, timeout=WAIT)
    done = page_of(qtbot, program)
    assert done.feedback is not None
    assert done.feedback.mood == "right"
    assert right in view.feedback.sentence.text()
    run = program.session.runs.shown
    assert run is not None
    assert run.learned == page.step.merges + 1
    assert program.session.cursor.position == run.learned


def answer(qtbot: QtBot, program: Program, page: LessonPage) -> None:
    view, course = program.lesson_panel.step, program.course
    bench = course.bench_of_step()
    assert bench is not None
    assert page.step.query is not None
    right = page.step.query.answer(bench)
    if page.step.choices:
        buttons = {button.text(): button for button in view.choice_buttons}
        wrong = next(choice for choice in page.step.choices if choice != right)
        qtbot.mouseClick(buttons[wrong], LEFT)
        assert "Not quite" in view.feedback.sentence.text()
        buttons = {button.text(): button for button in view.choice_buttons}
        assert not buttons[wrong].isEnabled()
        qtbot.mouseClick(buttons[right], LEFT)
    else:
        view.entry.setText("certainly not this")
        qtbot.mouseClick(view.entry_button, LEFT)
        assert "Not quite" in view.feedback.sentence.text()
        assert view.show_button.isVisible()
        view.entry.setText(right)
        qtbot.keyClick(view.entry, Qt.Key.Key_Return)
    assert f"Right: {right}" in view.feedback.sentence.text()


@pytest.mark.parametrize("lesson", lessons(), ids=NAMES)
def test_a_lesson_is_taken_to_its_end(qtbot: QtBot, program: Program, lesson: Lesson) -> None:
    begin(qtbot, program, lesson)
    view = program.lesson_panel.step
    for number in range(len(lesson.steps)):
        page = page_of(qtbot, program)
        assert page.number == number + 1
        assert program.lesson_panel.currentWidget() is view
        assert not page.is_done
        assert view.next_button.isEnabled() == (page.step.kind == "read")
        if page.step.kind != "read":
            solve(qtbot, program, page)
            assert view.after.isVisible() == bool(page.step.after)
        qtbot.mouseClick(view.next_button, LEFT)
    assert program.lesson_panel.currentWidget() is program.lesson_panel.end
    asked = sum(step.kind != "read" for step in lesson.steps)
    predicted = sum(step.kind == "predict" for step in lesson.steps)
    assert f"{predicted} of {asked} right at the first try" in program.lesson_panel.end.score.text()


def test_a_lesson_is_taken_by_keys_alone(qtbot: QtBot, program: Program) -> None:
    settle(qtbot, program)
    program.actions["lessons"].trigger()
    enter, space = Qt.Key.Key_Return, Qt.Key.Key_Space

    def focus() -> QWidget:
        found = program.window.focusWidget()
        assert found is not None
        return found

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
                qtbot.waitUntil(lambda: focus() is view.entry, timeout=WAIT)
                qtbot.keyClicks(focus(), right)
                qtbot.keyClick(focus(), enter)
        elif page.step.kind == "predict":
            qtbot.waitUntil(lambda: focus() in view.choice_buttons, timeout=WAIT)
            qtbot.keyClick(focus(), space)
        qtbot.waitUntil(lambda: course.can_go_on and focus() is view.next_button, timeout=WAIT)
        qtbot.keyClick(focus(), space)
    assert course.is_at_end
    assert focus() is program.lesson_panel.end.next_button


def test_a_step_under_another_rule_begins_unanswered(qtbot: QtBot, program: Program) -> None:
    """What the run before has merged must not be taken for this step's outcome."""
    program.teaching.begin(lesson_named("ties").name, 0)
    for _ in range(3):
        page = page_of(qtbot, program)
        if page.step.kind == "predict":
            program.course.show_answer()
            qtbot.waitUntil(lambda: program.course.can_go_on, timeout=WAIT)
        program.course.next()
    page = page_of(qtbot, program)
    assert page.step.recipe.ties == "largest-text"
    assert page.feedback is None
    assert not page.is_done
    assert_nothing_gives_it_away(program, page)


def test_a_pair_is_predicted_by_a_click_between_its_tokens(qtbot: QtBot, program: Program) -> None:
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
    feedback = page_of(qtbot, program).feedback
    assert feedback is not None
    assert feedback.mood == "right"
    assert "45 times" in feedback.sentence


def test_going_back_shows_the_world_as_it_was(qtbot: QtBot, program: Program) -> None:
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


def test_everything_is_as_before_when_a_lesson_is_left(
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
    assert program.lesson_panel.currentWidget() is program.lesson_panel.list
    state = program.lesson_panel.list.buttons[lesson_named("newer").name].description()
    assert "go on at step 4" in state


def test_the_list_remembers_what_was_done(qtbot: QtBot, program: Program, new_program: Callable[..., Program]) -> None:
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


def test_the_empty_window_offers_a_lesson(qtbot: QtBot, program: Program) -> None:
    assert program.pages[PairsPage].invitation.isVisible()
    qtbot.mouseClick(program.pages[PairsPage].invitation, LEFT)
    assert program.lesson_panel.list.isVisible()
    assert isinstance(program.actions["lessons"], QAction)


def test_answers_are_the_same_however_they_are_spaced() -> None:
    assert is_same_answer(" low  est</w> ", "low est</w>")
    assert not is_same_answer("", "low")
