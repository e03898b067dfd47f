"""Gage's compressor at the moment shown: the table of the block at work, where blocks end, how small all of it is."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.session.run import Run
from app.session.session import Session
from app.window.parts.watched import Asked, Watched
from app.worker.job import Task
from bpe_core.figures.figure import Line, LineFigure
from bpe_core.gage_file.compressing import sizes_of_texts
from bpe_core.history.history import History
from bpe_core.insight.gage import RunBlocks, blocks_of_run
from bpe_core.learning.methods import Method
from bpe_core.questions.blocks import Blocks

REDRAW_MILLISECONDS = 120
MOST_POINTS = 400
COLUMNS = ("Byte", "Stands for", "Which is", "Count", "Step")
ELSEWHERE = "Gage's compressor is shown here when a run of the recipe gage is."

_Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, eq=False)
class BlockFacts:
    """What holds for all of a run."""

    blocks: RunBlocks
    others: dict[str, int]  # the sizes that other compressors reach
    bytes: int  # that there are to compress


@dataclass(frozen=True)
class Row:
    """A byte of the table: what it stands for, by the names of tokens, and the step that made it so."""

    byte: str
    text: str
    pair: str
    count: int
    step: int  # 1 is the first

    def cells(self) -> tuple[str, ...]:
        return self.byte, self.text, self.pair, f"{self.count:,}", f"{self.step:,}"


class BlocksModel(QAbstractTableModel, Watched):
    """One row a byte that stands for a pair in the block at work."""

    changed = Signal()

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.facts: BlockFacts | None = None
        self.rows: list[Row] = []
        self._history: History | None = None
        self._at = 0
        self._asked: Hashable = None
        self._runs, self._cursor, self._aside = session.runs, session.cursor, session.aside
        self.refresh_on(REDRAW_MILLISECONDS, session.runs.changed, session.cursor.moved, session.cursor.end_moved)

    # -- what is said ----------------------------------------------------------------------

    @property
    def is_about_a_run(self) -> bool:
        return self._history is not None

    @property
    def block(self) -> int | None:
        """The one that the last step belongs to; None before the first."""
        if self._history is None or not self._at:
            return None
        return int(self._history.reasons["block"][self._at - 1])

    @property
    def about_block(self) -> str:
        if self._history is None:
            return ELSEWHERE
        block = self.block
        if block is None:
            return "Nothing has been replaced yet."
        if self.facts is None:
            return f"Block {block + 1:,}."
        blocks = self.facts.blocks
        start, stop, different = (int(column[block]) for column in (blocks.starts, blocks.stops, blocks.different))
        text = f" of text {int(blocks.texts[block]) + 1:,}" if blocks.texts[-1] else ""
        return (
            f"Block {block + 1:,} of {len(blocks):,}: the bytes {start + 1:,} to {stop:,}{text}, "
            f"{different} different ones. {len(self.rows)} of the {256 - different} others stand for pairs now."
        )

    @property
    def sizes_here(self) -> list[tuple[str, int]]:
        """What all blocks take with their tables at the moment shown, and what others make of the same texts."""
        if self._history is None or self.facts is None:
            return []
        return [("Gage", int(self._sizes()[self._at])), *self.facts.others.items()]

    @property
    def bytes(self) -> int:
        """That there are to compress."""
        return 0 if self.facts is None else self.facts.bytes

    @property
    def figure(self) -> LineFigure | None:
        if self._history is None or self.facts is None or not len(self._history):
            return None
        sizes, end = self._sizes(), float(len(self._history))
        places = np.unique(np.linspace(0, len(sizes) - 1, MOST_POINTS).astype(np.int64))
        drawn = [Line("Gage", places.astype(np.float64), sizes[places])]
        for name, size in self.facts.others.items():
            drawn.append(Line(name, np.array([0.0, end]), np.full(2, float(size))))
        marks = (float(self._at),)
        return LineFigure("blocks", "Size of all blocks", "", drawn, "Replacements", "Bytes", marks=marks, first_x=0.0)

    @property
    def shares(self) -> list[float]:
        """Where each block ends, as a part of all bytes."""
        if self.facts is None or not len(self.facts.blocks):
            return []
        ends = np.cumsum(self.facts.blocks.stops - self.facts.blocks.starts)
        shares: list[float] = (ends / ends[-1]).tolist()
        return shares

    def _sizes(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """Of all blocks, after 0, 1, 2 ... steps."""
        assert self._history is not None
        assert self.facts is not None
        return np.concatenate(([self.facts.blocks.size_at_start], self._history.reasons["size"])).astype(np.float64)

    # -- where one can go ------------------------------------------------------------------

    def travel_to(self, at: int) -> None:
        self._cursor.go_to(at)

    def travel_to_row(self, row: int) -> None:
        self.travel_to(self.rows[row].step)

    def travel_to_block(self, block: int) -> None:
        """To its last step; where it has none, to the one before."""
        if self._history is not None:
            self.travel_to(int(np.searchsorted(self._history.reasons["block"], block, side="right")))

    # -- the table -------------------------------------------------------------------------

    def rowCount(self, parent: _Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:
        return len(COLUMNS)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return COLUMNS[section]
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        return self.rows[index.row()].cells()[index.column()] if role == Qt.ItemDataRole.DisplayRole else None

    has_figure = True

    @property
    def asked(self) -> Asked | None:
        """The size after every step, and the block and byte of each."""
        study = self._runs.studies.of(self._runs.shown)
        return None if study is None or self.facts is None else (Blocks(), study)

    # -- finding out -----------------------------------------------------------------------

    def refresh(self) -> None:
        run = self._runs.shown
        self.beginResetModel()
        self._history, self.rows = None, []
        if run is not None and run.history is not None and Method.of(run.recipe).starts_anew:
            self._history, self._at = run.history, min(self._cursor.position, len(run.history))
            self.rows = _rows(run, run.history, self._at)
        self.endResetModel()
        self._ask(run)
        self.changed.emit()

    def _ask(self, run: Run | None) -> None:
        """The facts hold for all of a run, however much of it is learned."""
        key = None if run is None or self._history is None or run.words is None else run.stamp
        if key == self._asked:
            return
        self._asked, self.facts = key, None
        if run is None or run.words is None or key is None:
            return
        words, recipe = run.words, run.recipe

        def work(task: Task) -> BlockFacts:
            found = blocks_of_run(words, recipe, cancelled=task.cancelled)
            return BlockFacts(found, sizes_of_texts(words, cancelled=task.cancelled), words.size)

        self._aside.ask("blocks", work, self._take)

    def _take(self, facts: BlockFacts) -> None:
        self.facts = facts
        self.changed.emit()


def _rows(run: Run, history: History, at: int) -> list[Row]:
    """The table of the block at work, the newest entry first."""
    if not at or run.names is None:
        return []
    blocks, bytes_, names = history.reasons["block"], history.reasons["byte"], run.names.text
    first, base = int(np.searchsorted(blocks, blocks[at - 1])), len(history.alphabet)

    def half(token: int) -> str:
        return names[token] if token < base else f"0x{int(bytes_[token - base]):02X}"

    return [
        Row(
            f"0x{int(bytes_[row]):02X}",
            names[base + row],
            " + ".join(map(half, history.pair(row))),
            int(history.columns.count[row]),
            row + 1,
        )
        for row in range(at - 1, first - 1, -1)
    ]
