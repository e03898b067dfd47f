"""What the colours mean while tokens are coloured by their ages."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.window.text.model import TokenTextModel
from app.window.text.view.palette import TokenPalette

MARGIN = 4


class AgesLegend(QWidget):
    """A field for each colour, with the step it begins with; hidden while colours mean the tokens themselves."""

    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.setFixedHeight(self.sizeHint().height())
        model.colours_changed.connect(self._show)
        self._show()

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 2 * MARGIN)

    def texts(self) -> list[str]:
        """What is written on each field."""
        ages = self._model.ages
        if ages is None or not ages.steps:
            return ["there at first"]
        return ["at first", *(f"from {first:,}" for first in ages.firsts)]

    def _show(self) -> None:
        self.setVisible(self._model.ages is not None)
        self.setAccessibleName("Colours by the step that made a token: " + ", ".join(self.texts()))
        self.setToolTip("A token has the colour of the step that made it: the darker, the later")
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette, texts = TokenPalette.matching(self.palette()), self.texts()
        with QPainter(self) as painter:
            width = self.width() / max(1, len(texts))
            for number, (text, fill) in enumerate(zip(texts, palette.ages, strict=False)):
                field = QRectF(number * width, 2, width - 1, self.height() - 4)
                painter.fillRect(field, fill)
                painter.setPen(palette.ink)
                painter.drawText(field, Qt.AlignmentFlag.AlignCenter, text)
