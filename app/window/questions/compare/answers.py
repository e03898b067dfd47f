"""The pages below the lanes. They compare the tokenizers in sentences, tables and figures."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QHeaderView

from app.window.parts.widgets import flat_button, name_widget, push_button
from app.window.parts.wording import tip
from app.window.questions.compare.lane_questions import MEANINGS, LabQuestion, LanesQuestion, PairQuestion
from app.window.questions.question_page import QuestionPage

PUTS_TOGETHER = (
    "Make one table of both. It keeps the tokens and ids of the first, and adds the tokens that only the second has"
)


class LanesPage(QuestionPage):
    def __init__(self, model: LanesQuestion) -> None:
        super().__init__(model)
        self.lanes = model.lanes
        self.table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)


class LabPage(LanesPage):
    """A page about all lanes.

    It shows their curves, the tokens that lanes share, and the words that they split most differently.
    """

    word_chosen = Signal(str, int)  # the word and the lane
    list_wanted = Signal()  # the list of all words, for a file

    def __init__(self, model: LabQuestion) -> None:
        super().__init__(model)
        self.lab = model
        self.figure.setToolTip(tip(MEANINGS))
        self.rows.hint = "Click to see the word above, and why it is split in this way"
        meaning = "Write all words that are split differently to a CSV, TSV, JSON or Parquet file"
        self.save_list = name_widget(flat_button("Save List …", self.list_wanted.emit, meaning), "Save the list")
        self.add_action(self.save_list)
        model.changed.connect(self._enable)
        self._enable()

    def _enable(self) -> None:
        self.save_list.setEnabled(self.model.answer is not None and self.lanes.is_ready)

    def choose_row(self, row: int) -> None:
        self.word_chosen.emit(self.lab.word(row), self.lab.lane_of(self.table.currentIndex().column()))


class ComparePage(LanesPage):
    """A page of the steps at which two lanes differ. A button joins the two vocabularies into one."""

    def __init__(self, model: PairQuestion) -> None:
        super().__init__(model)
        self.pair = name_widget(
            QComboBox(),
            "The two tokenizers to compare",
            ("The first is compared with the second, and keeps its ids in a combined table"),
        )
        self.put_together = push_button("Combine", self.lanes.start_putting_together, PUTS_TOGETHER)
        for place, widget in enumerate((self.pair, self.put_together)):
            self.above.insertWidget(place, widget, 0, Qt.AlignmentFlag.AlignBottom)
        self.pair.activated.connect(lambda: self.lanes.choose_pair(*self.pair.currentData()))
        self.lanes.changed.connect(self._show_pair)
        self._show_pair()

    def _show_pair(self) -> None:
        self.put_together.setEnabled(self.lanes.can_put_together)
        offered = {f"{first.letter} and {second.letter}": (first, second) for first, second in self.lanes.pairs}
        if [*offered] != [self.pair.itemText(place) for place in range(self.pair.count())]:
            self.pair.clear()
            self.pair.addItems([*offered])
        for place, both in enumerate(offered.values()):
            self.pair.setItemData(place, [lane.run.number for lane in both])
            if [*both] == self.lanes.pair:
                self.pair.setCurrentIndex(place)
        self.pair.setVisible(len(offered) > 1)
