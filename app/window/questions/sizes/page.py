"""Which vocabulary size: one measure at a time, for every size at once, the usual ones beside it."""

from __future__ import annotations

import html
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.window.parts.lines_chart import LinesChart
from app.window.parts.page import Page
from app.window.parts.widgets import muted, paragraph, scrolling
from app.window.parts.wording import count_text, tip
from app.window.questions.sizes.held_out import HeldOutButton
from app.window.questions.sizes.model import FORMULA, SizesModel


class SizesPage(Page):
    """A held-out text is named by its button, before the training or after it."""

    held_out_wanted = Signal()
    time_chosen = Signal(int)

    def __init__(self, model: SizesModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        hint = "What each vocabulary size means is shown here after training."
        self.chart = LinesChart("Vocabulary sizes", lambda: model.lines, hint)
        self.measure = QComboBox()
        self.measure.setAccessibleName("What is measured")
        self._offer_measures()
        self.measure.setToolTip(tip(FORMULA))
        self.held_out = HeldOutButton("Measure a text that is not learned from, too")
        self.texts = QPushButton("Texts")
        self.texts.setToolTip("Which texts have a line")
        self.texts.setMenu(QMenu(self))
        self.texts.menu().aboutToShow.connect(self._fill_texts)
        self.told, self.advice = paragraph(), muted("")
        for label in (self.told, self.advice):
            label.setTextFormat(Qt.TextFormat.RichText)
        self.told.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.told.setAccessibleName("The measure of each text at the moment shown")
        self.advice.setAccessibleName("Usual sizes")
        self._lay_out()
        self.measure.currentIndexChanged.connect(self._choose_measure)
        self.held_out.wanted.connect(self.held_out_wanted)
        self.held_out.forgotten.connect(lambda: self.hold_out(None))
        self.chart.time_chosen.connect(self.time_chosen)
        model.changed.connect(self._show)

    def hold_out(self, path: Path | None) -> None:
        """Show whose curve comes beside the others."""
        self.held_out.tell(path)
        self.model.hold_out(path)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(self.measure)
        row.addWidget(self.held_out)
        row.addWidget(self.texts)
        row.addStretch()
        beside = QWidget()
        text = QVBoxLayout(beside)
        text.setContentsMargins(0, 0, 0, 0)
        text.addWidget(self.told)
        text.addWidget(self.advice)
        text.addStretch()
        area = scrolling(beside, "What the sizes tell")
        below = QHBoxLayout()
        below.addWidget(self.chart, 3)
        below.addWidget(area, 2)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 4)
        column.addLayout(row)
        column.addLayout(below, 1)

    def _offer_measures(self) -> None:
        """Those that have a meaning for the run shown."""
        measures = self.model.measures
        if [self.measure.itemText(place) for place in range(self.measure.count())] == [one.title for one in measures]:
            return
        self.measure.blockSignals(True)
        self.measure.clear()
        for measure in measures:
            self.measure.addItem(measure.title)
            self.measure.setItemData(self.measure.count() - 1, measure.tip, Qt.ItemDataRole.ToolTipRole)
        self.measure.setCurrentIndex(measures.index(self.model.measure))
        self.measure.blockSignals(False)

    def _choose_measure(self, index: int) -> None:
        self.model.choose_measure(index)
        for widget in (self.measure, self.chart):
            widget.setToolTip(tip(self.model.measure.tip))

    def _show(self) -> None:
        self._offer_measures()
        self.chart.refresh()
        is_share = self.model.measure.is_share
        told = [
            f'<span style="color:{self.chart.colour(i).name()}">■</span> {html.escape(name)} '
            f"<b>{f'{value:.1%}' if is_share else f'{value:.3f}'}</b>"
            for i, (name, value) in enumerate(self.model.here)
        ]
        facts = self.model.facts
        if facts is not None:
            told.insert(0, f"With {self.model.vocabulary_here:,} tokens:")
            if self.model.least is not None:
                step, size = count_text(self.model.least[0], self.model.wording.step), self.model.least[1]
                told.append(f"The least with <b>{size:,}</b> tokens (after {step}).")
            elif facts.turn is not None:
                step, size = count_text(facts.turn[0], self.model.wording.step), facts.turn[1]
                told.append(f"Half of <b>{size:,}</b> tokens (after {step}) would do: texts get less than 5 % longer.")
        if self.model.which_sizes:
            told.append(self.model.which_sizes)
        if self.model.why_no_line:
            told.append(self.model.why_no_line)
        if self.model.progress:
            told.append(self.model.progress)
        self.told.setText("<br>".join(told))
        usual = self.model.usual_sizes
        self.advice.setText("<br>".join(("Usual sizes:", *usual)) if usual else "")
        self.texts.setVisible(len(self.model.names) > 1)

    def _fill_texts(self) -> None:
        """The menu of all texts, those with a line ticked."""
        menu, shown = self.texts.menu(), self.model.shown
        menu.clear()
        for name in self.model.names:
            action = menu.addAction(name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(name in shown)
            action.toggled.connect(lambda on, name=name: self.model.show_text(name, on))
