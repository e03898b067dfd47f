"""Tests of the chat page: a box for messages, a box for a template, and the tokens in colours."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QComboBox
from pytestqt.qtbot import QtBot

import bpe_core as bpe
from app.session.repeat_code import as_command, as_python
from app.window.pages import CHAT
from app.window.questions.chat.examples import CHATS, FIRST_TEMPLATE, TEMPLATES
from app.window.questions.chat.page import ChatPage
from app.wiring import Program
from tests.gui.conftest import Train
from tests.gui.questions.conftest import wait_for_answers

pytestmark = pytest.mark.usefixtures("only_window")
TEMPLATE = "{% for one in messages %}<{{ one.role }}> {{ one.content }}\n{% endfor %}"


def chat_page(qtbot: QtBot, program: Program) -> ChatPage:
    program.charts.show_page("chat")
    page = program.pages.page(CHAT)
    folder = page.fields["path"]
    assert isinstance(folder, QComboBox)
    folder.setCurrentIndex(0)
    page.messages.take_example("Question and answer")
    wait_for_answers(qtbot, program)
    return page


def rendered(page: ChatPage) -> str:
    assert page.model.answer is not None, page.sentence.text()
    text = page.model.answer.facts["rendered"]
    assert isinstance(text, str)
    return text


@pytest.fixture
def model_folder(tmp_path: Path) -> Path:
    bpe.train("the lowest of the low " * 9, "gpt2", merges=6).save(tmp_path / "tokenizer.json")
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    return tmp_path


def test_a_chat_is_shown_with_a_colour_for_each_role(qtbot: QtBot, program: Program, model_folder: Path) -> None:
    chat = [{"role": "user", "content": "the lowest"}, {"role": "assistant", "content": "of the low"}]
    page = chat_page(qtbot, program)
    assert page.sentence.text() == "Choose this first: Folder."  # no run is shown
    page.form.choose_path("path", str(model_folder))
    page.messages.box.setPlainText(json.dumps(chat))
    wait_for_answers(qtbot, program)

    assert page.sentence.text().startswith("2 messages become")
    assert page.model.answer is not None
    colours: dict[str, set[str]] = {}
    for row, role in enumerate(page.model.answer.columns["role"]):
        colour = page.rows.index(row, 0).data(Qt.ItemDataRole.DecorationRole)
        colours.setdefault(role, set()).add(colour.name())
    assert {*colours} == {"template", "user", "assistant"}
    assert all(len(several) == 1 for several in colours.values())
    assert len(set.union(*colours.values())) == 3


def test_a_rendered_chat_is_coloured_by_the_roles_of_its_messages(
    qtbot: QtBot, program: Program, model_folder: Path
) -> None:
    page = chat_page(qtbot, program)
    page.form.choose_path("path", str(model_folder))
    page.messages.box.setPlainText('[{"role": "user", "content": "é low"}]')
    wait_for_answers(qtbot, program)
    assert page.rendered.toPlainText() == rendered(page) == "<user> é low\n"
    cursor = QTextCursor(page.rendered.document())
    backgrounds: list[str] = []
    for place in (1, 10):  # a letter of the template, and a letter of the message
        cursor.setPosition(place)
        backgrounds.append(cursor.charFormat().background().color().name())
    assert backgrounds[0] != backgrounds[1]


def test_the_chat_page_shows_the_template_of_the_folder_until_the_user_types_a_different_one(
    qtbot: QtBot, program: Program, model_folder: Path
) -> None:
    page = chat_page(qtbot, program)
    page.form.choose_path("path", str(model_folder))
    page.messages.box.setPlainText("the lowest")
    wait_for_answers(qtbot, program)
    assert page.template.box.toPlainText() == TEMPLATE
    assert rendered(page) == "<user> the lowest\n"
    page.template.box.setPlainText("[{{ messages[0].content }}]")
    wait_for_answers(qtbot, program)
    assert rendered(page) == "[the lowest]"
    page.template.box.setPlainText("")
    wait_for_answers(qtbot, program)
    assert rendered(page) == "<user> the lowest\n"


def test_the_chat_page_encodes_a_chat_with_the_shown_run_if_no_folder_is_chosen(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    train(program)
    page = chat_page(qtbot, program)
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    for template in TEMPLATES.values():
        page.template.box.setPlainText(template)
        for chat in CHATS.values():
            page.messages.box.setPlainText(chat)
            wait_for_answers(qtbot, program)
            if page.model.answer is None:
                assert "refuses this chat: The roles must be" in page.sentence.text()
                continue
            assert page.model.answer.facts["ids"] == bpe.Study(run.history).encode(rendered(page))
    page.messages.take_example("Question and answer")
    page.template.take_example("A marker for each role")
    wait_for_answers(qtbot, program)
    assert rendered(page).startswith("<|user|>\nWho keeps the lighthouse?<|end|>\n<|assistant|>")


def test_the_command_of_the_chat_page_refers_to_the_shown_run_in_the_session_file(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    train(program)
    page = chat_page(qtbot, program)
    page.messages.box.setPlainText("low")
    page.template.box.setPlainText("<{{ messages[0].content }}>")
    wait_for_answers(qtbot, program)
    command = as_command(page.model.command, Path("book.bpex"), ())
    assert command.startswith("bpe-explorer chat 'book.bpex#1' '[{")
    asked = page.model.current_question
    assert asked is not None
    assert "path='book.bpex#1'" in as_python(asked[0], page.model.opens_in_python, Path("book.bpex"))


def test_the_text_boxes_of_the_chat_page_open_files_and_report_invalid_text(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path
) -> None:
    train(program)
    page = chat_page(qtbot, program)
    (tmp_path / "chat.json").write_text('[{"role": "user", "content": "from a file"}]')
    page.messages.open_file(str(tmp_path / "chat.json"))
    wait_for_answers(qtbot, program)
    assert "from a file" in rendered(page)
    page.messages.box.setPlainText('[{"role": "user"')
    wait_for_answers(qtbot, program)
    assert page.sentence.text() == "the chat, line 1, column 17: this is not valid JSON from here on."
    assert page.rendered.isHidden()
    page.messages.box.setPlainText("")
    wait_for_answers(qtbot, program)
    assert page.sentence.text().startswith("the chat: a chat is a list of messages")
    page.messages.take_example("Question and answer")
    page.template.box.setPlainText("{% for %}")
    wait_for_answers(qtbot, program)
    assert "The chat template in the given text, line 1 cannot be rendered" in page.sentence.text()
    page.template.box.setPlainText("")
    wait_for_answers(qtbot, program)
    assert page.sentence.text().startswith("This tokenizer has no chat template")
    assert FIRST_TEMPLATE not in page.template.box.toPlainText()
