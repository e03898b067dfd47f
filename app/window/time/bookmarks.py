"""The list of bookmarks. A bookmark is a step with a note."""

from __future__ import annotations

import dataclasses
import re

from PySide6.QtCore import QObject, Signal

from app.session.run import NO_RUN, Run
from app.session.session import Session
from app.window.parts.row_list import Role, RowListModel
from bpe_core.history.token_texts import shown
from bpe_core.session_file.values import Bookmark

LONGEST_TOKEN = 40  # bytes
Bookmarks = tuple[Bookmark, ...]

REFERENCE = re.compile(r"\s*(?:bpe:(?P<run>\d{1,9})#)?(?P<merge>\d[\d,]{0,11})\s*")


class BookmarkListModel(RowListModel[Bookmark]):
    """A list model with a row for each bookmark, sorted by run and step. It leaves out bookmarks of deleted runs.

    Every change can be undone.
    """

    here_changed = Signal()  # the bookmark of the step shown has changed

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(session.bookmarks.value, parent)
        self._bookmarks = session.bookmarks
        self._runs = session.runs
        self._cursor = session.cursor
        session.bookmarks.changed.connect(self._show)
        session.runs.changed.connect(self._show)
        session.cursor.moved.connect(self.here_changed)

    # -- the step shown --------------------------------------------------------------------

    @property
    def row_here(self) -> int:
        """Return the row of the bookmark at the step shown. If there is none, return -1."""
        here = self._here()
        return -1 if here is None else next((i for i, mark in enumerate(self.rows) if _place(mark) == here), -1)

    def toggle_here(self) -> None:
        here = self._here()
        if here is None:
            return
        if self.row_here >= 0:
            self.remove(self.row_here)
        else:
            self._put((*self._bookmarks.value, Bookmark(*here)), f"Bookmark {self._step(here[0])} {here[1]:,}")

    def reference_here(self) -> str:
        """Return the reference to the step shown, such as bpe:1#200. If no run is shown, it is empty."""
        here = self._here()
        return "" if here is None else Bookmark(*here).reference

    def _here(self) -> tuple[int, int] | None:
        run = self._runs.shown
        return None if run is None or run.history is None else (run.number, self._cursor.position)

    # -- bookmarks -------------------------------------------------------------------------

    def set_note(self, row: int, note: str) -> None:
        mark = self.rows[row]
        noted = dataclasses.replace(mark, note=note)
        changed = tuple(noted if other is mark else other for other in self._bookmarks.value)
        self._bookmarks.put(changed, f"Note at {self._step(mark.run)} {mark.merge:,} of run {mark.run}", joins=True)

    def remove(self, row: int) -> None:
        mark = self.rows[row]
        self._put(
            tuple(other for other in self._bookmarks.value if other is not mark), f"Remove bookmark {mark.merge:,}"
        )

    def travel_to(self, row: int) -> None:
        self._travel(*_place(self.rows[row]))

    def travel_to_reference(self, text: str) -> str:
        """Move the time slider to the step that a reference names.

        A reference is a text such as `bpe:2#1204`, or `1204` for a step of the run shown. If there is no such step,
        return a sentence about it. Otherwise return an empty string.
        """
        match = REFERENCE.fullmatch(text)
        if match is None:
            return f"Write a {self._runs.wording.step} as bpe:1#200, or write only its number."
        shown = self._runs.shown
        number = shown.number if shown else 0
        if match["run"]:
            number = int(match["run"])
        return self._travel(number, int(match["merge"].replace(",", "")))

    def _travel(self, number: int, merge: int) -> str:
        run = self._runs.find_run(number)
        if run is None:
            return f"There is no run {number:,} in this session."
        if merge > run.learned:
            return f"Run {number:,} has learned {run.wording.counted(run.learned)} so far."
        if run is not self._runs.shown:
            self._runs.show(run)
        self._cursor.go_to(merge)
        return ""

    def _put(self, marks: Bookmarks, label: str) -> None:
        self._bookmarks.put(tuple(sorted(marks, key=_place)), label)

    def _show(self) -> None:
        marks = tuple(mark for mark in self._bookmarks.value if self._runs.find_run(mark.run) is not None)
        self.set_rows(marks, are_same=list(map(_place, marks)) == list(map(_place, self.rows)))
        self.here_changed.emit()

    def value_in_role(self, row: int, role: int) -> str | None:
        mark = self.rows[row]
        first_line = mark.note.strip().split("\n")[0]
        return f"{self._place_text(mark)}\n{first_line or 'no note yet'}" if role == Role.DisplayRole else None

    def description(self, row: int) -> str:
        return "\n".join(filter(None, (self.rows[row].reference, self.rows[row].note)))

    def _place_text(self, mark: Bookmark) -> str:
        several = f"Run {mark.run}, " if len(self._runs.all) > 1 else ""
        step = self._step(mark.run)
        place = f"{several}{step} {mark.merge:,}" if several else f"{step.capitalize()} {mark.merge:,}"
        return f"{place}   {_token_text(self._runs.find_run(mark.run), mark.merge)}".rstrip()

    def _step(self, number: int) -> str:
        run = self._runs.find_run(number)
        return (NO_RUN if run is None else run.wording).step


def _place(mark: Bookmark) -> tuple[int, int]:
    return mark.run, mark.merge


def _token_text(run: Run | None, merge: int) -> str:
    if run is None or run.names is None or run.history is None or not 0 < merge <= run.learned:
        return ""
    return shown(run.names.raw[run.history.indices[merge - 1]], LONGEST_TOKEN)
