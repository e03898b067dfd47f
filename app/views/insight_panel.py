"""The inspector's pages: the token that is looked at, and the place in the text that was clicked."""

from __future__ import annotations

from PySide6.QtWidgets import QTabWidget, QWidget


class InsightPanel(QTabWidget):
    """Each page asks the engine only while it is the one on top."""

    def __init__(self, token: QWidget, why: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self.setAccessibleName("Inspector")
        self.addTab(token, "Token")
        self.addTab(why, "Why here?")
