"""What is said of a folder for transformers: which token does what, and a template for chats."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QGridLayout, QHBoxLayout, QPushButton, QWidget

from app.window.exchange.export_model import FolderWish, RoleChoice
from app.window.parts.widgets import entry, label
from app.window.parts.wording import tip

NONE = ""


class FolderFields(QWidget):
    """The roles as they are guessed; another token can be chosen or typed, and is added where there is none."""

    changed = Signal()

    def __init__(self, roles: Sequence[RoleChoice], specials: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        self.roles: dict[str, QComboBox] = {}
        for place, role in enumerate(roles):
            box = self.roles[role.name] = QComboBox()
            box.setEditable(True)
            box.addItems([NONE, *dict.fromkeys([role.token, *specials] if role.token else specials)])
            box.setCurrentText(role.token)
            box.setAccessibleName(f"Token that {role.meaning}")
            box.setToolTip(tip(f"The token that {role.meaning}; empty: none. What is not there yet is added."))
            box.currentTextChanged.connect(self.changed)
            grid.addWidget(label(role.title), place // 2, place % 2 * 2)
            grid.addWidget(box, place // 2, place % 2 * 2 + 1)
        self.template = entry("none", can_be_cleared=True)
        self.template.setAccessibleName("File with a chat template")
        self.template.textChanged.connect(self.changed)
        self.choose = QPushButton("Choose …")
        self.choose.setAccessibleName("Choose a chat template")
        self.choose.clicked.connect(self._choose)
        row = QHBoxLayout()
        row.addWidget(self.template, 1)
        row.addWidget(self.choose)
        last = (len(roles) + 1) // 2
        grid.addWidget(label("Chat template"), last, 0)
        grid.addLayout(row, last, 1, 1, 3)
        for column in (1, 3):
            grid.setColumnStretch(column, 1)

    @property
    def wish(self) -> FolderWish:
        """What a person has said."""
        said = tuple((role, box.currentText()) for role, box in self.roles.items())
        return FolderWish(said, self.template.text().strip())

    def _choose(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "A chat template", "", "Templates (*.jinja *.txt);;All files (*)")
        if name:
            self.template.setText(name)
