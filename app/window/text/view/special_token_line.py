"""The line below the text that says how a special token in the text was read."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.window.parts.layouts import in_row
from app.window.parts.widgets import flat_button, paragraph
from app.window.text.specials import SpecialTokenNotice


class SpecialTokenLine(QWidget):
    """A line that is visible only while the text contains the text of a special token."""

    def __init__(self, model: SpecialTokenNotice, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.sentence = paragraph()
        self.switch = flat_button("", model.switch_reading)
        in_row((self.sentence, 1), self.switch, on=self, margins=(4, 0, 4, 0))
        model.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        self.setVisible(bool(self._model.sentence))
        self.sentence.setText(self._model.sentence)
        self.switch.setText(self._model.offer)
