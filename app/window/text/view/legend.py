"""What the colours mean while tokens are coloured by a scale."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.window.parts.wording import tip
from app.window.text.model import TokenTextModel
from app.window.text.view.palette import TokenPalette

MARGIN = 4


class ScaleLegend(QWidget):
    """A field for each colour, with what it stands for; hidden while colours mean the tokens themselves."""

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
        return [] if self._model.scale is None else self._model.scale.fields

    def _show(self) -> None:
        scale = self._model.scale
        self.setVisible(scale is not None)
        if scale is not None:
            self.setAccessibleName(f"{scale.tip}: {', '.join(scale.fields)}")
            self.setToolTip(tip(scale.tip))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette, texts = TokenPalette.matching(self.palette()), self.texts()
        with QPainter(self) as painter:
            width = self.width() / max(1, len(texts))
            for number, (text, fill) in enumerate(zip(texts, palette.scale, strict=False)):
                field = QRectF(number * width, 2, width - 1, self.height() - 4)
                painter.fillRect(field, fill)
                painter.setPen(palette.ink)
                painter.drawText(field, Qt.AlignmentFlag.AlignCenter, text)
