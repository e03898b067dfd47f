"""A preview of the words into which the recipe splits the text. It is shown before any training."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.window.parts.theme import shades_of
from app.window.parts.widgets import use_fixed_font
from app.window.parts.wording import with_direction_marks
from app.window.parts.zoom import zoomed
from app.window.recipe.recipe_form import RecipeForm

LINES = 4
PADDING = 3.0
GAP = 3.0


class SplitPreview(QWidget):
    """A widget with a few lines of words, each in a box. No merge joins tokens of two boxes."""

    def __init__(self, form: RecipeForm, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words: list[str] = []
        self._sentence = ""
        use_fixed_font(self, 0.9)
        self.setAccessibleName("Preview of the splitting")
        self.setToolTip("The words of your text before any merge. Merges never cross the ends of these boxes")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        form.split.connect(self.show_words)
        form.split_failed.connect(self.show_sentence)

    def show_words(self, words: tuple[str, ...]) -> None:
        self.words = [with_direction_marks(word) for word in words]
        self._sentence = ""
        self.setAccessibleDescription(" | ".join(self.words[:40]))
        self.update()

    def show_sentence(self, sentence: str) -> None:
        self.words = []
        self._sentence = sentence
        self.setAccessibleDescription(sentence)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(zoomed(160), int(LINES * self._line_height() + GAP))

    def _line_height(self) -> float:
        return QFontMetricsF(self.font()).height() + GAP + 1

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            shades = shades_of(self.palette())
            if self._sentence:
                painter.setPen(shades.error)
                painter.drawText(self.rect(), Qt.TextFlag.TextWordWrap, self._sentence)
                return
            metrics = QFontMetricsF(self.font())
            x = 0.0
            y = 0.0
            height = self._line_height()
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for i, word in enumerate(self.words):
                width = min(metrics.horizontalAdvance(word) + 2 * PADDING, float(self.width()))
                if x + width > self.width():
                    x = 0.0
                    y = y + height
                if y + height > self.height():
                    return
                box = QRectF(x, y, width, height - GAP)
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(shades.mark_ground if i % 2 else shades.hairline)
                painter.drawRoundedRect(box, 2.5, 2.5)
                painter.setPen(self.palette().text().color())
                text = metrics.elidedText(word, Qt.TextElideMode.ElideRight, width - 2 * PADDING + 1)
                painter.drawText(box.adjusted(PADDING, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, text)
                x += width + GAP
