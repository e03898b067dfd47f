"""The leading pairs during a step: the winner leaves, rows move, and losers are labelled."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.session.playing import LEAST_EVENT_SECONDS
from app.window.charts.pairs_model import Bar
from app.window.charts.pairs_motion import at_rest, on_their_way
from app.window.charts.pairs_page import PairsPage
from app.wiring import Program
from tests.gui.conftest import WAIT, Train, settle
from tests.gui.small_run import small

bars = st.lists(st.integers(0, 30), unique=True, max_size=12).map(
    lambda pairs: [
        Bar(f"l{pair}", "r", 50 - row, row == 0, False, (pair, 1), 50.0 - row) for row, pair in enumerate(pairs)
    ]
)


@given(bars, bars, st.integers(1, 10), st.floats(0, 1))
def test_bars_begin_where_they_were_and_end_where_they_are(
    before: list[Bar], now: list[Bar], rows: int, progress: float
) -> None:
    assert on_their_way(before, now, rows, 1.0) == at_rest(now, rows)
    first = [one for one in on_their_way(before, now, rows, 0.0) if one.strength > 0]
    assert {(one.bar.pair, one.row, one.value) for one in first} == {
        (one.bar.pair, one.row, one.value) for one in at_rest(before, rows)
    }
    for one in on_their_way(before, now, rows, progress):
        assert 0 <= one.row < rows
        assert 0 <= one.strength <= 1


def test_a_step_moves_the_pairs_and_tells_who_lost(qtbot: QtBot, program: Program, train: Train) -> None:
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
    flight, row = program.charting.flight, program.merge_panel.table.place_of(1)
    assert flight.isVisible()
    assert row is not None
    assert program.merge_panel.table.place_of(257) is None
    qtbot.waitUntil(lambda: not page.motion.is_under_way, timeout=WAIT)
    assert page.grab().toImage() != early
    qtbot.waitUntil(lambda: not flight.motion.is_under_way, timeout=WAIT)
    assert not flight.isVisible()
    assert flight.mapTo(program.window, flight.rect().topLeft()) == program.window.mapFromGlobal(row)
    assert page.losses
    for bar in page.model.bars:
        lost = before.get(bar.pair, 0) - bar.count
        assert page.losses.get(bar.pair, "") == (f"−{lost:,}, taken by he" if lost > 0 else "")
    cursor.go_to(30)
    settle(qtbot, program)
    assert page.losses == {}
    assert not page.motion.is_under_way
