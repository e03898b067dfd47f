"""The one slider that moves all: the size of the vocabulary, small sizes far apart and large ones close together."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSlider, QWidget

from app.window.parts.typed import NumberBox
from app.window.parts.widgets import label
from app.window.questions.lab.model import LabModel

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
