"""The head of the room Watch: the methods to choose from, and a person's own word."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QPushButton, QWidget

from app.session.session import Session
from app.window.parts.layouts import in_column, in_row
from app.window.parts.widgets import entry, label, muted, named, push_button, scaled
from app.window.recipe.recipe_form import RecipeForm, methods
from app.window.rooms.my_word import LONGEST, MyWord
from app.window.rooms.word_view import WordView

TITLE = "How does a tokenizer split your name?"
WHY = "Why it stays so:"
REASON_LINES = 3
# Fusion hardly shows on a dark ground which button is pressed.
CHIP = """QPushButton { border: 1px solid palette(mid); border-radius: 4px; padding: 4px 10px; }
QPushButton:checked { background: palette(highlight); color: palette(highlighted-text); }
QPushButton:focus { border-color: palette(highlight); }"""


class WatchPanel(QWidget):
    train_wanted = Signal()

    def __init__(self, session: Session, form: RecipeForm) -> None:
        super().__init__()
        self.word = MyWord(session, self)
        self._form, self._playing = form, session.playing
        self.field = named(entry("Type your name", can_be_cleared=True), "A word to be split")
        self.field.setMaxLength(LONGEST)
        self.field.setMaximumWidth(320)
        scaled(self.field, 1.25)
        self.view = WordView()
        self.sentence = muted()
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.sentence.setMinimumHeight(REASON_LINES * self.fontMetrics().lineSpacing())  # nothing below jumps
        policy = self.sentence.sizePolicy()
        policy.setHeightForWidth(False)  # keeps the middle of the window from asking for all the height
        self.sentence.setSizePolicy(policy)
        self.chips = QButtonGroup(self)
        question = in_row(scaled(label(TITLE), 1.25), self.field, 1)
        in_column(
            in_row(*self._chips(), 1), question, self.view, self.sentence, on=self, margins=(4, 4, 4, 0), spacing=4
        )
        self.field.textChanged.connect(self.word.look_at)
        self.word.changed.connect(self._show)
        self.word.reasons_changed.connect(self._explain)
        form.changed.connect(self._show_method)
        self._show_method()
        self._show()

    def _chips(self) -> list[QPushButton]:
        chips = []
        for method in methods(lambda method: method.learns_at_once):
            chip = push_button(method.title, partial(self.choose_method, method.value), method.explanation)
            chip.setObjectName(method.value)
            chip.setCheckable(True)
            chip.setStyleSheet(CHIP)
            self.chips.addButton(chip)
            chips.append(chip)
        return chips

    def choose_method(self, method: str, size: int | None = None) -> None:
        """Learn by another method at once, a vocabulary of that size if one is given, and play it."""
        self._form.choose_method(method, size)
        self.train_wanted.emit()

    def _show_method(self) -> None:
        self.chips.setExclusive(False)  # or one of them stays checked with a method that has no chip
        for chip in self.chips.buttons():
            chip.setChecked(chip.objectName() == self._form.value("method"))
        self.chips.setExclusive(True)

    def _show(self) -> None:
        self.view.show_cut(self.word.cut, slides=self._playing.has_motion)
        self._explain()

    def _explain(self) -> None:
        reasons = self.word.reasons
        self.sentence.setText("\n".join((f"{WHY} {reasons[0]}", *reasons[1:])) if reasons else self.word.sentence)
