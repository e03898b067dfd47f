"""The box that searches everything in the window. It has a field and a list of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import QApplication, QDialog, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.window.find_anything.search import Search, SearchHit, best_hits
from app.window.parts.layouts import in_column
from app.window.parts.row_list import Index, Role, RowListModel
from app.window.parts.tables import list_of_rows
from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.widgets import entry, muted_label, name_widget
from app.window.parts.wording import with_direction_marks
from app.window.parts.zoom import zoomed

HINT = "Type an action, a file, a lesson, a token, two tokens, or the number of a merge"
NOTHING = "Nothing has this name. Find a token by its text, and a merge by its number or its two tokens."
WIDTH, HEIGHT, TOP = 620, 420, 60  # pixels
MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class SearchHitModel(RowListModel[SearchHit]):
    def value_in_role(self, row: int, role: int) -> str | None:
        hit = self.rows[row]
        if role == Role.AccessibleTextRole:
            return ", ".join(filter(None, (hit.title, hit.kind, hit.keys)))
        return hit.title if role == Role.DisplayRole else None


class FindBox(QDialog):
    """A box that searches while the user types.

    Arrow keys move in the list, Enter chooses, and Escape closes the box.
    """

    def __init__(
        self, searches: Sequence[Search], parent: QWidget, why_nothing: Callable[[str], str] = lambda typed: ""
    ) -> None:
        """Make the box. `why_nothing` returns a sentence that explains why there is no result for a typed text."""
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle("Find Anything")
        self.setObjectName("find_anything")
        self._searches = searches
        self._why_nothing = why_nothing
        self.field = name_widget(entry(HINT, can_be_cleared=True), "Find anything")
        self.model = SearchHitModel(parent=self)
        self.list = list_of_rows(self.model, "Search results")
        self.list.setItemDelegate(SearchHitDelegate(self.list))
        self.list.setUniformItemSizes(True)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.nothing = muted_label(NOTHING)
        in_column(self.field, self.nothing, (self.list, 1), on=self, margins=(8, 8, 8, 8))
        self.field.textChanged.connect(self.search)
        self.field.returnPressed.connect(lambda: self.choose(self.list.currentIndex()))
        self.field.installEventFilter(self)
        self.list.clicked.connect(self.choose)
        self._place(parent)
        self.search("")

    def search(self, typed: str) -> None:
        self.model.set_rows(best_hits(typed, self._searches))
        self.nothing.setText(("" if self.model.rows else self._why_nothing(typed)) or NOTHING)
        self.nothing.setVisible(not self.model.rows)
        self.list.setVisible(bool(self.model.rows))
        self.list.setCurrentIndex(self.model.index(0))

    def choose(self, index: QModelIndex) -> None:
        """Close the box, and then act on the chosen result.

        The box is closed first, because the result may move the keyboard focus.
        """
        if index.isValid():
            hit = self.model.rows[index.row()]
            self.close()
            hit.choose()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Let keys that move the selection, such as the arrow keys, act on the list while the field has the focus."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent) and event.key() in MOVES:
            return QApplication.sendEvent(self.list, event)
        return super().eventFilter(watched, event)

    def _place(self, window: QWidget) -> None:
        width = min(zoomed(WIDTH), window.width() - 40)
        self.resize(width, min(zoomed(HEIGHT), window.height() - TOP - 20))
        self.move(window.mapToGlobal(QPoint((window.width() - width) // 2, TOP)))


PADDING = 8
GAP = 16


class SearchHitDelegate(QStyledItemDelegate):
    """A painter of a result: its title, its place in the window, and its keys. Tokens are in a fixed-width font."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, QFontMetrics(option.font).height() + 10)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        hit: SearchHit = index.model().rows[index.row()]  # type: ignore[attr-defined]
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_chosen:
            painter.fillRect(option.rect, option.palette.color(QPalette.ColorRole.Highlight))
        text = option.palette.color(QPalette.ColorRole.HighlightedText if is_chosen else QPalette.ColorRole.Text)
        rect = option.rect.adjusted(PADDING, 0, -PADDING, 0)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(option.font)
        painter.setPen(text if is_chosen else shades_of(option.palette).muted)
        for background in filter(None, (hit.keys, hit.kind)):
            shown = option.fontMetrics.elidedText(background, Qt.TextElideMode.ElideMiddle, rect.width() * 2 // 3)
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | middle, shown)
            rect.setRight(rect.right() - option.fontMetrics.horizontalAdvance(shown) - GAP)
        font = fixed_font(option.font.pointSizeF()) if hit.is_token else option.font
        painter.setFont(font)
        painter.setPen(text)
        title = QFontMetrics(font).elidedText(
            with_direction_marks(hit.title), Qt.TextElideMode.ElideMiddle, rect.width()
        )
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | middle, title)
