"""A duel: the person's text as two tokenizers cut it, side by side in all the room there is, under one slider."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QGridLayout, QWidget

from app.window.parts.layouts import in_column, in_row
from app.window.parts.page import Page
from app.window.parts.widgets import label, muted, named, push_button, scaled
from app.window.questions.compare.cards import LARGE, RunChoice
from app.window.questions.compare.duel_model import DuelModel
from app.window.questions.compare.rows import LaneRows

NOTHING_CHOSEN = "Choose another run, or open a tokenizer: here your text is shown twice, as the two cut it."


class OtherChoice(QWidget):
    """The other runs and tables of the session, and a way to open one more."""

    import_wanted = Signal()

    def __init__(self, model: DuelModel) -> None:
        super().__init__()
        self._model = model
        self.box = RunChoice("Compare with", 12)
        meaning = "Open a tokenizer made elsewhere and compare with it"
        self.open = push_button("Open …", self.import_wanted.emit, meaning)
        in_row(label("Compare with"), (self.box, 1), self.open, on=self, margins=(0, 0, 0, 0))
        model.changed.connect(self._fill)
        self.box.activated.connect(lambda: model.choose(self.box.currentData()))
        self._fill()

    def _fill(self) -> None:
        other = self._model.other
        self.box.show_runs([(None, "nothing"), *self._model.choices], None if other is None else other.number)


class DuelPage(Page):
    def __init__(self, model: DuelModel) -> None:
        super().__init__(model)
        self.setAccessibleName("Duel")
        self.model = model
        self.choice = OtherChoice(model)
        self.titles = (label(), label())
        self.counts = tuple(named(scaled(label(), LARGE), "Number of tokens") for _ in self.titles)
        names = ("Your text, as it is cut here", "Your text, as it is cut there")
        self.texts = tuple(LaneRows(model, name, range(place, place + 1)) for place, name in enumerate(names))
        self.sentence = muted()
        self._lay_out()
        model.changed.connect(self.show_now)
        one, other = (view.verticalScrollBar() for view in self.texts)
        one.valueChanged.connect(other.setValue)
        other.valueChanged.connect(one.setValue)

    def _lay_out(self) -> None:
        sides = QGridLayout()
        sides.setHorizontalSpacing(12)
        for column, (count, title, view) in enumerate(zip(self.counts, self.titles, self.texts, strict=True)):
            title.setWordWrap(True)
            sides.addWidget(count, 0, column)
            sides.addWidget(title, 1, column)
            sides.addWidget(view, 2, column)
            sides.setColumnStretch(column, 1)
        sides.setRowStretch(2, 1)
        in_column(self.choice, (sides, 1), self.sentence, on=self, margins=(8, 6, 8, 4))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_now()

    def show_now(self) -> None:
        lanes = self.model.lanes
        for place, (count, title) in enumerate(zip(self.counts, self.titles, strict=True)):
            cut = lanes[place].cut if lanes else None
            count.setText("" if cut is None else f"{cut.count:,}")
            title.setText("" if cut is None else self.model.title(place))
        self.sentence.setText(self.model.totals or NOTHING_CHOSEN)
