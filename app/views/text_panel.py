"""The person's text, token by token in colour, with the figures below."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.models.throttle import Throttle
from app.models.token_text import TokenCounts, TokenTextModel
from app.views.theme import shades_of
from app.views.token_text.editor import TokenTextEdit

FIGURES_MILLISECONDS = 100


class TextPanel(QWidget):
    """The editor, and one line of counts."""

    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.edit = TokenTextEdit(model)
        self.edit.set_placeholder("Type or paste a text to see its tokens")
        self.figures = QLabel()
        self.figures.setAccessibleName("Figures of the text")
        self.figures.setContentsMargins(4, 2, 4, 4)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.edit, 1)
        column.addWidget(self.figures)
        throttle = Throttle(FIGURES_MILLISECONDS, self._show_figures, self)
        model.text_changed.connect(throttle.call)
        model.tokens_changed.connect(throttle.call)
        self._show_figures()

    def _show_figures(self) -> None:
        self.figures.setText(figures_text(self._model.counts()))
        self.figures.setStyleSheet(f"color: {shades_of(self.palette()).muted.name()}")


def figures_text(counts: TokenCounts) -> str:
    parts = [f"{counts.characters:,} characters", f"{counts.bytes:,} bytes", f"{counts.tokens:,} tokens"]
    if counts.bytes_per_token is not None:
        parts.append(f"{counts.bytes_per_token:.2f} bytes per token")
    if counts.tokens_per_word is not None:
        parts.append(f"{counts.tokens_per_word:.2f} tokens per word")
    return "  ·  ".join(parts)
