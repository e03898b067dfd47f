"""The words of a corpus followed through all steps of a history: what held-out words take after each, all at once.

From one size to the next few words are cut otherwise. Where pairs are joined by ranks these are the words in which the
step dissolves a boundary. Where tokens are looked up, they are the words that know of the token that is born or
dropped, and all of them when scores are set anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe_core.insight.cut_words import CutWords
from bpe_core.kernels.readiness import Policy
from bpe_core.segmenting.boundaries import PATTERN_CUT, Boundaries
from bpe_core.segmenting.word_segmenters import WordSegmenter
from bpe_core.support.progress import CancelCheck

if TYPE_CHECKING:
    from bpe_core.measures.compiled_bits import Wanted


KERNELS = Policy("bpe_core.measures.compiled_bits", small=400_000, large=20_000_000)  # tokens at first, by sizes
# The sum of the squares of words' bytes from which on cutting them again and again takes too long.
LONG_WORDS = 500_000_000
LONG_WORDS_PLAINLY = 40_000_000  # where there are no kernels for it


class Followed(NamedTuple):
    """Words of which it is known what each step changes."""

    size: int  # tokens at first
    follow: Callable[
        [Wanted], Iterator[int]
    ]  # writes what is wanted, and yields again and again how many steps are done

    def is_worth(self, sizes: int, cancelled: CancelCheck) -> bool:
        """Whether so many sizes are found sooner than each by itself, and can be found so."""
        return KERNELS.chooses(self.size * sizes, cancelled=cancelled)


def followed(cut: CutWords) -> Followed | None:
    """None where it is unknown which words a step changes, or finding out would take too long."""
    if isinstance(cut.segmentation, Boundaries):
        return _joined(cut, cut.segmentation)
    segmenter, lengths = cut.segmenter, np.diff(cut.words.starts)
    if not isinstance(segmenter, WordSegmenter):
        return None

    def follow(wanted: Wanted) -> Iterator[int]:
        from bpe_core.measures.compiled_bits import follow_words  # loads machine code

        return follow_words(cut.words, segmenter, wanted, cut.history)

    most = LONG_WORDS if segmenter.has_pieces_over_time else LONG_WORDS_PLAINLY
    return Followed(len(cut.words.text), follow) if (lengths * lengths).sum() <= most else None


def _joined(cut: CutWords, boundaries: Boundaries) -> Followed | None:
    """Words in which each step joins pairs; None where some symbols are no tokens by themselves."""
    symbols, (ids, words) = boundaries.all_symbols(), cut.placed(0)
    if not np.array_equal(symbols.ids, ids):
        return None
    # The symbols in cells, with a cell around each word that holds no token.
    begins = np.append(np.flatnonzero(np.diff(words, prepend=-1)), len(words))
    cells = np.insert(symbols.ids, begins, cut.history.id_count).astype(np.int32)
    of_word = np.insert(words, begins, np.append(words[:1], words[begins[1:] - 1])).astype(np.int32)
    ranks = np.insert(symbols.ranks, begins, PATTERN_CUT)

    def follow(wanted: Wanted) -> Iterator[int]:
        from bpe_core.measures.compiled_bits import Cells, follow_joins  # loads machine code

        order = np.argsort(ranks, kind="stable").astype(np.int32)
        first = np.searchsorted(ranks[order], np.arange(len(cut.history) + 1, dtype=np.int32))
        return follow_joins(Cells(cells, of_word, first, order), wanted, cut.history)

    return Followed(len(cells), follow)
