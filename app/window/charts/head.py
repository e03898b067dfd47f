"""The head above a chart: its legend, and the title of its vertical axis."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.window.parts.figure_sheet import ScreenSheet, paper_on_screen
from bpe_core.figures.axes import Legend
from bpe_core.figures.figure import LOGARITHMIC, DotFigure, Figure, LineFigure

LINE, DOT = 2.0, 0.35  # the length of a sample, and its radius, in sizes of the text
ROW = 1.5


class ChartHead(QWidget):
    """A widget with the legend and the title. It is just high enough for its texts, and hidden if it has no text."""

    def __init__(self, parent: QWidget | None = None, *, has_legend: bool = True) -> None:
        super().__init__(parent)
        self._has_legend = has_legend
        self._figure: Figure | None = None
        self._names: Sequence[str] = ()
        self._title = ""

    def show_figure(self, figure: Figure) -> None:
        self._figure = figure
        self._names = names_in(figure) if self._has_legend else ()
        self._title = title_above(figure)
        self.fit()
        self.update()

    def fit(self) -> None:
        """Set the height that the texts need at the current width."""
        sheet = self._sheet()
        rows = Legend(self._names, sheet).rows + bool(self._title)
        self.setVisible(rows > 0)
        self.setFixedHeight(round(ROW * rows * sheet.paper.text + 4) if rows else 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        sheet = self._sheet()
        with QPainter(self) as painter:
            painter.fillRect(self.rect(), self.palette().base())
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            sheet.painter = painter
            unit = sheet.paper.text
            legend = Legend(self._names, sheet)
            figure = self._figure

            def sample(x: float, row: int, number: int) -> None:
                middle = (1.3 + ROW * row) * unit - unit / 3
                if isinstance(figure, LineFigure):
                    line = figure.lines[number]
                    if not line.is_hollow:
                        sheet.curve([(x, middle), (x + LINE * unit, middle)], number, is_faint=line.is_faint)
                        return
                    sheet.dot(x + LINE * unit / 2, middle, number, DOT * unit, is_hollow=True)
                else:
                    sheet.dot(x + unit / 2, middle, number, DOT * unit)

            legend.draw(sample, 1.0, 2.4 if isinstance(figure, LineFigure) else 1.2)
            sheet.text(unit / 2, (1.2 + ROW * legend.rows) * unit, self._title, "legend")
            sheet.painter = None

    def _sheet(self) -> ScreenSheet:
        whole = self.parentWidget() or self  # the widget of which the legend may take a share
        paper = paper_on_screen(self.width(), whole.height(), self.font(), self.palette())
        return ScreenSheet(paper, self.font(), self.palette())


def names_in(figure: Figure) -> Sequence[str]:
    """Return the names of the legend. A figure with a single line has no legend."""
    if isinstance(figure, LineFigure):
        return [line.name for line in figure.lines] if len(figure.lines) > 1 else ()
    return figure.tokenizers if isinstance(figure, DotFigure) else ()


def title_above(figure: Figure) -> str:
    """Return the text above a chart: the title of the vertical axis, or the title of a figure with dots.

    The title of the axis is above the chart, because a rotated title would need too much height.
    """
    if isinstance(figure, LineFigure):
        return figure.y_title + LOGARITHMIC * figure.is_log_y
    return figure.title if isinstance(figure, DotFigure) else ""
