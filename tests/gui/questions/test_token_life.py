"""Tests of the page about the use of a token in the corpus, with the real engine."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex, QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window.pages import RACE
from app.window.parts.lazy_model import table_function_of
from app.window.questions.token.page import TokenPage
from app.wiring import Program
from bpe_core.insight.token_life import token_life
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.questions.token import MOST_SHOWN
from tests.core.learning import tokens_of_word
from tests.gui.questions.conftest import LEFT, MERGES, NO_KEY, ONE, OTHER, answered, ranked_words, section

pytestmark = pytest.mark.usefixtures("one_session")


def test_a_click_on_a_merge_shows_the_history_of_its_token(qtbot: QtBot, learned: Program) -> None:
    table, ranked = learned.merge_panel.table, ranked_words(learned)
    learned.inspector.show_page("why")
    for row in (0, 20, 90):
        qtbot.mouseClick(table.viewport(), LEFT, NO_KEY, table.visualRect(_shown_row(learned, row)).center())
        answered(qtbot, learned)
        assert learned.inspector.page is learned.pages[TokenPage]
        facts = learned.pages[TokenPage].life.model.facts
        assert facts is not None
        token = ranked.base + row
        assert (facts.token, facts.at) == (token, row + 1)
        assert facts.count == sum(
            int(count) * tokens_of_word(ranked, word, row + 1).count(token)
            for word, count in enumerate(ranked.words.counts)
        )
        assert f"Occurs {facts.count:,} time" in section(learned, "occurs")
        assert facts.paid.count == facts.peak
        life = learned.pages[TokenPage].life.model
        listed = {name: table_function_of(life.asked_about(name))(lambda: False).columns for name in ("words", "paid")}
        assert (len(listed["words"]["text"]), sum(listed["words"]["count"])) == (facts.words.number, facts.count)
        assert (len(listed["paid"]["text"]), sum(listed["paid"]["count"])) == (facts.paid.number, facts.peak)
        assert ("save all" in section(learned, "paid")) == (facts.paid.number > MOST_SHOWN)
        lines = life.lines
        assert lines
        for line in lines:
            file = ONE if line.source == "one.txt" else OTHER
            around = line.before.lstrip("…") + line.token + line.after.rstrip("…")
            assert around in file.split("\n")[line.line - 1]
            assert line.token.encode() in b" " + Tokenizer(ranked.history).token_bytes(token)
        assert f"{lines[0].source}, line {lines[0].line}" in section(learned, "lines")
        exact = learned.pages[TokenPage].table_function()(lambda: False).columns
        held = [(step, count) for of, step, count in zip(exact["of"], exact["after_step"], exact["count"], strict=True)
                if of == "token"]  # fmt: skip
        assert held == [(step, count) for step, count in facts.curve]
        assert set(exact["id"]) == {token}


def _shown_row(program: Program, row: int) -> QModelIndex:
    index = program.merges.index(row, 1)
    program.merge_panel.table.scrollTo(index)
    return index


def test_the_count_of_a_merge_is_divided_among_the_corpus_files(qtbot: QtBot, learned: Program) -> None:
    ranked = ranked_words(learned)
    for step in (1, 30, 77):
        learned.session.cursor.go_to(step)
        learned.actions["paid"].trigger()
        answered(qtbot, learned)
        facts = learned.pages[TokenPage].life.model.facts
        assert facts is not None
        assert sum(facts.files.values()) == facts.peak == ranked.history.columns.count[step - 1]
        text = section(learned, "paid")
        assert set(facts.files) == {"one.txt", "other.txt"}
        for file, count in facts.files.items():
            assert (file in text) == (count > 0)
    life = learned.pages[TokenPage].life
    assert life is not None
    assert life.sections["paid"].isVisible()


def test_the_page_of_a_token_that_occurs_only_inside_other_tokens_shows_a_text_that_produces_the_token(
    qtbot: QtBot, learned: Program
) -> None:
    ranked = ranked_words(learned)
    gone = [id for id in range(ranked.base, ranked.history.first_special) if token_life(ranked, id).is_scaffold]
    assert gone
    learned.session.cursor.go_live()
    learned.token.look_at(gone[0])
    answered(qtbot, learned)
    assert "scaffold" in section(learned, "occurs")
    text = section(learned, "reach")
    assert "produces this token" in text
    history = ranked.history
    witness = text.split(": ", 1)[1].replace("␣", " ")
    assert gone[0] in Tokenizer(history).encode(witness)


def test_tokens_made_from_a_token_are_shown_as_links(qtbot: QtBot, learned: Program) -> None:
    ranked = ranked_words(learned)
    learned.session.cursor.go_to(1)
    answered(qtbot, learned)
    learned.session.cursor.go_live()
    learned.token.look_at(ranked.base)
    answered(qtbot, learned)
    facts = learned.pages[TokenPage].life.model.facts
    assert facts is not None
    child = facts.children[0]
    life = learned.pages[TokenPage].life
    assert life is not None
    life.sections["children"].text.linkActivated.emit(f"token:{child}")
    assert learned.token.facts is not None
    assert learned.token.facts.id == child
    step = facts.takers[0][0]
    life.sections["takers"].text.linkActivated.emit(f"step:{step}")
    assert learned.session.cursor.position == step
    (chart,) = life.chart.charts
    qtbot.mouseClick(chart.viewport(), LEFT, NO_KEY, QPoint(chart.width() - 1, 20))
    assert learned.session.cursor.position == MERGES


def test_the_context_menu_of_a_merge_opens_its_questions(qtbot: QtBot, learned: Program) -> None:
    table = learned.merge_panel.table
    table.setFocus()
    table.setCurrentIndex(learned.merges.index(12, 0))
    place = table.visualRect(table.currentIndex()).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, table.viewport().mapToGlobal(place))
    QApplication.sendEvent(table.viewport(), event)
    menu = learned.asking.merge_menu
    assert menu.isVisible()
    assert learned.session.cursor.position == 13
    follow = next(action for action in menu.actions() if action is learned.actions["follow"])
    menu.close()
    follow.trigger()
    answered(qtbot, learned)
    history = ranked_words(learned).history
    race = learned.pages.page(RACE)
    assert race.fields["pairs"].text() == race.model.pair_text(history.pair(12))  # type: ignore[attr-defined]
    assert learned.charts.page is race
