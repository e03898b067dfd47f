"""The model of the question `blocks`: how did a byte-pair compressor divide a text into blocks?"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate, takewhile
from typing import Any

from app.session.session import Session
from app.window.questions.question_model import QuestionModel


class BlocksModel(QuestionModel):
    """A model of the rows of one block, with the newest row first.

    The window shows a step of a compressor, and each step belongs to a block. The model has the rows of this block.
    """

    def __init__(self, session: Session) -> None:
        super().__init__(session, "blocks")

    @property
    def step(self) -> int:
        return 0 if self.answer is None else min(self._session.cursor.position, len(self.answer.table) - 1)

    @property
    def block(self) -> int | None:
        """Return the number of the block to which the step shown belongs. Return None until there is an answer."""
        return None if self.answer is None else self.answer.columns["block"][self.step]

    @property
    def ends(self) -> list[float]:
        """Return the position where each block ends, as a share of all bytes from 0 to 1."""
        blocks = [] if self.answer is None else self.answer.facts.get("blocks", [])
        stops = [*accumulate(block["stop"] - block["start"] for block in blocks)]
        return [stop / stops[-1] for stop in stops]

    @property
    def _here(self) -> list[int]:
        if self.answer is None or self.block is None:
            return []
        block = self.block
        blocks = self.answer.columns["block"]
        return list(takewhile(lambda row: blocks[row] == block, range(self.step, 0, -1)))

    @property
    def order(self) -> list[int]:
        here = set(self._here)
        return self._here if self._sorted[0] < 0 else [row for row in super().order if row in here]

    @property
    def sentences(self) -> tuple[str, ...]:
        about = () if self.answer is None else (self._about_block(self.answer.facts, len(self._here)),)
        return (*super().sentences, *about)

    def _about_block(self, facts: Mapping[str, Any], rows: int) -> str:
        block = self.block
        blocks = facts.get("blocks", [])
        if block is None:
            return "Nothing has been replaced yet."
        if not blocks:
            return f"Block {block + 1:,}."
        here = blocks[block]
        text = f" of text {here['text'] + 1:,}" if blocks[-1]["text"] else ""
        different = here["different_bytes"]
        unit = facts["unit"]
        return (
            f"Block {block + 1:,} of {len(blocks):,}: the {unit} {here['start'] + 1:,} to {here['stop']:,}{text}, "
            f"with {different} different values. {rows} of the {256 - different} unused bytes replace pairs now."
        )

    def travel_to_block(self, block: int) -> None:
        """Move the time slider to the last step of a block.

        If the block has no steps, move the slider to the last step before the block.
        """
        if self.answer is not None:
            self._session.cursor.go_to(bisect_right(self.answer.columns["block"], block, lo=1) - 1)
