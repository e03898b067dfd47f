"""The heads of the lanes: the run of each, and in large letters its number of tokens in the text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QFrame, QSizePolicy, QWidget

from app.window.parts.figure_sheet import line_colour
from app.window.parts.layouts import in_column, in_row
from app.window.parts.widgets import IconButton, label, muted, scaled
from app.window.parts.wording import tip
from app.window.questions.compare.lab_model import LabModel
from app.window.questions.compare.lanes import Lane

LARGE = 2.4  # times the usual letters
CHIP = 22


class Chip(QWidget):
    """The letter of a lane in its colour."""

    def __init__(self, index: int, letter: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._index, self._letter = index, letter
        self.setFixedSize(CHIP, CHIP)

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
    """A choice among runs, filled anew only if they have changed: a person may have it open."""

    def __init__(self, name: str, least: int) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(least)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_runs(self, choices: Sequence[tuple[int | None, str]], number: int | None) -> None:
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
        self.run = RunChoice(f"{letter}: the run", 4)
        self.close_button = IconButton("close", f"Take {letter} out of the lab")
        self.total, self.unit, self.more = scaled(label(), LARGE, bold=True), label(), muted()
        for text in (self.unit, self.more):
            text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.unit.setAlignment(Qt.AlignmentFlag.AlignBottom)
        head = in_row(Chip(index, letter), (self.run, 1), self.close_button)
        in_column(head, in_row(self.total, (self.unit, 1)), self.more, on=self, margins=(8, 6, 8, 6), spacing=2)
        self.setObjectName("lane")
        self.setStyleSheet("#lane { border: 1px solid palette(mid); border-radius: 6px; background: palette(base); }")
        self.run.activated.connect(lambda: self.chosen.emit(self.run.currentData()))
        self.close_button.clicked.connect(self.closed)

    def show_totals(self, lane: Lane) -> None:
        cut = lane.cut
        self.total.setText("…" if cut is None else f"{cut.count:,}")
        self.unit.setText(lane.unit + (" …" if lane.is_behind else ""))
        ratio = f"{len(cut.data) / cut.count:.2f} bytes each" if cut and cut.count else ""
        self.more.setText(" · ".join(filter(None, (ratio, lane.explanation))))
        self.more.setToolTip(tip(lane.explanation))
        self.setAccessibleName(f"{self.letter}: {self.total.text()} {self.unit.text()}, {self.more.text()}")


class LaneCards(QWidget):
    def __init__(self, lab: LabModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lab = lab
        self.cards: list[LaneCard] = []
        self._row = in_row(on=self, margins=(0, 0, 0, 0), spacing=8)
        lab.changed.connect(self._show)

    def _show(self) -> None:
        lanes, choices = self._lab.lanes, self._lab.choices
        while len(self.cards) > len(lanes):
            self.cards.pop().deleteLater()
        while len(self.cards) < len(lanes):
            self._add(len(self.cards), lanes[len(self.cards)].letter)
        for card, lane in zip(self.cards, lanes, strict=True):
            card.run.show_runs(choices, lane.run.number)
            card.show_totals(lane)

    def _add(self, index: int, letter: str) -> None:
        card = LaneCard(index, letter)
        card.chosen.connect(lambda number: self._lab.replace(index, number))
        card.closed.connect(lambda: self._lab.remove(index))
        self.cards.append(card)
        self._row.addWidget(card, 1)
