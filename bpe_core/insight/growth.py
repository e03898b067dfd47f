"""What it brought to let a table grow: tokens saved in texts, and old tokens that the new corpus never uses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History
from bpe_core.insight.cut_words import CutWords


@dataclass(frozen=True)
class Saving:
    """How many tokens a text has by the old table, and by the one that has grown."""

    before: int
    after: int

    @property
    def share(self) -> float:
        """How much less it became."""
        return 1 - self.after / self.before if self.before else 0.0


def saving(words: WordTable, history: History) -> Saving:
    """Of words that were split as the table splits."""
    cut = CutWords.of(words, history.recipe, history)
    return Saving(*(int(cut.counts(at).sum()) for at in (history.recipe.grown_from, len(history))))


def never_used(words: WordTable, history: History) -> list[int]:
    """The old tokens that stand nowhere in these words, neither before the table grew nor since; its steps' only."""
    cut, old = CutWords.of(words, history.recipe, history), history.recipe.grown_from
    counts = cut.counts(old) + cut.counts(len(history))
    made = history.first(old).ids
    return [int(id) for id in made[counts[made] == 0]] if old else np.array([], int).tolist()
