"""A session as a frozen value, which can be compared with a later state of the session.

Making the value is very fast, because it copies no histories and no word tables. Another thread can write a run to a
file while the run is still training, because the value does not change.
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
    """The size, the modification time and the hash of a file when it was read.

    If a later fingerprint differs, the file has changed since.
    """

    size: int
    modified_ns: int
    sha256: str = ""  # in hexadecimal; empty until it is computed


@dataclass(frozen=True)
class SavedSource:
    """A text of the corpus, which comes from a file or from memory."""

    name: str
    path: str | None = None
    text: str | None = field(default=None, repr=False)  # exactly one of path and text is None
    encoding: str | None = None
    fingerprint: Fingerprint | None = None  # of a file
    column: str = ""  # the column of a table that holds its texts, if a user chose it
    word_list: bool | None = None  # whether it holds words with their counts, if a user said so
    group: str = ""  # the name of its group; empty: it is in no group
    picked: tuple[str, ...] = field(default=(), repr=False)  # the files of a folder that are read, by their paths in it


@dataclass(frozen=True, eq=False)
class SavedRun:
    number: int
    recipe: Recipe
    sources: tuple[SavedSource, ...] = ()
    words: WordTable | None = None  # enough to go on from, even if the sources are gone
    history: History | None = None
    symbol_counts: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    state: RunState = "paused"
    sentence: str = ""  # why it ended or failed
    parent: int | None = None  # the number of the run that it continues, in another way or on other texts
    names: tuple[str, ...] = ()  # the names of its texts, if nothing else about them is kept

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
    """A step of a run that a user wants to find again, with a note."""

    run: int
    merge: int  # the number of merges before the moment
    note: str = ""

    @property
    def reference(self) -> str:
        """Return a text that names the step, for places where links are not possible.

        >>> Bookmark(2, 1204).reference
        'bpe:2#1204'
        """
        return f"bpe:{self.run}#{self.merge}"


@dataclass(frozen=True)
class View:
    """The choice of what the window shows, such as the run and the step.

    If only the view has changed, the session need not be saved.
    """

    shown_run: int | None = None
    position: int = 0
    is_live: bool = True
    layout: Mapping[str, Any] = field(default_factory=dict)  # JSON values, checked by the code that restores them


@dataclass(frozen=True, eq=False)
class SavedSession:
    recipe: Recipe
    sources: tuple[SavedSource, ...] = ()
    text: str = ""  # the user's own text, shown token by token
    runs: tuple[SavedRun, ...] = ()
    bookmarks: tuple[Bookmark, ...] = ()
    filter: Mapping[str, Any] = field(default_factory=dict)  # JSON values
    view: View = View()
    saved_as: str = ""  # in a safety copy: the file that the session belongs to
    was_closed: bool = False  # in a safety copy: the window was closed normally
    # when the session was in this state; a file's own time may differ, once it is copied
    written: datetime | None = None

    def chosen_run(self, name: str, number: int | None = None) -> SavedRun:
        """Return the run with this number. If there is no number, return the run that was shown, or else the last run.

        Raise FormatError if there is no such run with steps.
        """
        learned = [run for run in self.runs if run.history is not None]
        if not learned:
            raise FormatError(
                f"{name} is a session in which no run has learned anything; train a run, or name a merge table."
            )
        wanted = self.view.shown_run if number is None else number
        chosen = next((candidate for candidate in learned if candidate.number == wanted), None)
        if chosen is None and number is not None:
            there = ", ".join(str(candidate.number) for candidate in learned[:20])
            raise FormatError(f"{name} has no run {number} with steps; the runs with steps are {there}.")
        return chosen or learned[-1]

    @property
    def substance(self) -> tuple[object, ...]:
        """Return the contents of the session that need to be saved when they change. The view is left out."""
        runs = tuple(run.substance for run in self.runs)
        return self.recipe, self.sources, self.text, runs, self.bookmarks, dict(self.filter)
