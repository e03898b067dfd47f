"""Two tokenizers side by side: the text in both colourings, the merges that differ, and what it comes to."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QColor, QPalette, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSplitter,
    QTableView,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.window.parts.page import Page
from app.window.parts.theme import fixed_font
from app.window.parts.widgets import label, paragraph
from app.window.questions.compare.model import CompareModel, CutText
from app.window.text.view.colouring import colours_of
from app.window.text.view.palette import TokenPalette

ROW_HEIGHT = 22
AGREED_ALPHA = 105  # of a fill that both cuts have: what differs stands out
NOTHING_CHOSEN = "Choose another run, or open a tokenizer, to compare with the one shown."


class CutTextView(QTextEdit):
    """A text that cannot be changed, token by token in colour; what the other cuts differently is underlined."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setAccessibleName(name)
        self.setUndoRedoEnabled(False)

    def show_cut(self, cut: CutText | None) -> None:
        place = self.verticalScrollBar().value()
        self.clear()
        if cut is None or cut.places is None:
            return
        palette = TokenPalette.matching(self.palette())
        colours = colours_of(cut.data, cut.places).tolist()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        for token, colour in zip(cut.tokens, colours, strict=True):
            cursor.insertText(token.text, _format(palette, palette.fills[colour], token.differs))
        cursor.endEditBlock()
        self.verticalScrollBar().setValue(place)


class ComparePage(Page):
    """A click on a row travels to that merge."""

    import_wanted = Signal()

    def __init__(self, model: CompareModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self.choice = QComboBox()
        self.choice.setAccessibleName("Compare with")
        self.choice.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.choice.setMinimumContentsLength(12)
        self.open = QPushButton("Open …")
        self.open.setToolTip("Open a tokenizer made elsewhere and compare with it")
        self.totals = paragraph()
        self.summary = paragraph()
        self.summary.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.titles = (label(), label())
        self.texts = (CutTextView("Your text, as it is cut here"), CutTextView("Your text, as it is cut there"))
        self.table = _table(model)
        self._lay_out()
        self._connect()
        self._fill_choices()
        self._show()

    def recolor(self) -> None:
        self._show()

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.addWidget(label("Compare with"))
        row.addWidget(self.choice, 1)
        row.addWidget(self.open)
        texts = QSplitter(Qt.Orientation.Vertical)
        for title, view in zip(self.titles, self.texts, strict=True):
            title.setForegroundRole(QPalette.ColorRole.PlaceholderText)
            half = QWidget()
            column = QVBoxLayout(half)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(2)
            column.addWidget(title)
            column.addWidget(view, 1)
            texts.addWidget(half)
        whole = QSplitter(Qt.Orientation.Horizontal)
        whole.addWidget(texts)
        whole.addWidget(self.table)
        whole.setStretchFactor(0, 3)
        whole.setStretchFactor(1, 2)
        whole.setChildrenCollapsible(False)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 4)
        column.addLayout(row)
        column.addWidget(self.totals)
        column.addWidget(whole, 1)
        column.addWidget(self.summary)

    def _connect(self) -> None:
        model = self.model
        model.changed.connect(self._show)
        model.choices_changed.connect(self._fill_choices)
        self.choice.activated.connect(lambda: model.choose(self.choice.currentData()))
        self.open.clicked.connect(self.import_wanted)
        self.table.clicked.connect(self._travel)
        self.table.activated.connect(self._travel)
        one, other = (view.verticalScrollBar() for view in self.texts)
        one.valueChanged.connect(other.setValue)
        other.valueChanged.connect(one.setValue)

    def _travel(self, index: QModelIndex) -> None:
        self.model.travel_to_row(index.row())

    def _fill_choices(self) -> None:
        chosen = self.model.other
        self.choice.clear()
        self.choice.addItem("nothing", None)
        for number, title in self.model.choices():
            self.choice.addItem(title, number)
            if chosen is not None and chosen.number == number:
                self.choice.setCurrentIndex(self.choice.count() - 1)

    def _show(self) -> None:
        model = self.model
        self.totals.setText(model.trouble or model.totals or NOTHING_CHOSEN)
        self.summary.setText(model.summary)
        self.summary.setVisible(bool(model.summary))
        cuts = model.cut or (None, None)
        for title, view, cut in zip(self.titles, self.texts, cuts, strict=True):
            title.setText("" if cut is None else cut.title)
            view.show_cut(cut)


def _table(model: CompareModel) -> QTableView:
    table = QTableView()
    table.setAccessibleName("Steps that differ")
    table.setModel(model)
    table.setFont(fixed_font(table.font().pointSizeF()))
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(ROW_HEIGHT)
    table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
    table.setShowGrid(False)
    return table


def _format(palette: TokenPalette, fill: QColor, differs: bool) -> QTextCharFormat:
    look = QTextCharFormat()
    ground = QColor(fill)
    if not differs:
        ground.setAlpha(AGREED_ALPHA)
    look.setBackground(ground)
    look.setForeground(palette.ink)
    if differs:
        look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
        look.setUnderlineColor(palette.mark)
        look.setFontWeight(700)
    return look
