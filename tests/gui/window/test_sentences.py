"""Tests of sentences in the window: about unreadable texts, about opening a session, and about pairs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.window.pages import TREE, WHY, WORDS
from app.window.parts.wording import PLACES, without_options
from app.wiring import Program
from bpe_core.figures.lattice import LatticeFigure
from bpe_core.lessons.lessons import lessons
from bpe_core.questions import question_named, question_names
from bpe_core.recipes.recipe import Recipe
from tests.gui.conftest import WAIT, Train, settle, wait_for_phase
from tests.gui.sessions.saving import save_as
from tests.gui.small_run import shown_run, small
from tests.messages import messages

pytestmark = pytest.mark.usefixtures("only_window")


OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OF_COMMANDS = "bpe_core/command_line/"  # its messages never reach the window


def test_command_options_in_messages_of_the_engine_are_replaced_by_terms_of_the_window() -> None:
    """Each option is replaced by the name of a question's field, or of a place in the window."""
    fields = {field.flag: field.label for name in question_names() for field in question_named(name).parameters()}
    told = [*messages("errors"), *messages("engine")]
    sentences = [message.text for message in told if not message.path.startswith(OF_COMMANDS)]
    named = {option for sentence in sentences for option in OPTION.findall(sentence)} - {"--help"}
    assert "--corpus" in named
    assert not named - fields.keys() - PLACES.keys()
    for sentence in sentences:
        assert not OPTION.search(without_options(sentence, fields)), sentence


def test_messages_and_refused_recipe_choices_in_the_window_mention_no_command_option(program: Program) -> None:
    program.session.background.notify("Curves need texts: name them with --corpus.", "See --corpus.")
    assert program.messages.sentence.text() == "Curves need texts: name them with the panel Corpus."
    assert program.messages.details.toPlainText() == "See the panel Corpus."
    refused: list[str] = []
    program.form.refused.connect(lambda choice, sentence: refused.append(sentence))
    program.form.refuse("method", "Choose --method parity for groups.")
    assert refused == ["Choose the method parity for groups."]
    program.form.refuse("method", "")
    program.messages.forget()


def test_the_status_bar_reports_that_none_of_the_texts_can_be_read(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "broken.txt"
    path.write_bytes(b"low \xff\xfe lower \x80\x81" * 40)
    corpus, status = program.session.corpus, program.status.sentence
    corpus.remove({text.number for text in corpus.texts.value})
    program.opening.open_named([path])
    qtbot.waitUntil(lambda: "None of these texts can be read" in status.text(), timeout=WAIT)


def test_the_status_bar_names_the_session_that_is_being_opened(
    qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(program, 290)
    train(program)
    save_as(qtbot, program, tmp_path / "kept.bpex", monkeypatch)
    said: list[str] = []
    program.training.changed.connect(lambda: said.append(program.training.status.sentence))
    with qtbot.waitSignal(program.filing.document.opened, timeout=WAIT):
        program.filing.open(tmp_path / "kept.bpex")
    settle(qtbot, program)
    assert said[0] == "Opening kept.bpex …"
    assert program.training.status.sentence == "34 merges. The vocabulary has the requested size."


def test_differences_between_recipes_show_forbidden_pairs_as_texts(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program, 290)
    train(program)
    run = shown_run(program)
    assert run.history is not None
    assert run.names is not None
    left, right = run.history.pair(4)
    program.session.runs.branch(run, 5, "forbid", (left, right))
    wait_for_phase(qtbot, program, Phase.ENDED)
    settle(qtbot, program)
    (by_hand,) = (now for title, _, now in program.form.differences if title == "Interventions")
    assert by_hand == f"forbid {run.names.text[left]} + {run.names.text[right]} from 5"


def test_questions_named_in_lessons_are_in_the_list_of_the_ask_room(program: Program) -> None:
    questions = {row.text for row in program.question_list.questions.rows}
    named = [
        name
        for lesson in lessons()
        for step in lesson.steps
        for text in (step.say, step.after)
        for name in re.findall(r"\*([^*]+)\*, in the room Ask", " ".join(text.split()))
    ]
    assert len(named) == 4
    assert {*named} <= questions
    assert "found by Ctrl+K" not in " ".join(step.say for lesson in lessons() for step in lesson.steps)
    all_texts = " ".join(text for lesson in lessons() for step in lesson.steps for text in (step.say, step.after))
    assert "in the menu *Ask*" not in all_texts
    assert "page of questions" not in all_texts


def test_word_shares_on_the_words_page_have_the_same_number_of_decimal_places(qtbot: QtBot, program: Program) -> None:
    page = program.pages.page(WORDS)
    program.window.show_room("build")
    program.charts.show_page("words")
    qtbot.waitUntil(lambda: page.model.listed_words is not None, timeout=WAIT)
    shares = [page.model.cell(row, 2) for row in range(30)]
    assert all(re.fullmatch(r"\d+\.\d\d %", share) for share in shares), shares


def test_the_why_page_of_a_method_without_trees_shows_the_ways_to_split_the_word(
    qtbot: QtBot, program: Program
) -> None:
    program.session.runs.train(program.session.corpus.texts.value, Recipe.preset("unigram", vocab_size=100))
    wait_for_phase(qtbot, program, Phase.ENDED)
    settle(qtbot, program)
    program.token_text.set_text("the lighthouse")
    program.world.why.look_at(8)
    program.actions["tree"].trigger()
    page = program.pages.page(TREE)
    qtbot.waitUntil(lambda: isinstance(page.tree.figure, LatticeFigure), timeout=WAIT)
    assert "can be split in" in page.tree.accessibleDescription()
    assert "lighthouse" in page.tree.accessibleDescription()
    program.window.set_stage("")
    program.window.show_room("ask")
    program.inspector.show_page("why")
    beside = program.pages.page(WHY)
    qtbot.waitUntil(lambda: isinstance(beside.tree.figure, LatticeFigure), timeout=WAIT)
    assert beside.tree_area.isVisible()


def test_the_why_page_scrolls_a_large_tree_to_the_marked_boundary(qtbot: QtBot, program: Program, train: Train) -> None:
    program.session.corpus.replace_by_text("long", "abcdefghijklmnopqrstuvwxyz" * 20)
    small(program, 290)
    train(program)
    program.token_text.set_text("abcdefghijklmnopqrstuvwxyz" * 12)
    program.window.show_room("ask")
    program.inspector.show_page("why")
    program.world.why.look_at(150)
    page = program.pages.page(WHY)
    seen = page.tree_area.viewport()

    def is_in_sight() -> None:
        assert page.model.facts is not None
        asked = page.model.facts.clicked_boundary
        assert asked is not None
        assert page.tree.width() > seen.width(), "the tree is larger than its view"
        place = page.tree.mapTo(seen, QPoint(round(page.tree.gap_before(asked.place)), page.tree.height() - 1))
        assert seen.rect().contains(place)

    qtbot.waitUntil(is_in_sight, timeout=WAIT)
