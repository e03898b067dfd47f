"""What can be done about groups of texts, in the menu of the corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from app.window.corpus.model import CorpusListModel
from app.window.parts.dialogs import ask_for_draw

DUPLICATES: tuple[tuple[str, Literal["", "documents", "lines"]], ...] = (
    ("Keep All", ""),
    ("Leave Out Documents", "documents"),
    ("Leave Out Lines", "lines"),
)
SAMPLES = ((100, "documents"), (50, "documents"), (10, "documents"), (50, "lines"), (10, "lines"), (1, "lines"))
FIRST_MEGABYTES = (1, 10, 100, 1_000)
SHARES: tuple[tuple[str, Literal["bytes", "words"]], ...] = (
    ("Shares by Bytes", "bytes"),
    ("Shares by Words", "words"),
)


class GroupMenu(QMenu):
    """Filled when it opens, for what is selected then."""

    def __init__(
        self,
        model: CorpusListModel,
        selected: Callable[[], Sequence[int]],
        edit: Callable[[str], None],
        parent: QWidget,
    ) -> None:
        super().__init__("Group", parent)
        self._model, self._selected, self._edit = model, selected, edit
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        rows, model = list(self._selected()), self._model
        here = model.group_at(rows) if rows else None
        if rows:
            self.addAction("New Group").triggered.connect(lambda: self._edit(model.group_anew(rows)))
            for name in model.groups:
                self._add(self, f"Into {name}", name == here, partial(model.group, rows, name))
        self.addAction("From Folders").triggered.connect(lambda: model.group_by_folders(rows))
        if rows and any(model.groups):
            self.addAction("Into No Group").triggered.connect(lambda: model.group(rows, ""))
        if here is not None and model.groups:
            self.addSeparator()
            self.addAction("Name and Weight …").triggered.connect(lambda: self._edit(here))
            self._add_taken(here)
        if model.shares_by:
            self.addSeparator()
            for title, by in SHARES:
                self._add(self, title, model.shares_by == by, partial(model.share_by, by))

    def _add_taken(self, group: str) -> None:
        model = self._model
        unique, first, fraction, of, seed = model.taken(group)
        duplicates = self.addMenu("Duplicates in It")
        for title, what in DUPLICATES:
            self._add(duplicates, title, unique == what, partial(model.leave_out_duplicates, group, what))
        sample = self.addMenu("Take of It")
        for per_cent, what_of in SAMPLES:
            is_all = per_cent == 100
            title = "All" if is_all else f"{per_cent} % of the {what_of.capitalize()}"
            is_so = first is None and 100 * fraction == per_cent and (is_all or of == what_of)
            self._add(sample, title, is_so, partial(model.take, group, per_cent=per_cent, of=what_of))
        sample.addSeparator()
        draw = sample.addAction("Another Draw …")
        draw.setEnabled(fraction < 1)
        draw.triggered.connect(lambda: self._draw(group, seed))
        sample.addSeparator()
        for megabytes in FIRST_MEGABYTES:
            size = megabytes * 10**6
            self._add(sample, f"First {megabytes:,} MB", first == size, partial(model.take, group, first_bytes=size))

    def _draw(self, group: str, before: int) -> None:
        seed = ask_for_draw(self, before)
        if seed is not None:
            self._model.draw(group, seed)

    def _add(self, menu: QMenu, title: str, is_so: bool, do: Callable[[], object]) -> None:
        action = QAction(title.replace("&", "&&"), menu)
        action.setCheckable(True)
        action.setChecked(is_so)
        action.triggered.connect(lambda _: do())
        menu.addAction(action)
