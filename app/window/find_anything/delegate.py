"""One line of what was found: its title, where it belongs, and the keys that reach it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.window.find_anything.found import Found
from app.window.parts.left_to_right import from_the_left
from app.window.parts.theme import fixed_font, shades_of

PADDING = 8
GAP = 16


class FoundDelegate(QStyledItemDelegate):
    """Tokens are written as everywhere in the window, with equally wide characters."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(100, QFontMetrics(option.font).height() + 10)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        found: Found = index.model().found[index.row()]  # type: ignore[attr-defined]
        is_chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        if is_chosen:
            painter.fillRect(option.rect, option.palette.color(QPalette.ColorRole.Highlight))
        text = option.palette.color(QPalette.ColorRole.HighlightedText if is_chosen else QPalette.ColorRole.Text)
        rect = option.rect.adjusted(PADDING, 0, -PADDING, 0)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(option.font)
        painter.setPen(text if is_chosen else shades_of(option.palette).muted)
        for aside in filter(None, (found.keys, found.kind)):
            shown = option.fontMetrics.elidedText(aside, Qt.TextElideMode.ElideMiddle, rect.width() * 2 // 3)
            painter.drawText(rect, Qt.AlignmentFlag.AlignRight | middle, shown)
            rect.setRight(rect.right() - option.fontMetrics.horizontalAdvance(shown) - GAP)
        font = fixed_font(option.font.pointSizeF()) if found.is_token else option.font
        painter.setFont(font)
        painter.setPen(text)
        title = QFontMetrics(font).elidedText(from_the_left(found.title), Qt.TextElideMode.ElideMiddle, rect.width())
        painter.drawText(rect, Qt.AlignmentFlag.AlignLeft | middle, title)
