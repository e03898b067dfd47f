"""Gage's compressor: the bytes shrinking over time beside today's compressors, and the table of the block at work."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, takewhile

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.session.session import Session
from app.window.parts.theme import shades_of
from app.window.questions.question_model import QuestionModel
from app.window.questions.question_page import QuestionPage

HEIGHT = 16
GAP = 1.0
WIDE_ENOUGH = 4.0  # pixels of a block that a gap is drawn beside


class BlocksModel(QuestionModel):
    """Lists the rows of the block at work at the moment shown, the newest first."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "blocks")

    @property
    def step(self) -> int:
        return 0 if self.answer is None else min(self._session.cursor.position, len(self.answer.table) - 1)

    @property
    def block(self) -> int | None:
        """The one that the last step belongs to; None before the first."""
        return None if self.answer is None else self.answer.columns["block"][self.step]

    @property
    def ends(self) -> list[float]:
        """Where each block ends, as a share of all bytes."""
        blocks = [] if self.answer is None else self.answer.facts.get("blocks", [])
        stops = [*accumulate(block["stop"] - block["start"] for block in blocks)]
        return [stop / stops[-1] for stop in stops]

    def in_order(self, column: int, *, from_end: bool) -> list[int]:
        block = self.block
        if self.answer is None or block is None:
            return []
        blocks = self.answer.columns["block"]
        here = list(takewhile(lambda row: blocks[row] == block, range(self.step, 0, -1)))
        chosen = set(here)
        return here if column < 0 else [row for row in super().in_order(column, from_end=from_end) if row in chosen]

    @property
    def sentences(self) -> tuple[str, ...]:
        about = () if self.answer is None else (self._about_block(len(self.in_order(-1, from_end=False))),)
        return (*super().sentences, *about)

    def _about_block(self, rows: int) -> str:
        block, blocks = self.block, [] if self.answer is None else self.answer.facts.get("blocks", [])
        if block is None:
            return "Nothing has been replaced yet."
        if not blocks:
            return f"Block {block + 1:,}."
        here = blocks[block]
        text = f" of text {here['text'] + 1:,}" if blocks[-1]["text"] else ""
        different = here["different_bytes"]
        return (
            f"Block {block + 1:,} of {len(blocks):,}: the bytes {here['start'] + 1:,} to {here['stop']:,}{text}, "
            f"{different} different ones. {rows} of the {256 - different} others stand for pairs now."
        )

    def travel_to_block(self, block: int) -> None:
        """Go to its last step; where it has none, to the one before."""
        if self.answer is not None:
            self._session.cursor.go_to(bisect_right(self.answer.columns["block"], block, lo=1) - 1)


class BlocksPage(QuestionPage):
    """A click on a row, a block or the chart goes to that moment."""

    model: BlocksModel

    def __init__(self, model: BlocksModel, parent: QWidget | None = None) -> None:
        self.strip = BlockStrip(model)
        super().__init__(model, parent)
        column = self.layout()
        assert isinstance(column, QVBoxLayout)
        column.addWidget(self.strip)

    def _show(self) -> None:
        self.rows.refresh()
        super()._show()
        self.strip.setVisible(self.model.answer is not None)
        self.strip.update()


class BlockStrip(QWidget):
    """Those before the one at work are done; of very many, several share a pixel."""

    def __init__(self, model: BlocksModel) -> None:
        super().__init__()
        self._model = model
        self.setAccessibleName("Blocks of the texts")
        self.setToolTip("The blocks of the texts, the one at work in orange; click on one to go there")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(320, HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        ends, at = self._model.ends, self._model.block
        shades, width = shades_of(self.palette()), float(self.width())
        with QPainter(self) as painter:
            painter.setPen(Qt.PenStyle.NoPen)
            start = 0.0
            for block, end in enumerate(ends):
                stop = end * width
                if stop - start < 1.0 and block != at and block + 1 < len(ends):
                    continue  # it is drawn with the next
                is_done = at is not None and block < at
                painter.setBrush(shades.bar_next if block == at else shades.bar if is_done else shades.hairline)
                gap = GAP if stop - start >= WIDE_ENOUGH else 0.0
                painter.drawRect(QRectF(start, 0.0, max(1.0, stop - start - gap), float(self.height())))
                start = stop

    def mousePressEvent(self, event: QMouseEvent) -> None:
        ends = self._model.ends
        if ends:
            share = event.position().x() / max(1, self.width())
            self._model.travel_to_block(min(bisect_right(ends, share), len(ends) - 1))
