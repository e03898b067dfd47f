"""The page of any question: its parameters above, what the answer says, its figure and its rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from app.window.parts.figure_view import FigureView
from app.window.parts.page import Page
from app.window.parts.tables import table_of_rows
from app.window.parts.widgets import label, paragraph, scrolling
from app.window.parts.wording import tip
from app.window.questions.question_model import QuestionModel

Index = QModelIndex | QPersistentModelIndex
NO_INDEX = QModelIndex()
MOST_ROWS = 100_000  # that are listed; a file has all
LEAST_BESIDE = 200  # points of width for sentences and rows
SCROLL_BAR = 14


class AnswerRows(QAbstractTableModel):
    """The rows of an answer, in the columns that people are shown."""

    def __init__(self, model: QuestionModel) -> None:
        super().__init__(model)
        self._model = model

    def refresh(self) -> None:
        self.beginResetModel()
        self.endResetModel()

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() or self._model.answer is None else min(MOST_ROWS, len(self._model.answer.table))

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        return len(self._model.headings)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._model.headings[section]
        return tip(self._model.meaning(section)) if role == Qt.ItemDataRole.ToolTipRole else None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole:
            return self._model.cell(index.row(), index.column())
        if role == Qt.ItemDataRole.TextAlignmentRole and not self._model.is_text(index.column()):
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        return None


class QuestionPage(Page):
    """Made of the question alone; a click on a row or a place of the figure travels to its moment."""

    def __init__(self, model: QuestionModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.setAccessibleName(model.title)
        self.form, self.fields = QWidget(), dict[str, QWidget]()
        self.told = paragraph()
        self.told.setAccessibleName("What the answer says")
        self.told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.figure = FigureView(hint=model.trouble)
        self.rows = AnswerRows(model)
        self.table = table_of_rows(self.rows, f"{model.title}: the answer")
        self.above = QHBoxLayout()
        self._lay_out()
        self.table.clicked.connect(lambda index: model.travel_to_row(index.row()))
        self.table.activated.connect(lambda index: model.travel_to_row(index.row()))
        self.figure.place_chosen.connect(model.travel_to_place)
        model.changed.connect(self._show)
        self._show()

    def _lay_out(self) -> None:
        row = QHBoxLayout(self.form)
        row.setContentsMargins(0, 0, 0, 0)
        for one in self.model.parameters:
            form = QFormLayout()
            self.fields[one.name] = field = self._field(one)
            field.setAccessibleName(one.label)
            field.setToolTip(tip(one.help[:1].upper() + one.help[1:]))
            form.addRow(label("" if one.kind == "truth" else one.label), field)
            row.addLayout(form)
        row.addStretch()
        row.addLayout(self.above)
        self.form.setVisible(bool(self.fields) or self.above.count() > 0)
        self.parts = QSplitter(Qt.Orientation.Horizontal)
        self.parts.addWidget(self.figure)
        beside = QSplitter(Qt.Orientation.Vertical)
        beside.addWidget(scrolling(self.told, "What the answer says"))
        beside.addWidget(self.table)
        self.parts.addWidget(beside)
        beside.setMinimumWidth(LEAST_BESIDE)
        self.parts.setSizes([3 * LEAST_BESIDE, 2 * LEAST_BESIDE])
        above = scrolling(self.form, "What is asked")  # so that many parameters make no page wide
        above.setFixedHeight(self.form.sizeHint().height() + SCROLL_BAR)
        above.setVisible(not self.form.isHidden())
        whole = QVBoxLayout(self)
        whole.setContentsMargins(8, 6, 8, 4)
        whole.addWidget(above)
        whole.addWidget(self.parts, 1)

    def _field(self, one: Any) -> QWidget:
        """What a person chooses the parameter with."""
        value, choose = self.model.value(one), self.model.choose
        if one.kind == "truth":
            box = QCheckBox(one.label)
            box.setChecked(bool(value))
            box.toggled.connect(lambda on: choose(one.name, on))
            return box
        if one.choices:
            return _choice(one, value, lambda chosen: choose(one.name, chosen))
        if one.kind == "files":
            button = QPushButton("Choose …")
            button.clicked.connect(lambda: self._ask_for_file(one))
            return button
        line = QLineEdit(one.written(value))
        line.setPlaceholderText(one.metavar)
        line.setClearButtonEnabled(True)
        line.editingFinished.connect(lambda: self.model.read(one, line.text()))
        return line

    def _ask_for_file(self, one: Any) -> None:
        path, _ = QFileDialog.getOpenFileName(self, one.help)
        self.choose_files(one.name, path)

    def choose_files(self, name: str, path: str) -> None:
        """Choose a file for a parameter, as if it had been picked here."""
        one = next(one for one in self.model.parameters if one.name == name)
        self.model.read(one, path)
        button = self.fields[name]
        assert isinstance(button, QPushButton)
        button.setText(path.rpartition("/")[2] or "Choose …")

    def add_pair(self, name: str, pair: tuple[int, int]) -> None:
        """Add a pair of tokens to a parameter."""
        one = next(one for one in self.model.parameters if one.name == name)
        field = self.fields[name]
        assert isinstance(field, QLineEdit)
        field.setText("; ".join(filter(None, [one.written(self.model.value(one)), self.model.pair_text(pair)])))
        self.model.read(one, field.text())

    def _show(self) -> None:
        answer = self.model.answer
        self.figure.hint = self.model.trouble or self.model.no_figure
        self.figure.set_figure(self.model.figure)
        self.figure.setVisible(self.model.figure is not None or answer is None)
        self.told.setText(self.model.trouble if answer is None else "\n".join(self.model.sentences))
        self.rows.refresh()
        self.table.setVisible(self.rows.rowCount() > 0)


def _choice(one: Any, value: Any, choose: Callable[[Any], object]) -> QComboBox:
    box = QComboBox()
    if value is None:
        box.addItem("–", None)
    for choice in one.choices:
        box.addItem(choice.replace("_", " "), choice)
    box.setCurrentIndex(max(0, box.findData(value)))
    box.currentIndexChanged.connect(lambda place: choose(box.itemData(place)))
    return box
