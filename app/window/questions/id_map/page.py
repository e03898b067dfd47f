"""The page of the question *idmap*. A box at the top chooses the run with the old ids."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QWidget

from app.window.parts.layouts import in_column
from app.window.parts.widgets import name_widget, scale_font
from app.window.questions.id_map.model import IdMapModel
from app.window.questions.question_form import SMALLER
from app.window.questions.question_page import QuestionPage

LEAST_SHOWN = 14  # characters of a run's name
BEGINS_WITH = "The run with the old ids. The map leads from this run to the run shown"


class IdMapPage(QuestionPage):
    def __init__(self, model: IdMapModel) -> None:
        super().__init__(model)
        self._map = model
        self.label = QLabel("Old ids of")
        self.old = name_widget(QComboBox(), "Old ids of", BEGINS_WITH)
        self.old.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.old.setMinimumContentsLength(LEAST_SHOWN)
        chosen = QWidget()
        in_column(scale_font(self.label, SMALLER), self.old, on=chosen, margins=(0, 0, 0, 0), spacing=1)
        self.above.insertWidget(0, chosen, 0, Qt.AlignmentFlag.AlignBottom)
        self.label.setBuddy(self.old)
        self.old.activated.connect(lambda: model.choose_old(self.old.currentData()))
        model.changed.connect(self._show_runs)
        self._show_runs()

    def _show_runs(self) -> None:
        offered = self._map.other_runs
        listed = {self.old.itemData(place): self.old.itemText(place) for place in range(self.old.count())}
        if listed != offered:
            self.old.clear()
            for number, name in offered.items():
                self.old.addItem(name, number)
        self.old.setCurrentIndex(max(0, self.old.findData(self._map.old)))
        self.old.setEnabled(bool(offered))
