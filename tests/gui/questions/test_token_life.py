"""Tests of the page that shows where a token occurs in the corpus, with the real engine."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.window.pages import RACE
from app.window.parts.lazy_model import table_function_of
from app.window.questions.token.page import TokenPage
from app.wiring import Program
from bpe_core.insight.token_life import token_life
from bpe_core.methods.kit.tokenizer import Tokenizer
from bpe_core.questions.token import MOST_SHOWN
from tests.core.learning import tokens_of_word
from tests.gui.questions.conftest import LEFT, MERGES, NO_KEY, ONE, OTHER, ranked_words, section, wait_for_answers

pytestmark = pytest.mark.usefixtures("one_session")


class SquashedPaints(QObject):
    """A counter of paint events during which the page is not high enough for its texts."""

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        self.times = 0
        self.squashed = 0
        page.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, QWidget):
            self.times += 1
            self.squashed += watched.height() < watched.heightForWidth(watched.width())
        return False


def test_texts_on_the_token_page_never_overlap_while_the_page_is_updated(qtbot: QtBot, trained_window: Program) -> None:
    trained_window.inspector.show_page("token")
    page = trained_window.pages[TokenPage]
    wait_for_answers(qtbot, trained_window)
    paints = SquashedPaints(page.widget_to_save)
    for step in range(20, 60):
        trained_window.session.cursor.go_to(step)
        qtbot.wait(20)
    wait_for_answers(qtbot, trained_window)
    assert paints.times > 10
    assert paints.squashed == 0


def test_a_click_on_a_merge_shows_the_history_of_the_token_that_the_merge_makes(
    qtbot: QtBot, trained_window: Program
) -> None:
    table, ranked = trained_window.merge_panel.table, ranked_words(trained_window)
    trained_window.inspector.show_page("why")
    for row in (0, 20, 90):
        qtbot.mouseClick(table.viewport(), LEFT, NO_KEY, table.visualRect(_shown_row(trained_window, row)).center())
        wait_for_answers(qtbot, trained_window)
        assert trained_window.inspector.page is trained_window.pages[TokenPage]
        facts = trained_window.pages[TokenPage].life.model.facts
        assert facts is not None
        token = ranked.base + row
        assert (facts.token, facts.at) == (token, row + 1)
        assert facts.count == sum(
            int(count) * tokens_of_word(ranked, word, row + 1).count(token)
            for word, count in enumerate(ranked.words.counts)
        )
        assert f"Occurs {facts.count:,} time" in section(trained_window, "occurs")
        assert facts.paid.count == facts.peak
        life = trained_window.pages[TokenPage].life.model
        listed = {name: table_function_of(life.asked_about(name))(lambda: False).columns for name in ("words", "paid")}
        assert (len(listed["words"]["text"]), sum(listed["words"]["count"])) == (facts.words.number, facts.count)
        assert (len(listed["paid"]["text"]), sum(listed["paid"]["count"])) == (facts.paid.number, facts.peak)
        assert ("save all" in section(trained_window, "paid")) == (facts.paid.number > MOST_SHOWN)
        lines = life.lines
        assert lines
        for line in lines:
            file = ONE if line.source == "one.txt" else OTHER
            around = line.before.lstrip("…") + line.token + line.after.rstrip("…")
            assert around in file.split("\n")[line.line - 1]
            assert line.token.encode() in b" " + Tokenizer(ranked.history).token_bytes(token)
        assert f"{lines[0].source}, line {lines[0].line}" in section(trained_window, "lines")
        exact = trained_window.pages[TokenPage].table_function()(lambda: False).columns
        held = [(step, count) for of, step, count in zip(exact["of"], exact["after_step"], exact["count"], strict=True)
                if of == "token"]  # fmt: skip
        assert held == [(step, count) for step, count in facts.curve]
        assert set(exact["id"]) == {token}


def _shown_row(program: Program, row: int) -> QModelIndex:
    index = program.merges.index(row, 1)
    program.merge_panel.table.scrollTo(index)
    return index


def test_the_count_of_a_merge_is_divided_among_the_corpus_files(qtbot: QtBot, trained_window: Program) -> None:
    ranked = ranked_words(trained_window)
    for step in (1, 30, 77):
        trained_window.session.cursor.go_to(step)
        trained_window.actions["paid"].trigger()
        wait_for_answers(qtbot, trained_window)
        facts = trained_window.pages[TokenPage].life.model.facts
        assert facts is not None
        assert sum(facts.files.values()) == facts.peak == ranked.history.columns.count[step - 1]
        text = section(trained_window, "paid")
        assert set(facts.files) == {"one.txt", "other.txt"}
        for file, count in facts.files.items():
            assert (file in text) == (count > 0)
    life = trained_window.pages[TokenPage].life
    assert life is not None
    assert life.sections["paid"].isVisible()


def test_the_page_of_a_token_used_only_inside_other_tokens_shows_a_text_that_produces_the_token(
    qtbot: QtBot, trained_window: Program
) -> None:
    ranked = ranked_words(trained_window)
    gone = [id for id in range(ranked.base, ranked.history.first_special) if token_life(ranked, id).is_scaffold]
    assert gone
    trained_window.session.cursor.go_live()
    trained_window.token.look_at(gone[0])
    wait_for_answers(qtbot, trained_window)
    assert "scaffold" in section(trained_window, "occurs")
    text = section(trained_window, "reach")
    assert "produces this token" in text
    history = ranked.history
    witness = text.split(": ", 1)[1].replace("␣", " ")
    assert gone[0] in Tokenizer(history).encode(witness)


def test_links_on_the_token_page_lead_to_the_tokens_and_steps_that_use_the_token(
    qtbot: QtBot, trained_window: Program
) -> None:
    ranked = ranked_words(trained_window)
    trained_window.session.cursor.go_to(1)
    wait_for_answers(qtbot, trained_window)
    trained_window.session.cursor.go_live()
    trained_window.token.look_at(ranked.base)
    wait_for_answers(qtbot, trained_window)
    facts = trained_window.pages[TokenPage].life.model.facts
    assert facts is not None
    child = facts.children[0]
    life = trained_window.pages[TokenPage].life
    assert life is not None
    life.sections["children"].text.linkActivated.emit(f"token:{child}")
    assert trained_window.token.facts is not None
    assert trained_window.token.facts.id == child
    step = facts.takers[0][0]
    life.sections["takers"].text.linkActivated.emit(f"step:{step}")
    assert trained_window.session.cursor.position == step
    (chart,) = life.chart.charts
    qtbot.mouseClick(chart.viewport(), LEFT, NO_KEY, QPoint(chart.width() - 1, 20))
    assert trained_window.session.cursor.position == MERGES


def test_the_context_menu_of_a_merge_offers_questions_about_the_merge(qtbot: QtBot, trained_window: Program) -> None:
    table = trained_window.merge_panel.table
    table.setFocus()
    table.setCurrentIndex(trained_window.merges.index(12, 0))
    place = table.visualRect(table.currentIndex()).center()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, place, table.viewport().mapToGlobal(place))
    QApplication.sendEvent(table.viewport(), event)
    menu = trained_window.asking.merge_menu
    assert menu.isVisible()
    assert trained_window.session.cursor.position == 13
    follow = next(action for action in menu.actions() if action is trained_window.actions["follow"])
    menu.close()
    follow.trigger()
    wait_for_answers(qtbot, trained_window)
    history = ranked_words(trained_window).history
    race = trained_window.pages.page(RACE)
    assert race.fields["pairs"].text() == race.model.pair_text(history.pair(12))  # type: ignore[attr-defined]
    assert trained_window.charts.page is race
