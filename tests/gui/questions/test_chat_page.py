"""Tests of the page about a chat. One box chooses the folder of a model, and another box a file with messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

import bpe_core as bpe
from app.window.pages import PAGES
from app.window.questions.question_page import QuestionPage
from app.wiring import Program
from tests.gui.questions.conftest import wait_for_answers

pytestmark = pytest.mark.usefixtures("only_window")


def test_a_chat_is_shown_with_a_colour_for_each_role(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    bpe.train("the lowest of the low " * 9, "gpt2", merges=6).save(tmp_path / "tokenizer.json")
    template = "{% for one in messages %}<{{ one.role }}> {{ one.content }}\n{% endfor %}"
    (tmp_path / "chat_template.jinja").write_text(template, encoding="utf-8")
    chat = [{"role": "user", "content": "the lowest"}, {"role": "assistant", "content": "of the low"}]
    (tmp_path / "chat.json").write_text(json.dumps(chat), encoding="utf-8")

    program.charts.show_page("chat")
    page = program.pages.page(next(row for row in PAGES if row.id == "chat"))
    assert isinstance(page, QuestionPage)
    wait_for_answers(qtbot, program)
    assert page.sentence.text() == "Choose this first: Folder and File with a chat."
    page.form.choose_path("path", str(tmp_path))
    page.form.choose_path("messages", str(tmp_path / "chat.json"))
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
