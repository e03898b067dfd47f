"""The page of a chat: a box for the messages, a box for the template, and the rendered text in colours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QGuiApplication, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QFileDialog, QLabel, QMenu, QPlainTextEdit, QSplitter, QTextEdit, QWidget

from app.window.parts.figure_sheet import faint, line_colour
from app.window.parts.layouts import STRETCH, in_column, in_row
from app.window.parts.theme import fixed_font
from app.window.parts.widgets import add_entry, flat_button, name_widget, scale_font
from app.window.parts.wording import tip
from app.window.questions.chat.examples import CHATS, FIRST_CHAT, FIRST_TEMPLATE, TEMPLATES
from app.window.questions.chat.model import MESSAGES, TEMPLATE, ChatModel, ColouredPiece
from app.window.questions.question_form import SMALLER
from app.window.questions.question_page import QuestionPage

MOST_TOKENS = 4_000  # tokens of the rendered chat that are shown
LARGEST_FILE = 2_000_000  # bytes of a file that a box takes
STRONG, WEAK = 0.42, 0.24  # the backgrounds of tokens, in turn
LEAST_HEIGHT = 70  # pixels of a box
OF_BOXES, OF_ANSWER = 1_000, 1_500  # how the boxes and the answer share the height
OWN_TEMPLATE = "The template of the folder. Type or paste another template here."
ONE_MESSAGE = "A list of messages as JSON, or the text of one message of a user."


class TypedText(QWidget):
    """A box for a text, with a menu of examples. The menu also opens a file."""

    typed = Signal(str)

    def __init__(self, title: str, hint: str, examples: Mapping[str, str], files: str) -> None:
        super().__init__()
        self._files = files
        self._examples = examples
        self.box = name_widget(QPlainTextEdit(), title, hint)
        self.box.setPlaceholderText(hint)
        self.box.setFont(fixed_font(self.font().pointSizeF()))
        self.box.setTabChangesFocus(True)
        self.box.setMinimumHeight(LEAST_HEIGHT)
        label = scale_font(QLabel(title), SMALLER)
        label.setBuddy(self.box)
        self.insert = name_widget(flat_button("Insert"), f"{title}: insert", "Replace the text by an example or a file")
        self.menu = QMenu(self)
        for name in examples:
            add_entry(self.menu, name, self._example_taker(name))
        self.menu.addSeparator()
        add_entry(self.menu, "From a File …", self._ask_for_file)
        self.insert.setMenu(self.menu)
        above = in_row(label, STRETCH, self.insert, spacing=4)
        in_column(above, (self.box, 1), on=self, margins=(0, 0, 0, 0), spacing=1)
        self.box.textChanged.connect(lambda: self.typed.emit(self.box.toPlainText()))

    def show_text(self, text: str) -> None:
        """Show a text that the user did not type."""
        with QSignalBlocker(self.box):
            self.box.setPlainText(text)

    def open_file(self, path: str) -> None:
        """Show the text of a file, as if a user had pasted it."""
        if path:
            with open(path, "rb") as file:
                self.box.setPlainText(file.read(LARGEST_FILE).decode("utf-8-sig", errors="replace"))

    def take_example(self, name: str) -> None:
        self.box.setPlainText(self._examples[name])

    def _example_taker(self, name: str) -> Callable[[], None]:
        return lambda: self.take_example(name)

    def _ask_for_file(self) -> None:
        self.open_file(QFileDialog.getOpenFileName(self, self.box.accessibleName(), filter=self._files)[0])


class RenderedChat(QTextEdit):
    """A view of the rendered chat. The background of each token has the colour of its role."""

    def __init__(self) -> None:
        super().__init__()
        name_widget(
            self,
            "The rendered chat",
            "The text that a model gets. Tokens and rows of the same role have the same colour",
        )
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setFont(fixed_font(self.font().pointSizeF()))

    def show_pieces(self, pieces: Sequence[ColouredPiece]) -> None:
        self.clear()
        cursor = QTextCursor(self.document())
        for number, piece in enumerate(pieces[:MOST_TOKENS]):
            form = QTextCharFormat()
            ink = line_colour(QGuiApplication.palette(), piece.colour)
            form.setBackground(faint(ink, WEAK if number % 2 else STRONG))
            form.setToolTip(tip(piece.role))
            cursor.insertText(piece.text, form)
        if len(pieces) > MOST_TOKENS:
            cursor.insertText(" …", QTextCharFormat())
        self.moveCursor(QTextCursor.MoveOperation.Start)


class ChatPage(QuestionPage):
    """A page on which a user types or pastes messages and a template, and sees the tokens that a model gets."""

    def __init__(self, model: ChatModel) -> None:
        super().__init__(model)
        self._chat = model
        self._folder = model.folder
        for name in (MESSAGES, TEMPLATE):
            self.hide_field(name, on=True)
        self.messages = TypedText("Messages", ONE_MESSAGE, CHATS, "Chats (*.json);;All files (*)")
        self.template = TypedText("Template", OWN_TEMPLATE, TEMPLATES, "Templates (*.jinja *.txt);;All files (*)")
        self.messages.show_text(FIRST_CHAT)
        self.template.show_text(FIRST_TEMPLATE)
        self.rendered = RenderedChat()
        self._add_views()
        self.messages.typed.connect(model.choose_messages)
        self.template.typed.connect(model.choose_template)
        model.changed.connect(self._show_chat)
        self._show_chat()

    def _add_views(self) -> None:
        boxes = QSplitter(Qt.Orientation.Horizontal)
        boxes.setChildrenCollapsible(False)
        boxes.addWidget(self.messages)
        boxes.addWidget(self.template)
        self._parts.insertWidget(0, self.rendered)
        self.column.removeWidget(self.said)
        whole = QSplitter(Qt.Orientation.Vertical)
        whole.setChildrenCollapsible(False)
        whole.addWidget(boxes)
        whole.addWidget(self.said)
        whole.setSizes([OF_BOXES, OF_ANSWER])
        self.column.addWidget(whole, 1)

    def _show_chat(self) -> None:
        if self._chat.folder != self._folder:
            self._folder = self._chat.folder
            self.template.show_text("" if self._folder else FIRST_TEMPLATE)
            self._chat.choose_template("" if self._folder else FIRST_TEMPLATE)
            return
        is_known = self._chat.answer is not None
        is_own = not self._chat.value(self._chat.parameter(TEMPLATE))
        if is_known and is_own and not self.template.box.hasFocus():
            self.template.show_text(self._chat.template_of_answer)
        self.rendered.setVisible(is_known)
        self.rendered.show_pieces(self._chat.pieces())
