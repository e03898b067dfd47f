"""The inspector's pages: the token that is looked at, and the place in the text that was clicked."""

from __future__ import annotations

from PySide6.QtWidgets import QTabWidget, QWidget


class InsightPanel(QTabWidget):
    """Each page asks the engine only while it is the one on top."""

    def __init__(self, token: QWidget, why: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setDocumentMode(True)
        self.setAccessibleName("Inspector")
        self.token, self.why = token, why
        self.addTab(token, "Token")
        self.addTab(why, "Why here?")

    def show_token(self) -> None:
        self.setCurrentWidget(self.token)

    def show_why(self) -> None:
        self.setCurrentWidget(self.why)
