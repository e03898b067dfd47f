"""Words that occur too seldom to be learned from: left out, and how much of the text that is."""

from __future__ import annotations

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import NothingToLearn


def without_rare(words: WordTable, least: int) -> tuple[WordTable, list[str]]:
    """The words that occur as often, and a sentence about the others, if there are any.

    >>> words, told = without_rare(WordTable.from_counts({"low": 5, "lowest": 1}), 2)
    >>> list(words), told
    ([(b'low', 5)], ['Left out: 1 of 2 different words, which occur less than 2 times: 6 of 21 bytes, 28.5714 %.'])
    """
    kept = words.counts >= least
    if bool(kept.all()):
        return words, []
    left = words.recounted(np.where(kept, words.counts, 0))
    if not len(left):
        raise NothingToLearn(
            f"No word occurs {least:,} times, so nothing is left to learn from; give a smaller number."
        )
    without, whole = words.total_bytes - left.total_bytes, words.total_bytes
    return left, [
        f"Left out: {len(words) - len(left):,} of {len(words):,} different words, which occur less than {least:,} "
        f"times: {without:,} of {whole:,} bytes, {100 * without / whole:.4f} %."
    ]
