"""The runs of the session: look at one, learn again with another rule, compare."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QListView, QMenu, QPushButton, QVBoxLayout, QWidget

from app.window.parts.widgets import muted
from app.window.runs.model import RunListModel

HINT = "Each training is kept here as a run. A new one never overwrites an older one."


class RunsPanel(QWidget):
    """A list, and below it what can be done with the chosen run."""

    compare_wanted = Signal(int)  # the number of the run to put beside the one shown

    def __init__(self, model: RunListModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.list = QListView()
        self.list.setModel(model)
        self.list.setAccessibleName("Runs")
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setSpacing(2)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.hint = muted(HINT)
        self.again = QPushButton("Train Again")
        self.again.setToolTip("Learn from the same texts with another tie rule, as a new run")
        self.again_menu = QMenu(self.again)
        self.again.setMenu(self.again_menu)
        self.recipe = QPushButton("Use Recipe")
        self.recipe.setToolTip("Let the recipe be the one of the chosen run")
        self.compare = QPushButton("Compare")
        self.compare.setToolTip("Put the chosen run beside the one shown")
        self._lay_out()
        self._connect()
        self._show()

    @property
    def chosen(self) -> int:
        """The row of the chosen run; -1 if there is none."""
        return self.list.currentIndex().row()

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(4)
        for button in (self.again, self.recipe, self.compare):
            button.setMinimumWidth(0)
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(4, 4, 8, 4)
        column.addWidget(self.hint)
        column.addWidget(self.list, 1)
        column.addLayout(buttons)

    def _connect(self) -> None:
        self.list.clicked.connect(self._look_at)
        self.list.activated.connect(self._look_at)
        self.list.selectionModel().currentChanged.connect(lambda *_: self._show())
        self._model.modelReset.connect(self._choose_shown)
        self._model.dataChanged.connect(lambda *_: self._show())
        self.again_menu.aboutToShow.connect(self._fill_again)
        self.recipe.clicked.connect(lambda: self._model.take_recipe(self.chosen))
        self.compare.clicked.connect(lambda: self.compare_wanted.emit(self._model.number(self.chosen)))

    def _look_at(self, index: QModelIndex) -> None:
        self._model.show(index.row())

    def _choose_shown(self) -> None:
        row = self._model.shown_row
        self.list.setCurrentIndex(self._model.index(row) if row >= 0 else QModelIndex())
        self._show()

    def _fill_again(self) -> None:
        self.again_menu.clear()
        for rule in self._model.rules(self.chosen):
            action = self.again_menu.addAction(f"With ties by {rule}")
            action.triggered.connect(lambda _, row=self.chosen, rule=rule: self._model.train_again(row, rule))

    def _show(self) -> None:
        row = self.chosen
        is_chosen = 0 <= row < self._model.rowCount()
        self.hint.setVisible(self._model.rowCount() == 0)
        self.again.setEnabled(is_chosen and bool(self._model.rules(row)))
        self.recipe.setEnabled(is_chosen)
        self.compare.setEnabled(is_chosen and row != self._model.shown_row)
