"""The page of any question. Its fields are at the top, and below are the sentences, figure and rows of the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSignalBlocker, Qt
from PySide6.QtGui import QColor, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSplitter,
    QTableView,
    QWidget,
)

from app.session.selection import Light
from app.window.charts.figure_view import FigureView
from app.window.parts.figure_sheet import line_colour
from app.window.parts.layouts import STRETCH, AtTop, in_column, in_form, in_row
from app.window.parts.page import Page
from app.window.parts.tables import let_headings_sort, table_of_rows
from app.window.parts.widgets import flat_button, named, paragraph, push_button, scrolling, selectable
from app.window.parts.wording import heading_sorted, tip
from app.window.questions.question_model import Parameter, QuestionModel
from app.window.questions.words.model import WordsModel
from bpe_core.figures.figure import DotFigure

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
NO_INDEX = QModelIndex()
LEAST_BESIDE = 200  # points of width for sentences and rows
LEAST_OF_SUBJECT = 140
SCROLL_BAR = 14
CHOOSE = "Choose …"


class Rows(QAbstractTableModel):
    """A table model of the rows of an answer, which can be sorted by any visible column."""

    def __init__(self, model: QuestionModel | WordsModel) -> None:
        super().__init__(model)
        self._model = model
        self._order: Sequence[int] | np.ndarray[Any, Any] = ()
        self._sorted = -1, False  # the column that sorts, and whether in descending order
        self.hint = ""  # added to the tip of a cell

    def refresh(self) -> None:
        self.beginResetModel()
        self._order = self._model.order
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self._sorted = column, order == Qt.SortOrder.DescendingOrder
        self._model.sort(column, from_end=self._sorted[1])
        self.refresh()

    def place(self, row: int) -> int:
        """Return the row number in the answer for a row on the screen."""
        return int(self._order[row])

    def rowCount(self, parent: Index = NO_INDEX) -> int:
        return 0 if parent.isValid() else len(self._order)

    def columnCount(self, parent: Index = NO_INDEX) -> int:
        return len(self._model.headings)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Role.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Role.DisplayRole:
            heading = self._model.headings[section]
            (column, from_end) = self._sorted
            return heading_sorted(heading, from_end=from_end) if section == column else heading
        if role == Role.TextAlignmentRole:
            return self._alignment(section)
        return tip(self._model.meaning(section)) if role == Role.ToolTipRole else None

    def data(self, index: Index, role: int = Role.DisplayRole) -> Any:
        if role in (Role.DisplayRole, Role.ToolTipRole):
            cell = self._model.cell(self.place(index.row()), index.column())
            return cell if role == Role.DisplayRole else tip("\n".join(filter(None, (cell, self.hint))))
        if role == Role.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Role.DecorationRole and index.column() == 0:
            return self._colour_of_kind(index.row()) or self._colour(self._model.cell(self.place(index.row()), 0))
        return None

    def _alignment(self, column: int) -> int | None:
        """Return the alignment of a column: right for numbers, and None for text, which leaves it to the table."""
        is_text = self._model.is_text(column)
        return None if is_text else int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)

    def _colour_of_kind(self, row: int) -> QColor | None:
        answer = self._model.answer if isinstance(self._model, QuestionModel) else None
        if answer is None or not answer.kinds:
            return None
        kinds = [*dict.fromkeys(answer.kinds)]
        return line_colour(QGuiApplication.palette(), kinds.index(answer.kinds[self.place(row)]))

    def _colour(self, name: str) -> QColor | None:
        figure = self._model.figure if isinstance(self._model, QuestionModel) else None
        if not isinstance(figure, DotFigure) or name not in figure.tokenizers:
            return None
        return line_colour(QGuiApplication.palette(), figure.tokenizers.index(name))


class SentencesAboveRows(QSplitter):
    """A splitter with sentences above rows.

    The sentences get as much height as they need, up to half of the page, until a person moves the handle.
    """

    def __init__(self, sentences: QLabel, rows: QTableView) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._sentences = sentences
        self._fits = True
        self._area = scrolling(sentences, "What the answer says")
        self._area.setMinimumHeight(sentences.fontMetrics().lineSpacing())
        self.addWidget(self._area)
        self.addWidget(rows)
        self.splitterMoved.connect(self._leave)

    def _leave(self) -> None:
        self._fits = False

    def fit(self) -> None:
        if not self._fits:
            return
        line = self._sentences.fontMetrics().lineSpacing()
        text = self._sentences
        most = max(1, self.height() // 2 // line) * line
        height = min(text.heightForWidth(self._area.viewport().width()), most)
        self.setSizes([height, self.height() - self.handleWidth() - height])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


class QuestionPage(Page):
    """A page that is built from the declaration of a question.

    A click on a row or on a place of the figure moves the time slider to its step.
    """

    def __init__(self, model: QuestionModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.setAccessibleName(model.question.title())
        self.form = QWidget()
        self.fields = dict[str, QWidget]()
        self._forms = dict[str, QFormLayout]()
        self.sentence = selectable(named(paragraph(), "What the answer says"))
        self.stop = named(flat_button("Stop", model.stop), "Stop asking")
        saved = "All rows as a table, or the figure as a picture"
        self.save = named(flat_button("Save …", self.save_wanted.emit, saved), "Save the answer")
        self.figure = FigureView()
        self.rows = Rows(model)
        self.table = table_of_rows(self.rows, f"{model.question.title()}: the answer")
        let_headings_sort(self.table, -1, Qt.SortOrder.AscendingOrder)
        self.sentence.setToolTip(tip(model.question.explanation()))
        self._shown: object = self  # the answer whose rows are shown
        self._lay_out()
        self.table.clicked.connect(lambda index: self.choose_row(self.rows.place(index.row())))
        self.table.activated.connect(lambda index: self.open_row(self.rows.place(index.row())))
        self.figure.place_chosen.connect(model.travel_to_place)
        self.figure.print_wanted.connect(self.print_wanted)
        self.figure.place_pointed.connect(lambda x: self.step_pointed.emit(model.step_at(x)))
        model.changed.connect(self._show)
        self._show()

    def light(self, light: Light) -> None:
        self.figure.light_at(self.model.place_of_step(light.step))

    def show_steps(self, first: int, last: int) -> None:
        left = self.model.place_of_step(first)
        right = self.model.place_of_step(last)
        if left is not None and right is not None:
            self.figure.show_part(left, right)

    def leave_out(self, name: str) -> None:
        """Hide the field of a parameter that a person chooses elsewhere."""
        self._forms[name].setRowVisible(0, False)
        self.asked.setVisible(len(self.fields) > 1)

    @property
    def is_table(self) -> bool:  # type: ignore[override]  # other pages know it beforehand
        return not self.model.has_figure

    def choose_row(self, row: int) -> None:
        """React to a click on a row of the answer."""
        self.model.travel_to_row(row)

    def open_row(self, row: int) -> None:
        """React to a double click on a row of the answer, or to the Enter key there."""
        self.choose_row(row)

    def _lay_out(self) -> None:
        for parameter in self.model.parameters:
            self.fields[parameter.name] = field = self._field(parameter)
            named(field, parameter.label, parameter.help[:1].upper() + parameter.help[1:])
            self._forms[parameter.name] = form = in_form(("" if parameter.kind == "truth" else parameter.label, field))
            form.setFormAlignment(Qt.AlignmentFlag.AlignVCenter)  # check boxes are lower than other fields
        in_column(in_row(*self._forms.values(), STRETCH), STRETCH, on=self.form, margins=(0, 0, 0, 0))
        self.beside = beside = SentencesAboveRows(self.sentence, self.table)
        beside.setMinimumWidth(LEAST_BESIDE)
        parts = QSplitter(Qt.Orientation.Horizontal)
        parts.addWidget(self.figure)
        parts.addWidget(beside)
        parts.setSizes([3 * LEAST_BESIDE, 2 * LEAST_BESIDE])
        self.asked = asked = scrolling(self.form, "What is asked")  # else many parameters would widen the page
        asked.setFixedHeight(self.form.sizeHint().height() + SCROLL_BAR)
        self.above = in_row((asked, 1), AtTop(self.stop), AtTop(self.save))  # actions on the answer
        for widget in (asked, self.save):
            widget.setVisible(bool(self.fields))  # the File menu saves, too
        self.column = in_column(self.above, (parts, 1), on=self, margins=(8, 6, 8, 4))

    def _field(self, parameter: Parameter) -> QWidget:
        value = self.model.value(parameter)
        choose = self.model.choose
        if parameter.kind == "truth":
            box = QCheckBox(parameter.label)
            box.setChecked(bool(value))
            box.toggled.connect(lambda on: choose(parameter.name, on))
            return box
        if parameter.kind == "files":
            return push_button(CHOOSE, lambda: self.choose_files(parameter.name, _asked_for_file(self, parameter.help)))
        if parameter.choices or parameter.path or parameter.of_column:
            return self._choice(parameter, value)
        line = QLineEdit(parameter.written(value))
        line.setCursorPosition(0)  # a long text shows its beginning
        line.setPlaceholderText(parameter.metavar)
        line.setClearButtonEnabled(True)
        if parameter.positional:  # what is asked about
            line.setMinimumWidth(LEAST_OF_SUBJECT)
        line.editingFinished.connect(lambda: self.model.read(parameter, line.text()))
        return line

    def _choice(self, parameter: Parameter, value: Any) -> QComboBox:
        box = QComboBox()
        choices = parameter.choices or parameter.offered
        if parameter.default not in choices:
            box.addItem("–", parameter.default)
        for choice in choices:
            box.addItem(choice.replace("_", " "), choice)
        if parameter.path:
            box.addItem(CHOOSE, CHOOSE)
        box.setCurrentIndex(max(0, box.findData(value)))
        box.currentIndexChanged.connect(lambda place: self._take_choice(parameter, box.itemData(place)))
        return box

    def _take_choice(self, parameter: Parameter, chosen: Any) -> None:
        if chosen != CHOOSE:
            self.model.choose(parameter.name, chosen)
            return
        ask: Callable[..., Any] = QFileDialog.getExistingDirectory if parameter.path == "folder" else _asked_for_file
        self.choose_path(parameter.name, ask(self, parameter.help))

    def choose_path(self, name: str, path: str) -> None:
        """Set a parameter to a file or folder, as if a person had picked it on this page.

        An empty path changes nothing.
        """
        parameter = self.model.parameter(name)
        box = self.fields[name]
        assert isinstance(box, QComboBox)
        with QSignalBlocker(box):
            if path:
                if box.findData(path) < 0:
                    box.insertItem(box.count() - 1, Path(path).name, path)
                self.model.choose(name, (path,) if parameter.kind == "texts" else path)
            value = self.model.value(parameter)
            box.setCurrentIndex(max(0, box.findData(value[0] if isinstance(value, tuple) and value else value)))

    def choose_files(self, name: str, path: str) -> None:
        """Set a parameter to a file, as if a person had picked it on this page."""
        self.model.read(self.model.parameter(name), path)
        button = self.fields[name]
        assert isinstance(button, QPushButton)
        button.setText(path.rpartition("/")[2] or CHOOSE)

    def add_pair(self, name: str, pair: tuple[int, int]) -> None:
        """Add a pair of tokens to the pairs in the field of a parameter."""
        parameter = self.model.parameter(name)
        field = self.fields[name]
        assert isinstance(field, QLineEdit)
        field.setText(
            "; ".join(filter(None, [parameter.written(self.model.value(parameter)), self.model.pair_text(pair)]))
        )
        self.model.read(parameter, field.text())

    def _show(self) -> None:
        model = self.model
        answer = self.model.answer
        self.figure.set_figure(model.figure)
        self.figure.setVisible(model.figure is not None)  # without a figure, the sentence says why
        trouble = "" if model.progress else model.trouble
        self.sentence.setText("\n".join(filter(None, (model.progress, *model.sentences, trouble))))
        for parameter in model.parameters:
            self.fields[parameter.name].setEnabled(model.is_meaningful(parameter))
        self.stop.setVisible(bool(model.progress))
        self.save.setEnabled(answer is not None)
        if answer is not self._shown:
            self._shown = answer
            self.rows.refresh()
            self._offer_values()
        self.table.setVisible(self.rows.rowCount() > 0)
        self.beside.fit()

    def _offer_values(self) -> None:
        columns = {} if self.model.answer is None else self.model.answer.columns
        for parameter in self.model.parameters:
            box = self.fields[parameter.name]
            values = list(dict.fromkeys(columns.get(parameter.of_column, ())))
            if isinstance(box, QComboBox) and values:
                with QSignalBlocker(box):
                    box.clear()
                    for value in (parameter.default, *values):
                        box.addItem(value or "–", value)
                    box.setCurrentIndex(max(0, box.findData(self.model.value(parameter))))

    def recolor(self) -> None:
        self._show()


def _asked_for_file(parent: QWidget, title: str) -> str:
    return QFileDialog.getOpenFileName(parent, title)[0]
