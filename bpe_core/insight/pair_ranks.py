"""Which merge joins a pair."""

from __future__ import annotations

from bpe_core.history.history import MergeHistory


class PairRanks:
    """The merges of a history by the pair they join; where a pair is listed twice, the first one counts.

    >>> from bpe_core import Alphabet, Recipe
    >>> ranks = PairRanks(MergeHistory.from_pairs(Recipe(), Alphabet.of_bytes(), [(108, 111), (256, 119)]))
    >>> ranks[256, 119], ranks.get((111, 119))
    (1, None)
    """

    def __init__(self, history: MergeHistory) -> None:
        left, right = history.columns.left.tolist(), history.columns.right.tolist()
        ranks = range(len(history))
        self._rank_of = dict(zip(zip(reversed(left), reversed(right), strict=True), reversed(ranks), strict=True))

    def get(self, pair: tuple[int, int]) -> int | None:
        return self._rank_of.get(pair)

    def __getitem__(self, pair: tuple[int, int]) -> int:
        return self._rank_of[pair]

    def __contains__(self, pair: tuple[int, int]) -> bool:
        return pair in self._rank_of
