"""The reasons why the most probable split of a word has, or lacks, a boundary at a place.

Two splits of the word are compared: the best split, and the best split that differs from it at this place.
Both are shown piece by piece with their scores (log-probabilities). The scores of the pieces are added, and a
sum closer to 0 is more probable. In MinGram, the best split has the fewest tokens. So the number of tokens is
shown, and scores decide among splits with equally many tokens.

    best        the word is split here, and the best split without this boundary is less probable
    only        every split of the word has a boundary here
    joined      a token covers this place, and the best split with a boundary here is less probable
    whole       this place is inside a character, or inside characters that the alphabet lacks
    unknown     the character before or after is not in the alphabet, so no piece covers it
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from bpe_core.history.alphabet import Spelling
from bpe_core.history.history import History
from bpe_core.insight.ways import Ways
from bpe_core.methods.kit.best_paths import BestPaths
from bpe_core.methods.kit.explanation import Explanation, ShownToken, TextWord, Way, WordReasons
from bpe_core.methods.kit.lattices import Edge, best_path
from bpe_core.methods.kit.method import Method
from bpe_core.segmenting.cutting import Allowed, Cutting
from bpe_core.support.wording import count_text


@dataclass(frozen=True)
class ScoredCut:
    tokens: tuple[int, ...]
    scores: tuple[float, ...]

    @property
    def total(self) -> float:
        return sum(self.scores)


@dataclass(frozen=True)
class CutComparison:
    """A comparison of two ways to split a word with respect to one boundary.

    The first is the best of all ways. The second is the best way that differs at this boundary: it has the
    boundary if the first way lacks it, and lacks it otherwise.
    """

    is_cut: bool
    taken: ScoredCut
    other: ScoredCut | None

    @property
    def lead(self) -> float:
        """Return how much higher the score of the best split of a word is than the score of the split compared with it.

        The difference is the natural logarithm of the factor by which the best split is more probable.
        """
        assert self.other is not None
        return self.taken.total - self.other.total


class WhyPath(WordReasons):
    def __init__(self, text: str, history: History, allowed: Allowed = None) -> None:
        cutting = Cutting(history.recipe)
        self._paths = BestPaths(history, cutting)
        super().__init__(text, history, cutting, allowed, self._paths.cut)
        self._cost = Method.of(history.recipe).cost_of_token
        self._spelling = Spelling(history.alphabet, history.recipe)

    def in_word(self, word: TextWord, byte: int, at: int) -> Explanation:
        comparison = self.compared(word, byte, at)
        if isinstance(comparison, str):
            borders = {word.origins[end] for end in self._paths.cut(word.text.encode(), at).ends}
            return Explanation(comparison, comparison == "unknown" and byte in borders, _WITHOUT_PATHS[comparison])
        ways = [self._way("taken", comparison.taken)]
        kind = "only"
        if comparison.other is not None:
            ways.append(self._way("not split here" if comparison.is_cut else "split here", comparison.other))
            kind = "best" if comparison.is_cut else "joined"
        return Explanation(kind, comparison.is_cut, self._sentence(comparison), ways=tuple(ways))

    def compared(self, word: TextWord, byte: int, at: int) -> CutComparison | Literal["whole", "unknown"]:
        """Compare the best split of the text around a boundary with the best split that differs at this boundary.

        If the best split has a boundary there, the other split joins the text there. If the best split joins the text
        there, the other split has a boundary.

        Return "whole" if no base symbol begins at the boundary, and "unknown" if a neighbour is an unknown character.
        """
        raw = word.text.encode()
        symbols = self._spelling.symbols(raw)
        ends = [0, *accumulate(self._spelling.widths(raw, symbols))]
        places = [place for place, end in enumerate(ends) if word.origins[end] == byte]
        if not places:
            return "whole"
        known = self._paths.known_around(symbols, places[-1])
        if known is None:
            return "unknown"
        place = places[-1] - known[0]
        edges = self._paths.pieces.edges(symbols[slice(*known)], at)
        taken = self._best(edges, at)
        assert taken is not None  # single characters are always possible
        is_cut = self._has_cut(taken, place)
        return CutComparison(is_cut, taken, self._best((_without_cut if is_cut else _with_cut)(edges, place), at))

    @property
    def _counts_first(self) -> bool:
        return self._cost > 0

    def _sentence(self, comparison: CutComparison) -> str:
        best = "The most probable way to split the word"
        taken = len(comparison.taken.tokens)
        other = comparison.other
        if self._counts_first:
            tied = other is not None and len(other.tokens) == taken
            best = (
                f"The most probable of the ways with {count_text(taken, 'token')}"
                if tied
                else f"The way with the fewest tokens ({taken:,})"
            )
        if other is None:
            return f"{best} splits here; no piece of the vocabulary crosses this place."
        here = "splits here"
        otherwise = "does not split here"
        if not comparison.is_cut:
            here, otherwise = otherwise, here
        more = len(other.tokens) - taken
        if self._counts_first and more > 0:
            return f"{best} {here}. The best way that {otherwise} takes {count_text(more, 'token')} more."
        as_many = "has as many tokens and " if self._counts_first else ""
        return f"{best} {here}. The best way that {otherwise} {as_many}is {_lead(comparison.lead)}."

    def _way(self, title: str, scored: ScoredCut) -> Way:
        title += f", {count_text(len(scored.tokens), 'token')}" if self._counts_first else ""
        pieces = zip(scored.tokens, map(_number, scored.scores), strict=True)
        return Way(title, tuple(ShownToken(self.texts[id], score) for id, score in pieces), _number(scored.total))

    def _best(self, edges: list[list[Edge]], at: int) -> ScoredCut | None:
        scores = self._paths.pieces.scores_at(at)
        total, path = best_path(edges, scores)
        return None if total == -math.inf else ScoredCut(tuple(path), tuple(scores[id] + self._cost for id in path))

    def _has_cut(self, way: ScoredCut, place: int) -> bool:
        at = 0
        for token in way.tokens:
            at += self._paths.pieces.length(token)
            if at >= place:
                break
        return at == place


def _with_cut(edges: list[list[Edge]], place: int) -> list[list[Edge]]:
    return [
        [edge for edge in edges_here if not start < place < start + edge[0]] for start, edges_here in enumerate(edges)
    ]


def _without_cut(edges: list[list[Edge]], place: int) -> list[list[Edge]]:
    return [
        [edge for edge in edges_here if place not in (start, start + edge[0])] for start, edges_here in enumerate(edges)
    ]


def _number(score: float) -> str:
    return f"{score:.2f}".replace("-", "−")


def _lead(lead: float) -> str:
    """Return how much less probable the other way is, in words. `lead` is the difference between the scores.

    >>> _lead(2.3026), _lead(0.0), _lead(0.02), _lead(50)
    ('10 times less probable', 'equally probable', 'hardly less probable', 'more than 1,000,000 times less probable')
    """
    if lead == 0:
        return "equally probable"
    times = math.exp(min(lead, 20))
    if times > 1_000_000:
        return "more than 1,000,000 times less probable"
    if times < 1.05:
        return "hardly less probable"
    return f"{times:,.0f} times less probable" if times >= 9.95 else f"{times:.1f} times less probable"


_WITHOUT_PATHS = {
    "whole": "This place is inside a character, or inside characters that the alphabet lacks.",
    "unknown": "These characters are not in the alphabet, so no piece crosses this place.",
}


class PathWays(Ways):
    """The ways to split a word into pieces. Neighbouring characters that the alphabet lacks are one unknown token."""

    joins_unknown = True
