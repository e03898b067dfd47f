"""Two to four tokenizers side by side: their totals, one slider, the text in parallel rows, and what is measured."""

from __future__ import annotations

import math
from functools import partial

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHeaderView, QMenu, QPushButton, QSlider, QSplitter, QStackedWidget, QToolButton, QWidget

from app.window.parts.layouts import in_column, in_row
from app.window.parts.page import Page
from app.window.parts.typed import NumberBox
from app.window.parts.widgets import add_entry, filled_menu, label, muted, paragraph, push_button, scaled
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
NO_MARGINS = (0, 0, 0, 0)
HOW_TO_GET_ONE = "Train another recipe, or import a tokenizer."


class LabPage(Page):
    """Escape goes back from a word to the text."""

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
        self.back = push_button("Back to Your Text", lambda: model.look_at_word(None))
        self.measured = QToolButton()
        self.recipes = filled_menu("&Train Another Recipe", self, self._fill_recipes)
        self.recipes.setToolTipsVisible(True)
        self.stack = QStackedWidget()
        self._lay_out()
        model.changed.connect(self._show)
        self.rows.place_clicked.connect(self.why_wanted)
        self.below.word_chosen.connect(self._look_at_word)
        self.measured.toggled.connect(self.below.setVisible)
        self._show()

    def recolor(self) -> None:
        self.rows.viewport().update()
        self.below.recolor()

    # -- its parts -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.add.setText("Add")
        self.add.setToolTip("Put one more tokenizer beside these")
        self.add.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.add.setMenu(filled_menu("Add", self, self._fill_add))
        self.measured.setText("Figures")
        self.measured.setToolTip("Curves, vocabularies and words below the rows; without them the rows have all room")
        self.measured.setCheckable(True)
        self.measured.setChecked(True)
        self.editor.setAccessibleName("Your text")
        self.editor.setAccessibleDescription("Type here: all rows follow. Shift+Tab leaves the text.")
        self.own = QWidget()
        hint = muted("Your text: type here, and all rows follow")
        in_column(hint, (self.editor, 1), on=self.own, margins=NO_MARGINS, spacing=2)
        self.own.setMinimumHeight(EDITOR_HEIGHT)
        halves = QSplitter(Qt.Orientation.Vertical)
        for place, (widget, share) in enumerate(((self.own, 0), (self.rows, 3), (self.below, 2))):
            halves.addWidget(widget)
            halves.setStretchFactor(place, share)
        halves.setSizes([EDITOR_HEIGHT, 300, 220])
        halves.setChildrenCollapsible(False)
        full = QWidget()
        in_column(self.cards, self.sizes, (halves, 1), on=full, margins=NO_MARGINS)
        self.stack.addWidget(full)
        self.stack.addWidget(self._empty())
        head = in_row((self.summary, 1), self.back, self.add, self.measured)
        in_column(head, (self.stack, 1), on=self, margins=(8, 6, 8, 4))

    def _empty(self) -> QWidget:
        empty, inside = QWidget(), QWidget()
        inside.setFixedWidth(460)
        train = QPushButton("Train Another Recipe")
        train.setMenu(self.recipes)
        buttons = in_row(train, push_button("Import Tokenizer …", self.import_wanted.emit), 1)
        self.how = scaled(paragraph(HOW_TO_GET_ONE), 1, bold=True)
        in_column(paragraph(ALONE), self.how, buttons, on=inside, spacing=12)
        in_column(2, in_row(1, inside, 1), 3, on=empty)
        return empty

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

    def _fill_add(self, menu: QMenu) -> None:
        numbers = self.model.numbers
        for number, title in self.model.choices:
            if number not in numbers:
                add_entry(menu, title, partial(self.model.choose, [*numbers, number]))
        menu.addSeparator()
        menu.addMenu(self.recipes)
        menu.addAction("&Import Tokenizer …").triggered.connect(self.import_wanted)

    def _fill_recipes(self, menu: QMenu) -> None:
        for name, explanation in self.model.recipes.items():
            add_entry(menu, name, partial(self.model.train, name))
            menu.actions()[-1].setToolTip(tip(explanation))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.model.specimen is not None:
            self.model.look_at_word(None)
        else:
            super().keyPressEvent(event)


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
        in_row(label("Vocabulary"), (self.slider, 1), self.box, on=self, margins=NO_MARGINS)
        self.slider.valueChanged.connect(lambda place: lab.set_size(size_at(place, *lab.sizes)))
        self.box.valueChanged.connect(lab.set_size)
        lab.changed.connect(self._show)

    def _show(self) -> None:
        low, high = self._lab.sizes
        with QSignalBlocker(self.slider), QSignalBlocker(self.box):
            self.box.setRange(low, high)
            self.box.setValue(self._lab.size)
            if size_at(self.slider.value(), low, high) != self._lab.size:
                self.slider.setValue(place_of(self._lab.size, low, high))


def size_at(place: int, low: int, high: int) -> int:
    """Find the size at a place of the slider.

    >>> size_at(0, 256, 1256), size_at(500, 256, 1256), size_at(PLACES, 256, 1256)
    (256, 287, 1256)
    """
    return low + round(math.expm1(place / PLACES * math.log1p(high - low)))


def place_of(size: int, low: int, high: int) -> int:
    """Find the nearest place of the slider.

    >>> [place_of(size, 256, 1256) for size in (256, 287, 1256)]
    [0, 502, 1000]
    """
    return round(PLACES * math.log1p(size - low) / math.log1p(high - low)) if high > low else 0
