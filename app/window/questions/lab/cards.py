"""The heads of the lanes: which run each is, and large how many tokens it makes of the text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QComboBox, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from app.window.parts.figure_sheet import line_colour
from app.window.parts.widgets import IconButton, label, muted
from app.window.parts.wording import tip
from app.window.questions.lab.model import LabModel

TOTAL_POINTS = 22
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


class LaneCard(QFrame):
    """One lane."""

    chosen = Signal(int)  # the number of another run
    closed = Signal()

    def __init__(self, index: int, letter: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.letter = letter
        self.run = QComboBox()
        self.run.setAccessibleName(f"{letter}: the run")
        self.run.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.run.setMinimumContentsLength(4)
        self.run.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.close_button = IconButton("close", f"Take {letter} out of the lab")
        self.total = label()
        font = self.total.font()
        font.setPointSizeF(TOTAL_POINTS)
        font.setBold(True)
        self.total.setFont(font)
        self.unit = label()
        self.unit.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.more = muted()
        self.more.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        head = QHBoxLayout()
        head.addWidget(Chip(index, letter))
        head.addWidget(self.run, 1)
        head.addWidget(self.close_button)
        numbers = QHBoxLayout()
        numbers.addWidget(self.total)
        numbers.addWidget(self.unit, 1, Qt.AlignmentFlag.AlignBottom)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 6)
        column.setSpacing(2)
        column.addLayout(head)
        column.addLayout(numbers)
        column.addWidget(self.more)
        self.setObjectName("lane")
        self.setStyleSheet("#lane { border: 1px solid palette(mid); border-radius: 6px; background: palette(base); }")
        self.run.activated.connect(lambda: self.chosen.emit(self.run.currentData()))
        self.close_button.clicked.connect(self.closed)

    def show_runs(self, choices: Sequence[tuple[int, str]], number: int) -> None:
        known = [(self.run.itemData(i), self.run.itemText(i)) for i in range(self.run.count())]
        if known != list(choices):
            self.run.clear()
            for choice, title in choices:
                self.run.addItem(title, choice)
        self.run.setCurrentIndex(self.run.findData(number))
        self.run.setToolTip(tip(self.run.currentText()))


class LaneCards(QWidget):
    """All heads side by side, and a place to add one more."""

    def __init__(self, lab: LabModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lab = lab
        self.cards: list[LaneCard] = []
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(8)
        lab.changed.connect(self.refresh)
        lab.cut.connect(self._show_totals)

    def refresh(self) -> None:
        lanes = self._lab.lanes
        while len(self.cards) > len(lanes):
            self.cards.pop().deleteLater()
        while len(self.cards) < len(lanes):
            self._add(len(self.cards), lanes[len(self.cards)].letter)
        choices = self._lab.choices
        for card, lane in zip(self.cards, lanes, strict=True):
            card.show_runs(choices, lane.run.number)
        self._show_totals()

    def _add(self, index: int, letter: str) -> None:
        card = LaneCard(index, letter)
        card.chosen.connect(lambda number: self._lab.replace(index, number))
        card.closed.connect(lambda: self._lab.remove(index))
        self.cards.append(card)
        self._row.addWidget(card, 1)

    def _show_totals(self) -> None:
        for card, lane in zip(self.cards, self._lab.lanes, strict=False):
            cut = lane.cut
            card.total.setText("…" if cut is None else f"{cut.count:,}")
            is_one = cut is not None and cut.count == 1
            ratio = "" if cut is None or not cut.count else f"{len(cut.data) / cut.count:.2f} bytes each · "
            card.unit.setText(("token" if is_one else "tokens") + (" …" if lane.is_behind else ""))
            ratio += f"{lane.unknown:,} unknown · " if lane.unknown else ""
            card.more.setText(ratio + lane.explanation)
            card.more.setToolTip(tip(lane.explanation))
            card.setAccessibleName(f"{letter_of(card)} {card.total.text()} {card.unit.text()}, {card.more.text()}")


def letter_of(card: LaneCard) -> str:
    return f"{card.letter}:"
