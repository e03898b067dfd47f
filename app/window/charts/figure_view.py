"""The view of a figure on the screen. Figures with axes become charts of pyqtgraph, and a painter draws all others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from app.window.charts.head import ChartHead
from app.window.parts.drawing import LEAST_HEIGHT, PREFERRED, PaintedFigure
from app.window.parts.layouts import in_column
from app.window.parts.widgets import add_key_action
from bpe_core.figures.figure import BarFigure, DotFigure, Figure, LineFigure, SideBySide

if TYPE_CHECKING:
    from app.window.charts.chart import Chart

NOTHING = (0, 0, 0, 0)
SAVE = "Save Figure for Print …"


class ChartPlace(QWidget):
    """A widget with a chart, and with the head of the chart above it."""

    def __init__(self, chart: Chart, parent: QWidget, *, has_legend: bool) -> None:
        super().__init__(parent)
        self.chart = chart
        self.head = ChartHead(self, has_legend=has_legend)
        in_column(self.head, (chart, 1), on=self, margins=NOTHING, spacing=0)

    def show_figure(self, figure: Figure, name: str) -> None:
        self.head.show_figure(figure)
        self.chart.show_figure(figure)
        self.chart.setAccessibleName(name)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.head.fit()


class FigureView(QWidget):
    """A view of one figure, or of several figures side by side, drawn as charts that share one x axis.

    The view is empty if it has no figure.
    """

    place_chosen = Signal(float)  # the value of the x axis that was clicked, or the boundary of a tree
    item_chosen = Signal(int)  # the index of the bar, dot or branch that was clicked
    place_pointed = Signal(object)  # the value of the x axis below the mouse, or None
    print_wanted = Signal()

    def __init__(self, name: str = "", parent: QWidget | None = None, *, has_legend: bool = True) -> None:
        """Make an empty view. If `name` is empty, the accessible name is the title of the figure."""
        super().__init__(parent)
        self.figure: Figure | None = None
        self._name = name
        self._has_legend = has_legend
        self._places: list[ChartPlace] = []
        self.drawing = PaintedFigure(name, self)  # for figures without axes
        self.drawing.place_chosen.connect(self.place_chosen)
        self.drawing.item_chosen.connect(self.item_chosen)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(*NOTHING)
        self._row.setSpacing(0)
        self._row.addWidget(self.drawing, 1)
        self.setAccessibleName(name)
        self.setMinimumHeight(LEAST_HEIGHT)
        self._add_actions()

    def _add_actions(self) -> None:
        add_key_action(self, "Enlarge", "+", lambda: self._each(lambda chart: chart.enlarge()))
        add_key_action(self, "Reduce", "-", lambda: self._each(lambda chart: chart.reduce()))
        add_key_action(self, "Show All", "Home", self.show_all)
        add_key_action(self, SAVE, "", self.print_wanted.emit)
        for action in self.actions():
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    @property
    def charts(self) -> list[Chart]:
        """Return the visible charts."""
        return [place.chart for place in self._places if not place.isHidden()]

    def set_figure(self, figure: Figure | None) -> None:
        """Show a figure. The view is empty if the figure is None or empty."""
        self.figure = figure
        self.setAccessibleName(self._name or (figure.title.rstrip(".") if figure is not None else ""))
        self.setAccessibleDescription("" if figure is None or figure.is_empty else figure.in_words)
        parts = _charts_in(figure)
        if parts:
            self._prepare_charts(parts)
        for place in self._places:
            place.setVisible(bool(parts))  # a figure that is empty for a while keeps its charts
        for place, part in zip(self._places, parts, strict=False):
            place.show_figure(part, self._name or part.title.rstrip("."))
        self.drawing.setVisible(not parts)
        self.drawing.set_figure(None if parts else figure)
        self._row.activate()  # so that a picture can be taken at once

    def _prepare_charts(self, figures: Sequence[Figure]) -> None:
        """Make sure that there is a chart of the right kind for each figure.

        Keep the current charts if they are of the right kinds.
        """
        wanted = [chart_of(figure) for figure in figures]
        if wanted == [type(place.chart) for place in self._places]:
            return
        for place in self._places:
            self._row.removeWidget(place)
            place.hide()
            place.deleteLater()
        self._places = [ChartPlace(kind(), self, has_legend=self._has_legend) for kind in wanted if kind is not None]
        for place in self._places:
            self._row.addWidget(place, 1)
            place.chart.place_chosen.connect(self.place_chosen)
            place.chart.item_chosen.connect(self.item_chosen)
            place.chart.place_pointed.connect(self.place_pointed)
            if place is not self._places[0]:
                place.chart.box.setXLink(self._places[0].chart.box)
        self._arrange_charts()

    def highlight_at(self, number: float | None) -> None:
        """Draw a line at a number on the x axis in all charts. If `number` is None, remove the line."""
        self._each(lambda chart: chart.highlight_at(number))

    def show_part(self, left: float, right: float) -> None:
        """Enlarge the part between two numbers on the x axis in all charts."""
        self._each(lambda chart: chart.show_part(left, right))

    def show_all(self) -> None:
        self._each(lambda chart: chart.show_all())

    def _each(self, act: Callable[[Chart], object]) -> None:
        for chart in self.charts:
            act(chart)

    def values_at(self, point: QPointF) -> str:
        """Return the text with the exact values at a point of the view."""
        for place in self._places:
            if not place.isHidden() and place.geometry().contains(point.toPoint()):
                return place.chart.values_at(QPointF(place.chart.mapFrom(self, point.toPoint())))
        return self.drawing.values_at(point)

    def sizeHint(self) -> QSize:
        return PREFERRED

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange_charts()

    def _arrange_charts(self) -> None:
        """Put several charts side by side in a wide view, and below each other in a tall view."""
        is_wide = self.width() >= self.height()
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if is_wide else QBoxLayout.Direction.TopToBottom)


def _charts_in(figure: Figure | None) -> list[Figure]:
    """Return the figures to draw as charts: the figure itself, or its parts.

    Return an empty list for an empty figure, or if there is no chart for one of the figures.
    """
    if figure is None or figure.is_empty:
        return []
    parts: Sequence[Figure] = figure.figures if isinstance(figure, SideBySide) else [figure]
    return list(parts) if all(chart_of(part) is not None for part in parts) else []


def chart_of(figure: Figure) -> type[Chart] | None:
    """Return the class of chart that draws a figure. Return None for a figure without axes, which a painter draws."""
    from app.window.charts.dots import DotChart  # importing pyqtgraph takes 0.3 s, too long for the first window
    from app.window.charts.lines import LineChart
    from app.window.charts.rows import RowChart

    charts: dict[type[Figure], type[Chart]] = {LineFigure: LineChart, DotFigure: DotChart, BarFigure: RowChart}
    return next((chart for kind, chart in charts.items() if isinstance(figure, kind)), None)
