"""One text of the corpus, drawn in two lines: its name, and what is known about it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.window.corpus.model import CorpusListModel, Entry
from app.window.parts.theme import shades_of

MARGIN = 10
GAP = 3


class CorpusDelegate(QStyledItemDelegate):
    """Paints an `Entry`; while it is counted, a thin line shows how far."""

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        line = option.fontMetrics.height()
        return QSize(160, 3 * line + 2 * GAP + 14)

    def updateEditorGeometry(
        self, editor: QWidget, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """Over the name of the group."""
        height = max(editor.sizeHint().height(), option.fontMetrics.height() + 6)
        editor.setGeometry(QRect(option.rect.left(), option.rect.top(), option.rect.width(), height))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        entry: Entry = index.data(CorpusListModel.EntryRole)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        shades = shades_of(option.palette)
        painter.save()
        if selected:
            painter.fillRect(option.rect, shades.mark_ground)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(option.rect, option.palette.color(QPalette.ColorRole.AlternateBase))
        elif entry.group is not None:
            painter.fillRect(option.rect, option.palette.color(QPalette.ColorRole.Midlight))
        inside = option.rect.adjusted(MARGIN, 7, -MARGIN, -7)
        line = QRect(inside.left(), inside.top(), inside.width(), option.fontMetrics.height())
        bold = QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        self._write(painter, line, entry.title, bold, option.palette.color(QPalette.ColorRole.Text))
        line.translate(0, line.height() + GAP)
        self._write(painter, line, entry.facts, option.font, shades.muted)
        line.translate(0, line.height() + GAP)
        color = shades.error if entry.is_failed or entry.warning else shades.muted
        state = f"⚠ {entry.state}" if entry.is_failed or entry.warning else entry.state
        self._write(painter, line, state, option.font, color)
        bottom = option.rect.bottom()
        painter.fillRect(option.rect.left(), bottom, option.rect.width(), 1, shades.hairline)
        if entry.fraction is not None:
            painter.fillRect(option.rect.left(), bottom - 2, int(option.rect.width() * entry.fraction), 3, shades.curve)
        painter.restore()

    @staticmethod
    def _write(painter: QPainter, line: QRect, text: str, font: QFont, color: QColor) -> None:
        painter.setFont(font)
        painter.setPen(color)
        metrics = painter.fontMetrics()
        elided = metrics.elidedText(text, Qt.TextElideMode.ElideMiddle, line.width())
        painter.drawText(line, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, elided)
