"""The dialog of the shelf: a field for the text, the cards, and buttons that copy or save the cards as a picture."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QDialogButtonBox, QPushButton, QWidget

from app.window.parts.layouts import in_column, in_row
from app.window.parts.widgets import entry, name_widget, paragraph, push_button, scale_font, scrolling
from app.window.parts.wording import tip, with_direction_marks
from app.window.parts.zoom import resize_zoomed
from app.window.rooms.my_word import LONGEST
from app.window.shelf.cards import ShelfSheet
from app.window.shelf.model import ShelfModel

LARGE = 1.2  # size relative to the usual letters
AFTER_A_SPACE = "A&fter a space"
WHY_A_SPACE = "In a sentence, a word follows a space. Most tokenizers have other tokens for the first word of a text."
CHOOSE = "Choose a folder with tokenizers"
ABOUT = "Nothing is downloaded until you press a button. Tokenizers come from huggingface.co and stay on this computer."


class ShelfDialog(QDialog):
    """A dialog that shows how other tokenizers split a text. It stays open beside the window."""

    copy_wanted = Signal()
    save_wanted = Signal()
    folder_wanted = Signal()

    def __init__(self, model: ShelfModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Your Text in Other Tokenizers")
        resize_zoomed(self, 960, 640)
        self.model = model
        self.field = scale_font(name_widget(entry("Type your name", can_be_cleared=True), "The text to split"), LARGE)
        self.field.setMaxLength(LONGEST)
        self.space = QCheckBox(AFTER_A_SPACE)
        self.space.setToolTip(tip(WHY_A_SPACE))
        self.folder = push_button("Your Folder …", self.folder_wanted.emit)
        self.sheet = ShelfSheet()
        self.outcome = paragraph()
        self.outcome.hide()
        self.copy = push_button("Copy Picture", self.copy_wanted.emit, "Copy all cards with tokens as a picture")
        self.save = push_button("Save Picture …", self.save_wanted.emit, "Save these cards as PNG, SVG or PDF")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        for button in (self.folder, self.copy, self.save, *buttons.findChildren(QPushButton)):
            button.setAutoDefault(False)  # Enter in the field presses no button
        head = in_row((self.field, 1), self.space, self.folder)
        below = in_row(self.copy, self.save, 1, buttons)
        cards = scrolling(self.sheet, "The text in each tokenizer")
        in_column(head, (cards, 1), paragraph(ABOUT), self.outcome, below, on=self)
        self.field.textChanged.connect(lambda _: self._look())
        self.space.toggled.connect(lambda _: self._look())
        self.sheet.fetch_wanted.connect(model.fetch)
        self.sheet.cancel_wanted.connect(model.cancel)
        self.sheet.open_wanted.connect(model.open)
        model.changed.connect(self._show)
        self._show()

    def show_text(self, text: str, *, follows_space: bool) -> None:
        """Write a text into the field, and split the text.

        If `follows_space` is true, the text is split as if a space came before it.
        """
        with QSignalBlocker(self.field), QSignalBlocker(self.space):
            self.field.setText(text)
            self.space.setChecked(follows_space)
        self._look()

    def report(self, sentence: str) -> None:
        self.outcome.setText(sentence)
        self.outcome.show()

    def done(self, result: int) -> None:
        self.model.end()
        super().done(result)

    @property
    def head(self) -> str:
        """Return the line above the cards."""
        text = with_direction_marks(self.model.text)
        return f"{text}, after a space" if self.model.follows_space else text

    def _look(self) -> None:
        self.outcome.hide()
        self.model.show_text(self.field.text(), follows_space=self.space.isChecked())

    def _show(self) -> None:
        cards = self.model.cards
        self.sheet.show_cards(self.head, cards)
        has_picture = any(card.is_here for card in cards)
        self.copy.setEnabled(has_picture)
        self.save.setEnabled(has_picture)
        folder = self.model.folder
        self.folder.setToolTip(
            tip(f"Tokenizers are taken from {folder}, too" if folder else "Choose a folder of tokenizers")
        )
