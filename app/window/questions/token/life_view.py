"""The view of a token's use in the corpus. On the page of a token it is below the facts from the history."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.window.charts.figure_view import FigureView
from app.window.parts.layouts import in_column
from app.window.parts.widgets import LinkedText, muted_label
from app.window.parts.wording import number_in
from app.window.parts.zoom import set_zoomed
from app.window.questions.token.life_model import LifeModel
from app.window.questions.token.sections import ALL, line_text, sections_of

CHART_HEIGHT = 102
SECTIONS = {  # in this order
    "occurs": "",
    "told": "",
    "reach": "Can it be reached?",
    "words": "Words that hold it",
    "children": "Part of",
    "takers": "Taken by",
    "paid": "Words that caused the merge",
    "lines": "Where it occurs",
}


class Section(QWidget):
    """A paragraph with a title. It is hidden while it has no text."""

    def __init__(self, title: str, link_followed: Callable[[str], None]) -> None:
        super().__init__()
        self.title = muted_label(title)
        self.title.setVisible(bool(title))
        self.text = LinkedText(title or "Occurrences")
        self.text.linkActivated.connect(link_followed)
        in_column(self.title, self.text, on=self, margins=(0, 4, 0, 2), spacing=1)
        self.hide()

    def tell(self, text: str) -> None:
        self.text.setText(text)
        self.setVisible(bool(text))


class LifeView(QWidget):
    """A view of a small chart and of paragraphs about a token. Tokens and merges in the paragraphs are links."""

    section_wanted = Signal(QWidget)  # the section to bring into view once it is filled
    list_wanted = Signal(str)  # the section whose words are saved

    def __init__(self, model: LifeModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.model = model
        self.hint = muted_label()
        self.chart = FigureView("Occurrences over time", has_legend=False)
        set_zoomed(self.chart, QWidget.setFixedHeight, CHART_HEIGHT)
        self.sections = {name: Section(title, self._follow) for name, title in SECTIONS.items()}
        self._wanted = ""
        in_column(self.hint, self.chart, *self.sections.values(), on=self, margins=(0, 6, 0, 0), spacing=0)
        self.chart.place_chosen.connect(lambda step: model.travel_to_step(int(step)))
        model.changed.connect(self._show)
        model.lines_changed.connect(self._show_lines)
        self._show()

    def _show(self) -> None:
        facts = self.model.facts
        study = self.model.study
        self.hint.setText(self.model.hint)
        self.hint.setVisible(bool(self.model.hint))
        # While another token is asked about, the place is kept, so that nothing jumps.
        self.chart.setVisible(bool(facts.curve) if facts is not None else self.model.is_asking)
        self.chart.set_figure(self.model.figure)
        texts = {} if facts is None or study is None else dict(sections_of(facts, study))
        for name, section in self.sections.items():
            if name != "lines":
                section.tell(texts.get(name, ""))
        self._show_lines()

    def _show_lines(self) -> None:
        self.sections["lines"].tell("".join(map(line_text, self.model.lines)))
        self._reveal_wanted()

    def show_answer(self, name: str) -> None:
        """Scroll to the section with this name as soon as the section has a text."""
        self._wanted = name
        self._reveal_wanted()

    def _reveal_wanted(self) -> None:
        if self._wanted and self.sections[self._wanted].isVisibleTo(self):
            self.section_wanted.emit(self.sections[self._wanted])
            if not self.model.is_waiting:  # until then it may move
                self._wanted = ""

    def _follow(self, link: str) -> None:
        if link.startswith(ALL):
            self.list_wanted.emit(link.removeprefix(ALL))
        elif link.startswith("token:"):
            self.model.look_at(number_in(link))
        else:
            self.model.travel_to_step(number_in(link))
