"""What of a table the texts never use that it went on learning on."""

from __future__ import annotations

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.history import History, Int64s
from bpe_core.insight.cut_words import CutWords
from bpe_core.insight.reachable_tokens import is_learned
from bpe_core.progress import CancelCheck, never_cancelled


def never_used(
    words: WordTable, old: History, grown: History, new_ids: Int64s, *, cancelled: CancelCheck = never_cancelled
) -> list[int]:
    """The learned tokens of the old table that stand nowhere in these words, neither before it grew nor since.

    `new_ids` are those they have in the table that has grown.
    """
    learned = np.flatnonzero(is_learned(old))
    before, now = (CutWords.of(words, table.recipe, table, cancelled=cancelled) for table in (old, grown))
    used = before.counts(len(old))[learned] + now.counts(len(grown))[new_ids[learned]]
    found: list[int] = learned[used == 0].tolist()
    return found
