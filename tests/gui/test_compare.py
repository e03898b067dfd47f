"""The comparison in the window: the same text in both colourings, the merges that differ, and totals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtWidgets import QFileDialog
from pytestqt.qtbot import QtBot

from app.session.run import Phase, Run
from app.window.questions.compare.duel_page import DuelPage
from app.window.questions.compare.page import ComparePage
from app.wiring import Program
from bpe_core.formats import write_history
from bpe_core.history.token_texts import shown
from bpe_core.insight.table_comparison import TableComparison, compare_tables, differing_regions
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.tokenizer import Tokenizer
from bpe_core.text.corpus import Corpus
from tests.core.learning import train
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
    page = program.pages[ComparePage]

    def is_done() -> None:
        assert not page.model.is_waiting
        assert not program.session.aside.is_busy()
        assert page.model.answer is not None
        assert page.duel.parallel is not None

    qtbot.waitUntil(is_done, timeout=WAIT)


def listed(program: Program) -> list[tuple[str, ...]]:
    """The steps that differ, as the page lists them."""
    model = program.pages[ComparePage].model
    columns = [model.columns.index(name) for name in ("left_text", "right_text", "step", "other_step")]
    rows = range(program.pages[ComparePage].rows.rowCount())
    return [tuple(model.cell(row, column) for column in columns) for row in rows]


def expected_rows(found: TableComparison) -> list[tuple[str, ...]]:
    return [
        (
            shown(one.left),
            shown(one.right),
            *("" if at is None else f"{at + 1:,}" for at in (one.place, one.other_place)),
        )
        for one in found.differing
    ]


def shown_run(program: Program) -> Run:
    run = program.session.runs.shown
    assert run is not None
    return run


def test_the_shown_run_stays_and_the_other_stands_beside(comparing: Program) -> None:
    run, page = shown_run(comparing), comparing.pages[ComparePage]
    assert run.history is not None
    assert run.recipe.ties != OTHER.recipe.ties
    found = compare_tables(run.history, OTHER)
    assert found.cause == "tie"
    assert listed(comparing) == expected_rows(found) != []
    assert "Likely cause, tie" in page.sentence.text()
    assert page.choice.box.currentText() == "Run 2: other.csv"


def test_what_is_cut_differently_is_marked(comparing: Program) -> None:
    run, page = shown_run(comparing), comparing.pages[ComparePage]
    assert run.history is not None
    text = "the lowest price, then that\nlast"
    expected = [Tokenizer(history).spans(text) for history in (run.history, OTHER)]
    regions = differing_regions(*expected)
    assert page.duel.parallel is not None
    assert [(start, stop) for start, stop in page.duel.parallel.stretches.tolist()] == regions
    for lane, spans in zip(page.duel.lanes, expected, strict=True):
        assert lane.cut is not None
        assert lane.cut.tokens.ids.tolist() == [id for _, _, id in spans]
    duel = comparing.pages[DuelPage]
    page.side_by_side.click()
    assert (comparing.window.room, comparing.charts.shown) == ("compare", "duel")
    assert comparing.time_bar.isVisible()
    assert [count.text() for count in duel.counts] == [str(len(spans)) for spans in expected]
    one, other = duel.texts
    assert one.model.text() == other.model.text() == text
    assert f"{len(expected[0])} tokens here, {len(expected[1])} there" in page.totals.text()
    assert f"{len(regions)} places of your text are cut differently" in page.totals.text()


def test_both_travel_in_time(qtbot: QtBot, comparing: Program) -> None:
    duel = comparing.pages[ComparePage].duel
    comparing.session.cursor.go_to(10)
    wait_until_compared(qtbot, comparing)
    assert [duel.title(place).endswith("after 10 merges") for place in (0, 1)] == [True, True]
    other = duel.lanes[1].cut
    assert other is not None
    assert other.tokens.ids.tolist() == Tokenizer(OTHER).encode("the lowest price, then that\nlast", at=10)


def test_each_side_is_drawn_as_its_tokenizer_cuts(qtbot: QtBot, comparing: Program) -> None:
    comparing.actions["duel"].trigger()
    duel = comparing.pages[DuelPage]
    wait_until_compared(qtbot, comparing)
    byte = 5
    for lane, view in zip(duel.model.lanes, duel.texts, strict=True):
        place = view.rectangle_of(byte)
        token = view.token_at_point(QPointF(place.center()))
        assert lane.cut is not None
        assert token == lane.cut.token_at(byte)
    images = [view.viewport().grab().toImage() for view in duel.texts]
    assert images[0] != images[1]


def test_a_row_leads_to_its_merge(comparing: Program) -> None:
    page = comparing.pages[ComparePage]
    row = next(i for i, cells in enumerate(listed(comparing)) if cells[2])
    page.choose_row(row)
    assert comparing.session.cursor.position == int(listed(comparing)[row][2])
    saved = exact_rows(page)
    named = ("left_hex", "left_text", "right_hex", "right_text", "step", "other_step")
    assert saved[0] == (*named, "left_id", "right_id", "other_left_id", "other_right_id")
    assert len(saved) == page.rows.rowCount() + 1
    left, right = (bytes.fromhex(saved[row + 1][side]) for side in (0, 2))
    names = shown_run(comparing).names
    assert names is not None
    assert [left, right] == [names.raw[saved[row + 1][side]] for side in (6, 7)]


def test_runs_are_compared_with_each_other(qtbot: QtBot, comparing: Program) -> None:
    comparing.form.choose(ties="lowest-ids")
    comparing.session.train()
    wait_for_phase(qtbot, comparing, Phase.ENDED)
    settle(qtbot, comparing)
    duel = comparing.pages[ComparePage].duel
    assert [number for number, _ in duel.choices] == [2, 1]
    duel.choose(1)
    wait_until_compared(qtbot, comparing)
    first, now = comparing.session.runs.all[0].history, shown_run(comparing).history
    assert first is not None
    assert now is not None
    assert listed(comparing) == expected_rows(compare_tables(now, first))


def test_without_a_second_one_the_panel_says_what_to_do(qtbot: QtBot, comparing: Program) -> None:
    panel, duel = comparing.pages[ComparePage], comparing.pages[DuelPage]
    panel.duel.choose(None)
    qtbot.waitUntil(lambda: "Choose another run" in panel.sentence.text(), timeout=WAIT)
    comparing.actions["duel"].trigger()
    qtbot.waitUntil(lambda: duel.texts[0].model.text() == "", timeout=WAIT)
    assert "Choose another run" in duel.sentence.text()
    assert panel.rows.rowCount() == 0


def test_another_look_keeps_the_text(qtbot: QtBot, comparing: Program) -> None:
    comparing.actions["duel"].trigger()
    duel = comparing.pages[DuelPage]
    before = duel.texts[0].model.text()
    assert before
    comparing.theme.choose("dark")
    assert duel.texts[0].model.text() == before
    comparing.theme.choose("light")


def test_a_long_text_is_compared_as_far_as_is_said(qtbot: QtBot, comparing: Program) -> None:
    comparing.token_text.set_text("then that last low " * 10_000)
    page = comparing.pages[ComparePage]
    qtbot.waitUntil(lambda: "of the first 100,000 characters of your text" in page.totals.text(), timeout=WAIT)
    wait_until_compared(qtbot, comparing)
    comparing.actions["duel"].trigger()
    assert len(comparing.pages[DuelPage].texts[0].model.text()) == 100_000
