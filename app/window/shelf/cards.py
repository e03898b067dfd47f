"""The cards of the shelf, side by side. Each card shows how a tokenizer splits the text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QImage, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QWidget

from app.window.parts.layouts import STRETCH, in_column, in_row
from app.window.parts.pictures import picture_of
from app.window.parts.widgets import (
    OneLine,
    ProgressBar,
    label,
    muted_label,
    name_widget,
    paragraph,
    push_button,
    scale_font,
)
from app.window.parts.wording import without_options
from app.window.parts.zoom import zoomed
from app.window.rooms.my_word import LONGEST
from app.window.rooms.word_view import WordView
from app.window.shelf.model import ShelfCardText

CARD = "#shelf_card { border: 1px solid palette(mid); border-radius: 6px; background: palette(base); }"
LARGE = 1.3  # size relative to the usual letters
LEAST_WIDTH = 340  # pixels of a card at a zoom of 100 percent; the sheet has as many columns as fit
MOST_COLUMNS = 3
PICTURE_WIDTH = 1000  # pixels at a zoom of 100 percent
MOST_PARTS = 1000  # of a progress bar


class ShelfCard(QFrame):
    """A card about a tokenizer. It shows the name, the tokens of the text, and buttons."""

    fetch_wanted = Signal(str)
    cancel_wanted = Signal(str)
    open_wanted = Signal(str)
    compare_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("shelf_card")
        self.setStyleSheet(CARD)
        self.key = ""
        self.title = scale_font(label(), LARGE, bold=True)
        self.total = scale_font(label(), LARGE)
        self.tiles = WordView(most_rows=LONGEST)
        policy = self.tiles.sizePolicy()
        policy.setHeightForWidth(True)  # all rows of a long text are shown
        self.tiles.setSizePolicy(policy)
        self.tiles.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.tiles.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.trouble = paragraph()
        self.facts = OneLine()
        self.bar = ProgressBar(MOST_PARTS)
        self.compare = push_button("Compare", lambda: self.compare_wanted.emit(self.key), "Open it in Compare")
        self.open = push_button("Show", lambda: self.open_wanted.emit(self.key), "Open it, and split the text")
        self.fetch = push_button("", lambda: self.fetch_wanted.emit(self.key))
        self.cancel = push_button("Cancel", lambda: self.cancel_wanted.emit(self.key))
        for button in (self.compare, self.open, self.fetch, self.cancel):
            button.setAutoDefault(False)  # Enter in the field of the text presses no button
        head = in_row(self.title, 1, self.total)
        in_column(
            head,
            (self.tiles, 1),
            self.trouble,
            in_row((self.bar, 1), self.cancel),
            in_row(self.fetch, 1),
            STRETCH,
            in_row((self.facts, 1), self.compare, self.open),
            on=self,
            margins=(12, 8, 12, 8),
            spacing=4,
        )

    def show_text(self, card: ShelfCardText, *, has_buttons: bool = True) -> None:
        self.key = card.key
        split = card.split
        is_fetching = card.progress is not None
        self.title.setText(card.title)
        self.total.setText(split.total if split is not None else "")
        self.tiles.setVisible(split is not None)
        if split is not None:
            self.tiles.show_tiles(split.tiles, slides=False)
            self.tiles.updateGeometry()
        waits = not (card.is_here or card.fetch_title or card.can_be_opened or card.trouble)
        self.trouble.setText("This tokenizer is being opened …" if waits else without_options(card.trouble))
        self.trouble.setVisible(bool(self.trouble.text()))
        self.facts.setText(card.facts)
        self.bar.setVisible(is_fetching)
        self.bar.setValue(round(MOST_PARTS * (card.progress or 0.0)))
        self.cancel.setVisible(is_fetching)
        self.fetch.setVisible(bool(card.fetch_title) and not is_fetching)
        self.fetch.setText(card.fetch_title)
        self.open.setVisible(card.can_be_opened and has_buttons)
        self.compare.setVisible(card.can_be_compared and has_buttons)
        for button in (self.fetch, self.cancel, self.open, self.compare):
            name_widget(button, f"{button.text()}: {card.title}")
        said = self.tiles.accessibleDescription() if split is not None else self.trouble.text()
        self.setAccessibleName(", ".join(filter(None, (card.title, self.total.text(), said, card.facts))))


class ShelfSheet(QWidget):
    """A sheet of cards in rows, below a line about the text. It has as many columns as fit."""

    fetch_wanted = Signal(str)
    cancel_wanted = Signal(str)
    open_wanted = Signal(str)
    compare_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None, *, has_buttons: bool = True) -> None:
        super().__init__(parent)
        self.cards: list[ShelfCard] = []
        self._has_buttons = has_buttons
        self.head = scale_font(muted_label(), LARGE)
        self._grid = QGridLayout()
        self._grid.setSpacing(8)
        self._columns = 0
        in_column(self.head, self._grid, 1, on=self, margins=(8, 8, 8, 8), spacing=8)

    def show_cards(self, head: str, texts: Sequence[ShelfCardText]) -> None:
        self.head.setText(head)
        while len(self.cards) < len(texts):
            self.cards.append(self._new_card())
            self._columns = 0
        for number, card in enumerate(self.cards):
            card.setVisible(number < len(texts))
            if number < len(texts):
                card.show_text(texts[number], has_buttons=self._has_buttons)
        self._arrange()

    def _new_card(self) -> ShelfCard:
        card = ShelfCard(self)
        for name in ("fetch_wanted", "cancel_wanted", "open_wanted", "compare_wanted"):
            getattr(card, name).connect(getattr(self, name))
        return card

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def minimumSizeHint(self) -> QSize:
        """Return a size that has room for one column. Otherwise the window could not become narrower than all current
        columns.
        """
        return QSize(zoomed(LEAST_WIDTH), super().minimumSizeHint().height())

    def _arrange(self) -> None:
        """Put the cards into as many columns as fit."""
        columns = min(MOST_COLUMNS, max(1, self.width() // zoomed(LEAST_WIDTH)))
        if columns == self._columns:
            return
        self._columns = columns
        for number, card in enumerate(self.cards):
            self._grid.addWidget(card, number // columns, number % columns)
        for column in range(MOST_COLUMNS):
            self._grid.setColumnStretch(column, int(column < columns))


def picture_of_cards(head: str, texts: Sequence[ShelfCardText], parent: QWidget) -> QWidget:
    """Return a widget that is copied or saved as a picture.

    It shows the cards of all opened tokenizers, without buttons.
    """
    sheet = ShelfSheet(parent, has_buttons=False)
    sheet.hide()
    width = zoomed(PICTURE_WIDTH)
    sheet.resize(width, 10)
    sheet.show_cards(head, [text for text in texts if text.is_here])
    sheet.resize(width, sheet.heightForWidth(width))
    sheet.setBackgroundRole(parent.backgroundRole())
    return sheet


def image_of_cards(head: str, texts: Sequence[ShelfCardText], parent: QWidget) -> QImage:
    sheet = picture_of_cards(head, texts, parent)
    image = picture_of(sheet)
    sheet.deleteLater()
    return image
