"""The race of the pairs and the ties between them, with the real engine."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from app.window.charts.pairs_page import PairsPage
from app.window.questions.race.page import RacePage
from app.window.questions.ties.page import TiesPage
from app.wiring import Program
from tests.gui.conftest import WAIT, settle
from tests.gui.questions.conftest import LEFT, MERGES, NO_KEY, answered, ranked_words

pytestmark = pytest.mark.usefixtures("only_window")


def test_a_click_on_a_bar_follows_its_pair(qtbot: QtBot, learned: Program) -> None:
    learned.session.cursor.go_to(20)
    settle(qtbot, learned)
    chart = learned.pages[PairsPage]
    learned.charts.show_page("pairs")
    bars = learned.pages[PairsPage].model.bars
    # Where a bar is drawn only the drawing knows.
    qtbot.mouseClick(chart, LEFT, NO_KEY, QPoint(80, int(chart._top() + 2.5 * chart._row_height())))
    answered(qtbot, learned)
    assert learned.charts.page is learned.pages[RacePage]
    assert bars[2].pair in learned.pages[RacePage].model.chosen
    learned.pages[RacePage].model.choose([])
    learned.charts.show_page("pairs")
    chart.setFocus()
    down, up = Qt.Key.Key_Down, Qt.Key.Key_Up
    for key in (*[down] * 9, up, Qt.Key.Key_Return):
        qtbot.keyClick(chart, key)
    assert learned.pages[RacePage].model.chosen[-1] == bars[7].pair
    assert learned.charts.page is learned.pages[RacePage]


def test_the_race_tells_counts_leads_and_losers(qtbot: QtBot, learned: Program) -> None:
    learned.session.cursor.go_to(60)
    learned.actions["race"].trigger()
    answered(qtbot, learned)
    race, panel, history = learned.pages[RacePage].model, learned.pages[RacePage], ranked_words(learned).history
    assert race.facts is not None
    columns = history.columns
    for i, runner in enumerate(race.facts.runners):
        assert runner.pair == (columns.left[60 + i], columns.right[60 + i])
        assert runner.won_at == 61 + i
        if runner.born <= 60:
            assert runner.now >= columns.count[60 + i]
    qtbot.mouseClick(panel.unlucky, LEFT)
    answered(qtbot, learned)
    losers = [runner for runner in race.facts.runners if runner.won_at is None]
    assert losers
    assert "never merged" in panel.told.text()
    name = race.facts.runners[0].name
    qtbot.mouseClick(panel.clear, LEFT)
    panel.entry.setFocus()
    qtbot.keyClicks(panel.entry, name)
    qtbot.keyClick(panel.entry, Qt.Key.Key_Return)
    answered(qtbot, learned)
    assert [runner.name for runner in race.facts.runners] == [name]
    panel.told.linkActivated.emit(f"step:{race.facts.runners[0].won_at}")
    assert learned.session.cursor.position == race.facts.runners[0].won_at
    qtbot.keyClicks(panel.entry, "no such thing")
    qtbot.keyClick(panel.entry, Qt.Key.Key_Return)
    assert "plus between them" in panel.told.text()


def test_the_ties_are_listed_and_another_rule_is_tried(qtbot: QtBot, learned: Program) -> None:
    learned.actions["ties"].trigger()
    answered(qtbot, learned)
    ties, panel, history = learned.pages[TiesPage].model, learned.pages[TiesPage], ranked_words(learned).history
    tied = [merge.step for merge in history if merge.tied]
    assert [ties.data(ties.index(row, 0)) for row in range(ties.rowCount())] == [f"{step:,}" for step in tied]
    assert f"{len(tied)} of {MERGES}" in panel.summary.text()
    qtbot.mouseClick(panel.table.viewport(), LEFT, NO_KEY, panel.table.visualRect(ties.index(0, 1)).center())
    assert learned.session.cursor.position == tied[0] - 1
    panel.rule.setCurrentIndex(panel.rule.findText("largest text"))
    qtbot.mouseClick(panel.train, LEFT)
    qtbot.waitUntil(lambda: ties.what_if is not None and not ties.is_training, timeout=WAIT)
    found = ties.what_if
    assert found is not None
    assert found.step is not None
    assert found.step in tied, "without a tie the rules agree"
    assert found.merges == MERGES
    for pieces in (found.text, found.other_text):
        assert "".join(piece.text for piece in pieces) == "the␣newer␣keeper␣said␣1,204␣feathers"
    assert f"step {found.step}" in panel.told.text()
    panel.told.linkActivated.emit(f"step:{found.step - 1}")
    assert learned.session.cursor.position == found.step - 1
