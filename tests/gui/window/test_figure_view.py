"""Tests of figures on the screen: clicks, the values under the mouse, and zooming."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from pyqtgraph import TextItem
from PySide6.QtCore import QObject, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QAccessible, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window.charts.chart import Chart
from app.window.charts.dots import DotChart
from app.window.charts.figure_view import SAVE, FigureView
from app.window.charts.lines import LineChart
from app.window.charts.rows import RowChart
from app.window.parts.pictures import picture_of, save_svg
from app.window.parts.theme import palette_for
from bpe_core.figures.axes import axes_of
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
NOT_ENCODED = np.array([[0.0, 0.0], [0.0, 0.98]])
DOTS = DotFigure("dots", "Tokens", "", ["a", "b"], ["en", "de"], np.array([[1.0, np.nan], [3.0, 4.0]]), NOT_ENCODED)
SYMBOLS = [Branch(one, place, place + 1, tip=f"{one}: a base symbol", is_part=True) for place, one in enumerate("low")]
TREE = TreeFigure("tree", "Tree.", "", [*SYMBOLS[:2], Branch("lo", 0, 2, "1 · 5×", "lo: merge 1, 5 times"), SYMBOLS[2]])
EMPTY = LineFigure("life", "", "", [], "Merges", "Count")
STAIRS = Line("th", X + 1, 5_000 / (X + 1), has_stairs=True, points=[Point(50.0, 100.0, "half")])
BANDED = Line("he", X + 1, 3_000 / (X + 1), band=(2_700 / (X + 1), 3_300 / (X + 1)))
FAINT = Line("", X[:0], X[:0], is_faint=True)
RACE = LineFigure("race", "The race of pairs.", "Two pairs.", [STAIRS, BANDED, FAINT], "Merges", "Count", marks=(40.0,))
LENGTHS = LineFigure("lengths", "Lengths.", "", [Line("", X[1:9], X[1:9])], "Bytes", "Tokens", has_bars=True)
SHARES = LineFigure("shares", "Shares.", "", [Line("", X[:9], X[:9] / 20)], "Bytes", "Texts", is_share=True)
KINDS_OF_LINES = [
    LINES, RACE, LENGTHS, SHARES,
    *(replace(RACE, is_log_x=along, is_log_y=up) for along, up in ((True, False), (False, True), (True, True))),
    replace(RACE, lines=[Line("from 0", X, X)], is_log_x=True, is_log_y=True, marks=(0.0,)),
    LineFigure("life", "An empty life.", "", (), "Merges", "Count", first_x=0.0, last_x=9.0),
]  # fmt: skip
SIDES = SideBySide("lab", "Lab.", "", [LINES, replace(LINES, is_log_x=True)])
ALL: list[Figure] = [*KINDS_OF_LINES, BARS, DOTS, TREE, SIDES]
LEFT = Qt.MouseButton.LeftButton
NO_KEY, NO_SCROLLING = Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase


@pytest.fixture
def view(qtbot: QtBot) -> FigureView:
    view = FigureView()
    qtbot.addWidget(view)
    view.resize(400, 240)
    view.show()
    return view


def show_chart(view: FigureView, figure: Figure) -> Chart:
    view.set_figure(figure)
    QApplication.processEvents()
    return view.charts[0]


def visible_range(chart: Chart) -> tuple[float, ...]:
    QApplication.processEvents()
    (left, right), (low, high) = chart.box.viewRange()
    return left, right, low, high


def pixel_of(chart: Chart, x: float, y: float) -> QPoint:
    """Return the pixel at the values `x` and `y` on the axes of a line chart."""
    assert isinstance(chart, LineChart)
    place = QPointF(chart.along.place(x), chart.upright.place(y))
    return QPoint(chart.mapFromScene(chart.box.mapViewToScene(place)))


def turn_wheel(chart: Chart, at: QPoint, notches: int) -> None:
    port = chart.viewport()
    place, away = QPointF(at), QPointF(port.mapToGlobal(at))
    turn = QPoint(0, 120 * notches)
    event = QWheelEvent(place, away, QPoint(), turn, Qt.MouseButton.NoButton, NO_KEY, NO_SCROLLING, False)
    QApplication.sendEvent(port, event)


def colours_in(image: QImage) -> int:
    return len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)})


def test_chart_values_are_written_without_needless_zeros() -> None:
    line = replace(LINES, lines=[Line("th", np.array([0.0, 1.0]), np.array([1.5, 1_200.0]))])
    assert line.values_at(0.0) == "Merges: 0\nth: 1.5"
    assert line.values_at(1.0) == "Merges: 1\nth: 1,200"


@pytest.mark.parametrize("label", ["", "1,234 · 56,789×"])
def test_boxes_of_a_drawn_merge_tree_never_overlap(label: str) -> None:
    word = "lowerwest"
    branches = [Branch(item, place, place + 1) for place, item in enumerate(word)]
    spans = [(0, 2), (2, 4), (2, 5), (0, 5), (5, 7), (7, 9), (5, 9), (0, 9)]
    every = sorted(
        [*branches, *(Branch(word[a:b], a, b, label) for a, b in spans)], key=lambda item: (item.stop, -item.start)
    )
    tree = layout_of(TreeFigure("tree", "Tree.", "", every), SvgSheet(Paper(900, 300)))
    assert isinstance(tree, Tree)
    boxes = [QRectF(*tree.box_of(number)) for number in range(len(every))]
    assert not any(item.intersects(other) for item, other in combinations(boxes, 2))


def test_a_figure_has_a_description_for_screen_readers(view: FigureView) -> None:
    for nothing in (None, EMPTY):
        view.set_figure(nothing)
        assert view.accessibleDescription() == ""
        assert view.values_at(QPointF(100, 100)) == ""
    chart = show_chart(view, LINES)
    for widget in (view, chart):
        interface = QAccessible.queryAccessibleInterface(widget)
        assert interface.text(QAccessible.Text.Name) == "The life of th"
        assert interface.text(QAccessible.Text.Description) == "A sentence. th: 9801 at the end"


@pytest.mark.parametrize("figure", ALL, ids=lambda figure: figure.name)
def test_every_figure_changes_its_colours_with_the_theme(view: FigureView, figure: Figure) -> None:
    view.set_figure(figure)
    for theme in ("light", "dark"):
        view.setPalette(palette_for(theme))
        drawn = view.grab().toImage()
        assert colours_in(drawn) > 5
        assert (drawn.pixelColor(2, 2).lightness() < 128) == (theme == "dark")


@pytest.mark.parametrize("figure", KINDS_OF_LINES, ids=lambda figure: figure.name)
def test_a_figure_initially_shows_all_its_values(view: FigureView, figure: LineFigure) -> None:
    left, right, low, high = visible_range(show_chart(view, figure))
    along, upright = axes_of(figure)
    assert left <= along.place(along.least) <= along.place(along.most) <= right
    assert low <= upright.place(upright.least) <= upright.place(upright.most) <= high


# pyqtgraph sets the shape of an array when it inverts the transform of an empty chart.
@pytest.mark.filterwarnings("ignore:Setting the shape on a NumPy array:DeprecationWarning")
def test_a_line_chart_of_size_zero_has_no_labels(view: FigureView) -> None:
    chart = show_chart(view, LINES)
    assert isinstance(chart, LineChart)
    chart.box.resize(0, 0)
    chart.box.sigResized.emit(chart.box)  # raises if labels were placed
    assert chart.box.rect().isEmpty()


def test_a_click_on_a_line_chart_chooses_the_nearest_value_of_the_horizontal_axis(
    qtbot: QtBot, view: FigureView
) -> None:
    chart = show_chart(view, LINES)
    port = chart.viewport()
    for place, expected in (
        (QPoint(0, 60), 0.0),
        (QPoint(port.width() - 1, 60), 99.0),
        (pixel_of(chart, 50, 10), 50.0),
    ):
        with qtbot.waitSignal(view.place_chosen) as chosen:
            qtbot.mouseClick(port, LEFT, pos=place)
        assert chosen.args == [expected]
    assert view.values_at(QPointF(view.width() - 1, 100)) == "Merges: 99\nth: 9,801"


def test_the_mouse_wheel_zooms_a_chart_at_the_pointer(view: FigureView) -> None:
    chart = show_chart(view, LINES)
    whole, mouse = visible_range(chart), pixel_of(chart, 80, 6_400)
    turn_wheel(chart, mouse, 4)
    left, right, low, high = visible_range(chart)
    assert right - left < 0.8 * (whole[1] - whole[0])
    assert high - low < 0.8 * (whole[3] - whole[2])
    moved = pixel_of(chart, 80, 6_400) - mouse
    assert moved.manhattanLength() <= 4
    turn_wheel(chart, mouse, -40)
    assert visible_range(chart) == pytest.approx(whole, abs=1e-3), "there is nothing beyond the ends of the axes"


def test_dragging_moves_an_enlarged_chart(qtbot: QtBot, view: FigureView) -> None:
    chart = show_chart(view, LINES)
    turn_wheel(chart, pixel_of(chart, 50, 2_500), 8)
    before, port = visible_range(chart), chart.viewport()
    middle = port.rect().center()
    QTest.mousePress(port, LEFT, pos=middle)
    for away in range(0, 60, 10):
        QTest.mouseMove(port, middle - QPoint(away, 0))
        qtbot.wait(20)  # moves that follow sooner count as one
    QTest.mouseRelease(port, LEFT, pos=middle - QPoint(60, 0))
    after = visible_range(chart)
    assert after[0] > before[0]
    assert after[1] - after[0] == pytest.approx(before[1] - before[0])


def test_double_clicking_a_zoomed_chart_shows_the_whole_chart_without_choosing_a_step(
    qtbot: QtBot, view: FigureView
) -> None:
    chart = show_chart(view, LINES)
    whole, chosen = visible_range(chart), list[float]()
    view.place_chosen.connect(chosen.append)
    turn_wheel(chart, pixel_of(chart, 50, 2_500), 8)
    assert visible_range(chart) != pytest.approx(whole)
    port, middle = chart.viewport(), chart.viewport().rect().center()
    QTest.mouseClick(port, LEFT, pos=middle)
    QTest.mouseDClick(port, LEFT, pos=middle)
    QTest.mouseRelease(port, LEFT, pos=middle)
    assert visible_range(chart) == pytest.approx(whole)
    qtbot.wait(QApplication.doubleClickInterval() + 50)
    assert chosen == []


def test_a_click_on_an_enlarged_chart_chooses_a_value_after_the_double_click_interval(
    qtbot: QtBot, view: FigureView
) -> None:
    chart = show_chart(view, LINES)
    turn_wheel(chart, pixel_of(chart, 50, 2_500), 8)
    with qtbot.waitSignal(view.place_chosen) as chosen:
        qtbot.mouseClick(chart.viewport(), LEFT, pos=pixel_of(chart, 48, 2_500))
    assert chosen.args == [48.0]


def test_new_values_keep_the_zoom_of_a_chart_and_a_different_figure_resets_the_zoom(view: FigureView) -> None:
    chart = show_chart(view, RACE)
    whole = visible_range(chart)
    view.actions()[0].trigger()
    part = visible_range(chart)
    assert part[1] - part[0] < whole[1] - whole[0]
    assert np.mean(part[:2]) == pytest.approx(np.mean(whole[:2]))
    show_chart(view, replace(RACE, sentence="Later.", lines=[replace(STAIRS, y=2 * STAIRS.y), BANDED, FAINT]))
    assert visible_range(chart) == pytest.approx(part)
    view.actions()[1].trigger()
    view.actions()[2].trigger()
    assert visible_range(chart)[:2] == pytest.approx(whole[:2])
    view.actions()[0].trigger()
    show_chart(view, replace(RACE, title="Another race."))
    assert visible_range(chart)[:2] == pytest.approx(whole[:2])


def test_a_chart_without_zoom_extends_its_range_to_new_values(view: FigureView) -> None:
    chart = show_chart(view, LINES)
    longer = np.arange(1_000.0)
    show_chart(view, replace(LINES, lines=[Line("th", longer, longer)]))
    assert visible_range(chart)[1] >= 999.0


def test_a_chart_reuses_its_graphics_items_for_new_values(view: FigureView) -> None:
    chart = show_chart(view, RACE)
    items = chart.box.allChildren()
    assert len(items) > 6
    for figure in (replace(RACE, marks=(70.0,)), replace(RACE, lines=[replace(STAIRS, y=2 * STAIRS.y), BANDED, FAINT])):
        assert show_chart(view, figure) is chart
        assert chart.box.allChildren() == items


def test_the_crosshair_of_a_chart_shows_the_values_under_the_pointer(qtbot: QtBot, view: FigureView) -> None:
    chart = show_chart(view, RACE)
    label = chart.crosshair.label
    assert not label.isVisible()
    QTest.mouseMove(chart.viewport(), pixel_of(chart, 50, 2_000))
    QApplication.processEvents()
    assert label.isVisible()
    assert label.toPlainText() == RACE.values_at(50.0) == "Merges: 50\nth: 100\nhe: 60"
    qtbot.wait(20)
    QTest.mouseMove(chart.viewport(), QPoint(1, 1))
    QApplication.processEvents()
    assert not label.isVisible()


def test_the_crosshair_stops_between_whole_numbers_only_on_continuous_axes(view: FigureView) -> None:
    seconds = replace(LINES, lines=[Line("floor", np.array([0.0, 0.5, 1.25]), np.array([2.0, 3.0, 4.5]))], first_x=None)
    assert show_chart(view, replace(seconds, marks=())).text_at(QPointF(0.25, 1.0)) == "Merges: 0.25\nfloor: 2.5"
    assert show_chart(view, LINES).text_at(QPointF(2.3, 1.0)) == "Merges: 2\nth: 4"


def test_a_chart_is_reused_after_its_figure_was_empty(view: FigureView) -> None:
    chart = show_chart(view, LINES)
    view.set_figure(EMPTY)
    assert view.charts == []
    assert show_chart(view, LINES) is chart


def test_arrow_keys_move_the_crosshair_and_enter_chooses_the_value_at_the_crosshair(
    qtbot: QtBot, view: FigureView
) -> None:
    chart = show_chart(view, LINES)
    chart.setFocus(Qt.FocusReason.TabFocusReason)
    chart.point_at(QPointF(50.0, 100.0))
    qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert chart.accessibleDescription() == "Merges: 52\nth: 2,704"
    with qtbot.waitSignal(view.place_chosen) as chosen:
        qtbot.keyClick(chart, Qt.Key.Key_Return)
    assert chosen.args == [52.0]


def test_a_completely_visible_axis_has_the_same_numbers_on_screen_and_in_print(view: FigureView) -> None:
    view.resize(700, 500)
    chart = show_chart(view, replace(RACE, is_log_x=True))
    along, _ = axes_of(replace(RACE, is_log_x=True))
    left, right = chart.box.viewRange()[0]
    ((_, places),) = chart.bottom.tickValues(left, right, 600.0)
    assert chart.bottom.tickStrings(places, 1.0, 1.0) == along.labels(along.ticks(along.least, along.most))


def test_the_letters_of_an_axis_title_are_not_cut_at_the_lower_edge_of_the_chart(view: FigureView) -> None:
    view.resize(700, 500)
    axis = show_chart(view, LENGTHS).bottom
    lower_end = axis.label.mapRectToParent(axis.label.boundingRect()).bottom() - axis.label.document().documentMargin()
    assert axis.label.isVisible()
    assert lower_end <= axis.size().height()


def test_zooming_a_chart_along_the_size_axis_also_zooms_the_neighbouring_chart(view: FigureView) -> None:
    view.resize(800, 240)
    show_chart(view, SideBySide("lab", "Lab.", "", [LINES, replace(LINES, title="Another.")]))
    first, second = view.charts
    first.enlarge()
    assert visible_range(second)[:2] == pytest.approx(visible_range(first)[:2], rel=0.05, abs=3)
    assert view.charts == [first, second]
    view.set_figure(TREE)
    assert view.charts == []


def points_with(view: FigureView, chart: Chart) -> dict[str, QPoint]:
    """Return the texts that a chart can show for the point under the pointer, each with such a point."""
    port = chart.viewport()
    points = [QPoint(x, y) for x in range(2, port.width(), 4) for y in range(2, port.height(), 4)]
    return {chart.values_at(QPointF(point)): point for point in points}


@pytest.mark.parametrize(
    ("figure", "items"),
    [
        (BARS, {"t + h: 9": 0, "h + e: 5": 1}),
        (DOTS, {"a, en: 1": 0, "b, en: 3": 2, "b, de: 4\n98.0% of the text is not encoded": 3}),
    ],
)
def test_a_click_on_a_bar_or_a_dot_chooses_its_item(
    qtbot: QtBot, view: FigureView, figure: Figure, items: dict[str, int]
) -> None:
    chart = show_chart(view, figure)
    points = points_with(view, chart)
    assert set(points) - {""} == set(items)
    for text, item in items.items():
        with qtbot.waitSignal(view.item_chosen) as chosen:
            qtbot.mouseClick(chart.viewport(), LEFT, pos=points[text])
        assert chosen.args == [item]


def test_a_click_on_a_branch_of_a_tree_chooses_the_branch(qtbot: QtBot, view: FigureView) -> None:
    view.set_figure(TREE)
    drawing = view.drawing
    points = [QPoint(x, y) for x in range(2, 400, 6) for y in range(2, 240, 6)]
    points_by_text = {view.values_at(QPointF(point)): point for point in points}
    for text in ("l: a base symbol", "lo: merge 1, 5 times"):
        with qtbot.waitSignal(view.item_chosen) as chosen:
            qtbot.mouseClick(drawing, LEFT, pos=points_by_text[text])
        assert chosen.args is not None
        assert text.startswith(TREE.branches[chosen.args[0]].text)
    with qtbot.waitSignal(view.place_chosen) as place:
        qtbot.mouseClick(drawing, LEFT, pos=QPoint(1, 1))
    assert place.args == [0.0], "beside the branches of a tree, the nearest boundary is chosen"


def test_a_bar_chart_with_too_many_bars_can_be_scrolled_and_keeps_the_height_of_its_bars(view: FigureView) -> None:
    many = replace(BARS, bars=[Bar(f"t + {row}", 100 - row, f"{100 - row}") for row in range(60)])
    chart = show_chart(view, many)
    assert isinstance(chart, RowChart)
    _, _, top, bottom = visible_range(chart)
    assert top == 0
    assert 5 < chart.count_rows_in_view < 20
    turn_wheel(chart, chart.viewport().rect().center(), 8)
    left, right, after, below = visible_range(chart)
    assert right - left < 100
    assert below - after == pytest.approx(bottom - top)
    chart.box.translateBy(y=1_000)
    assert visible_range(chart)[3] == pytest.approx(60)


def pixel_reader(view: FigureView) -> Callable[[QPoint], int]:
    image = view.grab().toImage()
    return lambda point: image.pixel(point)


def test_the_dot_for_a_text_that_a_tokenizer_cannot_encode_is_drawn_hollow(view: FigureView) -> None:
    chart = show_chart(view, DOTS)
    points = points_with(view, chart)
    dots = {
        text: chart.box.mapViewToScene(QPointF(*place))
        for text, place in (("b, en: 3", (0.06, 3)), ("b, de", (1.06, 4)))
    }
    pixel = pixel_reader(view)
    whole, hollow = (pixel(chart.mapTo(view, chart.mapFromScene(place))) for place in dots.values())
    assert points
    assert whole != hollow == view.palette().base().color().rgb()


def test_a_figure_is_saved_with_double_resolution_as_a_picture_or_with_vector_lines_as_svg(
    view: FigureView, tmp_path: Path
) -> None:
    for figure in (LINES, DOTS, BARS):
        show_chart(view, figure)
        assert picture_of(view).size() == view.size() * 2
        assert save_svg(view, tmp_path / "lines.svg")
        saved = (tmp_path / "lines.svg").read_text(encoding="utf-8")
        assert "<image" not in saved
        assert "<polyline" in saved or "<path" in saved


def test_the_menu_of_a_figure_offers_to_save_the_figure_for_print(qtbot: QtBot, view: FigureView) -> None:
    show_chart(view, RACE)
    action = next(entry for entry in view.actions() if entry.text() == SAVE)
    with qtbot.waitSignal(view.print_wanted):
        action.trigger()


def test_labels_at_the_ends_of_curves_never_overlap(view: FigureView) -> None:
    ends = [Line(name, X, X + step, points=[Point(99.0, 99.0 + step, name)]) for step, name in enumerate("ABCD")]
    chart = show_chart(view, LineFigure("lab", "Lab.", "", ends, "Tokens", "Bytes"))
    view.grab()
    named = [item for item in chart.box.allChildren() if isinstance(item, TextItem) and item.isVisible()]
    labels = sorted(named, key=lambda item: str(item.toPlainText()))
    boxes = {item.toPlainText(): item.mapRectToScene(item.boundingRect()) for item in labels}
    assert [*boxes] == ["A", "B", "C", "D"]
    heights = [box.center().y() for box in boxes.values()]
    assert heights == sorted(heights, reverse=True)
    apart = [first - second for first, second in pairwise(heights)]
    assert min(apart) >= view.fontMetrics().height()
    chart.box.setRange(xRange=(0.0, 50.0), yRange=(0.0, 50.0), padding=0.0)
    assert not any(item.isVisible() for item in labels), "their points are not in sight"


def test_curve_labels_stay_inside_a_small_chart_and_ignore_distant_labels(view: FigureView) -> None:
    view.resize(400, 130)
    ends = [Line(name, X, X, points=[Point(99.0, 40.0 + step, name)]) for step, name in enumerate("ABC")]
    far = Line("D", X, X, points=[Point(10.0, 41.0, "D")])
    chart = show_chart(view, LineFigure("lab", "Lab.", "", [*ends, far], "Tokens", "Bytes"))
    view.grab()
    named = [item for item in chart.box.allChildren() if isinstance(item, TextItem) and item.isVisible()]
    middles = {item.toPlainText(): item.mapRectToScene(item.boundingRect()).center().y() for item in named}
    room = chart.box.mapRectToScene(chart.box.rect())
    assert all(room.top() <= middle <= room.bottom() for middle in middles.values())
    alone = chart.box.mapViewToScene(QPointF(chart.along.place(10.0), chart.upright.place(41.0)))
    assert abs(middles["D"] - alone.y()) <= 1, "no label near it moves it"


MOST_OBJECTS = 20  # of one chart; with pyqtgraph's PlotItem and its menu they were over 80


@pytest.mark.parametrize("kind", [LineChart, RowChart, DotChart])
def test_a_chart_makes_few_qt_objects(qtbot: QtBot, kind: type[Chart]) -> None:
    def objects() -> int:
        gc.collect()
        owners = [QApplication.instance(), *QApplication.topLevelWidgets()]
        return len({id(child) for owner in owners if owner is not None for child in owner.findChildren(QObject)})

    before = objects()
    charts = [kind() for _ in range(5)]
    for chart in charts:
        qtbot.addWidget(chart)
    assert objects() - before <= MOST_OBJECTS * len(charts)


def test_changing_the_font_of_a_closed_chart_causes_no_error(view: FigureView) -> None:
    chart = show_chart(view, LINES)
    chart.close()
    font = chart.font()
    font.setPointSize(font.pointSize() + 3)
    chart.setFont(font)
