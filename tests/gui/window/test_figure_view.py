"""Figures on the screen: what can be clicked, what tooltips say, and what is repainted."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QImage, QPixmap
from pytestqt.qtbot import QtBot

from app.window.parts.figure_view import FigureView
from app.window.parts.pictures import picture_of, save_svg
from app.window.parts.theme import palette_for
from bpe_core.figures.figure import (
    Bar,
    BarFigure,
    Branch,
    DotFigure,
    Figure,
    Line,
    LineFigure,
    Point,
    SideBySide,
    TreeFigure,
)
from bpe_core.figures.painter import layout_of
from bpe_core.figures.sheet import Paper, SvgSheet
from bpe_core.figures.tree import Tree

X = np.arange(100.0)
LINE = Line("th", X, X**2, points=[Point(50.0, 2_500.0, "half")])
LINES = LineFigure("life", "The life of th.", "A sentence.", [LINE], "Merges", "Count", marks=(40.0,), first_x=0.0)
BARS = BarFigure("pairs", "Pairs.", "", [Bar("t + h", 9, "9", "next"), Bar("h + e", 5, "5")], "after step 3")
DOTS = DotFigure("dots", "Tokens", "", ["a", "b"], ["en", "de"], np.array([[1.0, np.nan], [3.0, 4.0]]))
SYMBOLS = [Branch(one, place, place + 1, tip=f"{one}: a base symbol", is_part=True) for place, one in enumerate("low")]
TREE = TreeFigure("tree", "Tree.", "", [*SYMBOLS[:2], Branch("lo", 0, 2, "1 · 5×", "lo: merge 1, 5 times"), SYMBOLS[2]])
EMPTY = LineFigure("life", "", "", [], "Merges", "Count")
ALL: list[Figure] = [LINES, BARS, DOTS, TREE, SideBySide("lab", "Lab.", "", [LINES, replace(LINES, is_log_x=True)])]
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def view(qtbot: QtBot) -> FigureView:
    view = FigureView()
    qtbot.addWidget(view)
    view.resize(400, 240)
    view.show()
    return view


def test_a_value_is_written_without_needless_zeros() -> None:
    line = replace(LINES, lines=[Line("th", np.array([0.0, 1.0]), np.array([1.5, 1_200.0]))])
    assert line.values_at(0.0) == "Merges: 0\nth: 1.5"
    assert line.values_at(1.0) == "Merges: 1\nth: 1,200"


@pytest.mark.parametrize("told", ["", "1,234 · 56,789×"])
def test_boxes_of_a_tree_never_cover_each_other(told: str) -> None:
    word = "lowerwest"
    branches = [Branch(one, place, place + 1) for place, one in enumerate(word)]
    spans = [(0, 2), (2, 4), (2, 5), (0, 5), (5, 7), (7, 9), (5, 9), (0, 9)]
    every = sorted(
        [*branches, *(Branch(word[a:b], a, b, told) for a, b in spans)], key=lambda one: (one.stop, -one.start)
    )
    tree = layout_of(TreeFigure("tree", "Tree.", "", every), SvgSheet(Paper(900, 300)))
    assert isinstance(tree, Tree)
    boxes = [QRectF(*tree.box_of(number)) for number in range(len(every))]
    assert not any(one.intersects(other) for one, other in combinations(boxes, 2))


def colours_in(image: QImage) -> int:
    return len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)})


def test_what_cannot_be_seen_is_said(view: FigureView) -> None:
    for nothing in (None, EMPTY):
        view.set_figure(nothing)
        assert view.accessibleDescription() == ""
        assert view.values_at(QPointF(100, 100)) == ""
    view.set_figure(LINES)
    assert view.accessibleName() == "The life of th"
    assert view.accessibleDescription() == "A sentence. th: 9801 at the end"


@pytest.mark.parametrize("figure", ALL, ids=lambda figure: figure.name)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_figure_is_drawn_in_the_colours_of_the_palette(view: FigureView, figure: Figure, theme: str) -> None:
    view.setPalette(palette_for(theme))
    view.set_figure(figure)
    drawn = view.grab().toImage()
    assert colours_in(drawn) > 5
    assert (drawn.pixelColor(2, 2).lightness() < 128) == (theme == "dark")


def test_a_click_on_lines_chooses_a_moment(qtbot: QtBot, view: FigureView) -> None:
    view.set_figure(LINES)
    for x, expected in ((0, 0.0), (view.width() - 1, 99.0)):
        with qtbot.waitSignal(view.place_chosen) as told:
            qtbot.mouseClick(view, LEFT, pos=QPoint(x, 100))
        assert told.args == [expected]
    assert view.values_at(QPointF(view.width() - 1, 100)) == "Merges: 99\nth: 9,801"


def test_a_click_on_a_bar_a_dot_or_a_branch_chooses_it(qtbot: QtBot, view: FigureView) -> None:
    for figure, told in (
        (BARS, {"t + h: 9", "h + e: 5"}),
        (DOTS, {"a, en: 1", "b, en: 3", "b, de: 4"}),
        (TREE, {"l: a base symbol", "o: a base symbol", "w: a base symbol", "lo: merge 1, 5 times"}),
    ):
        assert isinstance(figure, (BarFigure, DotFigure, TreeFigure))
        view.set_figure(figure)
        points = [QPoint(x, y) for x in range(2, 400, 6) for y in range(2, 240, 6)]
        found = {view.values_at(QPointF(point)): point for point in points}
        assert set(found) - {""} == told
        for text in told:
            with qtbot.waitSignal(view.item_chosen) as chosen:
                qtbot.mouseClick(view, LEFT, pos=found[text])
            assert chosen.args is not None
            (item,) = chosen.args
            if isinstance(figure, DotFigure):
                assert text == f"{'ab'[item // 2]}, {['en', 'de'][item % 2]}: {figure.values.flat[item]:g}"
            else:
                part = figure.bars[item].name if isinstance(figure, BarFigure) else figure.branches[item].text
                assert text.startswith(part)
    with qtbot.waitSignal(view.place_chosen) as place:
        qtbot.mouseClick(view, LEFT, pos=QPoint(1, 1))
    assert place.args == [0.0], "beside the branches of a tree, the nearest boundary is chosen"


def test_only_marks_are_painted_anew_when_only_they_move(view: FigureView) -> None:
    def still(figure: LineFigure) -> QPixmap:
        view.set_figure(figure)
        layout = view.layout_now()
        assert layout is not None
        return view._picture_of(layout)  # whether it was kept is seen nowhere else

    first = still(LINES)
    later = replace(LINES, marks=(70.0,), lines=[replace(LINE, x=X.copy(), points=[])])
    assert still(later) is first
    moved = view.grab().toImage()
    view.set_figure(LINES)
    assert view.grab().toImage() != moved
    assert still(replace(LINES, lines=[replace(LINE, y=X)])) is not first


def test_saved_pictures_are_sharp(view: FigureView, tmp_path: Path) -> None:
    view.set_figure(LINES)
    assert picture_of(view).size() == view.size() * 2
    assert save_svg(view, tmp_path / "lines.svg")
    saved = (tmp_path / "lines.svg").read_text(encoding="utf-8")
    assert "<image" not in saved
    assert "<polyline" in saved or "<path" in saved
