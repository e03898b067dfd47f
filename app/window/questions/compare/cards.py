"""The column of each lane: a card with the run and its number of tokens in the text, and the text itself below."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QComboBox, QFrame, QSizePolicy, QSlider, QWidget

from app.window.parts.figure_sheet import line_colour
from app.window.parts.layouts import in_column, in_row
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import IconButton, OneLine, label, name_widget, scale_font
from app.window.parts.wording import tip
from app.window.parts.zoom import set_zoomed
from app.window.questions.compare.lanes import Lane
from app.window.questions.compare.lanes_model import LETTERS, MOST_LANES, LanesModel
from app.window.questions.compare.rows import LaneRows

NO_MARGINS = (0, 0, 0, 0)
LARGE = 2.2  # size relative to the usual letters
CARD = "#lane { border: 1px solid palette(mid); border-radius: 6px; background: palette(%s); }"
CHIP = 22


class LaneLetter(QWidget):
    """A small label with the letter of a lane, in the colour of the lane."""

    def __init__(self, index: int, letter: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._index = index
        self._letter = letter
        set_zoomed(self, QWidget.setFixedWidth, CHIP)
        set_zoomed(self, QWidget.setFixedHeight, CHIP)

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(line_colour(self.palette(), self._index))
            painter.drawRoundedRect(self.rect(), 4, 4)
            font = QFont(self.font())
            font.setBold(True)
            painter.setFont(font)
            painter.setPen(self.palette().base().color())
            painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self._letter)


class RunChoice(QComboBox):
    """A box to choose a run.

    Its list is rebuilt only if the runs have changed, because a user may have the list open.
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_runs(self, choices: Sequence[tuple[int, str]], number: int) -> None:
        if [(self.itemData(i), self.itemText(i)) for i in range(self.count())] != list(choices):
            self.clear()
            for choice, title in choices:
                self.addItem(title, choice)
        self.setCurrentIndex(self.findData(number))
        self.setToolTip(tip(self.currentText()))


