"""The panel of the text: the editor, the ids beside it, the legend and the counts below."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QLabel, QSplitter, QWidget

from app.session.playing import Step
from app.session.time import timer
from app.window.parts.layouts import in_column
from app.window.parts.wording import count_text, tip
from app.window.parts.zoom import adapt_to_zoom, set_zoomed
from app.window.text.text_model import TokenAt, TokenCounts, TokenTextModel
from app.window.text.view.editor import TokenTextEdit
from app.window.text.view.ids_view import IdsView
from app.window.text.view.palette import TokenPalette

_PATIENCE_MS = 300  # milliseconds that old counts stay while new ones are unknown


class CountsBar(QLabel):
    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._soon = timer(self, 0, self._follow)
        self._patience = timer(self, _PATIENCE_MS, self.refresh)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setContentsMargins(4, 2, 4, 2)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setToolTip(
            "Here spaces and line breaks separate words, with any recipe. In a script without spaces, each line "
            "counts as a word. Unknown tokens are hatched."
        )
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
        counts = self._model.counts()
        parts = (f"<b>{text}".replace(" ", "</b>&nbsp;", 1).replace(" ", "&nbsp;") for text in figures(counts))
        self.setText(" &nbsp;·&nbsp; ".join(parts))
        self.setAccessibleName(", ".join(figures(counts)))


def figures(counts: TokenCounts) -> list[str]:
    """Return each count with its name as text. An unknown count is an ellipsis.

    >>> figures(TokenCounts(characters=5, bytes=6, tokens=2, words=1, known=True))[2:]
    ['2 tokens', '3.00 bytes per token', '2.00 tokens per word']
    >>> figures(TokenCounts(9, 9, 3, 2, True, unknown=1, unknown_bytes=5))[2:5]
    ['3 tokens', '1 unknown', '2.00 bytes per known token']
    >>> figures(TokenCounts(6, 24, 4, 1, True, has_symbols=True))
    ['6 symbols', '4 tokens', '1.50 symbols per token']
    """

    def ratio(value: float | None) -> str:
        if not counts.known:
            return "…"
        return "–" if value is None else f"{value:.2f}"

    if counts.has_symbols:
        known = "known " if counts.unknown else ""
        return [
            count_text(counts.characters, "symbol"),
            count_text(counts.tokens, "token") if counts.known else "… tokens",
            *([f"{counts.unknown:,} unknown"] if counts.unknown else []),
            f"{ratio(counts.symbols_per_token)} symbols per {known}token",
        ]
    figures = [
        count_text(counts.characters, "character"),
        count_text(counts.bytes, "byte"),
        count_text(counts.tokens, "token") if counts.known else "… tokens",
        *([f"{counts.unknown:,} unknown"] if counts.unknown else []),
        f"{ratio(counts.bytes_per_token)} bytes per {'known ' if counts.unknown else ''}token",
        f"{ratio(counts.tokens_per_word)} tokens per word",
    ]
    return figures if counts.words or not counts.tokens else figures[:-1]


MARGIN = 4
LEAST_OF_TEXT = 64  # pixels


class ScaleLegend(QWidget):
    def __init__(self, model: TokenTextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        adapt_to_zoom(self, lambda legend: legend.setFixedHeight(legend.sizeHint().height()))
        model.colours_changed.connect(self._show)
        self._show()

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() + 2 * MARGIN)

    def texts(self) -> list[str]:
        return [] if self._model.scale is None else self._model.scale.fields

    def _show(self) -> None:
        scale = self._model.scale
        self.setVisible(scale is not None)
        if scale is not None:
            self.setAccessibleName(f"{scale.tip}: {', '.join(scale.fields)}")
            self.setToolTip(tip(scale.tip))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = TokenPalette.matching(self.palette())
        texts = self.texts()
        with QPainter(self) as painter:
            width = self.width() / max(1, len(texts))
            for number, (text, fill) in enumerate(zip(texts, palette.scale, strict=False)):
                field = QRectF(number * width, 2, width - 1, self.height() - 4)
                painter.fillRect(field, fill)
                painter.setPen(palette.ink)
                painter.drawText(field, Qt.AlignmentFlag.AlignCenter, text)


class TokenTextPanel(QWidget):
    """A panel with the editor and the ids. A token under the pointer is highlighted in both."""

    token_hovered = Signal(object)  # the TokenAt under the mouse, in the text or among the ids; or None

    def __init__(self, model: TokenTextModel, above: QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.editor = TokenTextEdit(model)
        set_zoomed(self.editor, QWidget.setMinimumHeight, LEAST_OF_TEXT)
        self.ids = IdsView(model)
        self.counts = CountsBar(model)
        self.splitter = QSplitter(Qt.Orientation.Horizontal)
        self.splitter.addWidget(self.editor)
        self.splitter.addWidget(self.ids)
        self.splitter.setStretchFactor(0, 3)
        self.splitter.setStretchFactor(1, 1)
        self.splitter.setCollapsible(0, False)
        below = (self.splitter, 1), ScaleLegend(model), self.counts
        self._column = in_column(*filter(None, [above]), *below, on=self, margins=(0, 0, 0, 0), spacing=2)
        self.editor.token_hovered.connect(self._highlight_id)
        self.editor.selection_changed.connect(self.ids.grid.select)
        self.ids.grid.token_hovered.connect(self._highlight_token)
        self.ids.grid.token_chosen.connect(self._show_token)

    def put_above(self, view: QWidget) -> None:
        """Put a view above the text. The view may later replace the text."""
        self._column.insertWidget(self._column.indexOf(self.splitter), view)

    def put_below(self, view: QWidget) -> None:
        """Put a widget between the text and its counts."""
        self._column.insertWidget(self._column.indexOf(self.splitter) + 1, view)

    def give_room(self, view: QWidget, on: bool) -> None:
        """Hide the text and give its space to the view above it. If `on` is false, show the text again."""
        self.splitter.setHidden(on)
        self._column.setStretchFactor(view, int(on))

    def show_ids(self, on: bool) -> None:
        self.ids.setVisible(on)

    def show_step(self, step: Step) -> None:
        self.editor.show_step(step)
        self.ids.grid.show_step(step)

    def _highlight_id(self, token: TokenAt | None) -> None:
        self.ids.grid.highlight_span(token.span if token else None)
        self.token_hovered.emit(token)

    def _highlight_token(self, token: TokenAt | None) -> None:
        self.editor.highlight_span(token.span if token else None)
        self.token_hovered.emit(token)

    def _show_token(self, token: TokenAt) -> None:
        self.editor.select_bytes(token.start, token.stop)
