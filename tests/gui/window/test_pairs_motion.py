"""Tests of the chart of leading pairs during a step.

The bar of the merged pair disappears, rows move, and pairs that became rarer get a label.
"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.session.playing import LEAST_EVENT_SECONDS
from app.window.charts.pairs_model import Bar
from app.window.charts.pairs_motion import at_rest, bars_at
from app.window.charts.pairs_page import BEHIND, PairsPage
from app.wiring import Program
from tests.gui.conftest import WAIT, Train, settle
from tests.gui.small_run import small

bars = st.lists(st.integers(0, 30), unique=True, max_size=12).map(
    lambda pairs: [
        Bar(f"l{pair}", "r", 50 - row, row == 0, False, (pair, 1), 50.0 - row) for row, pair in enumerate(pairs)
    ]
)


@given(bars, bars, st.integers(1, 10), st.floats(0, 1))
def test_animated_bars_begin_at_their_old_rows_and_end_at_their_new_rows(
    before: list[Bar], now: list[Bar], rows: int, progress: float
) -> None:
    assert bars_at(before, now, rows, 1.0) == at_rest(now, rows)
    first = [placed for placed in bars_at(before, now, rows, 0.0) if placed.strength > 0]
    assert {(placed.bar.pair, placed.row, placed.value) for placed in first} == {
        (placed.bar.pair, placed.row, placed.value) for placed in at_rest(before, rows)
    }
    for placed in bars_at(before, now, rows, progress):
        assert 0 <= placed.row < rows
        assert 0 <= placed.strength <= 1


def test_a_new_step_animates_the_pair_bars_and_labels_the_pairs_that_became_rarer(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    page, cursor = program.pages[PairsPage], program.session.cursor
    cursor.go_to(0)
    settle(qtbot, program)
    assert page.losses == {}
    before = {bar.pair: bar.count for bar in page.model.bars}
    qtbot.wait(int(1000 * LEAST_EVENT_SECONDS) + 20)
    cursor.go_to(1)  # h and e
    qtbot.waitUntil(lambda: page.motion.is_under_way, timeout=WAIT)
    early = page.grab().toImage()
    moving_token, row = program.charting.moving_token, program.merge_panel.table.place_of(1)
    assert moving_token.isVisible()
    assert row is not None
    assert program.merge_panel.table.place_of(257) is None
    qtbot.waitUntil(lambda: not page.motion.is_under_way, timeout=WAIT)
    assert page.grab().toImage() != early
    qtbot.waitUntil(lambda: not moving_token.motion.is_under_way, timeout=WAIT)
    assert not moving_token.isVisible()
    assert moving_token.mapTo(program.window, moving_token.rect().topLeft()) == program.window.mapFromGlobal(row)
    assert page.losses
    for bar in page.model.bars:
        lost = before.get(bar.pair, 0) - bar.count
        assert page.losses.get(bar.pair, "") == (f"−{lost:,}, taken by he" if lost > 0 else "")
    cursor.go_to(30)
    settle(qtbot, program)
    assert page.losses == {}
    assert not page.motion.is_under_way


def test_bars_of_the_pairs_chart_are_faint_until_pairs_of_the_shown_step_are_counted(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    page, cursor = program.pages[PairsPage], program.session.cursor
    program.charts.show_page("pairs")
    cursor.go_to(3)
    settle(qtbot, program)

    def strengths() -> set[float]:
        assert page.bars is not None
        assert page.bars.rows is not None
        return {row.strength for row in page.bars.rows.rows}

    assert strengths() == {1.0}
    cursor.go_to(25)
    page.model.refresh()
    assert page.model.at == 3
    assert strengths() == {BEHIND}
    settle(qtbot, program)
    assert page.model.at == 25
    assert strengths() == {1.0}


def test_dragging_the_pairs_chart_shows_further_pairs(qtbot: QtBot, program: Program, train: Train) -> None:
    small(program, 320)
    train(program)
    page = program.pages[PairsPage]
    program.charts.show_page("pairs")
    program.session.cursor.go_to(5)
    settle(qtbot, program)
    assert page.bars is not None
    assert page.bars.count_rows_in_view < len(page.model.bars)
    page.bars.box.translateBy(y=1_000)
    qtbot.wait(1)
    last = page.bars.mapFromScene(page.bars.box.mapViewToScene(QPointF(1.0, len(page.model.bars) - 0.5)))
    with qtbot.waitSignal(page.pair_chosen) as chosen:
        qtbot.mouseClick(page.bars.viewport(), Qt.MouseButton.LeftButton, pos=last)
        qtbot.wait(QApplication.doubleClickInterval() + 20)
    assert chosen.args == [*page.model.bars[-1].pair]
