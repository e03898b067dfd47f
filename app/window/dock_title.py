"""The title above a panel, with a button that closes the panel."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget, QWidget

from app.window.dock_tabs import PROBE
from app.window.parts.layouts import in_row
from app.window.parts.widgets import IconButton, label, scale_font


class DockTitle(QWidget):
    """The title of a dock, which can be dragged.

    Qt's own title has icons that do not follow the colours of the window.
    """

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self.title = scale_font(label(dock.windowTitle()), 1, bold=True)
        self.close_button = IconButton("close", "Close this panel", dock.close)
        self.close_button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves the focus where it is
        in_row((self.title, 1), self.close_button, on=self, margins=(10, 3, 4, 1))
        dock.windowTitleChanged.connect(self._show)

    def _show(self, title: str) -> None:
        self.title.setText(title.replace(PROBE, ""))
