"""The list of all questions at the left side of the window, and the heading above an answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSignalBlocker, QSize, Qt, Signal, SignalInstance
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication, QMouseEvent
from PySide6.QtWidgets import QListView, QSizePolicy, QWidget

from app.window.parts.layouts import in_row
from app.window.parts.row_list import RowListModel
from app.window.parts.widgets import OneLine, name_widget, scale_font, small_button
from app.window.parts.wording import tip
from app.window.parts.zoom import adapt_to_zoom, set_zoomed, zoomed

Role = Qt.ItemDataRole
NARROWEST = 130  # pixels
MOST_OF_WINDOW = 0.22  # the largest share of its width
ABOVE_QUESTION, ABOVE_SUBJECT = 3, 7  # pixels between the lines
ROOM_AROUND = 30  # pixels beside the longest question: the margins and a scroll bar
SMALLER = 0.95  # the size of the letters, so that nearly all questions are in sight


@dataclass(frozen=True)
class QuestionListRow:
    """A row of the list: a question with its page, or a subject, which has no page."""

    text: str
    page: str = ""
    explanation: str = ""


class QuestionListModel(RowListModel[QuestionListRow]):
    """The model of the list of questions. A row without a page is a heading, which a user cannot choose."""

    font = QFont()

    def value_in_role(self, row: int, role: int) -> object:
        entry = self.rows[row]
        if role in (Role.DisplayRole, Role.AccessibleTextRole):
            return entry.text
        if role == Role.SizeHintRole:
            return QSize(0, QFontMetrics(self.font).height() + (ABOVE_QUESTION if entry.page else ABOVE_SUBJECT))
        if role == Role.FontRole and not entry.page:
            font = QFont(self.font)
            font.setBold(True)
            return font
        if role == Role.ForegroundRole and not entry.page:
            return QGuiApplication.palette().text()
        if role == Role.TextAlignmentRole and not entry.page:
            return int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
        return None

    def description(self, row: int) -> str:
        return self.rows[row].explanation

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        is_question = index.isValid() and self.rows[index.row()].page
        return super().flags(index) if is_question else Qt.ItemFlag.NoItemFlags

    def row_of(self, page: str) -> int:
        """Return the row of the question that a page answers, or -1 if the list does not have the question."""
        return next((row for row, entry in enumerate(self.rows) if entry.page == page), -1)


class QuestionList(QListView):
    """A list of questions that are grouped by subject.

    The arrow keys move from question to question, and the window shows each answer.
    """

    chosen = Signal(str)  # the page of a question
    opened = Signal(str)  # the page of a question that was clicked, or on which Enter was pressed
    enlarged = Signal(str)  # the page of a question that was clicked twice

    def __init__(self, rows: Sequence[QuestionListRow]) -> None:
        super().__init__()
        self.questions = QuestionListModel(rows)
        self.setModel(self.questions)
        name_widget(self, "Questions")
        scale_font(self, SMALLER)
        adapt_to_zoom(self, QuestionList._follow_zoom)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        set_zoomed(self, QWidget.setMinimumWidth, NARROWEST)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Expanding)
        self.selectionModel().currentChanged.connect(lambda index, _: self._choose(index))
        self.clicked.connect(lambda index: self._emit_page(index, self.opened))
        self.activated.connect(lambda index: self._emit_page(index, self.opened))
        self.doubleClicked.connect(lambda index: self._emit_page(index, self.enlarged))

    def _follow_zoom(self) -> None:
        self.questions.font = self.font()
        self.questions.layoutChanged.emit()
        self.updateGeometry()

    def mark(self, page: str) -> None:
        """Mark the question of a page, without the effects of a click on the question."""
        row = self.questions.row_of(page)
        with QSignalBlocker(self.selectionModel()):
            self.setCurrentIndex(self.questions.index(row) if row >= 0 else QModelIndex())
        self.scrollTo(self.currentIndex())
        self.viewport().update()

    @property
    def marked(self) -> str:
        """Return the page of the marked question, or an empty string if no question is marked."""
        index = self.currentIndex()
        return self.questions.rows[index.row()].page if index.isValid() else ""

    def sizeHint(self) -> QSize:
        widths = [self.fontMetrics().horizontalAdvance(row.text) for row in self.questions.rows]
        widest = min(max(widths, default=0) + ROOM_AROUND, round(MOST_OF_WINDOW * self.window().width()))
        return QSize(max(zoomed(NARROWEST), widest), super().sizeHint().height())

    def _choose(self, index: QModelIndex) -> None:
        self._emit_page(index, self.chosen)

    def _emit_page(self, index: QModelIndex, signal: SignalInstance) -> None:
        if index.isValid() and (page := self.questions.rows[index.row()].page):
            signal.emit(page)


class QuestionHead(QWidget):
    """A heading with the question, above its answer.

    A double click hides the other parts of the room, so that the answer has more space. Another double click shows them
    again.
    """

    whole_wanted = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self.question = name_widget(scale_font(OneLine(), 1.15, bold=True), "The question asked")
        self.whole = small_button("⤢", "Full space: hide text and panels, or show them again (Esc)")
        self.whole.setCheckable(True)
        self.whole.toggled.connect(self.whole_wanted)
        in_row((self.question, 1), self.whole, on=self, margins=(10, 2, 8, 0))

    def show_question(self, question: str, explanation: str) -> None:
        self.question.setText(question)
        self.question.setToolTip(tip(explanation))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.whole.toggle()
