"""A session at one moment, as a frozen value: what a file holds, and what is compared to know what changed.

Taking one costs next to nothing: histories and word tables are views that never change, so a run that is being trained
can be written by another thread while it goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError
from bpe_core.history.history import History, Int64s
from bpe_core.recipes.recipe import Recipe

RunState = Literal["paused", "ended", "failed"]


@dataclass(frozen=True)
class Fingerprint:
    """A fingerprint of a file as it was when it was read, to tell later whether it has changed."""

    size: int
    modified_ns: int
    sha256: str = ""  # in hexadecimal; empty while it is not computed


@dataclass(frozen=True)
class SavedSource:
    """A text of the corpus: a file by its path, or a text that was given directly."""

    name: str
    path: str | None = None
    text: str | None = field(default=None, repr=False)  # exactly one of path and text is None
    encoding: str | None = None
    fingerprint: Fingerprint | None = None  # of a file
    column: str = ""  # of a table: the one that holds its texts, if a person chose it
    word_list: bool | None = None  # whether it holds words with their counts, if a person said so
    group: str = ""  # the name of the one it is in; without a name it is in none
    picked: tuple[str, ...] = field(default=(), repr=False)  # of a folder only these files, by their paths in it


@dataclass(frozen=True, eq=False)
class SavedRun:
    number: int
    recipe: Recipe
    sources: tuple[SavedSource, ...] = ()
    words: WordTable | None = None  # enough to go on from, whatever became of the sources
    history: History | None = None
    symbol_counts: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    state: RunState = "paused"
    sentence: str = ""  # why it ended or failed
    parent: int | None = None  # the number of the run that it goes on from, in another way or on other texts
    names: tuple[str, ...] = ()  # of its texts, where nothing else of these is kept

    @property
    def names_of_texts(self) -> tuple[str, ...]:
        return tuple(source.name for source in self.sources) or self.names

    @property
    def learned(self) -> int:
        return 0 if self.history is None else len(self.history)

    @property
    def substance(self) -> tuple[object, ...]:
        return self.number, self.recipe, self.sources, self.learned, self.state, self.sentence


@dataclass(frozen=True)
class Bookmark:
    """A moment of a run that a person wants to find again, with a note."""

    run: int
    merge: int  # after how many merges the moment is
    note: str = ""

    @property
    def reference(self) -> str:
        """Write the moment where there are no links.

        >>> Bookmark(2, 1204).reference
        'bpe:2#1204'
        """
        return f"bpe:{self.run}#{self.merge}"


@dataclass(frozen=True)
class View:
    """A view: what was looked at. A change of it does not change the session."""

    shown_run: int | None = None
    position: int = 0
    is_live: bool = True
    layout: Mapping[str, Any] = field(default_factory=dict)  # JSON values, checked by who restores them


@dataclass(frozen=True, eq=False)
class SavedSession:
    recipe: Recipe
    sources: tuple[SavedSource, ...] = ()
    text: str = ""  # the person's own, shown token by token
    runs: tuple[SavedRun, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    filter: Mapping[str, Any] = field(default_factory=dict)  # JSON values
    view: View = View()
    saved_as: str = ""  # of a safety copy: the file that the session belongs to
    was_closed: bool = False  # of a safety copy: the window was closed in peace
    written: datetime | None = None  # when it was as it is here; a file's own time may be another, once it is copied

    def chosen_run(self, name: str, number: int | None = None) -> SavedRun:
        """Find the run of that number; without one the run that was shown, else the last one."""
        learned = [run for run in self.runs if run.history is not None]
        if not learned:
            raise FormatError(
                f"{name} is a session without a run that has learned anything; train one, or name a merge table."
            )
        wanted = self.view.shown_run if number is None else number
        found = next((one for one in learned if one.number == wanted), None)
        if found is None and number is not None:
            there = ", ".join(str(one.number) for one in learned[:20])
            raise FormatError(f"{name} has no run {number} that has learned anything; it has the runs {there}.")
        return found or learned[-1]

    @property
    def substance(self) -> tuple[object, ...]:
        """Return the values that decide whether the session counts as changed since it was saved."""
        runs = tuple(run.substance for run in self.runs)
        return self.recipe, self.sources, self.text, runs, self.bookmarks, dict(self.filter)
