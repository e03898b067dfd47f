"""The words of a corpus followed through all steps of a history: what held-out words take after each, all at once.

From one size to the next few words are cut otherwise. Where pairs are joined by ranks these are the words in which the
step dissolves a boundary. Where tokens are looked up, they are the words that know of the token that is born or
dropped, and all of them when scores are set anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from bpe_core.insight.cut_words import CutWords
from bpe_core.kernels.readiness import Policy
from bpe_core.segmenting.boundaries import PATTERN_CUT, Boundaries
from bpe_core.segmenting.word_segmenters import WordSegmenter
from bpe_core.support.arrays import Int32s
from bpe_core.support.progress import CancelCheck

if TYPE_CHECKING:
    from bpe_core.measures.compiled_bits import Wanted


KERNELS = Policy("bpe_core.measures.compiled_bits", small=400_000, large=20_000_000)  # tokens at first, by sizes
# The sum of the squares of words' bytes from which on cutting them again and again takes too long.
LONG_WORDS = 500_000_000
LONG_WORDS_PLAINLY = 40_000_000  # where there are no kernels for it


class Followed(Protocol):
    """Words of which it is known what each step changes."""

    def is_worth(self, sizes: int, cancelled: CancelCheck) -> bool:
        """Whether so many sizes are found sooner than each by itself, and can be found so."""

    def follow(self, wanted: Wanted) -> Iterator[int]:
        """Write what is wanted, and yield again and again how many steps are done."""


def followed(cut: CutWords) -> Followed | None:
    """None where it is unknown which words a step changes, or finding out would take too long."""
    if isinstance(cut.segmentation, Boundaries):
        return JoinedWords.of(cut, cut.segmentation)
    segmenter, lengths = cut.segmenter, np.diff(cut.words.starts)
    if not isinstance(segmenter, WordSegmenter):
        return None
    most = LONG_WORDS if segmenter.has_pieces_over_time else LONG_WORDS_PLAINLY
    return WordsCutAnew(cut, segmenter) if (lengths * lengths).sum() <= most else None


@dataclass(frozen=True, eq=False)
class JoinedWords:
    """Words in which each step joins pairs."""

    cut: CutWords
    ids: Int32s  # of the base symbols in cells, with a cell around each word that holds no token
    words: Int32s  # the word of each cell
    ranks: Int32s  # of the boundary in front of each

    @classmethod
    def of(cls, cut: CutWords, boundaries: Boundaries) -> JoinedWords | None:
        """None where some symbols are no tokens by themselves."""
        symbols, (ids, words) = boundaries.all_symbols(), cut.placed(0)
        if not np.array_equal(symbols.ids, ids):
            return None
        begins = np.append(np.flatnonzero(np.diff(words, prepend=-1)), len(words))
        return cls(
            cut,
            np.insert(symbols.ids, begins, cut.history.id_count).astype(np.int32),
            np.insert(words, begins, np.append(words[:1], words[begins[1:] - 1])).astype(np.int32),
            np.insert(symbols.ranks, begins, PATTERN_CUT),
        )

    def is_worth(self, sizes: int, cancelled: CancelCheck) -> bool:
        return KERNELS.chooses(len(self.ids) * sizes, cancelled=cancelled)

    def follow(self, wanted: Wanted) -> Iterator[int]:
        from bpe_core.measures.compiled_bits import Cells, follow_joins  # loads machine code

        order = np.argsort(self.ranks, kind="stable").astype(np.int32)
        first = np.searchsorted(self.ranks[order], np.arange(len(self.cut.history) + 1, dtype=np.int32))
        return follow_joins(Cells(self.ids, self.words, first, order), wanted, self.cut.history)


@dataclass(frozen=True, eq=False)
class WordsCutAnew:
    """Words of which each says until when it is cut as it is."""

    cut: CutWords
    segmenter: WordSegmenter

    def is_worth(self, sizes: int, cancelled: CancelCheck) -> bool:
        return KERNELS.chooses(len(self.cut.words.text) * sizes, cancelled=cancelled)

    def follow(self, wanted: Wanted) -> Iterator[int]:
        from bpe_core.measures.compiled_bits import follow_words  # loads machine code

        return follow_words(self.cut.words, self.segmenter, wanted, self.cut.history)
