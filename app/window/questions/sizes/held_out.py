"""The button that names a text which is not learned from, and lets go of it again."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app.window.parts.wording import tip

MOST_NAME = 18  # characters of a file's name on a button
NONE = "Held-out text …"


class HeldOutButton(QPushButton):
    """Asks for a file while there is none; else whether it is to be another one, or none."""

    wanted = Signal()  # a file
    forgotten = Signal()

    def __init__(self, meaning: str, parent: QWidget | None = None) -> None:
        super().__init__(NONE, parent)
        self.setToolTip(tip(meaning))
        self._is_named = False
        self.menu_of_named: QMenu | None = None
        self.clicked.connect(self._ask)

    def tell(self, path: Path | None) -> None:
        """Whose name stands on it."""
        self._is_named = path is not None
        name = "" if path is None else path.name
        name = name if len(name) <= MOST_NAME else f"{name[: MOST_NAME - 1]}…"
        self.setText(f"Held out: {name}".replace("&", "&&") if name else NONE)

    def _ask(self) -> None:
        if not self._is_named:
            self.wanted.emit()
            return
        self.menu_of_named = menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("&Another Text …").triggered.connect(self.wanted)
        menu.addAction("&None").triggered.connect(self.forgotten)
        menu.popup(self.mapToGlobal(self.rect().bottomLeft()))
