"""The upper part of the room Watch.

It has a box in which the user chooses a method, and a field for a word.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QWidget

from app.session.session import Session
from app.window.parts.layouts import in_column, in_row
from app.window.parts.widgets import entry, keep_lines, label, muted_label, name_widget, scale_font
from app.window.parts.wording import tip
from app.window.parts.zoom import set_zoomed
from app.window.recipe.recipe_form import RecipeForm, methods
from app.window.rooms.my_word import LONGEST, MyWord
from app.window.rooms.word_view import WordView

QUESTION = "How does {} split your name?"  # the box of methods is in the middle
WHY = "Why the word is split here:"
REASON_LINES = 3
LARGE = 1.25  # size relative to the usual letters


class WatchPanel(QWidget):
    train_wanted = Signal()

    def __init__(self, session: Session, form: RecipeForm) -> None:
        super().__init__()
        self.word = MyWord(session, self)
        self._form = form
        self._playing = session.playing
        self.field = name_widget(entry("Type your name", can_be_cleared=True), "A word to be split")
        self.field.setMaxLength(LONGEST)
        set_zoomed(self.field, QWidget.setMaximumWidth, 320)
        scale_font(self.field, LARGE)
        self.view = WordView()
        self.sentence = muted_label()
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        keep_lines(self.sentence, REASON_LINES)  # nothing below jumps
        policy = self.sentence.sizePolicy()
        policy.setHeightForWidth(False)  # keeps the middle of the window from asking for all the height
        self.sentence.setSizePolicy(policy)
        self.method = self._methods()
        before, behind = (scale_font(label(text.strip()), LARGE) for text in QUESTION.split("{}"))
        question = in_row(before, self.method, behind, self.field, 1)
        in_column(question, self.view, self.sentence, on=self, margins=(4, 4, 4, 0), spacing=4)
        self.field.textChanged.connect(self.word.show_word)
        self.word.changed.connect(self._show)
        self.word.reasons_changed.connect(self._explain)
        form.changed.connect(self._show_method)
        self._show_method()
        self._show()

    def _methods(self) -> QComboBox:
        """Return the box of methods. Methods that can learn a sample quickly come first."""
        box = scale_font(name_widget(QComboBox(), "How it is learned"), LARGE)
        box.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves Space to playing
        at_once = methods(lambda method: method.learns_at_once)
        for method in [*at_once, *methods(lambda method: not method.learns_at_once and not method.serves_languages)]:
            box.addItem(method.title, method.value)
            box.setItemData(box.count() - 1, tip(method.explanation), Qt.ItemDataRole.ToolTipRole)
        box.insertSeparator(len(at_once))
        box.activated.connect(lambda _: self.choose_method(box.currentData()))
        return box

    def choose_method(self, method: str, size: int | None = None) -> None:
        """Train with a different method, and play the steps of the new run.

        `size` is the requested vocabulary size. If it is None, keep the size that the user chose before, if possible.
        """
        self._form.choose_method(method, size)
        self.train_wanted.emit()

    def _show_method(self) -> None:
        """Select the method of the recipe in the box. If the method is not in the box, select nothing."""
        chosen = self._form.value("method")
        place = self.method.findData(chosen)
        self.method.setCurrentIndex(place)
        explained = [method.explanation for method in methods() if method.value == chosen]
        self.method.setToolTip(tip(explained[0] if place >= 0 and explained else ""))

    def _show(self) -> None:
        self.view.show_tiles(self.word.cut, slides=self._playing.has_motion)
        self._explain()

    def _explain(self) -> None:
        reasons = self.word.reasons
        why = (f"{self.word.total}. {WHY} {reasons[0]}", *reasons[1:]) if reasons else (self.word.sentence,)
        self.sentence.setText("\n".join(why))
