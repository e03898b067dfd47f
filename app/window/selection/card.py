"""The small card about a highlighted token. It shows the id, text, bytes, step and count of the token, and buttons."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtWidgets import QFormLayout, QFrame, QWidget

from app.window.parts.layouts import in_column, in_row
from app.window.parts.widgets import label, muted_label, paragraph, small_button, use_fixed_font
from app.window.parts.wording import tip
from app.window.parts.zoom import set_zoomed, zoomed
from app.window.selection.facts import CardText

MOST_LETTERS = 32  # of a token; a longer one loses its end
WIDTH = 300
FRAME = "#token_card { border: 1px solid palette(placeholder-text); border-radius: 6px; background: palette(base); }"
AWAY = 18  # pixels between the pointer and the card
EDGE = 6  # pixels between the card and the edge of the window
ACTIONS = {
    "why": ("Why?", "Why the text is split there"),
    "life": ("Life", "The count of this token through the whole training"),
    "tree": ("Tree", "The merge tree of the word"),
    "forbid": ("Forbid", "Train a new run from this step on, without this pair"),
    "copy": ("Copy", "Copy the text of the token"),
}


class TokenCard(QFrame):
    """A card beside the pointer, which describes a token, a pair, a word or a boundary.

    If the token, pair or word was clicked, the card has buttons. Otherwise the card ignores the mouse.
    """

    wanted = Signal(str)  # the name of the action

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("token_card")
        self.setAccessibleName("Facts about the highlighted token")
        self.setStyleSheet(FRAME)
        self.title = label()
        use_fixed_font(self.title, 1.2)
        self.sentence = paragraph()
        self.facts = QWidget()
        self._form = QFormLayout(self.facts)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setVerticalSpacing(2)
        self.buttons = {name: small_button(title, meaning) for name, (title, meaning) in ACTIONS.items()}
        for name, button in self.buttons.items():
            button.clicked.connect(lambda _=False, name=name: self.wanted.emit(name))
        self.button_row = QWidget()
        in_row(*self.buttons.values(), 1, on=self.button_row, margins=(0, 2, 0, 0), spacing=4)
        self.hint = muted_label("Esc closes this card")
        parts = self.title, self.sentence, self.facts, self.button_row, self.hint
        self._column = in_column(*parts, on=self, margins=(10, 8, 10, 8), spacing=4)
        set_zoomed(self, QWidget.setFixedWidth, WIDTH)
        self.hide()

    def show_text(self, text: CardText, place: QPoint, *, is_kept: bool) -> None:
        """Show these texts on the card, and move the card beside the point `place` of the window.

        If `is_kept` is true, the card has buttons.
        """
        title = text.title if len(text.title) <= MOST_LETTERS else f"{text.title[: MOST_LETTERS - 1]}…"
        self.title.setText(title)
        self.sentence.setText(text.sentence)
        self.sentence.setVisible(bool(text.sentence))
        while self._form.rowCount():
            self._form.removeRow(0)
        for name, value in text.rows.items():
            fact = paragraph(value)
            self._form.addRow(muted_label(name), fact)
        self.facts.setVisible(bool(text.rows))
        for name, button in self.buttons.items():
            why_not = text.why_not.get(name, "")
            button.setEnabled(not why_not)
            button.setToolTip(tip(why_not or ACTIONS[name][1]))
        self.button_row.setVisible(is_kept)
        self.hint.setVisible(is_kept)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents, not is_kept)
        self.setAccessibleDescription(". ".join([title, text.sentence, *(f"{a}: {b}" for a, b in text.rows.items())]))
        self._move_beside(place)
        self.show()
        self.raise_()

    def _move_beside(self, place: QPoint) -> None:
        """Put the card to the lower right of `place`. Near the edge of the window, put it on the other side."""
        self._column.activate()
        size = QSize(zoomed(WIDTH), self._column.totalHeightForWidth(zoomed(WIDTH)))
        room = self._window.rect().adjusted(EDGE, EDGE, -EDGE, -EDGE)
        x = place.x() + AWAY
        y = place.y() + AWAY
        if x + size.width() > room.right():
            x = place.x() - AWAY - size.width()
        if y + size.height() > room.bottom():
            y = place.y() - AWAY - size.height()
        self.setGeometry(max(room.left(), x), max(room.top(), y), size.width(), size.height())
