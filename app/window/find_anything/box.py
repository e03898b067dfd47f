"""The field and the list of what it finds, over the upper part of the window."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QDialog, QListView, QVBoxLayout, QWidget

from app.window.find_anything.delegate import FoundDelegate
from app.window.find_anything.found import Found, Search, best
from app.window.parts.widgets import entry, muted

HINT = "Type what to do, a file, a lesson, a token, two tokens, or the number of a merge"
NOTHING = "Nothing is called so. A token is found by its text, a merge by its number or by the two tokens it joins."
WIDTH, HEIGHT, TOP = 620, 420, 60  # pixels
MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
Index = QModelIndex | QPersistentModelIndex
Role = Qt.ItemDataRole


class FoundModel(QAbstractListModel):
    """What was found, the best first."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.found: Sequence[Found] = ()

    def show(self, found: Sequence[Found]) -> None:
        self.beginResetModel()
        self.found = found
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.found)

    def data(self, index: Index, role: int = Role.DisplayRole) -> object:
        if not index.isValid():
            return None
        one = self.found[index.row()]
        if role == Role.AccessibleTextRole:
            return ", ".join(filter(None, (one.title, one.kind, one.keys)))
        return one.title if role == Role.DisplayRole else None


class FindBox(QDialog):
    """Finds as one types; the arrows walk through the list, Enter chooses, Escape closes."""

    def __init__(self, searches: Sequence[Search], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Find Anything")
        self.setObjectName("find_anything")
        self._searches = searches
        self.field = entry(HINT, can_be_cleared=True)
        self.field.setAccessibleName("Find anything")
        self.model = FoundModel(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(FoundDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setAccessibleName("What was found")
        self.nothing = muted(NOTHING)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.addWidget(self.field)
        column.addWidget(self.nothing)
        column.addWidget(self.list, 1)
        self.field.textChanged.connect(self.search)
        self.field.returnPressed.connect(lambda: self.choose(self.list.currentIndex()))
        self.field.installEventFilter(self)
        self.list.clicked.connect(self.choose)
        self._place(parent)
        self.search("")

    def search(self, typed: str) -> None:
        self.model.show(best(typed, self._searches))
        self.nothing.setVisible(not self.model.found)
        self.list.setVisible(bool(self.model.found))
        self.list.setCurrentIndex(self.model.index(0))

    def choose(self, index: QModelIndex) -> None:
        """Close first: what is chosen may want the focus, or open something itself."""
        if index.isValid():
            one = self.model.found[index.row()]
            self.close()
            one.choose()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The keys that move go from the field to the list."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() in MOVES:
            return QApplication.sendEvent(self.list, event)
        return super().eventFilter(watched, event)

    def _place(self, window: QWidget) -> None:
        """Over the middle, below the toolbar, within a small window too."""
        width = min(WIDTH, window.width() - 40)
        self.resize(width, min(HEIGHT, window.height() - TOP - 20))
        self.move(window.mapToGlobal(QPoint((window.width() - width) // 2, TOP)))
