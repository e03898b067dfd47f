"""Compare what texts cost before and after a table was edited: how many tokens they become."""

from __future__ import annotations

from dataclasses import dataclass

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.insight.cut_words import CutWords
from bpe_core.support.progress import CancelCheck, never_cancelled


@dataclass(frozen=True)
class Costs:
    before: int
    now: int

    def __str__(self) -> str:
        change = f" ({self.now / self.before - 1:+.1%})".replace("%", " %") if self.before else ""
        return f"{self.before:,} tokens before, {self.now:,} now{change}"


def costs(words: WordTable, before: History, now: History, *, cancelled: CancelCheck = never_cancelled) -> Costs:
    """Count words that were split as the table of before splits."""
    both = (CutWords.of(words, before.recipe, history, cancelled=cancelled) for history in (before, now))
    return Costs(*(int(cut.counts(len(cut.history)).sum()) for cut in both))
