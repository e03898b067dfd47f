"""What a lesson talks about, large in the middle: its words as they are now, or the text that a question is about."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.window.lessons.course import Course
from app.window.lessons.words_view import WordsView
from app.window.parts.theme import fixed_font
from app.window.parts.widgets import muted, paragraph, scrolling

HINT = "Click between two of them to say that they are glued next."
LARGE = 1.5  # times the usual letters


class LessonStage(QWidget):
    """Nothing else is on the screen while a question is open, so nothing gives the answer away."""

    def __init__(self, course: Course, words: WordsView) -> None:
        super().__init__()
        self._course, self._words = course, words
        self.text = paragraph()
        self.text.setFont(fixed_font(LARGE * self.font().pointSizeF()))
        self.text.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.text.setAccessibleName("The text of the lesson")
        self.hint = muted(HINT)
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(32, 32, 32, 32)
        column.setSpacing(16)
        column.addStretch(1)
        for part in (words, self.text, self.hint):
            column.addWidget(part)
        column.addStretch(2)
        self.hint.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scrolling(inside, "What the lesson is about"))
        course.changed.connect(self._show)

    def _show(self) -> None:
        page, lesson = self._course.page(), self._course.lesson
        if page is None or lesson is None:
            return
        self.text.setText("" if page.words else page.about or lesson.text)
        self.text.setVisible(not page.words)
        self.hint.setVisible(bool(page.words) and page.asks_for_pair and self._course.is_predicting)
