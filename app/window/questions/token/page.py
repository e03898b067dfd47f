"""The page of a token: its parts, its origin and its use."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFormLayout, QLabel, QPushButton, QWidget

from app.session.selection import ShownHighlight
from app.window.parts.layouts import STRETCH, in_column, in_row, lay_out_now
from app.window.parts.page import Page
from app.window.parts.widgets import (
    flat_button,
    label,
    muted_label,
    name_widget,
    paragraph,
    push_button,
    scrolling,
    selectable,
    use_fixed_font,
)
from app.window.parts.wording import tip
from app.window.questions.token.life_model import LifeModel
from app.window.questions.token.life_view import LifeView
from app.window.questions.token.model import ROWS, TokenFacts, TokenModel


class TokenPage(Page):
    """A page about a token. The parts of the token are buttons.

    A click on a button moves the time slider to the step that made the part.
    """

    forbid_wanted = Signal(int)  # the step to change

    def __init__(self, model: TokenModel, life: LifeModel, parent: QWidget | None = None) -> None:
        super().__init__(life, parent)
        self.model = model
        self.life = LifeView(life)
        self.token = name_widget(label(), "Chosen token")
        use_fixed_font(self.token, 1.5)
        self.hint = muted_label("Choose a step or a token to look at it closely.")
        self.facts = {title: paragraph() for title in ROWS}
        use_fixed_font(self.facts["Bytes"])
        self.parts = QPushButton(), QPushButton()  # kept: a key press may be pending
        for place, button in enumerate(self.parts):
            use_fixed_font(button)
            button.clicked.connect(lambda _=False, place=place: self._travel_to_part(place))
        self._parts = in_row(*self.parts, STRETCH)
        forbidden = "A new run, in which this pair is never merged from here on"
        self.forbid = push_button("", self._forbid, forbidden)
        self._table = self._facts_as_rows()
        saved = "Save this page as a picture, or all counts of the token as CSV, TSV, JSON or Parquet"
        self.save = flat_button("Save …", self.save_wanted.emit, saved)
        printed = "Save the counts of the token over time as PDF, SVG or PNG in a size you choose"
        self.print = flat_button("For Print …", self.print_wanted.emit, printed)
        self._lay_out()
        self.life.chart.place_pointed.connect(lambda x: self.step_pointed.emit(0 if x is None else round(x)))
        self.life.section_wanted.connect(self._bring_into_view, Qt.ConnectionType.QueuedConnection)
        model.changed.connect(self._show)
        for changed in (model.changed, life.changed):  # connected after the views that it settles
            changed.connect(lay_out_now)
        self._show()

    def _facts_as_rows(self) -> QWidget:
        table = QWidget()
        form = QFormLayout(table)
        form.setContentsMargins(0, 0, 0, 0)
        form.setVerticalSpacing(4)
        for title, fact in self.facts.items():
            form.addRow(_title(title), selectable(fact))
        form.addRow(_title("Parts"), self._parts)
        self._forbidding = in_row(self.forbid, STRETCH)
        form.addRow(_title(""), self._forbidding)
        return table

    def _lay_out(self) -> None:
        self._inside = inside = QWidget()
        saving = in_row(self.save, self.print, STRETCH)
        parts = self.token, self.hint, self._table, self.life, saving, STRETCH
        self._column = in_column(*parts, on=inside, margins=(8, 4, 8, 8))
        self.area = scrolling(inside, "The token in detail")
        in_column(self.area, on=self, margins=(0, 0, 0, 0))

    def show_highlight(self, shown: ShownHighlight) -> None:
        self.life.chart.highlight_at(shown.step or None)

    def show_steps(self, first: int, last: int) -> None:
        self.life.chart.show_part(first, last)

    @property
    def widget_to_save(self) -> QWidget:
        """Return the widget to save as a picture: the whole page, including the parts outside the visible area."""
        return self._inside

    def show_answer(self, name: str) -> None:
        """Scroll to the section with this name."""
        self.life.show_answer(name)

    def _bring_into_view(self, section: QWidget) -> None:
        """Scroll until the title of the section is at the top, if possible."""
        self._column.activate()
        self.area.verticalScrollBar().setValue(section.mapTo(self._inside, section.rect().topLeft()).y())

    def _show(self) -> None:
        facts = self.model.facts
        for widget in (self.token, self._table, self.save, self.print):
            widget.setVisible(facts is not None)
        self.hint.setVisible(facts is None)
        if facts is not None:
            self._fill(facts)

    def _fill(self, facts: TokenFacts) -> None:
        self.token.setText(_shorten(facts.text, 40))
        form = self._table.layout()
        assert isinstance(form, QFormLayout)
        for title, fact in self.facts.items():
            fact.setText(facts.rows.get(title, ""))
            form.setRowVisible(fact, bool(fact.text()))
        form.setRowVisible(self._parts, bool(facts.parts))
        form.setRowVisible(self._forbidding, bool(facts.parts) and facts.can_be_forbidden)
        self.forbid.setText(f"Forbid this {facts.step_name} and go on")
        self._show_parts(facts)

    def _show_parts(self, facts: TokenFacts) -> None:
        for button, text in zip(self.parts, facts.part_texts, strict=False):  # a base symbol has none
            button.setText(_shorten(text, 20).replace("&", "&&"))
            button.setToolTip(tip(f"Go to where {text} was learned"))

    def _forbid(self) -> None:
        if self.model.facts is not None:
            self.forbid_wanted.emit(self.model.facts.step)

    def _travel_to_part(self, place: int) -> None:
        facts = self.model.facts
        if facts is not None and place < len(facts.parts):
            self.model.travel_to(facts.parts[place])


def _title(text: str) -> QLabel:
    title = label(text)
    title.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    return title


def _shorten(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
