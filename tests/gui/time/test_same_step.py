"""Tests that no panel mixes values from two steps or from two runs."""

from __future__ import annotations

import math
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.session.run import Phase
from app.window.charts import pairs_model
from app.window.charts.pairs_page import PairsPage
from app.window.pages import RACE, SIZES
from app.window.questions.token.page import TokenPage
from app.wiring import Program
from bpe_core.measures.size_curves import SizeCurves
from tests.gui.conftest import WAIT, Train, settle, wait_for_phase, wait_for_rest
from tests.gui.questions.conftest import wait_for_answers
from tests.gui.small_run import small

pytestmark = pytest.mark.usefixtures("only_window")

LEFT, NO_KEY = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier


def test_the_pairs_chart_shows_the_step_at_which_its_pairs_were_counted(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The slider may move faster than pairs are counted.

    In an older version, no pairs were shown until the slider stopped.
    """
    small(program)
    train(program)
    begun, may_end, whole = threading.Event(), threading.Event(), pairs_model.compute_leading_pairs

    def slowly(*given: object) -> object:
        begun.set()
        may_end.wait(WAIT / 1000)
        return whole(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(pairs_model, "compute_leading_pairs", slowly)
    model, records = program.pages[PairsPage].model, []
    listening = model.changed.connect(
        lambda: records.append((model.at, model.bars[0].pair, program.pages[PairsPage].headline()))
    )
    program.session.cursor.go_to(5)
    qtbot.waitUntil(begun.is_set, timeout=WAIT)
    program.session.cursor.go_to(9)
    may_end.set()
    settle(qtbot, program)
    history = program.session.runs.shown.history  # type: ignore[union-attr]
    assert history is not None
    past = [record for record in records if record[0] != 64]  # the end is still shown when one leaves it
    assert list(dict.fromkeys(at for at, _, _ in past)) == [5, 9]
    for at, pair, headline in past:
        assert pair == history.pair(at)
        assert headline.startswith(f"After {at} merges")
    model.changed.disconnect(listening)


def test_all_panels_show_the_same_step_while_steps_are_played(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The player waits for the leading pairs of each step. In an older version, the chart was some merges behind."""
    monkeypatch.setattr("app.session.playing.HOLD_SECONDS", math.inf)  # a slow machine would fall behind
    small(program)
    train(program)
    page, playing, cursor = program.pages[PairsPage], program.session.playing, program.session.cursor
    program.charts.show_page("pairs")
    cursor.go_to(0)
    settle(qtbot, program)
    seen: list[tuple[int, int, int, str]] = []

    def look() -> None:
        step = program.token.facts.step if program.token.facts is not None else 0
        seen.append((cursor.position, page.model.at, step, program.caption.shown.before))

    listening = playing.changed.connect(lambda: QTimer.singleShot(0, look))  # when all have heard of it
    playing.set_speed(30.0)

    def is_enough_seen() -> bool:
        if not playing.is_playing:  # a slow machine comes to the end in few steps
            cursor.go_to(0)
            playing.play()
        return len({position for position, *_ in seen if position}) > 5

    qtbot.waitUntil(is_enough_seen, timeout=WAIT)
    playing.pause()
    playing.changed.disconnect(listening)
    playing.set_speed(None)
    for position, charted, inspected, caption in seen:
        if not position:
            continue
        assert charted == inspected == position
        assert caption == f"Merge {position}"


def test_moving_the_time_slider_changes_the_pairs_chart_in_the_same_frame(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In an older version, the chart changed a tenth of a second after the table and the text."""
    monkeypatch.setattr(pairs_model, "LONGEST_AHEAD", math.inf)  # a slow machine would not look ahead
    small(program)
    train(program)
    model, cursor = program.pages[PairsPage].model, program.session.cursor
    program.charts.show_page("pairs")
    assert cursor.live
    for deed, at in (("back", 63), ("back", 62), ("forward", 63), ("back", 62), ("back", 61)):
        wait_for_rest(qtbot, program)
        program.actions[deed].trigger()
        assert (cursor.position, model.at, program.token_text.cursor) == (at, at, at)
    cursor.go_to(20)
    wait_for_rest(qtbot, program)
    program.actions["forward"].trigger()
    assert model.at == 21


def test_the_pairs_chart_and_the_id_grid_do_not_shrink_while_steps_are_played(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    page, grid = program.pages[PairsPage], program.text_panel.ids.grid
    program.charts.show_page("pairs")
    settle(qtbot, program)
    tops, widths, cells = list[float](), list[float](), set[int]()
    for position in (0, 1, 20, 40, 63, 40, 1, 0):
        program.session.cursor.go_to(position)
        settle(qtbot, program)
        page.grab()
        tops.append(page._top())
        widths.append(page._label_width(page.model.bars))
        cells.add(grid.cells.width)
    assert (tops, widths) == (sorted(tops), sorted(widths)), "what has been needed once stays"
    assert len(cells) == 1


def test_pairs_of_a_restored_run_are_counted_at_every_step(qtbot: QtBot, program: Program, tmp_path: Path) -> None:
    program.speed.slider.setValue(30)  # 16 merges a second, or a slow machine is at the end before it takes the pause
    program.actions["main"].trigger()
    qtbot.waitUntil(lambda: program.merges.rowCount() > 3, timeout=WAIT)
    program.actions["main"].trigger()
    wait_for_phase(qtbot, program, Phase.PAUSED)
    page = program.pages[PairsPage]
    program.filing.document.save(tmp_path / "paused.bpex")
    wait_for_rest(qtbot, program)
    before = program.session.runs.shown
    headlines: list[str] = []
    page.model.changed.connect(lambda: headlines.append(page.headline()))
    program.filing.document.open(tmp_path / "paused.bpex")
    qtbot.waitUntil(lambda: program.session.runs.shown is not before, timeout=WAIT)
    for position in (program.session.cursor.end, 0):
        program.session.cursor.go_to(position)
        settle(qtbot, program)
        assert page.model.at == position
        assert page.model.bars
    assert not [headline for headline in headlines if "No pair is left" in headline]


def test_the_pairs_chart_shows_learned_tokens_if_all_remaining_pairs_have_equal_counts(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    """Ten bars of equal length would not be informative. One step earlier, the page still shows bars."""
    small(program, 512)
    train(program)
    settle(qtbot, program)
    page, history = program.pages[PairsPage], program.session.runs.shown.history  # type: ignore[union-attr]
    assert history is not None
    shown = [token.text for token in page.model.tokens_to_show()]
    assert len(shown) == len(history) == 256
    assert shown[0] == "␣lighthouse"
    assert [len(text) for text in shown] == sorted(map(len, shown), reverse=True)
    equal = page.grab().toImage()
    program.session.cursor.go_to(len(history) - 1)
    settle(qtbot, program)
    assert not page.model.learned
    assert page.grab().toImage() != equal
    small(program)


def test_the_pairs_chart_shows_learned_tokens_if_no_pair_is_left(qtbot: QtBot, program: Program, train: Train) -> None:
    program.session.corpus.replace_by_text("few words", "low low lower lowest")
    train(program)
    settle(qtbot, program)
    model = program.pages[PairsPage].model
    assert not model.bars
    assert next(token.text for token in model.tokens_to_show()) == "␣lowe"


def test_the_token_page_shows_the_name_and_the_history_of_the_same_token(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    small(program)
    train(program)
    program.inspector.show_page("token")
    page = program.pages[TokenPage]
    wait_for_answers(qtbot, program)
    for token in (300, 301, 270):
        program.token.look_at(token)
        life = page.life.model.facts
        assert life is None or life.token == token
        assert page.life.chart.isVisible()  # what is below does not jump
        wait_for_answers(qtbot, program)
        assert page.life.model.facts is not None
        assert page.life.model.facts.token == token


def test_the_token_page_describes_the_clicked_token(qtbot: QtBot, program: Program, train: Train) -> None:
    train(program)
    editor, token = program.text_panel.editor, program.token
    byte = program.token_text.text().index("house") + 1
    clicked = program.token_text.token_at(byte)
    assert clicked is not None
    place = editor.rectangle_of(byte).center()
    editor.viewport().repaint()
    qtbot.mouseMove(editor.viewport(), place)
    qtbot.mouseClick(editor.viewport(), LEFT, NO_KEY, place)
    QApplication.sendEvent(editor.viewport(), QEvent(QEvent.Type.Leave))  # the mouse goes to the tab of the inspector
    qtbot.mouseMove(program.inspector)
    program.inspector.show_page("token")
    wait_for_answers(qtbot, program)
    assert token.facts is not None
    assert token.facts.id == clicked.id
    program.session.cursor.go_to(3)
    qtbot.waitUntil(lambda: token.facts is not None and token.facts.step == 3, timeout=WAIT)


def test_the_merge_table_shows_its_first_row_at_the_first_step(qtbot: QtBot, program: Program, train: Train) -> None:
    train(program)
    table = program.merge_panel.table
    assert table.rowAt(2) > 0
    program.actions["first"].trigger()
    assert table.rowAt(2) == 0
    program.actions["live"].trigger()
    table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    program.merges.sort(0, Qt.SortOrder.DescendingOrder)
    program.actions["first"].trigger()
    assert table.is_at_end


def test_the_race_page_initially_lists_the_pairs_that_are_merged_next(
    qtbot: QtBot, program: Program, train: Train
) -> None:
    train(program)
    program.actions["race"].trigger()
    wait_for_answers(qtbot, program)
    answer = program.pages.page(RACE).model.answer
    assert answer is not None
    assert all(" took " in sentence for sentence in answer.sentences[:5])
    program.session.cursor.go_to(10)
    wait_for_answers(qtbot, program)
    history = program.session.runs.shown.history  # type: ignore[union-attr]
    assert history is not None
    answer = program.pages.page(RACE).model.answer
    assert answer is not None
    pairs = dict.fromkeys(zip(answer.columns["left_id"], answer.columns["right_id"], strict=True))
    assert [*pairs] == [history.pair(row) for row in range(10, 15)]


def test_the_sentence_of_the_sizes_page_states_the_marked_size_in_tokens(
    qtbot: QtBot, program: Program, train: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SizeCurves, "first_halvable", 20)
    train(program)
    program.actions["sizes"].trigger()
    wait_for_answers(qtbot, program)
    assert "A vocabulary of 276 tokens could be halved" in program.pages.page(SIZES).sentence.text()
