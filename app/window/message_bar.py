"""The message bar. It shows a sentence about an error or a result. A button shows details."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QWidget

from app.session.background import Answer, Notice
from app.session.time import pause, timer
from app.window.parts.icons import colored_picture
from app.window.parts.layouts import AtTop, in_column, in_row
from app.window.parts.theme import shades_of
from app.window.parts.widgets import IconButton, fixed_text, flat_button, name_widget, paragraph, selectable
from app.window.parts.wording import without_options
from app.window.parts.zoom import set_zoomed

LOOK_MILLISECONDS, READ_MILLISECONDS = 1_000, 50  # time to notice a sentence, and to read each character of it


class MessageBar(QFrame):
    """A bar with the newest message.

    Some messages can wait. Such a message appears only after the previous message has been visible long enough to be
    read.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Messages")
        self._shown: Notice | None = None
        self._waiting: list[Notice] = []
        self._being_read = timer(self, LOOK_MILLISECONDS, self._show_next)
        self._sign = QLabel()
        self.sentence = selectable(name_widget(paragraph(), "Message"), by_keyboard=True)
        self.details_button = flat_button("Details")
        self.details_button.setCheckable(True)
        self.close_button = IconButton("close", "Close this message", self.close_notice)
        self.details = fixed_text("Details of the message")
        set_zoomed(self.details, QWidget.setMaximumHeight, 120)
        self.details_button.toggled.connect(self.details.setVisible)
        self._answers = QHBoxLayout()
        buttons = (AtTop(self.details_button), AtTop(self.close_button))
        row = in_row(AtTop(self._sign), (self.sentence, 1), self._answers, *buttons)
        in_column(row, self.details, on=self, margins=(12, 8, 8, 8))
        self.setFrameShape(QFrame.Shape.Box)
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        # A palette of the bar would not last: Qt resets it for new buttons, and when the bar moves to another place.
        if self._shown is not None:
            shades = shades_of(self.palette())
            with QPainter(self) as painter:
                painter.fillRect(self.rect(), shades.error_ground if self._shown.is_error else shades.note_ground)
        super().paintEvent(event)

    def show_notice(self, notice: Notice) -> None:
        """Show a message. If it can wait, the current message first stays visible long enough to be read."""
        shown = self._shown if self._being_read.isActive() and not self.isHidden() else None
        if shown is None or not notice.can_wait:
            if shown is not None and shown.can_wait:
                self._waiting.insert(0, shown)
            self._show(notice)
        elif notice != shown and notice not in self._waiting:
            self._waiting.append(notice)

    def close_notice(self) -> None:
        self._remove_shown()
        self._show_next()

    def forget(self) -> None:
        self._waiting.clear()
        self._being_read.stop()
        self.sentence.clear()
        self._remove_shown()

    def _remove_shown(self) -> None:
        """Hide the message, and drop it with its buttons. They may hold a deleted run."""
        self.hide()
        self._shown = None
        self._offer(())

    def remove_former(self) -> None:
        """Remove messages about an earlier training or session. Offers that a user can still accept stay."""
        self._waiting = [notice for notice in self._waiting if notice.is_offer]
        if not self.isHidden() and self._shown is not None and not self._shown.is_offer:
            self.close_notice()

    def remove_outdated(self) -> None:
        """Remove messages that are no longer true."""
        self._waiting = [notice for notice in self._waiting if notice.is_still_true()]
        if not self.isHidden() and self._shown is not None and not self._shown.is_still_true():
            self.close_notice()

    def _show_next(self) -> None:
        self._being_read.stop()
        if self._waiting:
            self._show(self._waiting.pop(0))

    def _show(self, notice: Notice) -> None:
        self._shown = notice
        self._being_read.start(pause(LOOK_MILLISECONDS + READ_MILLISECONDS * len(notice.sentence)))
        shades = shades_of(self.palette())
        color = shades.error if notice.is_error else shades.curve
        self._sign.setPixmap(colored_picture("warning" if notice.is_error else "info", color, 20))
        self.sentence.setText(without_options(notice.sentence))
        self.details.setPlainText(without_options(notice.details))
        self.details_button.setChecked(False)
        self.details_button.setVisible(bool(notice.details) and notice.details != notice.sentence)
        self.details.hide()
        self._offer(notice.answers)
        self.show()

    def _offer(self, answers: tuple[Answer, ...]) -> None:
        while (item := self._answers.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()  # hidden at once, deleted a moment later
                widget.deleteLater()
        for answer in answers:
            button = QPushButton(answer.title)
            button.clicked.connect(self.close_notice)
            button.clicked.connect(lambda _=False, act=answer.act: act())
            self._answers.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            button.show()