class LaneCard(QFrame):
    chosen = Signal(int)  # the number of another run
    closed = Signal()

    def __init__(self, index: int, letter: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.letter = letter
        self.run = RunChoice(f"{letter}: the run")
        self.close_button = IconButton("close", f"Take {letter} out")
        self.total = scale_font(label(), LARGE, bold=True)
        self.unit = OneLine()
        self.more = OneLine()
        self.vocabulary, self.of_size = scale_font(label(), LARGE, bold=True), OneLine()  # as large as the count
        self.of_size.setText("vocabulary")
        for beside in (self.unit, self.of_size):
            beside.setAlignment(Qt.AlignmentFlag.AlignBottom)
        self.more.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        head = in_row(LaneLetter(index, letter), (self.run, 1), self.close_button)
        figures = in_row(self.total, (self.unit, 1), self.vocabulary, self.of_size)
        in_column(head, figures, self.more, on=self, margins=(8, 6, 8, 6), spacing=2)
        self.setObjectName("lane")
        self.setStyleSheet(CARD % "base")
        self.run.activated.connect(lambda: self.chosen.emit(self.run.currentData()))
        self.close_button.clicked.connect(self.closed)

    def show_totals(self, lane: Lane, part: str = "") -> None:
        """Show the counts of a lane for the text, or for a `part` of it.

        A lane that is not compared is grey, and its card says why.
        """
        cut = lane.cut
        total = "…" if cut is None else f"{cut.count:,}"
        unit = lane.unit + (" …" if lane.is_behind else "")
        size = f"{lane.size:,}"
        more = lane.unknown_text, lane.ratio, part, lane.explanation
        if lane.why_not:
            more = f"{total} {lane.unit} at {size}", lane.unknown_text, part, lane.explanation
            unit = lane.why_not
            total = "–"
        self.total.setText(total)
        self.unit.setText(unit)
        self.more.setText(" · ".join(filter(None, more)))
        self.vocabulary.setText(size)
        for beside in (self.vocabulary, self.of_size):
            beside.setHidden(bool(lane.why_not))
        self.setStyleSheet(CARD % ("window" if lane.why_not else "base"))
        said = unit if lane.why_not else f"{total} {unit}, vocabulary {size}"
        self.setAccessibleName(f"{self.letter}: {said}, {self.more.text()}")


class LaneColumn(QWidget):
    """A column with the card of a lane and, below it, the text as this lane splits it."""

    def __init__(self, lanes: LanesModel, place: int) -> None:
        super().__init__()
        self._lanes = lanes
        self._place = place
        letter = LETTERS[place]
        self.card = LaneCard(place, letter)
        self.text = name_widget(LaneRows(lanes, place), f"Your text, as {letter} splits it")
        in_column(self.card, (self.text, 1), on=self, margins=NO_MARGINS, spacing=4)
        self.card.chosen.connect(lambda number: lanes.replace(place, number))
        self.card.closed.connect(lambda: lanes.remove(place))

    def show_now(self) -> None:
        is_there = self._place < len(self._lanes.lanes)
        self.setVisible(is_there)
        if is_there:
            lane = self._lanes.lanes[self._place]
            self.card.run.show_runs(self._lanes.choices, lane.run.number)
            self.card.close_button.setVisible(len(self._lanes.lanes) > 1)
            self.card.show_totals(lane, self._lanes.part)


class LaneColumns(QWidget):
    """A row of columns that scroll together, so that the same line of the text is at the same height in each column."""

    def __init__(self, lanes: LanesModel) -> None:
        super().__init__()
        self.all = [LaneColumn(lanes, place) for place in range(MOST_LANES)]
        in_row(*((column, 1) for column in self.all), on=self, margins=NO_MARGINS, spacing=8)
        for column in self.all:
            column.text.verticalScrollBar().valueChanged.connect(self._scroll_to)
            lanes.changed.connect(column.show_now)
            column.show_now()

    def _scroll_to(self, place: int) -> None:
        for column in self.all:
            if not column.isHidden():
                column.text.verticalScrollBar().setValue(place)


PLACES = 1_000


class SizeBar(QWidget):
    """A slider and a number box for the vocabulary size."""

    def __init__(self, lanes: LanesModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lanes = lanes
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, PLACES)
        self.slider.setPageStep(PLACES // 20)
        self.slider.setAccessibleName("The vocabulary size at which all tokenizers are shown")
        self.slider.setToolTip(
            "A method that merges grows its vocabulary to this size. A method that drops tokens shrinks its vocabulary "
            "to this size"
        )
        self.box = NumberBox(0, 0)
        self.box.setKeyboardTracking(False)
        self.box.setAccelerated(True)
        self.box.setAccessibleName("Size of the vocabulary")
        self.row = in_row(label("Vocabulary"), (self.slider, 1), self.box, on=self, margins=NO_MARGINS)
        self.slider.valueChanged.connect(lambda place: lanes.set_size(size_at(place, *lanes.sizes)))
        self.box.valueChanged.connect(lanes.set_size)
        lanes.changed.connect(self._show)

    def _show(self) -> None:
        low, high = self._lanes.sizes
        with QSignalBlocker(self.slider), QSignalBlocker(self.box):
            self.box.setRange(low, high)
            self.box.setValue(self._lanes.size)
            if size_at(self.slider.value(), low, high) != self._lanes.size:
                self.slider.setValue(place_of(self._lanes.size, low, high))


def size_at(place: int, low: int, high: int) -> int:
    """Return the vocabulary size at a position of the slider. The positions are spaced logarithmically.

    >>> size_at(0, 256, 1256), size_at(500, 256, 1256), size_at(PLACES, 256, 1256)
    (256, 287, 1256)
    """
    return low + round(math.expm1(place / PLACES * math.log1p(high - low)))


def place_of(size: int, low: int, high: int) -> int:
    """Return the slider position that is nearest to a vocabulary size.

    >>> [place_of(size, 256, 1256) for size in (256, 287, 1256)]
    [0, 502, 1000]
    """
    return round(PLACES * math.log1p(size - low) / math.log1p(high - low)) if high > low else 0
