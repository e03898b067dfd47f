"""What some sizes of a vocabulary mean for a corpus, by whatever method it was learned.

Where pairs are joined, `size_curves` knows every size at once. Here tokens are counted at each size anew, so it serves
for all methods, and for tokenizers that were learned from other texts.

    >>> from bpe_core.recipe import Recipe
    >>> from bpe_core.counting.words import WordTable
    >>> from bpe_core.insight.cut_words import CutWords
    >>> from bpe_core.reference import train
    >>> words, recipe = WordTable.from_counts({"low": 5, "lower": 2}), Recipe.preset("gpt2", merges=2)
    >>> found = measured_sizes(CutWords.of(words, recipe, train(words, recipe)))
    >>> found.sizes.tolist(), found.tokens.tolist(), found.bytes_per_token.round(2).tolist()
    ([256, 257, 258], [25, 18, 11], [1.0, 1.39, 2.27])
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.measures.size_curves import USUAL_POWER, half_would_do, renyi_efficiency
from bpe_core.progress import CancelCheck, Progress, ProgressReport, ignore_progress, never_cancelled, while_wanted
from bpe_core.records import dataclass

if TYPE_CHECKING:  # whoever wants to know which sizes there are has no words
    from bpe_core.counting.words import WordTable
    from bpe_core.insight.cut_words import CutWords

Int64s = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]

MEASURED = 48  # sizes, closer together where the vocabulary is small


@dataclass(frozen=True, eq=False)
class MeasuredSizes:
    """A number for each size that was measured, the smallest first."""

    bytes: int  # of the corpus as it was given; where only its words are known, of these
    words: int
    sizes: Int64s
    steps: Int64s  # after which the vocabulary had that size
    tokens: Int64s  # in the corpus
    used: Int64s  # different ones of them
    renyi_efficiency: Numbers

    @property
    def bytes_per_token(self) -> Numbers:
        return self.bytes / np.maximum(self.tokens, 1)

    @property
    def tokens_per_word(self) -> Numbers:
        return self.tokens / max(1, self.words)

    @property
    def share_in_use(self) -> Numbers:
        """The part of the vocabulary that occurs in the text."""
        return self.used / self.sizes

    @property
    def half_would_do(self) -> int | None:
        """Which of these sizes is the first whose half would nearly do, too."""
        return half_would_do(self.sizes, self.tokens)


def measured_sizes(
    cut: CutWords,
    sizes: Int64s | None = None,
    *,
    power: float = USUAL_POWER,
    progress: ProgressReport = ignore_progress,
    cancelled: CancelCheck = never_cancelled,
) -> MeasuredSizes:
    """Of these sizes those that the vocabulary ever had; if not said, some between its smallest and its largest."""
    steps = _steps_of(cut.history, some_sizes(cut.history) if sizes is None else sizes)
    tokens, used, efficiency = np.zeros(len(steps), np.int64), np.zeros(len(steps), np.int64), np.zeros(len(steps))
    order = np.argsort(steps)  # most words stay as they are from one of them to the next
    for done, place in enumerate(while_wanted(order.tolist(), cancelled, every=1)):
        progress(Progress("measuring", done, len(steps), "sizes"))
        counts = cut.counts(int(steps[place]))
        tokens[place], used[place] = counts.sum(), np.count_nonzero(counts)
        efficiency[place] = renyi_efficiency(counts, power)
    had = np.array([cut.history.vocabulary_size_at(step) for step in steps.tolist()], np.int64)
    table: WordTable = cut.words
    return MeasuredSizes(
        table.size,
        table.total,
        had,
        steps,
        tokens,
        used,
        efficiency,
    )


def some_sizes(history: History, most: int = MEASURED) -> Int64s:
    """Sizes between the smallest and the largest that the vocabulary had, by equal factors.

    What stands above the smallest grows by equal factors: a vocabulary of 256 bytes differs from one of 257.
    """
    ends = sorted(history.vocabulary_size_at(at) for at in (0, len(history)))
    grown = np.geomspace(1, ends[1] - ends[0] + 1, most).round().astype(np.int64) - 1
    found: Int64s = np.unique(ends[0] + grown)
    return found


def which_sizes(sizes: Int64s, history: History) -> str:
    """A sentence where these are not all sizes that the vocabulary had.

    >>> from bpe_core.recipe import Recipe
    >>> from bpe_core.reference import train
    >>> from bpe_core.counting.words import WordTable
    >>> history = train(WordTable.from_counts({"low": 5, "lower": 2}), Recipe.preset("gpt2", merges=4))
    >>> which_sizes(np.arange(256, 261), history), which_sizes(np.array([256, 258, 260]), history)
    ('', 'Measured: 3 of 5 sizes.')
    """
    if len(sizes) > len(history):
        return ""
    had = np.sort(history.vocabulary_sizes())
    gapless = int(np.argmin(np.append(np.sort(sizes) == had[: len(sizes)], False)))
    up_to = f", all of them up to {had[gapless - 1]:,}" if gapless > MEASURED else ""
    return f"Measured: {len(sizes):,} of {len(had):,} sizes{up_to}."


def _steps_of(history: History, sizes: Int64s) -> Int64s:
    """One step for each size, the smallest size first."""
    low, high = sorted(history.vocabulary_size_at(at) for at in (0, len(history)))
    steps = {history.step_of_size(size) for size in sizes.tolist() if low <= size <= high}
    return np.array(sorted(steps, key=lambda step: (history.vocabulary_size_at(step), step)), np.int64)
