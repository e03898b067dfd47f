"""A chart with two axes on the screen, drawn by pyqtgraph.

The wheel enlarges the chart around the mouse pointer, a drag moves the visible part, and a double click shows the whole
chart. A crosshair shows the values under the mouse. The arrow keys move the crosshair, too. A click or Enter chooses
the position of the crosshair.
"""

from __future__ import annotations

from typing import Any

import pyqtgraph
from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QWidget

from app.session.time import timer
from app.window.charts.axis import ChartAxis
from app.window.charts.plot_area import PlotArea
from app.window.parts.theme import shades_of
from app.window.parts.wording import with_direction_marks
from app.window.text.view.painting import LIT_WIDTH
from app.window.text.view.palette import TokenPalette
from bpe_core.figures.figure import Figure
from bpe_core.figures.scale import Axis

ENLARGED = 0.8  # share of the visible range that is left after one step
STEPS_BY_KEY = 50  # presses of an arrow key from one side to the other
ROOM = 0.015  # share of an axis that is shown beyond its ends
MARGIN = 12  # pixels at the right, for half of the last number
LINES_BELOW = 2.5  # heights of a line, for the numbers and the title along the bottom
NEVER_LESS = 1e-7  # the smallest visible share of an axis
SAME = 1e-6  # share of an axis: ranges that differ by less are equal
AWAY = 6  # pixels from a place to its label
LABEL_STRENGTH = 235  # opacity of the ground behind values, of 255


class Crosshair:
    """Two lines that cross at a position in a chart, with a label that shows the values there."""

    def __init__(self, box: Any) -> None:
        """Add the lines and the label to `box`, the ViewBox of a chart."""
        self._box = box
        self.across = pyqtgraph.InfiniteLine(angle=90)
        self.level = pyqtgraph.InfiniteLine(angle=0)
        self.label = pyqtgraph.TextItem()
        for item in (self.across, self.level, self.label):
            item.setZValue(1_000)
            item.hide()
            box.addItem(item, ignoreBounds=True)

    def apply_style(self, chart: QWidget) -> None:
        palette = chart.palette()
        shades = shades_of(palette)
        ground = QColor(palette.base().color())
        ground.setAlpha(LABEL_STRENGTH)
        for line in (self.across, self.level):
            line.setPen(pyqtgraph.mkPen(shades.muted, width=1, style=Qt.PenStyle.DotLine))
        self.label.fill = pyqtgraph.mkBrush(ground)
        self.label.border = pyqtgraph.mkPen(shades.hairline)
        self.label.setFont(chart.font())
        self.label.setColor(palette.text().color())

    def show(self, place: QPointF, said: str, edge: tuple[float, float], *, has_lines: bool = True) -> None:
        left, right = self._box.viewRange()[0]
        pixel = self._box.viewPixelSize()[0]
        self.label.setText(with_direction_marks(said))
        width = self.label.textItem.boundingRect().width() * pixel
        at_right = place.x() + AWAY * pixel
        at_left = place.x() - AWAY * pixel - width
        if at_right + width < right:
            x = at_right
        elif at_left > left:
            x = at_left
        else:
            x = right - width
        height, stands = edge
        self.label.setAnchor((0, stands))
        self.label.setPos(max(left, x), height)
        self.across.setPos(place.x())
        self.level.setPos(place.y())
        self.label.show()
        self.label.updateTransform(force=True)  # pyqtgraph skips this while the label is hidden
        self.across.setVisible(has_lines)
        self.level.setVisible(has_lines)

    def hide(self) -> None:
        for item in (self.across, self.level, self.label):
            item.hide()


