"""Tests of the page about Gage's compressor: the table of a block, the ends of blocks, and the compressed size."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint
from pytestqt.qtbot import QtBot

from app.window.questions.blocks_page import BlocksPage
from app.wiring import Program
from bpe_core.figures.figure import LineFigure
from bpe_core.methods.gage.container import compress
from bpe_core.methods.kit.compressors import ZLIB_LEVEL
from bpe_core.recipes.recipe import Recipe
from tests.gui.conftest import WAIT, wait_for_rest
from tests.gui.questions.conftest import LEFT
from tests.gui.tables import exact_rows

pytestmark = pytest.mark.usefixtures("only_window")

TEXT = "the lowest price is lower than the last one, and the lowest of the low is the lowest. " * 9
RECIPE = Recipe.preset("gage", block_size=200)


@pytest.fixture
def page(
    qtbot: QtBot, window_with: Callable[[], Program], train: Callable[[Program], None]
) -> tuple[Program, BlocksPage]:
    program = window_with()
    page = program.pages[BlocksPage]
    program.actions["blocks"].trigger()
    qtbot.waitUntil(lambda: "appears here when training begins" in page.sentence.text(), timeout=WAIT)
    assert not page.table.isVisible()
    program.session.corpus.replace_by_text("a few words", TEXT)
    program.session.recipe.put_quietly(RECIPE)
    train(program)
    qtbot.waitUntil(lambda: page.model.answer is not None, timeout=WAIT)
    wait_for_rest(qtbot, program)
    return program, page


def test_the_block_table_shows_the_compression_block_of_the_shown_step(
    qtbot: QtBot, page: tuple[Program, BlocksPage]
) -> None:
    program, shown = page
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    history, model = run.history, shown.model
    for at in (0, 1, len(history) // 2, len(history)):
        program.session.cursor.go_to(at)
        wait_for_rest(qtbot, program)
        block = history.reasons["block"][at - 1] if at else None
        steps = [row for row in range(at) if history.reasons["block"][row] == block]
        rows = range(shown.rows.rowCount())
        assert [shown.rows.place(row) - 1 for row in rows] == steps[::-1]
        written = [shown.rows.data(shown.rows.index(row, 0)) for row in rows]
        assert written == [f"0x{history.reasons['byte'][row]:02X}" for row in steps[::-1]]
        if at:
            assert exact_rows(shown)[at + 1][:3] == (at, block, int(history.reasons["byte"][at - 1]))
        if block is None:
            assert model.sentences[-1] == "Nothing has been replaced yet."
        else:
            assert model.sentences[-1].startswith(f"Block {block + 1} of 4: the bytes {200 * block + 1:,} to ")
            assert f"{len(rows)} of the" in model.sentences[-1]
            assert model.values_here()["Gage"] == history.reasons["size"][at - 1]


def test_the_blocks_page_shows_the_same_compressed_sizes_as_the_engine(page: tuple[Program, BlocksPage]) -> None:
    _, shown = page
    values = shown.model.values_here()
    report = compress(TEXT.encode(), RECIPE).report
    assert values["Gage"] == report.table_bytes + report.data_bytes + 2 * report.blocks
    assert values["zlib"] == len(zlib.compress(TEXT.encode(), ZLIB_LEVEL))
    assert "zlib" in shown.sentence.text()
    figure = shown.model.figure
    assert isinstance(figure, LineFigure)
    assert [line.name for line in figure.lines] == list(values)
    assert figure.lines[0].y[-1] == values["Gage"]
    assert shown.model.ends == pytest.approx([200 / len(TEXT), 400 / len(TEXT), 600 / len(TEXT), 1.0])


def test_a_click_on_a_compression_block_moves_the_time_slider_to_its_step(
    qtbot: QtBot, page: tuple[Program, BlocksPage]
) -> None:
    program, shown = page
    run = program.session.runs.shown
    assert run is not None
    assert run.history is not None
    program.charts.resize(900, 300)
    qtbot.mouseClick(shown.strip, LEFT, pos=QPoint(shown.strip.width() // 8, 3))
    blocks = run.history.reasons["block"].tolist()
    assert program.session.cursor.position == blocks.count(0)
    wait_for_rest(qtbot, program)
    assert shown.model.block == 0
    step = shown.rows.place(2)
    shown.table.clicked.emit(shown.rows.index(2, 0))
    assert program.session.cursor.position == step
    shown.model.travel_to_block(3)
    assert program.session.cursor.position == len(blocks)
    assert not shown.grab().isNull()
