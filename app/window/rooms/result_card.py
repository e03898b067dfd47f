"""The card at the end of a watched run. It says what was learned, and what the user can try next."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QMenu, QPushButton

from app.window.actions import Actions
from app.window.parts.layouts import AtTop, in_column, in_row
from app.window.parts.widgets import LinkedText, label, muted_label, name_widget, paragraph, push_button, scale_font
from app.window.parts.wording import count_text, link_to_step, number_in, tip, with_readable_blanks
from app.window.recipe.recipe_form import methods
from app.window.rooms.result import Result, WatchedResult

SHELF = "Your word in the tokenizers of GPT-2, Llama 3 and others"


class ResultCard(QFrame):
    def __init__(self, model: WatchedResult, choose_method: Callable[[str, int], None], actions: Actions) -> None:
        super().__init__()
        self.model = model
        self._choose_method = choose_method
        self.setAccessibleName("Result of the training")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.sentence = scale_font(paragraph(), 1.15, bold=True)
        self.numbers = [(scale_font(label(), 1.5, bold=True), muted_label()) for _ in range(3)]
        for _, meaning in self.numbers:
            meaning.setWordWrap(False)
        self.moments = LinkedText("The most important steps")
        self.moments.linkActivated.connect(lambda link: model.show_step(number_in(link)))
        self.next = name_widget(QPushButton("What Next?"), "What next?", "Try another method, or your own text")
        self.next.setMenu(self._what_next(actions))
        self.shelf = push_button(
            "In Other Tokenizers …", actions["shelf"].trigger, "Your word in GPT-2, Llama 3 and others"
        )
        for button in (self.shelf, self.next):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # a click leaves Space to playing
        numbers = in_row(*(in_row(*pair, spacing=6) for pair in self.numbers), 1, spacing=28)
        last = in_row((self.moments, 1), AtTop(self.shelf), AtTop(self.next))
        in_column(self.sentence, numbers, last, on=self, margins=(12, 8, 12, 8), spacing=6)
        model.changed.connect(self._show)
        self._show()

    def _what_next(self, actions: Actions) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self.forbid = menu.addAction("")
        self.forbid.setToolTip(tip("Train again without this merge, as a new run"))
        self.forbid.triggered.connect(lambda _=False: self.model.forbid())
        for method in methods(lambda method: method.is_contrast):
            action = menu.addAction(f"The Same with {method.title}")
            action.setData(method.value)
            action.setToolTip(tip(f"Train a vocabulary of the same size. {method.explanation}"))
            action.triggered.connect(lambda _=False, name=method.value: self._learn_the_same(name))
        menu.addSeparator()
        menu.addActions([actions["open"], actions["paste_text"], actions["share"]])
        return menu

    def _learn_the_same(self, method: str) -> None:
        size = self.model.size
        if size is not None:
            self._choose_method(method, size)

    def _show(self) -> None:
        result = self.model.result
        run = self.model.run
        self.setVisible(result is not None)
        if result is None or run is None:
            return
        self.sentence.setText(" ".join(filter(None, (result.sentence, self.model.why_another_size))))
        for labels, number in zip(self.numbers, (*result.numbers, ("", ""), ("", "")), strict=False):
            labels[0].setText(number[0])
            labels[1].setText(number[1])
        self.moments.setText("  ".join(_moments(result)))
        for action in self.next.menu().actions():
            action.setVisible(action.data() != run.recipe.method)
        self.forbid.setVisible(result.loss is not None and not run.why_no_branch(result.loss.step))
        self.forbid.setText(f"Forbid {result.taker}".replace("&", "&&"))


def _moments(result: Result) -> Iterator[str]:
    loss = result.loss
    (longest, step) = result.longest
    if loss is not None:
        link = link_to_step(loss.step, _linked(f"−{loss.lost:,}, taken by {result.taker}"))
        yield f"The largest loss of a pair: {html.escape(result.loser)} {link}."
    if result.largest is not None:
        token, largest, more = result.largest
        link = link_to_step(largest, html.escape(f"{count_text(abs(more), 'token')} {'more' if more > 0 else 'fewer'}"))
        yield f"The step that changed the corpus most: {html.escape(token)}, {link}."
    longest = link_to_step(step, _linked(longest)) if step else html.escape(longest)
    yield f"The longest token: {longest}."


def _linked(text: str) -> str:
    return with_readable_blanks(html.escape(text))
