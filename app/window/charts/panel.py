"""The charts, side by side as tabs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTabWidget, QWidget

from app.session.notices import Notice
from app.window.charts.curve_chart import CurveChart
from app.window.charts.curves import CurvesModel
from app.window.charts.pairs_chart import PairChart
from app.window.charts.pairs_model import PairChartModel
from app.window.parts.pictures import picture_of, save_csv, save_png, save_svg


class ChartsPanel(QTabWidget):
    """Pairs now, rank against frequency, compression, token lengths."""

    def __init__(self, pairs: PairChartModel, curves: CurvesModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: list[QWidget] = []
        self.setDocumentMode(True)
        self.setAccessibleName("Charts")
        self.pairs = PairChart(pairs)
        self.rank_frequency = CurveChart("Rank and frequency", curves, curves.rank_frequency)
        self.compression = CurveChart("Compression", curves, curves.compression)
        self.token_lengths = CurveChart("Token lengths", curves, curves.token_lengths)
        self.addTab(self.pairs, "Pairs")
        self.addTab(self.rank_frequency, "Ranks")
        self.addTab(self.compression, "Compression")
        self.addTab(self.token_lengths, "Lengths")

    def add_page(self, page: QWidget, title: str) -> None:
        """Another chart, with a table of its own (`as_table`) as all have."""
        self._pages.append(page)
        self.addTab(page, title)

    @property
    def shown(self) -> QWidget:
        return self.currentWidget()

    def save(self, path: Path) -> Notice:
        """Save the chart shown as what the name ends in, and say how that went."""
        kind = path.suffix.lower()
        if kind == ".csv":
            is_saved = save_csv(self._table(), path)
        else:
            is_saved = save_svg(self.shown, path) if kind == ".svg" else save_png(self.shown, path)
        if is_saved:
            return Notice(f"Saved the chart as {path}.", is_error=False)
        return Notice(f"The chart could not be saved as {path}: choose a folder that can be written to.")

    def _table(self) -> list[tuple[str, ...]]:
        shown: Any = self.shown  # each page is a chart, but Qt only knows that it is a widget
        return cast(list[tuple[str, ...]], shown.as_table())

    def copy(self) -> None:
        QGuiApplication.clipboard().setImage(picture_of(self.shown))

    def recolor(self) -> None:
        for chart in (self.rank_frequency, self.compression, self.token_lengths):
            chart.recolor()
