"""A figure on the screen, drawn as for print. When only the moment changes, only its mark is painted anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFont,
    QHelpEvent,
    QMouseEvent,
    QPaintEngine,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from app.window.parts.figure_sheet import ScreenSheet, paper_on_screen
from app.window.parts.wording import tip
from bpe_core.figures.figure import Figure, LineFigure
from bpe_core.figures.painter import Lines, layout_of
from bpe_core.figures.sheet import Layout

if TYPE_CHECKING:
    from app.window.parts.closer_look import CloserLook

PREFERRED = QSize(320, 200)
LEAST_HEIGHT = 90
LOOK_CLOSER = "Look Closer …"


class FigureView(QWidget):
    """Shows a figure, or blank paper where there is none."""

    place_chosen = Signal(float)  # the value of the x axis that was clicked, or the boundary of a tree
    item_chosen = Signal(int)  # the index of the bar, dot or branch that was clicked

    def __init__(self, name: str = "", parent: QWidget | None = None, *, has_legend: bool = True) -> None:
        """Without a name, the view takes its accessible name from the figure's title."""
        super().__init__(parent)
        self.figure: Figure | None = None
        self._name, self._has_legend = name, has_legend
        self.scale = 1.0  # of the texts, in sizes of the font
        self._layout: Layout | None = None  # of the figure, for the present size, font and palette
        self._still: tuple[Layout, QPixmap] | None = None  # the picture of the still parts, and its layout
        self.closer: CloserLook | None = None  # once it was wanted
        self.setAccessibleName(name)
        self.setMinimumHeight(LEAST_HEIGHT)

    def set_figure(self, figure: Figure | None) -> None:
        """Show this figure; None or an empty one leaves the paper blank."""
        self.figure, self._layout = figure, None
        self.setAccessibleName(self._name or (figure.title.rstrip(".") if figure is not None else ""))
        self.setAccessibleDescription("" if figure is None or figure.is_empty else figure.in_words)
        if self.closer is not None and self.closer.isVisible():
            self.look_closer()
        self.update()

    @property
    def has_closer_look(self) -> bool:
        return isinstance(self.figure, LineFigure) and not self.figure.is_empty

    def look_closer(self) -> None:
        """Show these lines in a window of their own, where a part can be enlarged; it goes on following them."""
        from app.window.parts.closer_look import CloserLook  # pyqtgraph takes 0.2 s, which the first window must not

        if not isinstance(self.figure, LineFigure) or self.figure.is_empty:
            return
        self.closer = self.closer or CloserLook(self)
        self.closer.show_figure(self.figure)
        self.closer.show()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.has_closer_look:
            menu = QMenu(self)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.addAction(LOOK_CLOSER, self.look_closer)
            menu.popup(event.globalPos())

    def values_at(self, point: QPointF) -> str:
        """Return the exact values below the mouse."""
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
        font, palette, legend = self.figure_font(), self.palette(), self._has_legend
        paper = paper_on_screen(self.width(), self.height(), font, palette, has_legend=legend, scale=self.scale)
        return ScreenSheet(paper, font, palette)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            layout = self.layout_now()
            if layout is None:
                painter.fillRect(self.rect(), self.palette().base())
                return
            scale = painter.deviceTransform().m11()
            # A saved picture has its own resolution, or no pixels at all.
            if painter.paintEngine().type() == QPaintEngine.Type.Raster and scale == self.devicePixelRatioF():
                painter.drawPixmap(0, 0, self._picture_of(layout))
            else:
                painter.fillRect(self.rect(), self.palette().base())
                draw_layout(layout, painter, marks=False)
            draw_layout(layout, painter, still=False)

    def _picture_of(self, layout: Layout) -> QPixmap:
        if self._still is not None and _serves(self._still[0], layout):
            return self._still[1]
        scale = self.devicePixelRatioF()
        picture = QPixmap(self.size() * scale)
        picture.setDevicePixelRatio(scale)
        picture.fill(self.palette().base().color())
        with QPainter(picture) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            draw_layout(layout, painter, marks=False)
        self._still = layout, picture
        return picture

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._layout = self._still = None

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._layout = self._still = None

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            told = self.values_at(QPointF(event.pos()))
            if told:
                QToolTip.showText(event.globalPos(), tip(told), self)
                return True
        return super().event(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        layout, x, y = self.layout_now(), event.position().x(), event.position().y()
        if event.button() != Qt.MouseButton.LeftButton or layout is None:
            return
        if (item := layout.item_at(x, y)) >= 0:
            self.item_chosen.emit(item)
        elif (place := layout.place_at(x, y)) is not None:
            self.place_chosen.emit(place)


def draw_layout(layout: Layout, painter: QPainter, *, still: bool = True, marks: bool = True) -> None:
    """Draw a layout that was made for the screen, or a part of it."""
    sheet = layout.sheet
    assert isinstance(sheet, ScreenSheet)
    sheet.painter = painter
    if still:
        layout.draw_still()
    if marks:
        layout.draw_marks()
    sheet.painter = None


def _serves(one: Layout, other: Layout) -> bool:
    return one is other or (isinstance(one, Lines) and isinstance(other, Lines) and one.differs_in_marks_only(other))
