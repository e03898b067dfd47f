"""Tests of the list of questions in the room Ask, and of the fields above an answer."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

from app.window.main_window import WHOLE_ROOM
from app.window.pages import PAGES
from app.window.questions.question_form import IN_SIGHT, ExampleLine
from app.window.questions.question_page import QuestionPage
from app.wiring import Program
from bpe_core.questions import description_of, question_names
from bpe_core.support.subjects import SUBJECTS
from tests.gui.conftest import WAIT, wait_for_rest
from tests.gui.questions.conftest import LEFT, NO_KEY, wait_for_answers

pytestmark = pytest.mark.usefixtures("only_window")
SHOWN_BY_OTHERS = {"look", "lab", "diff"}  # questions that the text itself answers, or the room Compare


def index_of(program: Program, page: str) -> QModelIndex:
    return program.question_list.questions.index(program.question_list.questions.row_of(page))


def page_of(program: Program, name: str) -> QuestionPage:
    program.charts.show_page(name)
    page = program.pages.page(next(row for row in PAGES if row.id == name))
    assert isinstance(page, QuestionPage)
    return page


def test_the_question_list_shows_every_question_as_a_sentence_below_its_subject(program: Program) -> None:
    listed: dict[str, list[str]] = {}
    for row in program.question_list.questions.rows:
        listed.setdefault(row.text, []) if not row.page else listed[[*listed][-1]].append(row.page)
    assert [*listed] == [subject.capitalize() for subject in SUBJECTS]
    for subject, pages in listed.items():
        assert {description_of(page).about.capitalize() for page in pages} == {subject}
    assert {page for pages in listed.values() for page in pages} == {*question_names()} - SHOWN_BY_OTHERS
    assert program.question_list.isVisible()
    assert program.charts.tabBar().isHidden()


def test_arrow_keys_in_the_question_list_skip_subjects_and_show_each_answer(qtbot: QtBot, program: Program) -> None:
    program.charts.show_page("canonical")
    program.question_list.setFocus()
    qtbot.keyClick(program.question_list, Qt.Key.Key_Down)
    assert (program.question_list.marked, program.charts.shown) == ("race", "race"), "a subject lies between them"
    assert program.question.question.text() == "Which pairs lost?"
    qtbot.keyClick(program.question_list, Qt.Key.Key_Up)
    assert program.charts.shown == "canonical"
    spoken = QAccessible.queryAccessibleInterface(program.question_list)
    assert spoken.text(QAccessible.Text.Name) == "Questions"
    place = program.question_list.questions.row_of("canonical")
    assert spoken.child(place).text(QAccessible.Text.Name) == "Do the ids stay the same?"
    program.charts.show_page("lengths")
    assert program.question_list.marked == "lengths", "the list follows an answer that is shown from elsewhere"
    wait_for_rest(qtbot, program)


def test_the_question_list_scrolls_to_a_question_that_is_opened_from_another_place(
    qtbot: QtBot, program: Program
) -> None:
    program.window.resize(1024, 700)
    last = [row.page for row in program.question_list.questions.rows if row.page in program.charts.ids][-1]
    program.charts.show_page(last)
    view = program.question_list
    qtbot.waitUntil(lambda: view.viewport().rect().contains(view.visualRect(view.currentIndex())), timeout=WAIT)
    assert view.marked == last
    program.window.resize(1280, 800)


def test_answers_about_a_boundary_or_a_token_are_shown_beside_the_text(qtbot: QtBot, program: Program) -> None:
    for page, tab in (("why", "why"), ("token", "token")):
        place = program.question_list.visualRect(index_of(program, page)).center()
        qtbot.mouseClick(program.question_list.viewport(), LEFT, NO_KEY, place)
        assert program.inspector.shown == tab
    place = program.question_list.visualRect(index_of(program, "tree")).center()
    qtbot.mouseClick(program.question_list.viewport(), LEFT, NO_KEY, place)
    assert program.window.stage == "tree"
    program.window.set_stage("")


def test_double_clicking_a_question_enlarges_its_page_until_escape_is_pressed(qtbot: QtBot, program: Program) -> None:
    window = program.window
    program.charts.show_page("ranks")
    before = program.charts.height()
    place = program.question_list.visualRect(index_of(program, "ranks")).center()
    qtbot.mouseClick(program.question_list.viewport(), LEFT, NO_KEY, place)
    qtbot.mouseDClick(program.question_list.viewport(), LEFT, NO_KEY, place)
    qtbot.mouseRelease(program.question_list.viewport(), LEFT, NO_KEY, place)
    assert window.stage == WHOLE_ROOM
    assert (program.text_panel.isVisible(), window.docks["merges"].isVisible()) == (False, False)
    assert program.question_list.isVisible()
    qtbot.waitUntil(lambda: program.charts.height() > 1.5 * before)
    qtbot.keyClick(program.question_list, Qt.Key.Key_Down)
    assert (program.charts.shown, window.stage) == ("lengths", WHOLE_ROOM), "another question keeps the room"
    assert program.question.whole.isChecked()
    qtbot.keyClick(window, Qt.Key.Key_Escape)
    assert (program.text_panel.isVisible(), window.docks["merges"].isVisible()) == (True, True)
    wait_for_rest(qtbot, program)


def test_a_question_page_shows_at_most_three_fields_until_the_user_presses_more(qtbot: QtBot, program: Program) -> None:
    for row in PAGES:
        page = program.pages.page(row) if row.id in question_names() and row.tabs == "charts" else None
        if not isinstance(page, QuestionPage):
            continue
        program.charts.show_page(row.id)
        shown = [name for name, field in page.fields.items() if not field.isHidden() and field.isVisibleTo(page)]
        assert len(shown) <= IN_SIGHT, row.id
        assert not [label.text() for label in page.form.labels.values() if label.text().isupper()]
    page = page_of(program, "sizes")
    assert not page.fields["power"].isVisibleTo(page)
    page.form.more_button.click()
    assert page.fields["power"].isVisibleTo(page)
    page.form.more_button.click()
    measure = page.fields["measure"]
    assert isinstance(measure, QComboBox)
    assert measure.currentText() == "Bytes per token"
    wait_for_rest(qtbot, program)


def test_a_click_or_the_enter_key_in_an_empty_field_fills_in_the_example(qtbot: QtBot, trained_window: Program) -> None:
    page = page_of(trained_window, "canonical")
    ids = page.fields["ids"]
    assert isinstance(ids, ExampleLine)
    assert (ids.text(), ids.placeholderText()) == ("", "116 104 101")
    wait_for_answers(qtbot, trained_window)  # until the new page has its layout
    qtbot.mouseClick(ids, LEFT)
    assert ids.selectedText() == "116 104 101", "typing replaces it"
    wait_for_answers(qtbot, trained_window)
    assert page.model.answer is not None
    qtbot.keyClick(ids, Qt.Key.Key_Backspace)
    qtbot.keyClick(ids, Qt.Key.Key_Return)
    wait_for_answers(qtbot, trained_window)
    assert ids.text() == "", "who empties a field does not want the example"
    qtbot.keyClick(ids, Qt.Key.Key_Return)
    wait_for_answers(qtbot, trained_window)
    assert ids.text() == "116 104 101"
    assert page.model.answer is not None


def test_a_pair_is_shown_in_one_column_of_the_window_and_in_two_columns_of_a_saved_file(
    qtbot: QtBot, trained_window: Program
) -> None:
    page = page_of(trained_window, "ties")
    wait_for_answers(qtbot, trained_window)
    assert page.model.headings == ["Step", "Pair", "Tied with", "Count", "Step of the tied pair"]
    answer = page.model.answer
    assert answer is not None
    left, right = answer.columns["left_text"][0], answer.columns["right_text"][0]
    assert page.model.cell(0, 1) == f"{left} + {right}"
    assert {"left_text", "right_text", "left_id"} <= {*page.table_function()(lambda: False).columns}
