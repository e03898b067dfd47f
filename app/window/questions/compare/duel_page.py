"""A duel: the person's text as two tokenizers cut it, side by side in all the room there is, under one slider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.window.parts.page import StagePage
from app.window.parts.widgets import label, muted
from app.window.questions.compare.choice import OtherChoice
from app.window.questions.compare.model import CompareModel, CutText
from app.window.text.text_model import TokenTextModel
from app.window.text.view.canvas import TokenCanvas
from app.window.text.view.painting import Overlay

NOTHING_CHOSEN = "Choose another run, or open a tokenizer: here your text stands twice, as the two cut it."
LARGE = 2.6  # times the usual letters


class CutTextView(TokenCanvas):
    """A text to be looked at, token by token in colour; what the other cuts differently is underlined."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(TokenTextModel(), parent)
        self.setAccessibleName(name)
        self._differing: Sequence[tuple[int, int]] = ()

    def show_cut(self, cut: CutText | None) -> None:
        text = "" if cut is None else cut.segmentation.data.decode()
        if text != self.model.text():
            self.model.set_text(text)
        self._differing = () if cut is None else cut.differing
        if cut is not None:
            self.model.accept(self.model.revision, 0, cut.segmentation)
            self.model.set_cursor(cut.at)
        self.viewport().update()

    def _overlay(self) -> Overlay:
        return replace(super()._overlay(), marked=self._differing)


class DuelPage(StagePage):
    """Escape goes back to the window as it was."""

    def __init__(self, model: CompareModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.setAccessibleName("Duel")
        self.model = model
        self.choice = OtherChoice(model)
        self.titles = (label(), label())
        self.counts = (_large(), _large())
        self.texts = (CutTextView("Your text, as it is cut here"), CutTextView("Your text, as it is cut there"))
        self.told = muted()
        self._lay_out()
        model.changed.connect(self.show_now)
        one, other = (view.verticalScrollBar() for view in self.texts)
        one.valueChanged.connect(other.setValue)
        other.valueChanged.connect(one.setValue)

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.choice, 1)
        head.addWidget(self.close_button)
        sides = QGridLayout()
        sides.setHorizontalSpacing(12)
        for column, (count, title, view) in enumerate(zip(self.counts, self.titles, self.texts, strict=True)):
            title.setWordWrap(True)
            sides.addWidget(count, 0, column)
            sides.addWidget(title, 1, column)
            sides.addWidget(view, 2, column)
            sides.setColumnStretch(column, 1)
        sides.setRowStretch(2, 1)
        column_of_all = QVBoxLayout(self)
        column_of_all.setContentsMargins(8, 6, 8, 4)
        column_of_all.addLayout(head)
        column_of_all.addLayout(sides, 1)
        column_of_all.addWidget(self.told)

    def show_now(self) -> None:
        """As many letters take some milliseconds: only while somebody looks."""
        if not self.isVisible():
            return
        cuts = self.model.cut or (None, None)
        for count, title, view, cut in zip(self.counts, self.titles, self.texts, cuts, strict=True):
            count.setText("" if cut is None else f"{len(cut):,}")
            title.setText("" if cut is None else f"tokens · {cut.title}")
            view.show_cut(cut)
        self.told.setText(self.model.trouble or self.model.totals or NOTHING_CHOSEN)


def _large() -> QLabel:
    number = label()
    font = number.font()
    font.setPointSizeF(LARGE * font.pointSizeF())
    number.setFont(font)
    number.setAccessibleName("Number of tokens")
    return number
