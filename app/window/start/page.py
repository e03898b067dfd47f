"""The page to begin with: one field, a word that is put together before one's eyes, and where to go from there."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QAction, QHideEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QMenu, QPushButton, QToolButton, QVBoxLayout, QWidget

from app.session.playing import Playing
from app.window.parts.icons import icon
from app.window.parts.widgets import entry, icon_button, label, muted, paragraph
from app.window.parts.wording import tip
from app.window.start.model import WordModel
from app.window.start.word_life import LONGEST
from app.window.start.word_view import WordView

TITLE = "How does a tokenizer cut your name?"
ABOUT = (
    "A sample of 4,000 letters was read, and 256 times the pair of neighbours that occurs most was joined. Type a word:"
)
DROP = "Or drop a text, a tokenizer or a session anywhere in this window."
WHY = "Why it ends here:"
WIDEST = 720


class StartPage(QWidget):
    """Whatever is done next, it is left."""

    left = Signal()
    lesson_wanted = Signal()

    def __init__(self, model: WordModel, playing: Playing, actions: Sequence[QAction], samples: QMenu) -> None:
        super().__init__()
        self._model, self._playing, self._samples = model, playing, samples
        self.field = entry("Your name, or any word", can_be_cleared=True)
        self.field.setMaxLength(LONGEST)
        self.field.setAccessibleName("A word to be cut")
        font = self.field.font()
        font.setPointSizeF(1.5 * font.pointSizeF())
        self.field.setFont(font)
        self.view = WordView()
        self.told = label()
        self.told.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.reasons = muted()
        self.reasons.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.back = icon_button("back", "One merge back in this word")
        self.again = icon_button("train", "Again from the beginning")
        self.forward = icon_button("step", "One merge forward in this word")
        self.at_start = QCheckBox("Show this page at the start")
        self.train = QPushButton("Watch the Sample Being Learned")
        self.train.setDefault(True)
        self.lesson = QPushButton("Take the First Lesson")
        self.close_button = QPushButton("Go to the Window")
        self._lay_out(actions)
        self._connect(actions)

    def recolor(self) -> None:
        for button in (self.back, self.again, self.forward):
            button.setIcon(icon(button.objectName(), self.palette()))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._model.begin()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._model.rest()

    def _lay_out(self, actions: Sequence[QAction]) -> None:
        title = label(TITLE)
        font = title.font()
        font.setPointSizeF(1.9 * font.pointSizeF())
        title.setFont(font)
        column = QVBoxLayout()
        column.setSpacing(10)
        column.addStretch(1)
        for part in (title, paragraph(ABOUT), self.field, self.view, self.told):
            column.addWidget(part)
        column.addLayout(_row((self.back, self.again, self.forward)))
        column.addWidget(self.reasons)
        column.addStretch(1)
        column.addLayout(_row((self.train, *map(_button_for, actions), self._sample_button(), self.lesson)))
        column.addWidget(muted(DROP))
        column.addLayout(_row((self.at_start, self.close_button)))
        row = QHBoxLayout(self)
        inside = QWidget()
        inside.setLayout(column)
        inside.setMaximumWidth(WIDEST)
        self.reasons.setMinimumHeight(5 * self.fontMetrics().lineSpacing())  # or the rest would jump at the end
        row.addStretch(1)
        row.addWidget(inside, 100)
        row.addStretch(1)

    def _sample_button(self) -> QToolButton:
        button = QToolButton()
        button.setText("Open a Sample")
        button.clicked.connect(lambda: self._samples.popup(button.mapToGlobal(QPoint(0, button.height()))))
        return button

    def _connect(self, actions: Sequence[QAction]) -> None:
        self.field.textChanged.connect(self._model.look_at)
        self.back.clicked.connect(self._model.back)
        self.again.clicked.connect(self._model.again)
        self.forward.clicked.connect(self._model.forward)
        self._model.changed.connect(self._show)
        self.close_button.clicked.connect(self.left)
        self.lesson.clicked.connect(self.lesson_wanted)

    def _show(self) -> None:
        life, scene = self._model.life, self._model.scene
        if life is None:
            return
        self.view.show_scene(life, scene, slides=self._playing.has_motion)
        self.told.setText(life.scenes[scene].sentence)
        is_at_end = self._model.is_at_end
        self.reasons.setText("\n".join((WHY, *life.reasons)) if is_at_end else "")
        self.back.setEnabled(scene > 0)
        self.forward.setEnabled(not is_at_end)


def _button_for(action: QAction) -> QPushButton:
    button = QPushButton(action.text())
    button.setToolTip(tip(action.toolTip()))
    button.clicked.connect(action.trigger)
    return button


def _row(parts: Sequence[QWidget]) -> QHBoxLayout:
    row = QHBoxLayout()
    row.addStretch(1)
    for part in parts:
        row.addWidget(part)
    row.addStretch(1)
    return row
