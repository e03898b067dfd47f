"""The corpus: the texts to learn from, their order, and the counting of their words."""

from __future__ import annotations

from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtGui import QAction, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLabel,
    QListView,
    QMenu,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.window.corpus.delegate import CorpusDelegate
from app.window.corpus.group_menu import GroupMenu
from app.window.corpus.model import CorpusListModel
from app.window.corpus.picked_files import PickedFiles
from app.window.parts.icons import icon
from app.window.parts.theme import shades_of
from app.window.parts.widgets import icon_button, label

ENCODINGS = (
    ("UTF-8, or as its first bytes say", None),
    ("UTF-8, \N{REPLACEMENT CHARACTER} for what is not valid", "utf-8 replace"),
    ("UTF-8, without what is not valid", "utf-8 skip"),
    ("Latin-1 (ISO 8859-1)", "latin-1"),
    ("Windows-1252", "cp1252"),
    ("Cyrillic (Windows-1251)", "cp1251"),
    ("Japanese (Shift JIS)", "shift_jis"),
    ("Chinese (GB 18030)", "gb18030"),
    ("Korean (EUC-KR)", "euc_kr"),
    ("UTF-16", "utf-16"),
)
WORD_LIST = "Words with Their Counts, Not Texts"

LEAST_HEIGHT = 46  # of the list: a text and its size


class WholeSentence(QLabel):
    """Wraps and is never cut off, however low the panel: it asks for the height that it needs in its width."""

    def setText(self, text: str) -> None:
        super().setText(text)
        self._ask_for_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._ask_for_height()

    def _ask_for_height(self) -> None:
        self.setMinimumHeight(max(0, self.heightForWidth(self.width())) if self.text() else 0)


