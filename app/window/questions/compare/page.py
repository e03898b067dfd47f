"""The difference of two tokenizers: the question `diff` about the run shown and another one."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHeaderView, QVBoxLayout

from app.window.parts.widgets import paragraph, push_button
from app.window.questions.compare.duel_model import DuelModel
from app.window.questions.compare.duel_page import OtherChoice
from app.window.questions.compare.lanes_model import LanesQuestion
from app.window.questions.question_page import QuestionPage

NOTHING_CHOSEN = "Choose another run, or open a tokenizer, to compare with the one shown."
PUTS_TOGETHER = (
    "Make one table of both: it keeps the tokens and ids of the one shown, and has what only the other one has"
)


class ComparePage(QuestionPage):
    duel_wanted = Signal()

    def __init__(self, model: LanesQuestion, duel: DuelModel) -> None:
        super().__init__(model)
        self.duel = duel
        self.choice = OtherChoice(duel)
        meaning = "Your text as each of the two cuts it, with all the room there is"
        self.side_by_side = push_button("Side by Side", self.duel_wanted.emit, meaning)
        self.put_together = push_button("Put Together", duel.start_putting_together, PUTS_TOGETHER)
        self.totals = paragraph()
        for widget in (self.choice, self.side_by_side, self.put_together):
            self.above.addWidget(widget)
        self.above.setStretchFactor(self.choice, 1)
        whole = self.layout()
        assert isinstance(whole, QVBoxLayout)
        whole.insertWidget(1, self.totals)
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        duel.changed.connect(self._show_totals)
        self._show_totals()

    def _show_totals(self) -> None:
        self.totals.setText(self.duel.totals)
        self.put_together.setEnabled(self.duel.can_put_together)
