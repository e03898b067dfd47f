"""What a report is about: one run, and what a person had to say about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.learning.layout import count_symbols
from bpe_core.questions.compression import symbols_per_token
from bpe_core.recipes.methods import METHODS, Wording
from bpe_core.session_file.values import Bookmark, SavedSession, SavedSource
from bpe_core.studies.study import Study
from bpe_core.studies.texts import KnownWords

MOST_MOMENTS = 6  # at which the text is shown


@dataclass(frozen=True, eq=False)
class Report:
    """Everything the page is made of; what is not known is left out of it."""

    title: str
    history: History
    sources: tuple[SavedSource, ...] = ()
    words: WordTable | None = None
    symbol_counts: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    sentence: str = ""  # why training ended
    text: str = ""  # the person's own, shown at some moments
    moments: tuple[int, ...] = ()  # chosen by the person; else the report chooses
    bookmarks: tuple[Bookmark, ...] = ()
    run: int = 1
    made: datetime = field(default_factory=datetime.now)

    @property
    def wording(self) -> Wording:
        """What the steps are called."""
        return METHODS[self.history.recipe.method].wording

    @property
    def study(self) -> Study:
        return Study(self.history, None if self.words is None else KnownWords(self.words), texts_are_own=True)

    @property
    def compression(self) -> npt.NDArray[np.float64] | None:
        """How many base symbols a token stood for after 0, 1, 2 ... steps, if that is known."""
        return symbols_per_token(self.history, self.symbols)

    @property
    def symbols(self) -> npt.NDArray[np.int64]:
        """How often each base symbol stands in the corpus; where only its words are known, they tell."""
        if len(self.symbol_counts) or self.words is None:
            return self.symbol_counts
        return count_symbols(self.words, self.history.alphabet, self.history.recipe)

    @property
    def shown_moments(self) -> list[int]:
        """After how many merges the text is shown, in order.

        Those a person chose or marked; the beginning, a tenth of the way and the end otherwise.
        """
        end = len(self.history)
        chosen = self.moments or tuple(mark.merge for mark in self.bookmarks)
        moments = {0, end, *(moment for moment in chosen if 0 <= moment <= end)}
        if not chosen:
            moments |= {end // 100, end // 10}
        return sorted(moments)[: MOST_MOMENTS - 1] + ([end] if len(moments) >= MOST_MOMENTS else [])


def report_of(session: SavedSession, run: int | None = None) -> Report:
    """A report of one run of a session: the one that was shown, if none is named."""
    wanted = run if run is not None else session.view.shown_run
    found = [one for one in session.runs if one.history is not None and wanted in (None, one.number)]
    if not found:
        which = "no run that has learned anything" if run is None else f"no run {run} that has learned anything"
        raise BpeError(f"There is {which} in this session, so there is nothing to report.")
    chosen = found[-1]
    assert chosen.history is not None
    names = ", ".join(source.name for source in chosen.sources[:2]) or "a text"
    more = f" and {len(chosen.sources) - 2} more" if len(chosen.sources) > 2 else ""
    return Report(
        title=f"{METHODS[chosen.recipe.method].title} learned from {names}{more}",
        history=chosen.history,
        sources=chosen.sources,
        words=chosen.words,
        symbol_counts=chosen.symbol_counts,
        sentence=chosen.sentence,
        text=session.text,
        bookmarks=tuple(mark for mark in session.bookmarks if mark.run == chosen.number),
        run=chosen.number,
    )
