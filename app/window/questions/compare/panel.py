"""The panel of up to four tokenizers side by side: a slider above, and a column for each tokenizer."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from app.session.run import Run
from app.session.selection import Mark, ShownHighlight
from app.window.parts.layouts import in_column, in_row
from app.window.parts.page import Page
from app.window.parts.widgets import (
    OneLine,
    add_entry,
    filled_menu,
    muted_label,
    name_widget,
    paragraph,
    push_button,
    scale_font,
)
from app.window.parts.wording import tip
from app.window.parts.zoom import set_zoomed
from app.window.questions.compare.cards import LaneColumns, SizeBar
from app.window.questions.compare.lanes_model import LanesModel
from app.window.text.text_model import TokenAt, TokenTextModel
from app.window.text.view.editor import TokenTextEdit

ALONE = (
    "Compare two to four tokenizers at any vocabulary size: how each splits your text, how well it compresses, and in "
    "which words they differ."
)
HOW_TO_GET_ONE = "Train another recipe, or import a tokenizer."
TYPED_HERE = "Your text: type here, and all columns follow"
SHELF = "Your text in the tokenizers of GPT-2, Llama 3 and others"
EDITOR_HEIGHT = 64  # two rows
INVITATION_WIDTH = 460


class LanesPanel(Page):
    """A panel of lanes. While it shows a single word, the key Escape shows the text again."""

    import_wanted = Signal()
    shelf_wanted = Signal()
    why_wanted = Signal(int, int)  # the index of a lane, and the byte asked about
    mark_pointed = Signal(object)  # the Mark of the token under the mouse in a column, or None

    def __init__(self, model: LanesModel, text: TokenTextModel) -> None:
        super().__init__(model)
        self.model = model
        self.editor = TokenTextEdit(text)
        self.columns = LaneColumns(model)
        self.sizes = SizeBar(model)
        self.summary = name_widget(OneLine(), "How far the tokenizers agree")
        self.hint = muted_label(TYPED_HERE)
        self.add = QPushButton("Add")
        self.shelf = push_button(
            "In Other Tokenizers …", self.shelf_wanted.emit, "Your text in GPT-2, Llama 3 and others"
        )
        self.back = push_button("Back to Your Text", lambda: model.look_at_word(None))
        self.recipes = filled_menu("&Train Another Recipe", self, self._fill_recipes)
        self.recipes.setToolTipsVisible(True)
        self.invitation = self._invitation()
        self._lay_out()
        model.changed.connect(self._show)
        for place, column in enumerate(self.columns.all):
            column.text.token_hovered.connect(partial(self._point, place))
            column.text.place_clicked.connect(lambda byte, place=place: self.why_wanted.emit(place, byte))
        self._show()

    # -- its parts -------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.add.setToolTip("Add another tokenizer to the comparison")
        self.add.setMenu(filled_menu("Add", self, self._fill_add))
        self.editor.setAccessibleName("Your text")
        self.editor.setAccessibleDescription("All columns show the text that you type here. Shift+Tab leaves the text.")
        set_zoomed(self.editor, QWidget.setFixedHeight, EDITOR_HEIGHT)
        self.hint.setWordWrap(False)
        self.summary.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        head = in_row(self.hint, (self.summary, 1), self.back, spacing=12)
        below = in_row((self.sizes, 1), self.shelf, self.add)
        beside = in_row((self.columns, 1), (self.invitation, 1), spacing=8)
        in_column(head, self.editor, below, (beside, 1), on=self, margins=(8, 4, 8, 2), spacing=4)

    def _invitation(self) -> QWidget:
        invitation = QWidget()
        inside = QWidget()
        set_zoomed(inside, QWidget.setFixedWidth, INVITATION_WIDTH)
        train = QPushButton("Train Another Recipe")
        train.setMenu(self.recipes)
        buttons = in_row(train, push_button("Import Tokenizer …", self.import_wanted.emit), 1)
        self.how = scale_font(paragraph(HOW_TO_GET_ONE), 1, bold=True)
        in_column(paragraph(ALONE), self.how, buttons, on=inside, spacing=12)
        in_column(2, in_row(1, inside, 1), 3, on=invitation)
        return invitation

    # -- what is shown ---------------------------------------------------------------------

    def _show(self) -> None:
        has_columns = bool(self.model.lanes)
        shows_word = self.model.specimen is not None
        self.sizes.setVisible(has_columns)
        self.add.setVisible(has_columns)
        self.shelf.setVisible(has_columns)
        self.columns.setVisible(has_columns)
        self.invitation.setHidden(self.model.is_ready)
        self.back.setVisible(shows_word)
        self.hint.setHidden(shows_word)
        self.editor.setHidden(shows_word)
        self.add.setEnabled(self.model.can_add)
        only = f"{self.model.choices[0][1]} is the only tokenizer so far. " if len(self.model.choices) == 1 else ""
        self.how.setText(only + HOW_TO_GET_ONE)
        self.summary.setText(self.model.summary)
        self._name_symbols()

    def _name_symbols(self) -> None:
        """Show the names of symbols that are not text. The names come from the recipe of each lane.

        The editor of the text belongs to no lane. It uses the names of the first lane.
        """
        views = [self.editor, *(column.text for column in self.columns.all)]
        for view, run in zip(views, [self._run_at(0), *map(self._run_at, range(len(views) - 1))], strict=True):
            if run is not None and run.history is not None:
                view.set_symbol_names(run.history.recipe.names)

    def _point(self, place: int, token: TokenAt | None) -> None:
        run = self._run_at(place)
        self.mark_pointed.emit(None if token is None else Mark.of(run, token.id))

    def _run_at(self, place: int) -> Run | None:
        lanes = self.model.lanes
        return lanes[place].run if place < len(lanes) else None

    def show_highlight(self, shown: ShownHighlight) -> None:
        """Frame the token under the mouse in all columns."""
        self.editor.show_highlight(shown.highlight)
        for place, column in enumerate(self.columns.all):
            column.text.show_highlight(shown.in_run(self._run_at(place)))

    def look_at_word(self, word: str, lane: int) -> None:
        """Show one word instead of the text, and ask why a lane splits it at the first place where the lanes differ."""
        self.model.look_at_word(word)
        self.why_wanted.emit(lane, self.model.first_difference(word))

    def choose_another(self) -> None:
        """Move the focus to the box that chooses the run of the last column."""
        if self.model.is_ready:
            self.columns.all[len(self.model.lanes) - 1].card.run.setFocus()

    def _fill_add(self, menu: QMenu) -> None:
        numbers = self.model.numbers
        for number, title in self.model.choices:
            if number not in numbers:
                add_entry(menu, title, partial(self.model.choose, [*numbers, number]))
        menu.addSeparator()
        menu.addMenu(self.recipes)
        menu.addAction("&Import Tokenizer …").triggered.connect(self.import_wanted)

    def _fill_recipes(self, menu: QMenu) -> None:
        for name, explanation in self.model.recipes.items():
            add_entry(menu, name, partial(self.model.train, name))
            menu.actions()[-1].setToolTip(tip(explanation))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.model.specimen is not None:
            self.model.look_at_word(None)
        else:
            super().keyPressEvent(event)
