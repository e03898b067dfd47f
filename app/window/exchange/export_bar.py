"""How far an export is, with a way to stop it."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.window.exchange.export_model import TableExport
from app.window.parts.progress_bar import ProgressBar
from app.window.parts.widgets import flat_button, label


class ExportBar(QWidget):
    """Seen only while something is written."""

    def __init__(self, export: TableExport, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar = ProgressBar(1000, with_text=False)
        self._bar.setAccessibleName("Progress of the export")
        self._bar.setFixedSize(120, 8)
        self.cancel = flat_button("Cancel")
        self.cancel.setAccessibleName("Cancel the export")
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 0, 8, 0)
        row.addWidget(label("Exporting"))
        row.addWidget(self._bar)
        row.addWidget(self.cancel)
        self.cancel.clicked.connect(export.cancel)
        export.progressed.connect(self._show)
        export.ended.connect(self.hide)
        self.hide()

    def _show(self, fraction: float) -> None:
        self._bar.setValue(round(1000 * fraction))
        self.show()
