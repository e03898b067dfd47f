"""The comparison in the window: the same text in both colourings, the merges that differ, and totals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.session.run import Phase, Run
from app.window.questions.compare.duel_page import DuelPage
from app.window.questions.compare.page import ComparePage
from app.wiring import Program
from bpe_core.formats import write_history
from bpe_core.insight.table_comparison import compare_tables, differing_regions
from bpe_core.learning.trainer import train
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.text.corpus import Corpus
from tests.gui.conftest import WAIT, settle, wait_for_phase
from tests.gui.tables import exact_rows

pytestmark = pytest.mark.usefixtures("only_window")

TEXT = "the lowest price is lower than the last one, and the lower the better, is it not? thin then that\n" * 3
OTHER = train(Corpus.from_texts([TEXT]), Recipe.preset("gpt2", merges=40, ties="smallest-text"))
Train = Callable[[Program], None]


@pytest.fixture
def comparing(qtbot: QtBot, program: Program, train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Program:
    """A run beside a table that was opened to compare with."""
    program.session.corpus.replace_by_text("small", TEXT)
    assert program.form.choose(vocab_size=296)
    train(program)
    program.token_text.set_text("the lowest price, then that\nlast")
    qtbot.waitUntil(lambda: program.session.text.value.startswith("the lowest"), timeout=WAIT)
    path = tmp_path / "other.csv"
    write_history(OTHER, path)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_, **__: (str(path), ""))
    program.actions["compare"].trigger()
    program.pages[ComparePage].choice.open.click()
    wait_until_compared(qtbot, program)
    return program


def wait_until_compared(qtbot: QtBot, program: Program) -> None:
    comparison = program.pages[ComparePage].model

    def is_done() -> None:
        assert not comparison.is_waiting
        assert not program.session.aside.is_busy()
        assert comparison.found is not None
        assert comparison.cut is not None

    qtbot.waitUntil(is_done, timeout=WAIT)


def shown(program: Program) -> Run:
    run = program.session.runs.shown
    assert run is not None
    return run


def test_the_shown_run_stays_and_the_other_stands_beside(comparing: Program) -> None:
    run, comparison = shown(comparing), comparing.pages[ComparePage].model
    assert run.history is not None
    assert run.recipe.ties != OTHER.recipe.ties
    found = compare_tables(run.history, OTHER)
    assert comparison.found == found
    assert found.cause == "tie"
    assert comparison.rowCount() == len(found.differing) > 0
    assert "Likely cause, tie" in comparing.pages[ComparePage].summary.text()
    assert comparing.pages[ComparePage].choice.box.currentText() == "Run 2: other.csv"


def test_what_is_cut_differently_is_marked(comparing: Program) -> None:
    run, comparison = shown(comparing), comparing.pages[ComparePage].model
    assert run.history is not None
    text = "the lowest price, then that\nlast"
    expected = [Tokenizer(history).spans(text) for history in (run.history, OTHER)]
    regions = differing_regions(*expected)
    assert comparison.cut is not None
    assert comparison.regions == len(regions)
    for cut, spans in zip(comparison.cut, expected, strict=True):
        assert list(cut.ids) == [id for _, _, id in spans]
        assert list(cut.differing) == regions
    duel = comparing.pages[DuelPage]
    comparing.pages[ComparePage].side_by_side.click()
    assert comparing.window.stage == "duel"
    assert comparing.time_bar.isVisible()
    assert [count.text() for count in duel.counts] == [str(len(spans)) for spans in expected]
    one, other = duel.texts
    assert one.model.text() == other.model.text() == "the lowest price, then that\nlast"
    assert f"{len(expected[0])} tokens here, {len(expected[1])} there" in comparison.totals


def test_both_travel_in_time(qtbot: QtBot, comparing: Program) -> None:
    run, comparison = shown(comparing), comparing.pages[ComparePage].model
    assert run.history is not None
    comparing.session.cursor.go_to(10)
    wait_until_compared(qtbot, comparing)
    assert comparison.cut is not None
    one, other = comparison.cut
    assert one.title.endswith("after 10 merges")
    assert other.title.endswith("after 10 merges")
    assert list(other.ids) == Tokenizer(OTHER).encode("the lowest price, then that\nlast", at=10)


def test_a_row_leads_to_its_merge(comparing: Program) -> None:
    comparison = comparing.pages[ComparePage].model
    assert comparison.found is not None
    row = next(i for i, merge in enumerate(comparison.found.differing) if merge.place is not None)
    comparison.travel_to_row(row)
    place = comparison.found.differing[row].place
    assert place is not None
    assert comparing.session.cursor.position == place + 1
    saved = exact_rows(comparing.pages[ComparePage])
    named = ("left_hex", "left_text", "right_hex", "right_text", "step", "other_step")
    assert saved[0] == (*named, "left_id", "right_id", "other_left_id", "other_right_id")
    assert len(saved) == comparison.rowCount() + 1
    left, right = (bytes.fromhex(saved[row + 1][side]) for side in (0, 2))
    names = shown(comparing).names
    assert names is not None
    assert [left, right] == [names.raw[saved[row + 1][side]] for side in (6, 7)]


def test_runs_are_compared_with_each_other(qtbot: QtBot, comparing: Program) -> None:
    comparing.form.choose(ties="lowest-ids")
    comparing.session.train()
    wait_for_phase(qtbot, comparing, Phase.ENDED)
    settle(qtbot, comparing)
    comparison = comparing.pages[ComparePage].model
    assert [number for number, _ in comparison.choices()] == [2, 1]
    comparison.choose(1)
    wait_until_compared(qtbot, comparing)
    assert comparison.found is not None
    first = comparing.session.runs.all[0].history
    assert first is not None
    assert shown(comparing).history is not None
    assert comparison.found == compare_tables(shown(comparing).history, first)  # type: ignore[arg-type]


def test_without_a_second_one_the_panel_says_what_to_do(qtbot: QtBot, comparing: Program) -> None:
    comparing.pages[ComparePage].model.choose(None)
    panel, duel = comparing.pages[ComparePage], comparing.pages[DuelPage]
    qtbot.waitUntil(lambda: "Choose another run" in panel.totals.text(), timeout=WAIT)
    comparing.actions["duel"].trigger()
    assert "Choose another run" in duel.told.text()
    assert duel.texts[0].model.text() == ""
    QTest.keyClick(duel, Qt.Key.Key_Escape)
    assert comparing.window.stage == ""
    assert comparing.pages[ComparePage].model.rowCount() == 0


def test_another_look_keeps_the_text(qtbot: QtBot, comparing: Program) -> None:
    comparing.actions["duel"].trigger()
    duel = comparing.pages[DuelPage]
    before = duel.texts[0].model.text()
    assert before
    comparing.theme.choose("dark")
    assert duel.texts[0].model.text() == before
    comparing.theme.choose("light")


def test_a_long_text_is_compared_as_far_as_is_said(qtbot: QtBot, comparing: Program) -> None:
    comparing.token_text.set_text("then that last low " * 1_000)
    comparison = comparing.pages[ComparePage].model
    qtbot.waitUntil(lambda: comparison.totals.startswith("The first 10,000 characters"), timeout=WAIT)
    wait_until_compared(qtbot, comparing)
    comparing.actions["duel"].trigger()
    assert len(comparing.pages[DuelPage].texts[0].model.text()) == 10_000
