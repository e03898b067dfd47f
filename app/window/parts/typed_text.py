"""Fields in which a user types, and functions for them.

A user may start another action without leaving the field. The typed text is then accepted before the action starts. If
the text is not valid, it is refused, and the field is marked.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QValidator
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QSpinBox, QToolTip, QWidget

from app.window.parts.theme import shades_of
from app.window.parts.wording import tip

_REFUSED = "refusal"
_TIP = "tip_without_refusal"


def apply_typed_text() -> bool:
    """Use the text that a user is typing, before another action starts. Return False if the text is refused."""
    field = QApplication.focusWidget()
    if isinstance(field, QAbstractSpinBox):
        is_changed = field.lineEdit().isModified()
        field.interpretText()
        field.lineEdit().setModified(False)
        return not (is_changed and is_refused(field))
    if isinstance(field, QLineEdit) and field.isModified():
        field.setModified(False)
        field.editingFinished.emit()
        return not is_refused(field)
    return True


def is_refused(field: QWidget) -> bool:
    return bool(field.property(_REFUSED))


def mark_refused(field: QWidget, sentence: str) -> None:
    """Put a frame around a field whose value was refused, and show the reason. An empty sentence removes the frame."""
    if sentence == (field.property(_REFUSED) or ""):
        return
    if not is_refused(field):
        field.setProperty(_TIP, field.toolTip())
    field.setProperty(_REFUSED, sentence)
    frame = field.findChild(_Frame)
    if frame is None:
        frame = _Frame(field)
    frame.setVisible(bool(sentence))
    field.setToolTip(tip(sentence) if sentence else field.property(_TIP))
    field.setAccessibleDescription(sentence)
    if sentence and field.hasFocus():
        QToolTip.showText(field.mapToGlobal(QPoint(0, field.height())), tip(sentence), field)


class _Frame(QWidget):
    """A red line around a field. A palette cannot colour the field, because the style sheet takes precedence."""

    def __init__(self, field: QWidget) -> None:
        super().__init__(field)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setGeometry(field.rect())
        field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and isinstance(watched, QWidget):
            self.setGeometry(watched.rect())
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(shades_of(self.palette()).error, 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 3, 3)


class NumberBox(QSpinBox):
    """A field for whole numbers in which a user can type any character.

    If the text is not an allowed number, the field shows a sentence and keeps the old number.
    """

    refused = Signal(str)

    def __init__(self, least: int, most: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(least, most)
        self.setGroupSeparatorShown(True)
        self.refused.connect(lambda sentence: mark_refused(self, sentence))
        self.valueChanged.connect(lambda _: mark_refused(self, ""))

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """Accept every typed character.

        Qt would ignore a refused character. So if the largest number is a million, a typed 99,999,999 would become
        999,999.
        """
        number = self._number(text)
        is_possible = text == self.specialValueText() != "" if number is None else self._has(number)
        return QValidator.State.Acceptable if is_possible else QValidator.State.Intermediate, text, place

    def valueFromText(self, text: str) -> int:
        number = self._number(text)
        return self.minimum() if number is None else number

    def fixup(self, text: str) -> str:
        """Report that a text is not an allowed number. Qt then restores the old number."""
        if typed := self._bare(text):
            possible = f"whole numbers from {self.minimum():,} to {self.maximum():,}"
            self.refused.emit(f"“{typed[:40]}” is not possible. Enter {possible}. The value stays {self.value():,}.")
        return text

    def _has(self, number: int) -> bool:
        return self.minimum() <= number <= self.maximum()

    def _number(self, text: str) -> int | None:
        digits = self._bare(text).replace(",", "").replace(" ", "")
        return int(digits[:20]) if digits.isdecimal() else None

    def _bare(self, text: str) -> str:
        return text.removeprefix(self.prefix()).removesuffix(self.suffix()).strip()
