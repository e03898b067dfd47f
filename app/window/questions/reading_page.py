"""The page of a question about texts. A user can read each row's text, split by the row's tokenizer."""

from __future__ import annotations

from itertools import islice

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QWidget

from app.session.session import Session
from app.window.parts.layouts import in_row
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import (
    IconButton,
    OneLine,
    name_widget,
    paragraph,
    scrolling,
    small_button,
    use_fixed_font,
)
from app.window.parts.wording import tip
from app.window.parts.zoom import set_zoomed
from app.window.questions.question_model import QuestionModel
from app.window.questions.question_page import QuestionPage
from app.window.questions.reading import AT_ONCE, RowReader

MOST_PLACES = 8  # files of a group to name
HEIGHT = 76


class ReadingPage(QuestionPage):
    """A page that shows the text of the clicked row, split into tokens by the row's tokenizer, one part at a time."""

    def __init__(self, model: QuestionModel, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self._session = session
        self.rows.hint = "Click to see how this text is split into tokens"
        self.reading = RowReader(model, session.background)
        self.preview = name_widget(paragraph(), "The text of the row, split into tokens")
        use_fixed_font(self.preview)
        self.bar = self._bar()
        self.read = scrolling(self.preview, "The text of a row")
        set_zoomed(self.read, QWidget.setMaximumHeight, HEIGHT)
        self.column.addWidget(self.bar)
        self.column.addWidget(self.read)
        self.reading.changed.connect(self._show_text)
        self._show_text()

    def _bar(self) -> QWidget:
        """Return a bar with buttons that turn pages, a field for the first character, and a close button."""
        self.name = OneLine()
        self.until = OneLine()
        self.back = small_button("‹", "The characters before", lambda: self._turn(-AT_ONCE))
        self.on = small_button("›", "The characters after", lambda: self._turn(AT_ONCE))
        meaning = "The first character shown. Type a number to read from there"
        self.start = name_widget(NumberBox(1, 1), "The first character shown", meaning)
        self.start.setKeyboardTracking(False)  # act only on a finished number
        self.start.setSingleStep(AT_ONCE)
        self.close_button = IconButton("close", "Close the text", self.reading.close)
        bar = QWidget()
        widgets = (self.back, self.start, self.until, self.on, self.close_button)
        in_row((self.name, 1), *widgets, on=bar, margins=(0, 0, 0, 0))
        self.start.valueChanged.connect(lambda number: self.reading.go_to_part(number - 1))
        return bar

    def choose_row(self, row: int) -> None:
        """Show the text of a row, split into tokens by the row's tokenizer."""
        self.reading.look_at(row)

    def _places(self, text: str) -> list[str]:
        sources = (
            source
            for source in self._session.corpus.texts.value
            if text in (source.group, source.name) and source.place
        )
        return [source.place for source in islice(sources, MOST_PLACES)]

    def _turn(self, by: int) -> None:
        if self.reading.stretch is not None:
            self.reading.go_to_part(max(0, self.reading.stretch.start + by))

    def _show_text(self) -> None:
        stretch = self.reading.stretch
        row = self.reading.row
        for part in (self.bar, self.read):
            part.setVisible(stretch is not None)
        if stretch is None or row is None:
            return
        self.preview.setText(stretch.in_tokens)
        self.read.verticalScrollBar().setValue(0)
        name = f"{row.text}, {row.tokenizer}"
        self.name.setText(name)
        self.name.setToolTip(tip("\n".join((name, *self._places(row.text)))))
        with QSignalBlocker(self.start):
            self.start.setRange(1, max(1, stretch.length))
            self.start.setValue(stretch.start + 1)
        self.until.setText(f"to {stretch.stop:,} of {stretch.length:,}")
        self.back.setEnabled(stretch.start > 0)
        self.on.setEnabled(stretch.stop < stretch.length)
