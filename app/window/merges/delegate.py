"""One cell of the merge table, drawn plainly: the table repaints many times a second while training."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPalette
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.window.merges.model import MergeTableModel
from app.window.parts.left_to_right import from_the_left
from app.window.parts.theme import Shades, fixed_font, shades_of

PADDING = 6
MARK_WIDTH = 3


class MergeDelegate(QStyledItemDelegate):
    """Dims merges still to come, marks the one of the moment shown, and points out ties."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.marked_row = -1
        self._font = parent.font()
        self._fixed = fixed_font(parent.font().pointSizeF())
        self._metrics = QFontMetrics(self._font)
        self._fixed_metrics = QFontMetrics(self._fixed)
        self._bold = QFont(self._fixed)
        self._bold.setWeight(QFont.Weight.DemiBold)
        self.recolor(parent.palette())

    def recolor(self, palette: QPalette) -> None:
        self._shades: Shades = shades_of(palette)
        self._text = palette.color(QPalette.ColorRole.Text)
        self._dim = palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        model = index.model()
        assert isinstance(model, MergeTableModel)
        row, column = index.row(), index.column()
        rect: QRect = option.rect
        is_marked = row == self.marked_row
        if option.state & QStyle.StateFlag.State_Selected or is_marked:
            painter.fillRect(rect, self._shades.mark_ground)
        if is_marked and column == 0:
            painter.fillRect(rect.left(), rect.top(), MARK_WIDTH, rect.height(), self._shades.bar_next)
        text = from_the_left(index.data() or "")
        if not text:
            return
        told = model.columns[column]
        fixed = told.look != "plain"
        painter.setFont(self._bold if told.look == "token" else self._fixed if fixed else self._font)
        tie = told.look == "tie" and model.is_tied(row)
        color = self._dim if model.is_to_come(row) else self._shades.bar_next if tie else self._text
        if told.look == "tie" and not tie and not model.is_to_come(row):
            color = self._shades.muted
        painter.setPen(color)
        inside = rect.adjusted(PADDING, 0, -PADDING, 0)
        metrics = self._fixed_metrics if fixed else self._metrics
        if metrics.horizontalAdvance(text) > inside.width():
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, inside.width())
        side = Qt.AlignmentFlag.AlignRight if told.is_number else Qt.AlignmentFlag.AlignLeft
        painter.drawText(inside, side | Qt.AlignmentFlag.AlignVCenter, text)