class Chart(pyqtgraph.GraphicsView):
    """The base class of all charts.

    It owns the visible range. When a user clicks, it reports the position, or the bar or dot that was clicked.
    """

    place_chosen = Signal(float)  # the number along the axis that was clicked
    place_pointed = Signal(object)  # the number along the axis below the mouse, or None
    item_chosen = Signal(int)  # the index of the bar or dot that was clicked

    def __init__(self, parent: QWidget | None = None, *, box: Any = None) -> None:
        """Make an empty chart. `box` is a ViewBox, or None for the usual kind of ViewBox."""
        self.bottom = ChartAxis("bottom")
        self.left = ChartAxis("left")
        self.lines = ChartAxis("right")
        super().__init__(parent)
        self.figure: Figure | None = None
        self._title = ""  # title of the bottom axis
        self.setCacheMode(self.CacheModeFlag.CacheNone)  # else saved drawings would hold the ground as a picture
        self.enableMouse(False)  # the box moves, not the view
        self.box = box or pyqtgraph.ViewBox(enableMenu=False)
        self.box.disableAutoRange()
        self.box.setDefaultPadding(0.0)
        self.area = PlotArea(self.box, self.bottom, self.left, self.lines)
        self.area.cells.setContentsMargins(2, MARGIN // 2, MARGIN, 0)
        self.setCentralItem(self.area)
        self.whole = QRectF(0.0, 0.0, 1.0, 1.0)  # the full range of both axes
        self.home = self.whole  # the range that is visible at first
        self.crosshair = Crosshair(self.box)
        self._highlight = pyqtgraph.InfiniteLine(angle=90)  # a line at the step that made the highlighted token
        self._highlight.setZValue(900)
        self._highlight.hide()
        self.box.addItem(self._highlight, ignoreBounds=True)
        self._place: QPointF | None = None  # the place of the crosshair
        self._choose_soon = timer(self, 0, self._choose)
        self._chosen = QPointF()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(40, 40)
        self.scene().sigMouseMoved.connect(self._follow_mouse)
        self.scene().sigMouseClicked.connect(self._click)
        self.apply_style()

    # -- for subclasses ---------------------------------------------------------

    def draw(self, figure: Any) -> None:
        """Draw a figure. Items that already exist are reused."""
        raise NotImplementedError

    def text_at(self, place: QPointF) -> str:
        """Return a text with the values at `place`, a position in the coordinates of the axes."""
        raise NotImplementedError

    def item_at(self, place: QPointF) -> int:
        """Return the index of the bar or dot at `place`, or -1 if there is none."""
        return -1

    def number_at(self, place: QPointF) -> float | None:
        """Return the number on the bottom axis that a click at `place` chooses. Return None if a click there has no
        effect.
        """
        return None

    def place_of(self, number: float) -> float | None:
        """Return the position of a number on the bottom axis, or None if the axis does not show the number."""
        return None

    def draw_items(self) -> None:
        """Draw the items again, in the colours of the palette."""

    # -- showing ---------------------------------------------------------------------------

    def show_figure(self, figure: Figure) -> None:
        """Show a figure. The visible range of the chart is kept if the title of the figure is the same as before."""
        is_another = self.figure is None or figure.title != self.figure.title
        self.draw(figure)
        self.figure = figure
        self.setAccessibleDescription("" if figure.is_empty else figure.in_words)
        if is_another:
            self.show_all()
        if self._place is not None:
            self.point_at(self._place)

    def set_range(self, left: float, right: float, bottom: float, top: float, home: QRectF | None = None) -> None:
        """Set the limits of the chart. Unless the user has zoomed in, show the range `home`.

        If `home` is None, the chart shows everything between the limits.
        """
        whole = QRectF(left, bottom, right - left, top - bottom)
        home = home or whole
        if (whole, home) == (self.whole, self.home):
            return
        was_whole = self.is_whole
        self.whole = whole
        self.home = home
        width = self.whole.width()
        height = self.whole.height()
        self.box.setLimits(
            xMin=left, xMax=right, yMin=bottom, yMax=top,
            minXRange=NEVER_LESS * width, maxXRange=width, minYRange=NEVER_LESS * height, maxYRange=height,
        )  # fmt: skip
        if was_whole:
            self.show_all()

    @property
    def is_whole(self) -> bool:
        """Return whether the chart shows its whole range."""
        (left, right), (bottom, top) = self.box.viewRange()
        wide = SAME * self.home.width()
        high = SAME * self.home.height()
        has_width = abs(left - self.home.left()) <= wide and abs(right - self.home.right()) <= wide
        return has_width and abs(bottom - self.home.top()) <= high and abs(top - self.home.bottom()) <= high

    def highlight_at(self, number: float | None) -> None:
        """Draw a line at a number on the bottom axis. If `number` is None, remove the line."""
        place = None if number is None else self.place_of(number)
        self._highlight.setVisible(place is not None)
        if place is not None:
            self._highlight.setPos(place)

    def show_part(self, left: float, right: float) -> None:
        """Zoom in on the part of the chart between two values of the bottom axis."""
        first = self.place_of(left)
        last = self.place_of(right)
        if first is not None and last is not None and first < last:
            self.box.setXRange(first, last, padding=ROOM)

    def show_all(self) -> None:
        self.box.setRange(self.home, padding=0.0, disableAutoRange=True)

    def enlarge(self, share: float = ENLARGED) -> None:
        self.box.scaleBy((share, share))

    def reduce(self) -> None:
        self.enlarge(1 / ENLARGED)

    def apply_style(self) -> None:
        """Apply the font and the colours of the window."""
        shades = shades_of(self.palette())
        self.setBackground(self.palette().base().color())
        for axis in (self.bottom, self.left, self.lines):
            axis.apply_style(self.font(), shades)
        self.crosshair.apply_style(self)
        self._highlight.setPen(pyqtgraph.mkPen(TokenPalette.matching(self.palette()).mark, width=LIT_WIDTH))
        self.draw_items()

    def write_left_names(self, axis: Axis) -> None:
        """Write the names or numbers of `axis` on the left. Draw a line across the chart at each name or number."""
        self.left.show_numbers(axis)
        self.lines.show_numbers(axis)

    def write_bottom_title(self, title: str) -> None:
        """Write a title below the chart, shortened to the width of the chart."""
        self._title = title
        room = self.width() - self.left.width() - MARGIN
        shown = self.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, int(max(0, room)))
        if shown != self.bottom.labelText:
            self.bottom.setLabel(shown)
        self.bottom.rows = self.bottom.rows_for(room, self.height())
        lines = (LINES_BELOW if title else 1.5) + self.bottom.rows - 1
        self.bottom.setHeight(round(lines * self.fontMetrics().height()))

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        if hasattr(self, "crosshair"):
            self.write_bottom_title(self._title)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        kinds = (QEvent.Type.PaletteChange, QEvent.Type.FontChange)
        if event.type() in kinds and hasattr(self, "crosshair"):  # Qt changes the font while it makes the widget
            self.apply_style()

    def close(self) -> bool:
        """Close the chart without deleting its items.

        pyqtgraph's own `close` would delete them, but a later change of the style still uses them.
        """
        return QWidget.close(self)

    # -- pointing --------------------------------------------------------------------------

    def values_at(self, point: QPointF) -> str:
        """Return the text with the values at a point of the widget."""
        return self.text_at(self.box.mapSceneToView(self.mapToScene(point.toPoint())))

    def _follow_mouse(self, point: QPointF) -> None:
        if self.box.sceneBoundingRect().contains(point):
            self.point_at(self.box.mapSceneToView(point))
        else:
            self.leave()

    def point_at(self, place: QPointF) -> None:
        """Show the crosshair at `place`, a position in the coordinates of the axes, with the values there."""
        self._place = place
        self.place_pointed.emit(self.number_at(place))
        said = self.text_at(place)
        if said:
            edge = self.label_place(place)
            self.crosshair.show(place, said, edge, has_lines=self.number_at(place) is not None)
        else:
            self.crosshair.hide()

    def label_place(self, place: QPointF) -> tuple[float, float]:
        """Return the place of the crosshair's label: a height on the left axis, and an anchor.

        If the anchor is 0, the label is below this height. If the anchor is 1, the label is above this height. The
        crosshair is at `place`.
        """
        return float(self.box.viewRange()[1][1]), 0.0

    def leave(self) -> None:
        if self._place is not None:
            self.place_pointed.emit(None)
        self._place = None
        self.crosshair.hide()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.leave()

    def _click(self, event: Any) -> None:
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if event.double():
            self._choose_soon.stop()
            self.show_all()
            return
        self._chosen = self.box.mapSceneToView(event.scenePos())
        # A double click shows all, and must not choose. If all is shown already, its first click may choose.
        if self.is_whole:
            self._choose()
        else:
            self._choose_soon.start(QGuiApplication.styleHints().mouseDoubleClickInterval())

    def _choose(self) -> None:
        item = self.item_at(self._chosen)
        number = self.number_at(self._chosen)
        if item >= 0:
            self.item_chosen.emit(item)
        elif number is not None:
            self.place_chosen.emit(number)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        if event.reason() in (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason):
            self.point_at(self.box.viewRect().center())

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.leave()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        ways = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        key = event.key()
        if key in ways:
            seen = self.box.viewRect()
            place = self._place or seen.center()
            x = place.x() + ways[Qt.Key(key)] * seen.width() / STEPS_BY_KEY
            self.point_at(QPointF(min(max(seen.left(), x), seen.right()), place.y()))
            self.setAccessibleDescription(self.text_at(self._place or place))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._place is not None:
            self._chosen = self._place
            self._choose()
        else:
            event.ignore()
