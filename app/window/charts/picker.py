"""The picker above the charts, in which the user chooses a measure and its subject.

It is shown instead of tabs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QFont, QHideEvent, QPalette, QShowEvent, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QWidget

from app.window.parts.layouts import in_row
from app.window.parts.page import PageTabs
from app.window.parts.widgets import OneLine, label, name_widget
from app.window.parts.wording import tip
from app.window.questions.question_page import QuestionPage

Measures = Mapping[str, Mapping[str, str]]  # by title, the charts that can draw a measure, and its name there


@dataclass(frozen=True)
class PickedGroup:
    """A group of measures with the same purpose, and a sentence about this purpose."""

    title: str
    sentence: str
    measures: Measures
    meanings: Mapping[str, str]  # by title


class MeasurePicker(QWidget):
    """A box that shows the measure of the visible chart, and lets the user choose a different measure.

    If the visible chart cannot draw the chosen measure, a different chart is shown.
    """

    def __init__(self, charts: PageTabs, find: Callable[[], Sequence[PickedGroup]], about: Mapping[str, str]) -> None:
        """Make the picker.

        `find` returns the groups of measures, and is called when the picker is first shown. `about` maps each chart to
        the name of its subject.
        """
        super().__init__()
        self._charts = charts
        self._find = find
        self._about = about
        self._groups: Sequence[PickedGroup] = ()
        self._measures: Measures = {}
        self.sentence = name_widget(OneLine(), "What this measure shows")
        self.sentence.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.measure = name_widget(QComboBox(), "Measure", "Choose the measure of the chart below")
        self.about = name_widget(
            QComboBox(),
            "Tokenizers to measure, and the axis of the chart",
            "Choose the tokenizers in the chart, and its axis",
        )
        for box in (self.measure, self.about):
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        row = label("Measure"), self.measure, label("of"), self.about, (self.sentence, 1)
        in_row(*row, on=self, margins=(8, 0, 8, 0))
        self.measure.activated.connect(lambda _: self._choose())
        self.about.activated.connect(lambda _: self._choose(self.about.currentData()))
        charts.currentChanged.connect(lambda _: self._follow())
        self._followed: list[QuestionPage] = []

    def choose(self, title: str) -> None:
        """Show the measure with this title, as if a user had chosen it."""
        if not self._measures:
            self._fill()
        self.measure.setCurrentText(title)
        self._choose()

    def _choose(self, chart: str = "") -> None:
        """Show the chosen measure in the chart with this name.

        Without a name, use the visible chart if it can draw the measure, or else the first chart that can.
        """
        charts = self._measures[self.measure.currentText()]
        chart = chart or (self._charts.shown if self._charts.shown in charts else next(iter(charts)))
        name = charts[chart]
        self._charts.show_page(chart)
        if (field := self._field()) is not None:
            field.setCurrentIndex(field.findData(name))
        self._show()

    def _field(self) -> QComboBox | None:
        page = self._charts.page if self._charts.shown in self._about else None
        field = page.fields.get("measure") if isinstance(page, QuestionPage) else None
        return field if isinstance(field, QComboBox) else None

    def _follow(self) -> None:
        """Make the box show the measure of the visible page.

        The page has a field for the measure, too. Hide this field while the box is visible.
        """
        page = self._charts.page if self._charts.shown in self._about else None
        field = self._field()
        if isinstance(page, QuestionPage) and field is not None and page not in self._followed:
            self._followed.append(page)
            page.hide_field("measure", not self.isHidden())
            field.currentIndexChanged.connect(lambda _: self._show())
        self._show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._replace_fields(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._replace_fields(False)

    def _replace_fields(self, on: bool) -> None:
        """Hide the field for the measure on each page that has one. If `on` is false, show these fields again."""
        for page in self._followed:
            page.hide_field("measure", on)

    def _show(self) -> None:
        chart = self._charts.shown
        field = self._field()
        if chart not in self._about:
            return
        if not self._measures:
            self._fill()
        name = "" if field is None else field.currentData()
        title = next(title for title, charts in self._measures.items() if charts.get(chart) == name)
        with QSignalBlocker(self.measure), QSignalBlocker(self.about):
            self.measure.setCurrentText(title)
            self.about.clear()
            for subject in self._about:
                if subject in self._measures[title]:
                    self.about.addItem(self._about[subject], subject)
            self.about.setCurrentIndex(self.about.findData(chart))
        group = next(group for group in self._groups if title in group.measures)
        self.sentence.setText(group.sentence)
        self.sentence.setToolTip(tip(group.meanings.get(title, "")))

    def _fill(self) -> None:
        """Fill the box with the measures.

        Above the measures of each group is the group's title, which cannot be chosen.
        """
        self._groups = self._find()
        self._measures = {title: charts for group in self._groups for title, charts in group.measures.items()}
        font = QFont()  # bold, and as large as all others
        entries = self.measure.model()
        assert isinstance(entries, QStandardItemModel)  # Qt's default model of a box
        font.setBold(True)
        for group in self._groups:
            self.measure.addItem(group.title)
            place = self.measure.count() - 1
            self.measure.setItemData(place, font, Qt.ItemDataRole.FontRole)
            self.measure.setItemData(place, tip(group.sentence), Qt.ItemDataRole.ToolTipRole)
            entries.item(place).setEnabled(False)
            for title in group.measures:
                self.measure.addItem(title)
                meaning = tip(group.meanings.get(title, ""))
                self.measure.setItemData(self.measure.count() - 1, meaning, Qt.ItemDataRole.ToolTipRole)