class CorpusPanel(QWidget):
    """A list with its few buttons below, and a line of totals."""

    def __init__(
        self, model: CorpusListModel, open_action: QAction, words_action: QAction, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.columns_menu = QMenu("Column of the Texts", self)
        self.columns_menu.aboutToShow.connect(self._fill_columns)
        self.list = self._make_list()
        self.list.addAction(words_action)
        self.add_button = icon_button("add", "Add texts")
        self.add_button.clicked.connect(open_action.trigger)
        self.remove_button = icon_button("remove", "Remove the selected texts")
        self.remove_button.clicked.connect(self.remove_selected)
        self.up_button = icon_button(
            "up", "Move the selected texts or groups up: what comes first is read first (Alt+Up)"
        )
        self.up_button.clicked.connect(lambda: self._move(-1))
        self.down_button = icon_button("down", "Move the selected texts or groups down (Alt+Down)")
        self.down_button.clicked.connect(lambda: self._move(1))
        self.cancel_button = QPushButton("Cancel counting")
        self.cancel_button.clicked.connect(model.cancel_counting)
        self.totals = label()
        self.totals.setAccessibleName("Totals of the corpus")
        self.warning = WholeSentence(wordWrap=True)
        self._lay_out()
        model.totals_changed.connect(self._show_totals)
        self.list.selectionModel().selectionChanged.connect(self._enable_buttons)
        self._show_totals()

    def remove_selected(self) -> None:
        self._model.remove(self._selected_rows())

    def recolor(self) -> None:
        for button in (self.add_button, self.remove_button, self.up_button, self.down_button):
            button.setIcon(icon(button.objectName(), self.palette()))

    def _make_list(self) -> QListView:
        view = QListView()
        view.setModel(self._model)
        view.setMinimumHeight(LEAST_HEIGHT)
        view.setItemDelegate(CorpusDelegate(view))
        view.setAccessibleName("Texts of the corpus")
        view.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        view.setDragDropMode(QAbstractItemView.DragDropMode.DragDrop)
        view.setDefaultDropAction(Qt.DropAction.MoveAction)
        view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        view.setUniformItemSizes(True)
        view.setMouseTracking(True)
        view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for title, key, by in (("Move Up", "Alt+Up", -1), ("Move Down", "Alt+Down", 1)):
            move = QAction(title, view)
            move.setShortcut(QKeySequence(key))
            move.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            move.triggered.connect(lambda _=False, by=by: self._move(by))
            view.addAction(move)
        remove = QAction("Remove from Corpus", view)
        remove.setShortcut(QKeySequence(QKeySequence.StandardKey.Delete))
        remove.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        remove.triggered.connect(self.remove_selected)
        view.addAction(remove)
        view.addAction(self._make_encodings_menu(view).menuAction())
        view.addAction(self.columns_menu.menuAction())
        self.files_action = QAction("Files of It …", view)
        self.files_action.triggered.connect(self._show_files)
        view.addAction(self.files_action)
        self.group_menu = GroupMenu(self._model, self._selected_rows, self._edit_group, self)
        view.addAction(self.group_menu.menuAction())
        view.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        return view

    def _make_encodings_menu(self, view: QListView) -> QMenu:
        menu = QMenu("Read As", view)
        for title, encoding in ENCODINGS:
            menu.addAction(title).triggered.connect(lambda _, e=encoding: self._model.read_as(self._selected_rows(), e))
        return menu

    def _fill_columns(self) -> None:
        """The columns that the selected tables have, and whether they are lists of words."""
        rows = self._selected_rows()
        columns, taken, are_lists = self._model.columns_of(rows)
        self.columns_menu.clear()
        for column in columns:
            action = self.columns_menu.addAction(column.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(column == taken)
            action.triggered.connect(lambda _, c=column: self._model.take_column(rows, c))
        self.columns_menu.addSeparator()
        action = self.columns_menu.addAction(WORD_LIST)
        action.setCheckable(True)
        action.setChecked(are_lists)
        action.triggered.connect(lambda checked: self._model.take_as_words(rows, checked))

    def _show_files(self) -> None:
        """Of a folder of which files were picked: which these are, and to take some out."""
        text = self._model.picked_at(self._selected_rows())
        if text is not None:
            PickedFiles(self._model, text, self).open()

    def _edit_group(self, name: str) -> None:
        """Let a person type over its name and weight."""
        index = self._model.index(self._model.row_of_group(name))
        self.list.setCurrentIndex(index)
        self.list.edit(index)

    def _selected_rows(self) -> list[int]:
        return sorted(index.row() for index in self.list.selectedIndexes())

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.setSpacing(2)
        for button in (self.add_button, self.remove_button, self.up_button, self.down_button):
            buttons.addWidget(button)
        buttons.addStretch()
        buttons.addWidget(self.cancel_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 2, 4, 4)
        column.setSpacing(4)
        column.addWidget(self.list, 1)
        column.addWidget(self.warning)
        column.addLayout(buttons)
        column.addWidget(self.totals)

    def _move(self, by: int) -> None:
        """Texts, or whole groups; they stay selected."""
        chosen = self.list.selectionModel()
        current = self.list.currentIndex().row()
        rows = self._selected_rows()
        if not rows:
            return
        places = self._model.shift(rows, by)
        held = places[rows.index(current)] if current in rows and len(places) == len(rows) else places[0]
        chosen.setCurrentIndex(self._model.index(held), QItemSelectionModel.SelectionFlag.ClearAndSelect)
        for place in places:
            chosen.select(self._model.index(place), QItemSelectionModel.SelectionFlag.Select)

    def _show_totals(self) -> None:
        self.totals.setText(self._model.totals())
        self.cancel_button.setVisible(self._model.is_counting)
        self.warning.setText(self._model.warning)
        self.warning.setVisible(bool(self._model.warning))
        self.warning.setStyleSheet(f"color: {shades_of(self.palette()).error.name()}")
        self._enable_buttons()

    def _enable_buttons(self) -> None:
        selected = len(self.list.selectedIndexes())
        self.remove_button.setEnabled(selected > 0)
        self.files_action.setEnabled(selected == 1 and self._model.picked_at(self._selected_rows()) is not None)
        several = self._model.rowCount() > 1
        self.up_button.setEnabled(selected > 0 and several)
        self.down_button.setEnabled(selected > 0 and several)
