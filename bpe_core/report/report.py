"""What a report is about: one run, and what a person had to say about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from bpe_core.history.history import History
from bpe_core.recipes.methods import METHODS, Wording
from bpe_core.session_file.values import Bookmark, SavedSession, SavedSource
from bpe_core.studies.study import Study
from bpe_core.studies.texts import KnownWords

MOST_MOMENTS = 6  # at which the text is shown


@dataclass(frozen=True, eq=False)
class Report:
    """Everything the page is made of; what is not known is left out of it."""

    title: str
    study: Study
    sources: tuple[SavedSource, ...] = ()
    sentence: str = ""  # why training ended
    text: str = ""  # the person's own, shown at some moments
    moments: tuple[int, ...] = ()  # chosen by the person; else the report chooses
    bookmarks: tuple[Bookmark, ...] = ()
    run: int = 1
    made: datetime = field(default_factory=datetime.now)

    @property
    def history(self) -> History:
        return self.study.history

    @property
    def wording(self) -> Wording:
        return METHODS[self.history.recipe.method].wording

    @property
    def shown_moments(self) -> list[int]:
        """Return the moments a person chose or marked; else the beginning, a tenth of the way and the end."""
        end = len(self.history)
        chosen = self.moments or tuple(mark.merge for mark in self.bookmarks)
        moments = {0, end, *(moment for moment in chosen if 0 <= moment <= end)}
        if not chosen:
            moments |= {end // 100, end // 10}
        return sorted(moments)[: MOST_MOMENTS - 1] + ([end] if len(moments) >= MOST_MOMENTS else [])


def report_of(session: SavedSession, run: int | None = None) -> Report:
    """Make a report of one run of a session: the one that was shown, if none is named."""
    chosen = session.chosen_run("The session", run)
    assert chosen.history is not None  # it was chosen so
    names = ", ".join(source.name for source in chosen.sources[:2]) or "a text"
    more = f" and {len(chosen.sources) - 2} more" if len(chosen.sources) > 2 else ""
    words = None if chosen.words is None else KnownWords(chosen.words)
    counts = chosen.symbol_counts if len(chosen.symbol_counts) else None  # known even where the words are lost
    return Report(
        title=f"{METHODS[chosen.recipe.method].title} learned from {names}{more}",
        study=Study(chosen.history, words, texts_are_own=True, symbol_counts=counts),
        sources=chosen.sources,
        sentence=chosen.sentence,
        text=session.text,
        bookmarks=tuple(mark for mark in session.bookmarks if mark.run == chosen.number),
        run=chosen.number,
    )
