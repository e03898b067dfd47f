"""Tests of all pages about a run: during the training, when pages are hidden, and when there are no texts."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from app.window.pages import SIZES, TIES
from app.window.parts.widgets import LinkedText
from app.window.questions.token.page import TokenPage
from app.wiring import Program
from tests.gui.conftest import WAIT, settle, wait_for_rest
from tests.gui.questions.conftest import MERGES, click_before, section, wait_for_answers, word_facts


def test_question_pages_answer_again_after_the_run_grows(qtbot: QtBot, trained_window: Program) -> None:
    """The pages are shown one after another while the run grows."""
    assert trained_window.form.choose(vocab_size=256 + MERGES + 40)
    click_before(qtbot, trained_window, 8)
    qtbot.waitUntil(trained_window.actions["extend"].isEnabled, timeout=WAIT)
    trained_window.actions["extend"].trigger()
    for page in ("race", "sizes", "ties"):
        trained_window.charts.show_page(page)
        qtbot.wait(30)
    trained_window.inspector.show_page("token")
    qtbot.waitUntil(lambda: trained_window.merges.rowCount() > MERGES, timeout=WAIT)
    wait_for_answers(qtbot, trained_window)
    trained_window.charts.show_page("ties")
    wait_for_answers(qtbot, trained_window)
    assert f"of {trained_window.merges.rowCount()} merges" in trained_window.pages.page(TIES).sentence.text()
    for label in trained_window.window.findChildren(LinkedText):
        assert label.accessibleName()


def test_a_hidden_question_page_computes_no_answer(qtbot: QtBot, trained_window: Program) -> None:
    wait_for_answers(qtbot, trained_window)
    trained_window.window.docks["inspector"].hide()
    trained_window.charts.show_page("pairs")
    wait_for_answers(qtbot, trained_window)
    asked: list[str] = []
    background = trained_window.session.background
    original = background.run
    background.run = lambda topic, *rest, **more: asked.append(topic) or original(topic, *rest, **more)  # type: ignore
    for at in (3, 50, 100):
        trained_window.session.cursor.go_to(at)
        wait_for_rest(qtbot, trained_window)
    assert {"why", "token", "lines", "race", "sizes", "ties"}.isdisjoint(asked)
    trained_window.window.docks["inspector"].show()  # and as soon as somebody looks, it is
    trained_window.window.docks["inspector"].raise_()
    trained_window.session.cursor.go_to(60)
    qtbot.waitUntil(lambda: "token" in asked or "why" in asked, timeout=WAIT)


def test_question_pages_give_answers_without_counts_for_a_table_without_texts(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    """The imported table has no counts.

    No text produces the token made from `a` and `bc`, because `b` is always joined to `a` first.
    """
    table = tmp_path / "merges.txt"
    table.write_text("#version: 0.2\na b\nb c\na bc\n", encoding="utf-8")
    settle(qtbot, program)
    program.exchanging.imports.open(table)
    qtbot.waitUntil(lambda: program.session.runs.shown is not None, timeout=WAIT)
    program.session.cursor.go_live()
    wait_for_answers(qtbot, program)
    history = program.session.runs.shown.history  # type: ignore[union-attr]
    assert history is not None
    assert not history.has_counts
    first = len(history.alphabet)
    program.token.look_at(first + 2)
    wait_for_answers(qtbot, program)
    assert "No text can produce this token" in section(program, "reach")
    assert "ab | c" in section(program, "reach")
    program.token.look_at(first + 1)
    wait_for_answers(qtbot, program)
    assert "produces this token: bc" in section(program, "reach")
    assert "abc" in section(program, "children")
    life = program.pages[TokenPage].life
    assert life is not None
    assert life.hint.isVisible()
    program.text_panel.editor.selectAll()
    program.text_panel.editor.insert("abcabc")
    click_before(qtbot, program, 2)
    wait_for_answers(qtbot, program)
    asked = word_facts(program).clicked_boundary
    assert asked is not None
    assert asked.kind == "taken"
    program.actions["ties"].trigger()
    wait_for_answers(qtbot, program)
    assert "ties cannot be found" in program.pages.page(TIES).sentence.text()
    program.actions["sizes"].trigger()
    wait_for_answers(qtbot, program)
    assert "Count on My Corpus" in program.pages.page(SIZES).sentence.text()
