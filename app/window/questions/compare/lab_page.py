"""Two to four tokenizers side by side: their totals, one slider, the text in parallel rows, and what is measured."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QMenu,
    QPushButton,
    QSlider,
    QSplitter,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.window.parts.page import Page
from app.window.parts.typed import NumberBox
from app.window.parts.widgets import IconButton, label, muted, paragraph
from app.window.parts.wording import tip
from app.window.questions.compare.cards import LaneCards
from app.window.questions.compare.lab_model import MEANINGS, LabModel, LabQuestion
from app.window.questions.compare.rows import LaneRows
from app.window.questions.question_page import QuestionPage
from app.window.text.text_model import TokenTextModel
from app.window.text.view.editor import TokenTextEdit

ALONE = (
    "The lab puts two to four tokenizers side by side, at any size of their vocabularies: how each cuts your text, "
    "how well it compresses, and in which words they differ."
)
EDITOR_HEIGHT = 80  # two rows and their title
HOW_TO_GET_ONE = "Train another recipe, or import a tokenizer."


class LabPage(Page):
    """Escape goes back: from a word to the text, from the text to the window as it was."""

    close_wanted = Signal()
    import_wanted = Signal()
    why_wanted = Signal(int, int)  # of a lane, before which byte of the text of the rows

    def __init__(self, model: LabModel, question: LabQuestion, text: TokenTextModel) -> None:
        super().__init__(model)
        self.model = model
        self.editor = TokenTextEdit(text)
        self.cards = LaneCards(model)
        self.sizes = SizeBar(model)
        self.rows = LaneRows(model, "The text, row by row as each tokenizer cuts it")
        self.rows.viewport().setCursor(Qt.CursorShape.PointingHandCursor)
        self.below = LabAnswer(question)
        self.summary = muted()
        self.add = QToolButton()
        self.back = QPushButton("Back to Your Text")
        self.measured = QToolButton()
        self.close_button = IconButton("close", "Close the lab (Esc)")
        self.recipes = QMenu("&Train Another Recipe", self)
        self.stack = QStackedWidget()
        self._lay_out()
        self._connect()
        self._show()

    def recolor(self) -> None:
        self.rows.viewport().update()
        self.below.recolor()

    # -- its parts -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.add.setText("Add")
        self.add.setToolTip("Put one more tokenizer beside these")
        self.add.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.add.setMenu(QMenu(self))
        self.measured.setText("Figures")
        self.measured.setToolTip("Curves, vocabularies and words below the rows; without them the rows have all room")
        self.measured.setCheckable(True)
        self.measured.setChecked(True)
        self.halves = QSplitter(Qt.Orientation.Vertical)
        self.editor.setAccessibleName("Your text")
        self.editor.setAccessibleDescription("Type here: all rows follow. Shift+Tab leaves the text.")
        self.own = QWidget()
        own = QVBoxLayout(self.own)
        own.setContentsMargins(0, 0, 0, 0)
        own.setSpacing(2)
        own.addWidget(muted("Your text: type here, and all rows follow"))
        own.addWidget(self.editor, 1)
        self.own.setMinimumHeight(EDITOR_HEIGHT)
        self.halves.addWidget(self.own)
        self.halves.addWidget(self.rows)
        self.halves.addWidget(self.below)
        self.halves.setSizes([EDITOR_HEIGHT, 300, 220])
        for index, share in enumerate((0, 3, 2)):
            self.halves.setStretchFactor(index, share)
        self.halves.setChildrenCollapsible(False)
        full = QWidget()
        column = QVBoxLayout(full)
        column.setContentsMargins(0, 0, 0, 0)
        for widget in (self.cards, self.sizes):
            column.addWidget(widget)
        column.addWidget(self.halves, 1)
        self.stack.addWidget(full)
        self.stack.addWidget(self._empty())
        whole = QVBoxLayout(self)
        whole.setContentsMargins(8, 6, 8, 4)
        whole.addLayout(self._head())
        whole.addWidget(self.stack, 1)

    def _head(self) -> QHBoxLayout:
        head = QHBoxLayout()
        title = label("Lab")
        title.setStyleSheet("font-weight: 600;")
        head.addWidget(title)
        head.addWidget(self.summary, 1)
        for button in (self.back, self.add, self.measured, self.close_button):
            head.addWidget(button)
        return head

    def _empty(self) -> QWidget:
        empty = QWidget()
        inside = QWidget()
        inside.setFixedWidth(460)
        train, get = QPushButton("Train Another Recipe"), QPushButton("Import Tokenizer …")
        train.setMenu(self.recipes)
        get.clicked.connect(self.import_wanted)
        self.how = paragraph(HOW_TO_GET_ONE)
        self.how.setStyleSheet("font-weight: 600;")
        buttons = QHBoxLayout()
        buttons.addWidget(train)
        buttons.addWidget(get)
        buttons.addStretch()
        column = QVBoxLayout(inside)
        column.setSpacing(12)
        column.addWidget(paragraph(ALONE))
        column.addWidget(self.how)
        column.addLayout(buttons)
        middle = QHBoxLayout()
        middle.addStretch()
        middle.addWidget(inside)
        middle.addStretch()
        outer = QVBoxLayout(empty)
        outer.addStretch(2)
        outer.addLayout(middle)
        outer.addStretch(3)
        return empty

    def _connect(self) -> None:
        self.model.changed.connect(self._show)
        self.rows.place_clicked.connect(self.why_wanted)
        self.below.word_chosen.connect(self._look_at_word)
        self.back.clicked.connect(lambda: self.model.look_at_word(None))
        self.close_button.clicked.connect(self.close_wanted)
        self.measured.toggled.connect(self.below.setVisible)
        self.add.menu().aboutToShow.connect(self._fill_add)
        self.recipes.aboutToShow.connect(self._fill_recipes)

    # -- what is shown ---------------------------------------------------------------------

    def _show(self) -> None:
        is_ready = self.model.is_ready
        self.stack.setCurrentIndex(0 if is_ready else 1)
        self.back.setVisible(self.model.specimen is not None)
        self.own.setVisible(self.model.specimen is None)
        self.measured.setVisible(is_ready)
        self.add.setVisible(is_ready)
        self.add.setEnabled(self.model.can_add)
        only = f"{self.model.choices[0][1]} is the only one yet. " if len(self.model.choices) == 1 else ""
        self.how.setText(only + HOW_TO_GET_ONE)
        self.summary.setText(self.model.summary if self.model.is_ready else "")

    def _look_at_word(self, word: str, lane: int) -> None:
        self.model.look_at_word(word)
        self.why_wanted.emit(lane, self.model.first_difference(word))

    def _fill_add(self) -> None:
        menu = self.add.menu()
        menu.clear()
        numbers = self.model.numbers
        for number, title in self.model.choices:
            if number not in numbers:
                action = menu.addAction(title.replace("&", "&&"))
                action.triggered.connect(lambda _, number=number: self.model.choose([*numbers, number]))
        menu.addSeparator()
        menu.addMenu(self.recipes)
        menu.addAction("&Import Tokenizer …").triggered.connect(self.import_wanted)

    def _fill_recipes(self) -> None:
        self.recipes.clear()
        self.recipes.setToolTipsVisible(True)
        for name, explanation in self.model.recipes.items():
            action = self.recipes.addAction(name)
            action.setToolTip(tip(explanation))
            action.triggered.connect(lambda _, name=name: self.model.train(name))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self.model.specimen is not None:
            self.model.look_at_word(None)
        else:
            self.close_wanted.emit()


class LabAnswer(QuestionPage):
    """The curves of all lanes, what their vocabularies have in common, the words that differ most."""

    word_chosen = Signal(str, int)  # and the lane

    def __init__(self, model: LabQuestion) -> None:
        super().__init__(model)
        self.lab = model
        self.figure.setToolTip(tip(MEANINGS))
        self.rows.hint = "Click to see it in the rows, and why it is cut so"
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.save.setText("Save List …")
        self.save.setToolTip("Write all words that are cut differently to a CSV, TSV, JSON or Parquet file")
        self.save.show()
        self.above.insertStretch(0, 1)

    def choose_row(self, row: int) -> None:
        self.word_chosen.emit(self.lab.word(row), self.lab.lane_of(self.table.currentIndex().column()))


PLACES = 1_000


class SizeBar(QWidget):
    """A slider for a glance, a box for a number."""

    def __init__(self, lab: LabModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lab = lab
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, PLACES)
        self.slider.setPageStep(PLACES // 20)
        self.slider.setAccessibleName("Size of the vocabulary that all are shown at")
        self.slider.setToolTip("What is joined grows towards this size, what is dropped shrinks towards it")
        self.box = NumberBox(0, 0)
        self.box.setKeyboardTracking(False)
        self.box.setAccelerated(True)
        self.box.setAccessibleName("Size of the vocabulary")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(label("Vocabulary"))
        row.addWidget(self.slider, 1)
        row.addWidget(self.box)
        self.slider.valueChanged.connect(lambda place: lab.set_size(size_at(place, *lab.sizes)))
        self.box.valueChanged.connect(lab.set_size)
        lab.changed.connect(self._show)

    def _show(self) -> None:
        low, high = self._lab.sizes
        for control in (self.slider, self.box):
            control.blockSignals(True)
        self.box.setRange(low, high)
        self.box.setValue(self._lab.size)
        if size_at(self.slider.value(), low, high) != self._lab.size:
            self.slider.setValue(place_of(self._lab.size, low, high))
        for control in (self.slider, self.box):
            control.blockSignals(False)


def size_at(place: int, low: int, high: int) -> int:
    """The size at a place of the slider.

    >>> size_at(0, 256, 1256), size_at(500, 256, 1256), size_at(PLACES, 256, 1256)
    (256, 287, 1256)
    """
    return low + round(math.expm1(place / PLACES * math.log1p(high - low)))


def place_of(size: int, low: int, high: int) -> int:
    """The nearest place of the slider.

    >>> [place_of(size, 256, 1256) for size in (256, 287, 1256)]
    [0, 502, 1000]
    """
    return round(PLACES * math.log1p(size - low) / math.log1p(high - low)) if high > low else 0
