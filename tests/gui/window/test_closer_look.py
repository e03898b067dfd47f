"""A figure of lines in a window of its own: the same values, also enlarged, and always the newest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor, QContextMenuEvent, QImage
from PySide6.QtWidgets import QApplication, QMenu, QPushButton
from pytestqt.qtbot import QtBot

from app.window.parts.closer_look import HINT, CloserLook
from app.window.parts.figure_view import LOOK_CLOSER, FigureView
from app.window.parts.theme import palette_for
from bpe_core.figures.figure import Bar, BarFigure, Line, LineFigure, Point

X = np.arange(1.0, 2_001.0)
STAIRS = Line("th", X, 5_000 / X, has_stairs=True, points=[Point(50.0, 100.0, "half")])
BANDED = Line("he", X, 3_000 / X, band=(2_700 / X, 3_300 / X))
FAINT = Line("", X[:0], X[:0], is_faint=True)
RACE = LineFigure("race", "The race of pairs.", "Two pairs.", [STAIRS, BANDED, FAINT], "Merges", "Count", marks=(40.0,))
LENGTHS = LineFigure("lengths", "Lengths.", "", [Line("", X[:9], X[:9])], "Bytes", "Tokens", has_bars=True)
SHARES = LineFigure("shares", "Shares.", "", [Line("", X[:9], X[:9] / 20)], "Bytes", "Texts", is_share=True)
KINDS = [
    RACE,
    LENGTHS,
    SHARES,
    *(replace(RACE, is_log_x=along, is_log_y=up) for along, up in ((True, False), (False, True), (True, True))),
    replace(RACE, lines=[Line("from 0", X - 1, X - 1)], is_log_x=True, is_log_y=True, marks=(0.0,)),
    LineFigure("life", "", "", (), "Merges", "Count", last_x=9.0),
]


@pytest.fixture
def view(qtbot: QtBot) -> FigureView:
    view = FigureView()
    qtbot.addWidget(view)
    view.show()
    return view


def opened(view: FigureView, figure: LineFigure) -> CloserLook:
    view.set_figure(figure)
    view.look_closer()
    assert view.closer is not None
    QApplication.processEvents()
    return view.closer


@pytest.mark.parametrize("figure", KINDS)
def test_any_lines_are_drawn_in_light_and_dark(view: FigureView, figure: LineFigure) -> None:
    closer = opened(view, figure)
    for kind in ("light", "dark"):
        closer.setPalette(palette_for(kind))
        QApplication.processEvents()
        picture = closer.plot.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        colours, amounts = np.unique(np.frombuffer(picture.constBits(), np.uint32), return_counts=True)
        assert QColor.fromRgb(int(colours[amounts.argmax()])) == closer.palette().base().color()
        assert len(colours) > 5  # those of axes, texts and lines
    assert closer.windowTitle() == figure.title.rstrip(".")
    assert closer.plot.accessibleDescription() == figure.in_words


@pytest.mark.parametrize("figure", KINDS[:-1])
def test_the_axes_reach_all_values_and_are_enlarged_around_their_middle(view: FigureView, figure: LineFigure) -> None:
    closer = opened(view, figure)

    def seen() -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        QApplication.processEvents()
        return np.array(closer.plot.viewRange())

    whole = seen()
    line = figure.lines[0]
    for edge, values, is_log in zip(whole, (line.x, line.heights), (figure.is_log_x, figure.is_log_y), strict=True):
        known = np.log10(values[values > 0]) if is_log else values
        assert edge[0] <= known.min() <= known.max() <= edge[1]
    enlarge, reduce, _ = closer.actions()
    enlarge.trigger()
    part = seen()
    assert (part[:, 1] - part[:, 0] < whole[:, 1] - whole[:, 0]).all()
    assert np.allclose(part.mean(axis=1), whole.mean(axis=1))
    view.set_figure(replace(figure, sentence="Later."))
    assert np.array_equal(seen(), part)  # what is new does not move the part that is looked at
    reduce.trigger()
    assert np.allclose(seen(), whole, atol=0.01 * np.ptp(whole))  # labels take some room
    enlarge.trigger()
    closer.whole.click()
    assert np.allclose(seen(), whole, atol=0.01 * np.ptp(whole))  # labels take some room


def test_the_values_below_the_mouse_are_those_of_the_figure(view: FigureView) -> None:
    closer = opened(view, RACE)
    assert closer.values.text() == HINT
    assert closer.value_at(50.0) == "Merges: 50 · th: 100 · he: 60"
    assert closer.value_at(-9.0) == closer.value_at(1.0) == "Merges: 1 · th: 5,000 · he: 3,000"
    assert closer.value_at(1e9) == closer.value_at(2_000.0)
    assert opened(view, replace(RACE, is_log_x=True)).value_at(np.log10(50.0)) == "Merges: 50 · th: 100 · he: 60"
    closer.plot.scene().sigMouseMoved.emit(QPointF(200.0, 100.0))
    assert closer.values.text().startswith("Merges: ")
    opened(view, LENGTHS)
    assert closer.values.text() == HINT  # nothing is left of the figure before


def test_it_follows_its_figure_until_it_is_closed(view: FigureView) -> None:
    closer = opened(view, RACE)
    view.set_figure(LENGTHS)
    assert closer.windowTitle() == "Lengths"
    view.set_figure(None)
    assert closer.windowTitle() == "Lengths"  # the last one stays
    closer.close()
    view.set_figure(RACE)
    assert closer.windowTitle() == "Lengths"
    assert opened(view, RACE) is closer
    assert closer.windowTitle() == "The race of pairs"


def test_a_logarithmic_axis_has_no_numbers_above_each_other(view: FigureView) -> None:
    axis = opened(view, replace(RACE, is_log_x=True)).axes["bottom"]
    numbers = [[axis.tickStrings(values, 1.0, spacing) for spacing, values in axis.tickValues(low, high, 800.0)]
               for low, high in ((-0.1, 3.3), (1.0, 1.4))]  # fmt: skip
    whole, part = ([one for level in levels for one in level if one] for levels in numbers)
    assert {"1", "10", "100", "1,000", "200", "500"} <= set(whole)
    assert "700" not in whole
    assert {"11", "12"} & set(part) or {"12", "15"} & set(part) or "20" in part


def test_only_lines_have_it(view: FigureView) -> None:
    for figure in (BarFigure("pairs", "Pairs.", "", [Bar("t + h", 9, "9")], ""), None):
        view.set_figure(figure)
        assert not view.has_closer_look
        view.look_closer()
        assert view.closer is None


def test_the_menu_of_a_figure_opens_it(view: FigureView) -> None:
    view.set_figure(RACE)
    view.resize(300, 200)
    place = view.rect().center()
    QApplication.sendEvent(view, QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, view.mapToGlobal(place)))
    (menu,) = view.findChildren(QMenu)
    (action,) = menu.actions()
    assert action.text() == LOOK_CLOSER
    action.trigger()
    assert view.closer is not None
    assert view.closer.isVisible()
    view.closer.findChildren(QPushButton)[1].click()
    assert not view.closer.isVisible()
