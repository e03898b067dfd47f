"""Tests of special tokens in the user's text. A special token stays whole when the text around it is edited."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot

from app.window.questions.token.page import TokenPage
from app.window.questions.why.page import WhyPage
from app.wiring import Program
from bpe_core.methods.kit.tokenizer import Tokenizer
from tests.gui.conftest import WAIT, Train, settle

pytestmark = pytest.mark.usefixtures("only_window")

END = "<|end|>"
TEXT = f"the newer{END}keeper {END}"


@pytest.fixture(params=["gpt2", "clean-words"])
def program(request: pytest.FixtureRequest, qtbot: QtBot, window_with: Callable[..., Program], train: Train) -> Program:
    """Return a window with a special token in its recipe and in its text."""
    made = window_with()
    made.form.choose_preset(request.param)
    assert made.form.choose(merges=60, vocab_size=None, special_tokens=(END,))
    train(made)
    made.text_panel.editor.selectAll()
    made.text_panel.editor.insert(TEXT)
    settle(qtbot, made)
    return made


def is_special(program: Program, id: int) -> bool:
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    return Tokenizer(run.history).is_special(id)


def shown_ids(program: Program) -> list[int]:
    model = program.token_text
    return [int(id) for id in model.tokens_between(0, model.byte_length).ids if id >= 0]  # dropped blanks are none


def expected_ids(program: Program) -> list[int]:
    """Return the ids of the tokens that cover bytes of the text. A token that is only a marker covers none."""
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    tokenizer, at = Tokenizer(run.history), program.session.cursor.position
    spans = tokenizer.spans(program.token_text.text(), at=at, allowed_special="all")
    return [id for start, stop, id in spans if stop > start]


def test_a_special_token_in_the_text_is_a_single_token_at_every_step(qtbot: QtBot, program: Program) -> None:
    for moment in (60, 7, 0):
        program.session.cursor.go_to(moment)
        settle(qtbot, program)
        assert shown_ids(program) == expected_ids(program)
        assert sum(is_special(program, id) for id in shown_ids(program)) == 2


def test_an_edit_inside_a_special_token_breaks_the_token_and_undo_restores_it(qtbot: QtBot, program: Program) -> None:
    editor, whole = program.text_panel.editor, shown_ids(program)
    place = TEXT.index(END) + 3
    editor.select(place, place)
    editor.insert("x")
    settle(qtbot, program)
    assert shown_ids(program) == expected_ids(program) != whole
    program.actions["undo"].trigger()
    settle(qtbot, program)
    assert shown_ids(program) == whole


def test_the_inspector_and_the_why_page_identify_a_special_token(qtbot: QtBot, program: Program) -> None:
    first = next(id for id in shown_ids(program) if is_special(program, id))
    program.token.show_briefly(first)
    assert program.token.facts is not None
    assert program.token.facts.text == END
    assert "never split" in program.pages[TokenPage].facts["Learned"].text()
    program.inspector.show_page("why")
    why = program.pages[WhyPage].model
    why.look_at(TEXT.index(END))
    qtbot.waitUntil(lambda: why.facts is not None and why.facts.byte == TEXT.index(END), timeout=WAIT)
    assert why.facts is not None
    assert "special" in {boundary.kind for boundary in why.facts.boundaries}
