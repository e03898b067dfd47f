"""Place the blocks of a text below each other; only visible ones are laid out.

The viewport hangs on an anchor: a block, and the distance of its top above the upper edge. Heights of blocks that were
never visible are estimates. So the scroll bar is approximate, but visible blocks are exact and do not jump.

A line that is too long for one chunk has several blocks. So that no row ends too early, each block leaves its last row
to the next: `carried` characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np

from app.window.text.chunks import ChunksChange, TextChunks
from app.window.text.view.block_layout import BlockLayout, Composition, TextRow, Typesetting, reads_right_to_left

_KEPT_LAYOUTS = 512


@dataclass(frozen=True)
class PlacedBlock:
    index: int
    start: int
    y: float
    layout: BlockLayout


class Flow:
    def __init__(self, chunks: TextChunks, setting: Typesetting) -> None:
        self.chunks = chunks
        self.height = 0.0  # of the viewport
        self.composition: Composition | None = None
        self._directions: dict[int, bool] = {}  # whether a chunk reads from right to left
        self._anchor, self._above = 0, 0.0  # the block at the upper edge, and its part above it
        self._use(setting)

    # -- changes ---------------------------------------------------------------------------

    def reset(self, setting: Typesetting) -> None:
        """Lay out again, for another width or font; the first visible row stays where it is, cut as it may be."""
        block = self.block_at(0.0)
        row = block.layout.row_at(-block.y)
        top, y = block.start + block.layout.nearest_character(row, 0.0), block.y + row.y
        self._use(setting)
        self.show_at_top(top, above=min(0.0, y))

    def _use(self, setting: Typesetting) -> None:
        self.setting = setting
        self._laid_out = lru_cache(maxsize=_KEPT_LAYOUTS)(partial(BlockLayout, setting=setting))
        self.start_over()

    def start_over(self) -> None:
        self._directions.clear()
        self._carried = np.zeros(len(self.chunks), np.int32)
        self._heights = self._estimates(self.chunks.character_counts)
        self._anchor, self._above = 0, 0.0

    def splice(self, change: ChunksChange) -> None:
        self._directions.clear()
        first, old_end = change.first, change.first + change.removed
        added = self._estimates(self.chunks.character_counts[first : first + change.added])
        self._heights = np.concatenate((self._heights[:first], added, self._heights[old_end:]))
        new = np.zeros(change.added, np.int32)
        self._carried = np.concatenate((self._carried[:first], new, self._carried[old_end:]))
        if self._anchor >= old_end:
            self._anchor += change.added - change.removed
        elif self._anchor >= first:
            self._anchor = min(self._anchor, first + change.added - 1)

    def _estimates(self, characters: np.ndarray) -> np.ndarray:
        per_row = max(1.0, self.setting.width / self.setting.metrics.averageCharWidth())
        rows = np.maximum(1, np.ceil(characters / per_row))
        return rows * self.setting.row_height

    # -- blocks ----------------------------------------------------------------------------

    def start_of(self, index: int) -> int:
        return self.chunks.start_of(index) - (int(self._carried[index - 1]) if index else 0)

    def layout(self, index: int) -> BlockLayout:
        """Return the block of a chunk, with the row left by the block before."""
        chunk = self.chunks[index]
        carried = int(self._carried[index - 1]) if index else 0
        text = self.chunks[index - 1][-carried:] + chunk if carried else chunk
        goes_on = index < len(self.chunks) - 1 and not chunk.endswith("\n")
        composition = self._composition_in(index, len(text))
        found = self._laid_out(text, right_to_left=self._right_to_left(index), goes_on=goes_on, composition=composition)
        self._heights[index] = found.height
        self._carried[index] = found.carried
        return found

    def _composition_in(self, index: int, length: int) -> Composition | None:
        if self.composition is None:
            return None
        character, text = self.composition
        within = character - self.start_of(index)
        return (within, text) if self.block_of(character) == index and within <= length else None

    def _right_to_left(self, index: int) -> bool:
        first = index
        while first not in self._directions and not self.chunks.starts_line(first):
            first -= 1
        if first not in self._directions:
            self._directions[first] = reads_right_to_left(self.chunks[first])
        self._directions[index] = self._directions[first]
        return self._directions[index]

    def block_of(self, character: int) -> int:
        """Return the block of the caret before a character."""
        index = self.chunks.chunk_at(character)
        later = index + 1 < len(self.chunks) and character >= self.start_of(index + 1)
        return index + later

    def between(self, top: float, bottom: float) -> list[PlacedBlock]:
        return [block for block in self.visible() if block.y < bottom and block.y + block.layout.height > top]

    def visible(self) -> list[PlacedBlock]:
        """Return the blocks on the screen, from the top, and correct the anchor."""
        for _ in range(3):  # true heights of blocks above may differ from estimates
            blocks = self._blocks_from_anchor()
            last = blocks[-1]
            missing = self.height - (last.y + last.layout.height)
            at_start = self._anchor == 0 and self._above <= 0
            if missing <= 0 or last.index < len(self.chunks) - 1 or at_start:
                break
            self.scroll_by(-missing)
        return blocks

    def _blocks_from_anchor(self) -> list[PlacedBlock]:
        blocks: list[PlacedBlock] = []
        self.scroll_by(0.0)
        index, y = self._anchor, -self._above
        while index < len(self.chunks) and (y < self.height or not blocks):
            start = self.start_of(index)
            layout = self.layout(index)
            blocks.append(PlacedBlock(index, start, y, layout))
            y += layout.height
            index += 1
        return blocks

    # -- scrolling -------------------------------------------------------------------------

    @property
    def total_height(self) -> float:
        return float(self._heights.sum())

    @property
    def offset(self) -> float:
        return float(self._heights[: self._anchor].sum()) + self._above

    def scroll_to(self, offset: float) -> None:
        ends = np.cumsum(self._heights)
        self._anchor = min(int(np.searchsorted(ends, offset, side="right")), len(self.chunks) - 1)
        self._above = max(0.0, offset - float(ends[self._anchor] - self._heights[self._anchor]))
        self.scroll_by(0.0)

    def scroll_to_end(self) -> None:
        self._anchor = len(self.chunks) - 1
        self._above = 0.0
        self.scroll_by(self.layout(self._anchor).height - self.height)

    def show_at_top(self, character: int, above: float = 0.0) -> None:
        """Scroll the row of a character to the top, or `above` pixels below it."""
        self._anchor = self.block_of(min(character, self.chunks.length))
        layout = self.layout(self._anchor)
        self._above = layout.row_of(max(0, character - self.start_of(self._anchor))).y
        self.scroll_by(-round(above))

    def scroll_by(self, distance: float) -> None:
        self._above += distance
        while self._above < 0 and self._anchor > 0:
            self._anchor -= 1
            self._above += self.layout(self._anchor).height
        if self._above < 0:
            self._above = 0.0
        while self._anchor < len(self.chunks) - 1:
            height = self.layout(self._anchor).height
            if self._above < height:
                break
            self._above -= height
            self._anchor += 1

    # -- from places to characters and back ------------------------------------------------

    def place_of(self, character: int) -> tuple[PlacedBlock, TextRow]:
        index = self.block_of(character)
        for block in self.visible():
            if block.index == index:
                break
        else:
            self.layout(index)
            top = float(self._heights[:index].sum())
            block = PlacedBlock(index, self.start_of(index), top - self.offset, self.layout(index))
        return block, block.layout.row_of(character - block.start)

    def block_at(self, y: float) -> PlacedBlock:
        blocks = self.visible()
        return next((block for block in blocks if y < block.y + block.layout.height), blocks[-1])

    def character_at(self, x: float, y: float) -> int:
        """Return the place nearest to a point, for the caret."""
        block = self.block_at(y)
        row = block.layout.row_at(y - block.y)
        return block.start + block.layout.nearest_character(row, x)

    def byte_at(self, x: float, y: float) -> int | None:
        """Return the byte whose cell is under a point, if there is one."""
        block = self.block_at(y)
        if not block.y <= y < block.y + block.layout.height:
            return None
        row = block.layout.row_at(y - block.y)
        begins, ends = block.layout.cells(row)
        under = np.flatnonzero((np.minimum(begins, ends) <= x) & (x < np.maximum(begins, ends)))
        if not len(under):
            return None
        return self.chunks.byte_of(block.start) + row.first_byte + int(under[0])
