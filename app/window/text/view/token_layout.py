"""The layout of a text for Qt's editor.

It has rows with room for backgrounds, a direction for each line, and named boxes.

Qt asks for the place of each block that it needs, and other blocks are not laid out. Sometimes Qt itself lays
out a block, such as after a keystroke, and puts it at the very top. Such a block is laid out again here, as
is a block whose width has changed.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QPointF, QRect, QRectF, QSizeF, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPainter,
    QPen,
    QPyTextObject,
    QTextBlock,
    QTextDocument,
    QTextFormat,
    QTextLayout,
    QTextLine,
    QTextOption,
)
from PySide6.QtWidgets import QPlainTextDocumentLayout

from app.window.text.chunks import TextChunks, utf16_length
from app.window.text.view.cells import (
    NUMBERS,
    ROW_PADDING,
    TAB_BLANKS,
    BlockCells,
    BlockStyle,
    RowCells,
    SymbolNames,
    name_of,
    reads_right_to_left,
)
from app.window.text.view.palette import TokenPalette

LABEL_SCALE = 0.68  # size of a box's name in sizes of the text
BOX_MARGIN = 6.0  # between the name and the sides of its cell
BOX_CORNER = 2.5
MARGIN = 10  # between the text and the sides
_KEPT = 512  # blocks that are kept, and as many rows


class TokenLayout(QPlainTextDocumentLayout):
    def __init__(self, document: QTextDocument, chunks: TextChunks, colours: Callable[[], TokenPalette]) -> None:
        super().__init__(document)
        self._chunks = chunks
        self._directions: dict[int, bool] = {}  # whether a block reads from right to left
        self._cells: dict[tuple[object, ...], BlockCells] = {}
        self._rows: dict[str, RowCells] = {}
        self._boxes = NamedBoxes(self, chunks, colours)
        document.contentsChange.connect(self._forget)
        self.registerHandler(int(QTextFormat.ObjectTypes.NoObject.value), self._boxes)
        self.use(BlockStyle(document.defaultFont(), 0.0))

    def use(self, setting: BlockStyle) -> None:
        """Set the width, the font, and whether all invisible characters are shown as signs.

        A block is laid out again when Qt asks for it.
        """
        self.setting = setting
        self._cells.clear()
        self._rows.clear()
        self._boxes.sizes.clear()

    @property
    def names(self) -> SymbolNames:
        """Return the names of the base symbols that do not stand for text. The token boxes show these names."""
        return self._boxes.names

    @names.setter
    def names(self, names: SymbolNames) -> None:
        self._boxes.names = names
        self._boxes.sizes.clear()

    def _forget(self) -> None:
        """Clear the caches that depend on the text, because the text has changed."""
        self._directions.clear()
        self._boxes.sizes.clear()

    # -- blocks ----------------------------------------------------------------------------

    def blockBoundingRect(self, block: QTextBlock, /) -> QRectF:
        if not block.isValid():
            return QRectF()
        number = block.blockNumber()
        layout = block.layout()
        if number not in self._directions:  # the text has changed since
            right_to_left = self.right_to_left(number)
            if layout.textOption().textDirection() != _direction(right_to_left):
                layout.clearLayout()
        if not layout.lineCount() or not self._is_own(layout.lineAt(0)):
            self._lay_out(block, layout, self._directions[number])
        last = layout.lineAt(layout.lineCount() - 1)
        height = last.y() - ROW_PADDING + self.setting.height_of(last)
        if not block.next().isValid():  # not by `self.document()`: PySide would then free this layout twice
            height += 2 * ROW_PADDING  # Qt scrolls by letters, and would cut off what is below the last ones
        return QRectF(0.0, 0.0, self.setting.width, height)

    def _is_own(self, line: QTextLine) -> bool:
        """Return whether this object laid out the block of a line, with the current settings."""
        return line.y() >= ROW_PADDING and abs(line.width() - self.setting.width) < 0.1

    def _lay_out(self, block: QTextBlock, layout: QTextLayout, right_to_left: bool) -> None:
        setting = self.setting
        option = QTextOption(Qt.AlignmentFlag.AlignRight if right_to_left else Qt.AlignmentFlag.AlignLeft)
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        option.setTabStopDistance(TAB_BLANKS * setting.metrics.horizontalAdvance(" "))
        option.setTextDirection(_direction(right_to_left))
        layout.setTextOption(option)
        layout.beginLayout()
        y = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(setting.width)
            line.setPosition(QPointF(MARGIN, y + ROW_PADDING))
            y += setting.height_of(line)
        layout.endLayout()
        if block.lineCount() != layout.lineCount():
            block.setLineCount(layout.lineCount())
            self.documentSizeChanged.emit(self.documentSize())

    def right_to_left(self, number: int) -> bool:
        """Return whether a block belongs to a line that is written from right to left."""
        chunks = self._chunks
        first = min(number, len(self._chunks) - 1)
        while first not in self._directions and not chunks.starts_line(first):
            first -= 1
        if first not in self._directions:
            self._directions[first] = reads_right_to_left(chunks[first])
        self._directions[number] = self._directions[first]
        return self._directions[number]

    def cells_of(self, block: QTextBlock) -> BlockCells:
        """Return the cells of the bytes in a block. Blocks with the same content get the same cached object."""
        self.blockBoundingRect(block)
        layout = block.layout()
        text = self._chunks[block.blockNumber()]
        right_to_left = self.right_to_left(block.blockNumber())
        key = (text, right_to_left, layout.preeditAreaPosition(), layout.preeditAreaText())
        kept = self._cells.get(key)
        if kept is None:
            for cache in (self._cells, self._rows):
                if len(cache) >= _KEPT:
                    cache.clear()
            kept = BlockCells(text, layout, self.setting, self._rows, right_to_left=right_to_left)
            self._cells[key] = kept
        return kept


class NamedBoxes(QPyTextObject):
    """A painter of small boxes with names. A box takes the place of an invisible character."""

    def __init__(self, parent: QObject, chunks: TextChunks, colours: Callable[[], TokenPalette]) -> None:
        super().__init__(parent)
        self._chunks = chunks
        self._colours = colours
        self.names = NUMBERS
        self.sizes: dict[int, QSizeF] = {}  # by position; Qt asks for each again and again

    def _name_at(self, document: QTextDocument, position: int) -> str:
        """Return the name of the character at a position of Qt's layout.

        If a character consists of two UTF-16 units, return an empty string for the second unit.

        While a user composes text with an input method, the text is part of one block. Qt counts it in the positions of
        this block, but not in the positions of later blocks. So some names after it may be missing until the
        composition ends.
        """
        chunks = self._chunks
        block = document.findBlock(position)
        if not block.isValid():
            return ""
        composed = block.layout().preeditAreaText()
        start = block.layout().preeditAreaPosition()
        if composed and position - block.position() >= start:
            position -= utf16_length(composed)
        character = chunks.character_of_unit(position)
        if character >= chunks.length or chunks.unit_of(character) != position:
            return ""
        return name_of(chunks.slice(character, character + 1), self.names)

    def intrinsicSize(self, document: QTextDocument, position: int, form: QTextFormat, /) -> QSizeF:
        size = self.sizes.get(position)
        if size is None:
            font = document.defaultFont()
            name = self._name_at(document, position)
            width = QFontMetricsF(_small(font)).horizontalAdvance(name) + 2 * BOX_MARGIN if name else 0.0
            size = self.sizes[position] = QSizeF(width, QFontMetricsF(font).ascent())
        return size

    def drawObject(
        self, painter: QPainter, area: QRectF | QRect, document: QTextDocument, position: int, form: QTextFormat, /
    ) -> None:
        name = self._name_at(document, position)
        if not name:
            return
        font = document.defaultFont()
        colours = self._colours()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(area).adjusted(2, 1, -2, QFontMetricsF(font).descent() - 1)
        painter.setPen(QPen(colours.faint, 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(frame, BOX_CORNER, BOX_CORNER)
        painter.setFont(_small(font))
        painter.setPen(colours.ink)
        painter.drawText(frame, Qt.AlignmentFlag.AlignCenter, name)
        painter.restore()


def _direction(right_to_left: bool) -> Qt.LayoutDirection:
    return Qt.LayoutDirection.RightToLeft if right_to_left else Qt.LayoutDirection.LeftToRight


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * LABEL_SCALE)
    return small
