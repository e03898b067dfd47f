"""How fast to learn and to play what was learned: from one merge a second, for teaching, to full speed."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QSlider, QWidget

from app.window.parts.widgets import label

FULL = 100
DECADES = 4  # from 1 to 10,000 merges a second before full speed


def merges_per_second(place: int) -> float | None:
    """What a place of the slider means; None is full speed.

    >>> merges_per_second(0), merges_per_second(100)
    (1.0, None)
    """
    return None if place >= FULL else float(10 ** (DECADES * place / (FULL - 1)))


class SpeedBox(QWidget):
    """A slider on a logarithmic scale, with its meaning beside it."""

    changed = Signal(object)  # merges a second, or None for full speed

    def __init__(self, place: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, FULL)
        self.slider.setValue(place)
        self.slider.setFixedWidth(96)
        self.slider.setAccessibleName("Speed of training and playing")
        self.slider.setToolTip(
            "How fast to learn and to play: from one merge a second to full speed, at which all is played in 20 seconds"
        )
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)  # its title stays beside it
        self._meaning = label()
        self._meaning.setMinimumWidth(self._meaning.fontMetrics().horizontalAdvance("10,000 a second "))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(label("Speed"))
        row.addWidget(self.slider)
        row.addWidget(self._meaning)
        self.slider.valueChanged.connect(self._tell)
        self._show(place)

    def _tell(self, place: int) -> None:
        self._show(place)
        self.changed.emit(merges_per_second(place))

    def _show(self, place: int) -> None:
        speed = merges_per_second(place)
        self._meaning.setText("full" if speed is None else f"{speed:,.0f} a second")
        self.slider.setAccessibleDescription(self._meaning.text())
