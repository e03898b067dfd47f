"""Sentences inside the window: what went wrong, with details on demand."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QGuiApplication, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.session.notices import Answer, Notice
from app.session.timer import pause, timer
from app.window.parts.icons import colored_icon, icon
from app.window.parts.theme import shades_of
from app.window.parts.widgets import fixed_text, flat_button, paragraph, small_button

DISTANCE = 6  # from the edges of what it lies over
LOOK_MILLISECONDS, READ_MILLISECONDS = 1_000, 50  # until a sentence is seen; to read one more character of it


class MessageBar(QFrame):
    """Shows the newest notice until it is closed or another one comes.

    What can wait covers nothing that nobody could read yet; nor is it lost where something else covers it so soon.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("Messages")
        self._shown: Notice | None = None
        self._waiting: list[Notice] = []
        self._being_read = timer(self, LOOK_MILLISECONDS, self._show_next)
        self._sign = QLabel()
        self.sentence = paragraph()
        self.sentence.setAccessibleName("Message")
        self.sentence.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.details_button = flat_button("Details")
        self.details_button.setCheckable(True)
        self.close_button = small_button("Close this message")
        self.details = fixed_text("Details of the message")
        self.details.setMaximumHeight(120)
        self.details_button.toggled.connect(self.details.setVisible)
        self.close_button.clicked.connect(self.close_notice)
        row = QHBoxLayout()
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.sentence, 1)
        self._answers = QHBoxLayout()
        row.addLayout(self._answers)
        row.addWidget(self.details_button, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 8, 8)
        column.addLayout(row)
        column.addWidget(self.details)
        self.setAutoFillBackground(True)
        self.setFrameShape(QFrame.Shape.Box)
        self.hide()

    def lie_over(self, place: QWidget) -> None:
        """Along the bottom of what it tells about, which keeps its size: no tab or button moves under the mouse."""
        self.setParent(place)
        place.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parent():
            self._take_place()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            self._take_place()
        return done

    def _take_place(self) -> None:
        place = self.parentWidget()
        if place is None:
            return
        room = place.rect().adjusted(DISTANCE, DISTANCE, -DISTANCE, -DISTANCE)
        height = min(room.height(), self.layout().totalHeightForWidth(room.width()))  # type: ignore[union-attr]
        self.setGeometry(room.left(), room.bottom() - height + 1, room.width(), height)
        self.raise_()

    def show_notice(self, notice: Notice) -> None:
        """At once, or when what is shown could be read."""
        shown = self._shown if self._being_read.isActive() and not self.isHidden() else None
        if shown is None or not notice.can_wait:
            if shown is not None and shown.can_wait:
                self._waiting.insert(0, shown)
            self._show(notice)
        elif notice != shown and notice not in self._waiting:
            self._waiting.append(notice)

    def close_notice(self) -> None:
        """It was read; what waited comes next."""
        self.hide()
        self._show_next()

    def forget(self) -> None:
        """Say nothing of what was told, nor of what still waits to be."""
        self._waiting.clear()
        self._being_read.stop()
        self.sentence.clear()
        self.hide()

    def _show_next(self) -> None:
        self._being_read.stop()
        if self._waiting:
            self._show(self._waiting.pop(0))

    def _show(self, notice: Notice) -> None:
        self._shown = notice
        self._being_read.start(pause(LOOK_MILLISECONDS + READ_MILLISECONDS * len(notice.sentence)))
        palette = QPalette(QGuiApplication.palette())
        shades = shades_of(palette)
        palette.setColor(QPalette.ColorRole.Window, shades.error_ground if notice.is_error else shades.note_ground)
        self.setPalette(palette)
        color = shades.error if notice.is_error else shades.curve
        self._sign.setPixmap(colored_icon("warning" if notice.is_error else "info", color).pixmap(20, 20))
        self.close_button.setIcon(icon("close", palette))
        self.sentence.setText(notice.sentence)
        self.details.setPlainText(notice.details)
        self.details_button.setChecked(False)
        self.details_button.setVisible(bool(notice.details) and notice.details != notice.sentence)
        self.details.hide()
        self._offer(notice.answers)
        self.show()

    def _offer(self, answers: tuple[Answer, ...]) -> None:
        """A button for each; whichever is chosen closes the message."""
        while (item := self._answers.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()  # at once: it is deleted a moment later
                widget.deleteLater()
        for answer in answers:
            button = QPushButton(answer.title)
            button.clicked.connect(self.close_notice)
            button.clicked.connect(lambda _=False, act=answer.act: act())
            self._answers.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
            button.show()
