"""The page of any question. Its fields are at the top, and below are the sentences, figure and rows of the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QSplitter,
    QWidget,
)

from app.session.selection import ShownHighlight
from app.window.charts.figure_view import FigureView
from app.window.parts.figure_sheet import line_colour
from app.window.parts.layouts import STRETCH, in_column, in_row
from app.window.parts.page import Page
from app.window.parts.tables import sort_by_headings, table_of_rows
from app.window.parts.widgets import flat_button, keep_lines, name_widget, paragraph, scrolling, selectable
from app.window.parts.wording import sorted_heading, tip
from app.window.parts.zoom import set_zoomed, zoomed
from app.window.questions.question_form import QuestionForm
from app.window.questions.question_model import QuestionModel
from app.window.questions.words.model import WordsModel
from bpe_core.figures.figure import DotFigure

Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole
NO_INDEX = QModelIndex()
LEAST_BESIDE = 200  # points of width for sentences and rows
LEAST_FOR_BOTH = 600  # points of width for a figure whose names are whole with rows beside it, and for a row of buttons
NARROW_ROWS = 4  # of buttons: more fields, save, stop while the answer is computed, and one of the page
LARGEST_SHARE = 3  # sentences take a third of the page at most
LEAST_WIDTH, MOST_HEIGHT = 900, 280  # pixels of a page with its sentences beside the figure
BESIDE = 4  # there they take a quarter


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
            return sorted_heading(heading, from_end=from_end) if section == column else heading
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
        """Return the right alignment for a column of numbers.

        Return None for a column of text, so that the table chooses the alignment.
        """
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


class SentencesAboveFigure(QSplitter):
    """A splitter with the sentences of an answer above its figure and rows.

    On a page that is wide and low, the sentences are on the left.

    The sentences get as much height as they need, up to a third of the page, until a user moves the handle.
    """

    def __init__(self, sentences: QLabel, figure_and_rows: QWidget) -> None:
        super().__init__(Qt.Orientation.Vertical)
        self._sentences = sentences
        self._fits = True
        self._has_more = True  # whether there is anything besides the sentences
        self._area = scrolling(sentences, "What the answer says")
        keep_lines(self._area, 1)
        self.addWidget(self._area)
        self.addWidget(figure_and_rows)
        self.setChildrenCollapsible(False)
        self.splitterMoved.connect(self._leave)

    def _leave(self) -> None:
        self._fits = False

    def share_height(self, *, has_more: bool) -> None:
        """Divide the height between the sentences and the figure again.

        If `has_more` is false, the page shows nothing except the sentences, and they can take the whole height.
        """
        self._has_more = has_more
        self.fit()

    def fit(self) -> None:
        if not self._fits:
            return
        is_flat = self.width() > LEAST_WIDTH and self.height() < MOST_HEIGHT
        self.setOrientation(Qt.Orientation.Horizontal if is_flat else Qt.Orientation.Vertical)
        if is_flat:
            self.setSizes([self.width() // BESIDE, self.width() - self.width() // BESIDE])
            return
        line = self._sentences.fontMetrics().lineSpacing()
        text = self._sentences
        share = LARGEST_SHARE if self._has_more else 1
        most = max(1, self.height() // share // line) * line
        height = min(text.heightForWidth(self._area.viewport().width()), most)
        self.setSizes([height, self.height() - self.handleWidth() - height])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()


class QuestionPage(Page):
    """A page that is built from the declaration of a question.

    A click on a row or on the figure moves the time slider to the step that was clicked.
    """

    def __init__(self, model: QuestionModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.setAccessibleName(model.question.title())
        self.form = QuestionForm(model)
        self.fields = self.form.fields
        self.sentence = selectable(name_widget(paragraph(), "What the answer says"))
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self.stop = name_widget(flat_button("Stop", model.stop), "Stop asking")
        saved = "Save all rows as a table, or the figure as a picture"
        self.save = name_widget(flat_button("Save …", self.save_wanted.emit, saved), "Save the answer")
        self.figure = FigureView()
        self.rows = Rows(model)
        self.table = table_of_rows(self.rows, f"{model.question.title()}: the answer")
        sort_by_headings(self.table, -1, Qt.SortOrder.AscendingOrder)
        self.sentence.setToolTip(tip(model.question.explanation()))
        self._shown: object = self  # the answer whose rows are shown
        self._was_narrow = False
        self._hidden = (True, True)  # whether the figure and the rows are hidden
        self._lay_out()
        self.table.clicked.connect(lambda index: self.choose_row(self.rows.place(index.row())))
        self.table.activated.connect(lambda index: self.open_row(self.rows.place(index.row())))
        self.figure.place_chosen.connect(model.travel_to_place)
        self.figure.print_wanted.connect(self.print_wanted)
        self.figure.place_pointed.connect(lambda x: self.step_pointed.emit(model.step_at(x)))
        model.changed.connect(self._show)
        self._show()

    def show_highlight(self, shown: ShownHighlight) -> None:
        self.figure.highlight_at(self.model.place_of_step(shown.step))

    def show_steps(self, first: int, last: int) -> None:
        left = self.model.place_of_step(first)
        right = self.model.place_of_step(last)
        if left is not None and right is not None:
            self.figure.show_part(left, right)

    def hide_field(self, name: str, on: bool) -> None:
        """Hide the field of a parameter if `on` is true, because a user chooses the value elsewhere.

        Otherwise show the field. A form without visible fields is hidden.
        """
        self.form.hide_field(name, on)
        self.form.setVisible(not self.form.is_empty)

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
        self._parts = parts = QSplitter(Qt.Orientation.Horizontal)
        parts.setChildrenCollapsible(False)
        parts.addWidget(self.figure)
        parts.addWidget(self.table)
        set_zoomed(self.table, QWidget.setMinimumWidth, LEAST_BESIDE)
        below = QWidget()  # a splitter whose parts are hidden has no room at all, and would keep none
        in_column((parts, 1), on=below, margins=(0, 0, 0, 0))
        self.said = SentencesAboveFigure(self.sentence, below)
        self._actions: list[QWidget] = []
        self._places_of_actions = QGridLayout()
        at_bottom = in_column(1, self._places_of_actions)
        self.above = in_row((in_column(1, self.form), 1), STRETCH, at_bottom, spacing=4)
        for button in (self.form.more_button, self.save, self.stop):
            self.add_action(button)
        self.form.setVisible(not self.form.is_empty)
        self.save.setVisible(bool(self.form.fields))  # the File menu saves, too
        self.column = in_column(self.above, (self.said, 1), on=self, margins=(8, 2, 8, 4), spacing=4)

    def add_action(self, button: QWidget) -> None:
        """Add a button after the fields."""
        self._actions.append(button)
        self._place_actions()

    def _place_actions(self) -> None:
        """Place the buttons after the fields in one row, or below each other on a narrow page."""
        rows = NARROW_ROWS if self._is_narrow else 1
        for button in self._actions:
            self._places_of_actions.removeWidget(button)
        for place, button in enumerate(self._actions):
            self._places_of_actions.addWidget(button, place % rows, place // rows)

    @property
    def _is_narrow(self) -> bool:
        return self.width() < zoomed(LEAST_FOR_BOTH)

    def _show(self) -> None:
        model = self.model
        answer = self.model.answer
        self.figure.set_figure(model.figure)
        self.figure.setVisible(model.figure is not None)  # without a figure, the sentence says why
        trouble = "" if model.progress else model.trouble
        self.sentence.setText("\n".join(filter(None, (model.progress, *model.sentences, trouble))))
        self.form.enable()
        self.stop.setVisible(bool(model.progress))
        self.save.setEnabled(answer is not None)
        if answer is not self._shown:
            self._shown = answer
            self.rows.refresh()
            self.form.offer_values()
        self._show_rows()
        self._share_width()
        self.said.share_height(has_more=not (self.figure.isHidden() and self.table.isHidden()))

    def _show_rows(self) -> None:
        """Show the rows, but hide them if the page is too narrow to show both the figure and the rows."""
        has_room = self.figure.isHidden() or not self._is_narrow
        self.table.setVisible(has_room and self.rows.rowCount() > 0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._is_narrow != self._was_narrow:
            self._was_narrow = self._is_narrow
            self._place_actions()
            self._show_rows()
            self._share_width()

    def _share_width(self) -> None:
        """Give the figure and the rows the same width when the figure or the rows appear or disappear.

        At other times, a user can move the handle between them.
        """
        hidden = (self.figure.isHidden(), self.table.isHidden())
        if hidden != self._hidden:
            self._hidden = hidden
            self._parts.setSizes([LEAST_WIDTH, LEAST_WIDTH])

    def recolor(self) -> None:
        self._show()
