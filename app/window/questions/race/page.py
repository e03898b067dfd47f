"""The race of pairs: a chart of their counts, and beside it how each fared."""

from __future__ import annotations

import html

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.window.parts.lines_chart import LinesChart
from app.window.parts.linked_text import LinkedText, link_to_step, number_in
from app.window.parts.page import Page
from app.window.parts.widgets import entry, scrolling
from app.window.parts.wording import count_text
from app.window.questions.race.model import RaceModel, RunnerFacts

MOST_LEADS = 12


class RacePage(Page):
    """Pairs are typed, kept as they are shown, or taken from those that never won."""

    def __init__(self, model: RaceModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        hint = "The pairs of the next merges run here when training begins."
        self.chart = LinesChart("The race of pairs", lambda: model.lines, hint)
        self.entry = entry("␣t + he", can_be_cleared=True)
        self.entry.setAccessibleName("A pair to follow")
        self.entry.setToolTip("Two tokens as the merge table writes them, with a plus between them")
        self.keep = QPushButton("Keep these")
        self.keep.setToolTip("Go on with the pairs that are shown, whatever the moment")
        self.unlucky = QPushButton("Never won")
        self.unlucky.setToolTip("Add the pairs that came in second most often and were never merged")
        self.clear = QPushButton("Next merges")
        self.clear.setToolTip("Show the pairs of the next merges again; at the end, those that lost most to others")
        self.told = LinkedText("How each pair fared")
        self._lay_out()
        self.entry.returnPressed.connect(self._add)
        self.keep.clicked.connect(model.keep)
        self.unlucky.clicked.connect(model.add_unlucky)
        self.clear.clicked.connect(lambda: model.choose([]))
        self.told.linkActivated.connect(lambda link: model.travel_to(number_in(link)))
        self.chart.time_chosen.connect(model.travel_to)
        model.changed.connect(self._show)
        model.refused.connect(self.told.setText)

    def _lay_out(self) -> None:
        self.controls = QWidget()
        row = QHBoxLayout(self.controls)
        row.setContentsMargins(0, 0, 0, 0)
        for widget in (self.entry, self.keep, self.unlucky, self.clear):
            row.addWidget(widget)
        self.area = area = scrolling(self.told, "What the race tells")
        below = QHBoxLayout()
        below.addWidget(self.chart, 3)
        below.addWidget(area, 2)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(8, 6, 8, 4)
        whole.addWidget(self.controls)
        whole.addLayout(below, 1)

    def _add(self) -> None:
        self.model.add(self.entry.text())
        self.entry.clear()

    def _show(self) -> None:
        for widget in (self.controls, self.area):
            widget.setVisible(self.model.has_a_race)
        self.chart.hint = self.model.hint
        self.chart.refresh()
        facts = self.model.facts
        if facts is None:
            self.told.setText("")
            return
        paragraphs = [_paragraph(runner, self.chart.colour(i).name()) for i, runner in enumerate(facts.runners)]
        leads = [
            f"{link_to_step(at, f'{at:,}')} {html.escape(name) or 'none is left'}"
            for at, name in facts.leads[:MOST_LEADS]
        ]
        more = f" … and {len(facts.leads) - MOST_LEADS:,} more" if len(facts.leads) > MOST_LEADS else ""
        self.told.setText("".join(paragraphs) + f"<p>In the lead after merge {'; '.join(leads)}{more}</p>")


def _paragraph(runner: RunnerFacts, colour: str) -> str:
    won = f"merged at {link_to_step(runner.won_at, f'{runner.won_at:,}')}" if runner.won_at else "never merged"
    cuts = (
        f"{link_to_step(step, f'<code>{html.escape(text)}</code>')} took {lost:,}" for step, text, lost in runner.cuts
    )
    cut_down = "; ".join(cuts)
    return (
        f'<p><span style="color:{colour}">■</span> <code><b>{html.escape(runner.name)}</b></code> '
        f"{count_text(runner.now, 'time')} now, {runner.peak:,} at most, {won}."
        f"{f' {cut_down}.' if cut_down else ''}</p>"
    )
