"""With which one the run shown is compared."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QPushButton, QWidget

from app.window.parts.widgets import label
from app.window.questions.compare.model import CompareModel


class OtherChoice(QWidget):
    """The other runs and tables of the session, and a way to open one more."""

    import_wanted = Signal()

    def __init__(self, model: CompareModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.box = QComboBox()
        self.box.setAccessibleName("Compare with")
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.box.setMinimumContentsLength(12)
        self.open = QPushButton("Open …")
        self.open.setToolTip("Open a tokenizer made elsewhere and compare with it")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(label("Compare with"))
        row.addWidget(self.box, 1)
        row.addWidget(self.open)
        model.choices_changed.connect(self._fill)
        self.box.activated.connect(lambda: model.choose(self.box.currentData()))
        self.open.clicked.connect(self.import_wanted)
        self._fill()

    def _fill(self) -> None:
        chosen = self._model.other
        self.box.clear()
        self.box.addItem("nothing", None)
        for number, title in self._model.choices():
            self.box.addItem(title, number)
            if chosen is not None and chosen.number == number:
                self.box.setCurrentIndex(self.box.count() - 1)
