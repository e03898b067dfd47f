"""A chart of many runs, which measure it shows, and where the runs are from."""

from __future__ import annotations

import html
import math
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QVBoxLayout, QWidget

from app.window.parts.dialogs import TEXT_FILTER
from app.window.parts.figure_view import FigureView
from app.window.parts.page import Page
from app.window.parts.widgets import flat_button, paragraph, scrolling
from app.window.parts.wording import tip
from app.window.questions.curves.model import NOTHING_YET, CurvesModel, Source
from app.window.questions.curves.plan_dialog import PlanDialog
from app.window.questions.curves.planning import Planning

SOURCES = (
    "All runs of this window",
    "All runs by a held-out text …",
    "A new sweep …",
    "The plan of a sweep …",
    "Results of a sweep …",
)
RUNS, HELD_OUT, NEW, PLAN, RESULTS = range(len(SOURCES))
FEWEST_CHARACTERS = 5  # of a choice that are shown where there is little room
LEAST_NAMED = 132  # pixels for the names of the curves, their longest words and numbers
LAST_VALUES = "With the last value of each:"
OTHER_LIST = "A list of your own …"


class CurvesPage(Page):
    """The curves are clicked on by nobody: they are of many runs, and of no moment."""

    session_wanted = Signal(object)  # the path of one that holds the runs of a sweep

    def __init__(self, model: CurvesModel, planning: Planning, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model, self._planning = model, planning
        self.source, self.measure, self.list = QComboBox(), QComboBox(), QComboBox()
        self.source.addItems(list(SOURCES))
        for box, name in (
            (self.source, "The runs whose curves are drawn"),
            (self.measure, "What the curves show"),
            (self.list, "Words with their morphemes"),
        ):
            box.setAccessibleName(name)
            box.setToolTip(tip(name))
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
            box.setMinimumContentsLength(FEWEST_CHARACTERS)
        self.stop = flat_button("Stop")
        self.open = flat_button("Open Its Runs")
        self.open.setToolTip("Open the session with the runs of this sweep, instead of what this window holds")
        self.chart = FigureView("Curves of many runs", NOTHING_YET, has_legend=False)
        self.legend, self.summary = paragraph(), paragraph()
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setAccessibleName("The curves that are drawn")
        self.summary.setAccessibleName("How far the measuring is")
        self._lay_out()
        model.changed.connect(self._show)
        self.source.activated.connect(self._choose_source)
        self.measure.activated.connect(lambda: model.choose_measure(self.measure.currentData()))
        self.list.activated.connect(self._choose_list)
        self.stop.clicked.connect(model.stop)
        self.open.clicked.connect(lambda: self.session_wanted.emit(model.session))
        self._show()

    def make(self, plan: Path, keeps_runs: bool = False) -> None:
        """Make what a plan says."""
        self.model.choose_source(Source(plan=plan, keeps_runs=keeps_runs))

    def open_dialog(self) -> None:
        """Plan a sweep by hand."""
        self.dialog = PlanDialog(self._planning, self)
        self.dialog.written.connect(self.make)
        self.dialog.finished.connect(self.dialog.deleteLater)
        self.dialog.open()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        for widget in (self.source, self.measure, self.list):
            row.addWidget(widget, 1)
        row.addWidget(self.stop)
        row.addWidget(self.open)
        beside = QWidget()
        text = QVBoxLayout(beside)
        text.setContentsMargins(0, 0, 0, 0)
        for label in (self.summary, self.legend):
            text.addWidget(label)
        text.addStretch()
        below = QHBoxLayout()
        below.addWidget(self.chart, 3)
        named = scrolling(beside, "Which curves are drawn")
        named.setMinimumWidth(LEAST_NAMED)
        below.addWidget(named, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 4)
        column.addLayout(row)
        column.addLayout(below, 1)

    def _choose_source(self, source: int) -> None:
        if source == RUNS:
            self.model.choose_source(Source())
        elif source == HELD_OUT:
            if path := self._asked_for("A text that no run has learned from", TEXT_FILTER):
                self.model.choose_source(Source(held_out=path))
        elif source == NEW:
            self.open_dialog()
        elif source == PLAN:
            if path := self._asked_for("The plan of a sweep", "Plans (*.toml);;All files (*)"):
                self.make(path)
        elif path := self._asked_for("Results of a sweep", "Tables (*.csv *.tsv *.json *.parquet)"):
            self.model.choose_source(Source(results=path))
        self._show()

    def _choose_list(self) -> None:
        if self.list.currentText() != OTHER_LIST:
            self.model.choose_list(self.list.currentData())
        elif path := self._asked_for("Words with their morphemes", "Lists (*.tsv *.txt);;All files (*)"):
            self.model.choose_list(str(path))
        self._show()

    def _asked_for(self, title: str, filters: str) -> Path | None:
        name, _ = QFileDialog.getOpenFileName(self, title, "", filters)
        return Path(name) if name else None

    def _show(self) -> None:
        model = self.model
        of_runs = RUNS if model.source.held_out is None else HELD_OUT
        place = of_runs if model.source.is_runs else PLAN if model.source.plan is not None else RESULTS
        self.source.setCurrentIndex(place)
        _offer(self.measure, model.measures, model.measure)
        lists = model.lists
        _offer(self.list, [*lists, ("", OTHER_LIST)] if lists else [], model.list)
        self.list.setVisible(bool(lists))
        for widget in (self.measure, self.chart):
            widget.setToolTip(tip(model.tip))
        self.stop.setVisible(bool(model.progress))
        self.open.setVisible(model.session is not None)
        self.summary.setText(model.summary)
        self.summary.setVisible(bool(model.summary))
        self.legend.setText("<br>".join(self._told()))
        self.chart.set_figure(self.model.figure)

    def _told(self) -> Iterator[str]:
        """Each curve in its colour, with its last value and what the band lies between there."""
        figure = self.model.figure
        if figure is None:
            return
        form = "{:.1%}" if figure.is_share else "{:.3f}"
        yield LAST_VALUES
        for index, line in enumerate(figure.lines):
            between = ""
            if line.band is not None and all(math.isfinite(one[-1]) for one in line.band):
                between = f" ({'–'.join(form.format(one[-1]) for one in line.band)})"
            yield f"{self.chart.sample(index)} {html.escape(line.name)} <b>{form.format(line.y[-1])}</b>{between}"

    def recolor(self) -> None:
        self._show()


def _offer(box: QComboBox, choices: list[tuple[str, str]], chosen: str) -> None:
    """These choices, each by its name; the title is shown."""
    if [box.itemData(place) for place in range(box.count())] != [name for name, _ in choices]:
        box.clear()
        for name, title in choices:
            box.addItem(title, name)
    box.setCurrentIndex(box.findData(chosen))
