"""The view of "What if": one text, split into tokens by a branch and by its original run."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from app.session.time import timer
from app.window.parts.layouts import AtTop, in_column, in_row
from app.window.parts.page import LazyView
from app.window.parts.widgets import OneLine, keep_lines, label, name_widget, paragraph, push_button
from app.window.questions.compare.cards import LaneLetter
from app.window.questions.compare.lanes import Lane
from app.window.questions.compare.lanes_model import LETTERS
from app.window.questions.compare.rows import LaneRows
from app.window.questions.what_if.model import WhatIfModel

TEXT_LINES = 2  # lines for the sentences, so that nothing below them jumps
BOTH = "Show Both Texts"
ONE = "Back to One Text"


class LaneHead(QWidget):
    """A heading with the letter, the colour and the name of a run, and with its number of tokens in the text."""

    def __init__(self, place: int, letter: str) -> None:
        super().__init__()
        self._letter = letter
        self.name = OneLine()
        self.count = label()
        in_row(LaneLetter(place, letter), (self.name, 1), self.count, on=self, margins=(0, 0, 4, 0), spacing=6)

    def show_lane(self, lane: Lane, name: str) -> None:
        self.name.setText(name)
        self.count.setText("" if lane.cut is None else f"{lane.cut.count:,} {lane.unit}")
        self.setAccessibleName(f"{self._letter}, {name}: {self.count.text()}")


class BothTexts(LazyView):
    """A view that says how a branch differs from its original run.

    A button shows the text twice, once as each run splits it.
    """

    opened = Signal(bool)
    place_clicked = Signal(int, int)  # the lane, and the byte before which it cuts, or could

    def __init__(self, model: WhatIfModel) -> None:
        super().__init__(model)
        self.model = model
        self.differences = name_widget(paragraph(), "What the branch changes")
        keep_lines(self.differences, TEXT_LINES)
        self.differences.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.button = push_button(BOTH, lambda: self.open(self.rows.isHidden()))
        self.rows = QWidget()
        self.texts = LaneRows(model, 0), LaneRows(model, 1)
        self.heads = tuple(LaneHead(place, LETTERS[place]) for place in range(len(self.texts)))
        for place, view in enumerate(self.texts):
            view.place_clicked.connect(partial(self.place_clicked.emit, place))
            other = self.texts[1 - place].verticalScrollBar()
            view.verticalScrollBar().valueChanged.connect(other.setValue)
        shares = [part for head, view in zip(self.heads, self.texts, strict=True) for part in (head, (view, 1))]
        in_column(*shares, on=self.rows, margins=(0, 0, 0, 0), spacing=4)
        self.rows.hide()
        self._is_found = False  # the first difference was shown since the texts were opened
        self._find = timer(self, 0, self._show_first_difference)  # started when the texts have their sizes
        in_column(in_row((self.differences, 1), AtTop(self.button)), (self.rows, 1), on=self, margins=(4, 2, 0, 0))
        self.model.changed.connect(self._show)

    def open(self, on: bool) -> None:
        if on != self.rows.isHidden():
            return
        self.rows.setVisible(on)
        self.button.setText(ONE if on else BOTH)
        self._is_found = not on
        self._show()
        self.opened.emit(on)

    def follow(self) -> None:
        """Show the view only while a branch or its original run is shown."""
        self.model.follow()
        if self.model.branch is None:
            self.open(False)
        self.setVisible(self.model.branch is not None)

    def _show(self) -> None:
        self.differences.setText("\n".join(filter(None, (self.model.differences, self.model.summary))))
        for head, view, lane in zip(self.heads, self.texts, self.model.lanes, strict=False):
            head.show_lane(lane, self.model.name_of(lane))
            view.setAccessibleName(f"Your text as {head.accessibleName()}")
        if not self._is_found:
            self._find.start()

    def _show_first_difference(self) -> None:
        """Scroll to the first difference, but only once. After that, only a user scrolls."""
        parallel = self.model.parallel
        if parallel is not None and len(parallel.differing) and not self._is_found:
            self._is_found = True
            self.texts[0].reveal(int(parallel.differing[0]))
