"""Small widgets as many topics want them.

Their properties are set by calls: as keywords PySide finds none with an i in a Turkish locale.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QHelpEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QToolTip,
    QWidget,
)

from app.window.parts.icons import icon
from app.window.parts.theme import fixed_font
from app.window.parts.wording import tip


def label(text: str = "") -> QLabel:
    """A text as it is: names and tokens are no markup."""
    made = QLabel(text)
    made.setTextFormat(Qt.TextFormat.PlainText)
    return made


class OneLine(QLabel):
    """A text that never makes its window wider: what has no room is left out, and told by its tip."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        room, metrics = self.contentsRect(), self.fontMetrics()
        with QPainter(self) as painter:
            text = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, text)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent) and not self.toolTip():
            if self.fontMetrics().horizontalAdvance(self.text()) > self.contentsRect().width():
                QToolTip.showText(event.globalPos(), tip(self.text()), self)
            return True
        return super().event(event)


def paragraph(text: str = "") -> QLabel:
    """A text over as many lines as it needs."""
    made = label(text)
    made.setWordWrap(True)
    return made


def muted(text: str = "") -> QLabel:
    """A paragraph that stands back, such as a hint."""
    label = paragraph(text)
    label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    return label


def entry(hint: str = "", *, can_be_cleared: bool = False) -> QLineEdit:
    line = QLineEdit()
    line.setPlaceholderText(hint)
    line.setClearButtonEnabled(can_be_cleared)
    return line


def flat_button(text: str) -> QPushButton:
    button = QPushButton(text)
    button.setFlat(True)
    return button


def small_button(meaning: str) -> QToolButton:
    """A sign without a frame; what it means is told by its tip."""
    button = QToolButton()
    button.setAutoRaise(True)
    button.setToolTip(tip(meaning))
    button.setAccessibleName(meaning)
    return button


def icon_button(icon_name: str, meaning: str) -> QToolButton:
    """A small button that shows an icon, and is found by its name."""
    button = small_button(meaning)
    button.setObjectName(icon_name)
    button.setIcon(icon(icon_name, button.palette()))
    return button


def fixed_text(name: str) -> QPlainTextEdit:
    """Lines to be read and copied, not to be changed."""
    text = QPlainTextEdit()
    text.setReadOnly(True)
    text.setFont(fixed_font())
    text.setAccessibleName(name)
    return text


def scrolling(inside: QWidget, name: str) -> QScrollArea:
    """A frameless view of what may be taller than its place."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QScrollArea.Shape.NoFrame)
    area.setWidget(inside)
    area.setAccessibleName(name)
    return area
