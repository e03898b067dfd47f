"""The figures under the text: characters, bytes, tokens, and how they relate."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.session.timer import timer
from app.window.text.model import TokenCounts, TokenTextModel

_PATIENCE_MS = 300  # figures that are not known yet stand as they were for so long, and only then give way


class CountsBar(QLabel):
    """One line of figures that follows the model."""

    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._soon = timer(self, 0, self._follow)  # several changes at once are counted once
        self._patience = timer(self, _PATIENCE_MS, self.refresh)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setContentsMargins(4, 2, 4, 2)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setToolTip("A word is what the pattern makes of the text before any merge.")
        model.text_changed.connect(self._soon.start)
        model.tokens_changed.connect(self._soon.start)
        self.refresh()

    def _follow(self) -> None:
        if not self._model.is_pending:
            self._patience.stop()
            self.refresh()
        elif not self._patience.isActive():
            self._patience.start()

    def refresh(self) -> None:
        """Show the figures as they are known now."""
        counts = self._model.counts()
        self.setText(
            " &nbsp;·&nbsp; ".join(f"<b>{figure}</b> {name}".replace(" ", "&nbsp;") for figure, name in figures(counts))
        )
        self.setAccessibleName(", ".join(f"{figure} {name}" for figure, name in figures(counts)))


def figures(counts: TokenCounts) -> list[tuple[str, str]]:
    """Each figure as it is read, with its name; an ellipsis while it is not known. Blocks of a text are no words.

    >>> figures(TokenCounts(characters=5, bytes=6, tokens=2, words=1, known=True))[2:]
    [('2', 'tokens'), ('3.00', 'bytes per token'), ('2.00', 'tokens per word')]
    """

    def ratio(value: float | None) -> str:
        return "…" if not counts.known else "–" if value is None else f"{value:.2f}"

    figures = [
        (f"{counts.characters:,}", _plural("character", counts.characters)),
        (f"{counts.bytes:,}", _plural("byte", counts.bytes)),
        (f"{counts.tokens:,}" if counts.known else "…", _plural("token", counts.tokens)),
        (ratio(counts.bytes_per_token), "bytes per token"),
        (ratio(counts.tokens_per_word), "tokens per word"),
    ]
    return figures if counts.words or not counts.tokens else figures[:-1]


def _plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"
