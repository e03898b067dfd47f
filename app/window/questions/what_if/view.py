"""What if: each line of the text as a branch and the run it leaves cut it, one below the other."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.window.parts.layouts import AtTop, in_column, in_row
from app.window.parts.widgets import named, paragraph, push_button
from app.window.questions.compare.rows import LaneRows
from app.window.questions.what_if.model import WhatIfModel

TEXT_LINES = 3  # of the sentences, so that nothing below them jumps
BOTH = "Show Both Texts"
ONE = "Back to One Text"


class BothTexts(QWidget):
    """Says how a branch differs; opened, it shows both texts instead of the one."""

    opened = Signal(bool)
    place_clicked = Signal(int, int)  # the lane, and the byte before which it cuts, or could

    def __init__(self, model: WhatIfModel) -> None:
        super().__init__()
        self.model, self._looks = model, False
        self.told = named(paragraph(), "What the branch changes")
        self.told.setMinimumHeight(TEXT_LINES * self.fontMetrics().lineSpacing())
        self.told.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.button = push_button(BOTH, lambda: self.open(self.rows.isHidden()))
        self.rows = QWidget()
        self.texts = LaneRows(model, 0), LaneRows(model, 1)
        for place, (view, name) in enumerate(zip(self.texts, ("as it was", "as a branch"), strict=True)):
            view.setAccessibleName(f"Your text, {name}")
            view.place_clicked.connect(partial(self.place_clicked.emit, place))
            other = self.texts[1 - place].verticalScrollBar()
            view.verticalScrollBar().valueChanged.connect(other.setValue)
        in_column(*((view, 1) for view in self.texts), on=self.rows, margins=(0, 0, 0, 0), spacing=4)
        self.rows.hide()
        in_column(in_row((self.told, 1), AtTop(self.button)), (self.rows, 1), on=self, margins=(4, 2, 0, 0))
        self.model.changed.connect(self._show)

    def open(self, on: bool) -> None:
        if on != self.rows.isHidden():
            return
        self.rows.setVisible(on)
        self.button.setText(ONE if on else BOTH)
        self.opened.emit(on)

    def follow(self) -> None:
        """Be there while a branch is shown, or the run that it leaves."""
        self.model.follow()
        if self.model.branch is None:
            self.open(False)
        self.setVisible(self.model.branch is not None)

    def _show(self) -> None:
        self.told.setText("\n".join(filter(None, (self.model.titles, self.model.told, self.model.summary))))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._look(False)

    def _look(self, on: bool) -> None:
        if on != self._looks:
            self._looks = on
            self.model.watch(on)
