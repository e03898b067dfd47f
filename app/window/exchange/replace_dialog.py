"""The dialog that replaces tokens with new tokens. The user chooses how many tokens are replaced."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QWidget

from app.window.parts.dialogs import dialog_buttons
from app.window.parts.layouts import form_of_fields, in_column
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import muted_label, name_widget

ABOUT_REPLACING = (
    "The best new tokens replace the tokens that your corpus needs least, and take over the ids of these tokens. The "
    "size and all other ids stay the same, so a model can keep its embeddings. The run shown does not change: the "
    "changed table is a new run. A message then says how many tokens the new table saves."
)
USUAL = 100  # tokens


class ReplaceDialog(QDialog):
    wished = Signal(int)  # the number of tokens

    def __init__(self, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Replace Tokens on My Corpus")
        self.swap = name_widget(NumberBox(1, most), "How many tokens to replace")
        self.swap.setValue(min(USUAL, most))
        self.note = muted_label(ABOUT_REPLACING)
        buttons, self.go = dialog_buttons(self, "Replace", self._request)
        in_column(form_of_fields(("Tokens to replace", self.swap)), self.note, buttons, on=self)

    def _request(self) -> None:
        self.accept()
        self.wished.emit(self.swap.value())
