"""The view of a figure without axes, such as a tree. The figure looks the same as in print."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QToolTip, QWidget

from app.window.parts.figure_sheet import ScreenSheet, paper_on_screen
from app.window.parts.wording import tip
from bpe_core.figures.figure import Figure
from bpe_core.figures.painter import layout_of
from bpe_core.figures.sheet import Layout

PREFERRED = QSize(320, 200)
LEAST_HEIGHT = 90


class PaintedFigure(QWidget):
    """A view that paints a figure. If it has no figure, it is empty."""

    place_chosen = Signal(float)  # the boundary of a tree that was clicked
    item_chosen = Signal(int)  # the index of the branch that was clicked

    def __init__(self, name: str = "", parent: QWidget | None = None) -> None:
        """Make an empty view. If `name` is empty, the accessible name is the title of the figure."""
        super().__init__(parent)
        self.figure: Figure | None = None
        self._name = name
        self.scale = 1.0  # size of the texts, relative to the font
        self._layout: Layout | None = None  # layout of the figure for the present size, font and palette
        self.setAccessibleName(name)
        self.setMinimumHeight(LEAST_HEIGHT)

    def set_figure(self, figure: Figure | None) -> None:
        """Show a figure. The view is empty if the figure is None or empty."""
        self.figure = figure
        self._layout = None
        self.setAccessibleName(self._name or (figure.title.rstrip(".") if figure is not None else ""))
        self.setAccessibleDescription("" if figure is None or figure.is_empty else figure.in_words)
        self.update()

    def values_at(self, point: QPointF) -> str:
        """Return the text with the exact values at a point of the view."""
        layout = self.layout_now()
        return "" if layout is None else layout.values_at(point.x(), point.y())

    def layout_now(self) -> Layout | None:
        if self._layout is None and self.figure is not None and not self.figure.is_empty:
            self._layout = layout_of(self.figure, self._sheet())
        return self._layout

    def sizeHint(self) -> QSize:
        return PREFERRED

    def figure_font(self) -> QFont:
        """Return the font of all texts in the figure."""
        return self.font()

    def _sheet(self) -> ScreenSheet:
        font = self.figure_font()
        palette = self.palette()
        return ScreenSheet(paper_on_screen(self.width(), self.height(), font, palette, scale=self.scale), font, palette)

    def paintEvent(self, event: QPaintEvent) -> None:
        layout = self.layout_now()
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillRect(self.rect(), self.palette().base())
            if layout is not None:
                sheet = layout.sheet
                assert isinstance(sheet, ScreenSheet)
                sheet.painter = painter
                layout.draw()
                sheet.painter = None

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._layout = None

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._layout = None

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            values = self.values_at(QPointF(event.pos()))
            if values:
                QToolTip.showText(event.globalPos(), tip(values), self)
                return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        layout = self.layout_now()
        x = event.position().x()
        y = event.position().y()
        if event.button() != Qt.MouseButton.LeftButton or layout is None:
            return
        if (item := layout.item_at(x, y)) >= 0:
            self.item_chosen.emit(item)
        elif (place := layout.place_at(x, y)) is not None:
            self.place_chosen.emit(place)
