"""The calculations that a student does by hand with a few pieces and their probabilities.

>>> model = Model({"h": 4, "u": 2, "g": 4, "hu": 2, "ug": 4})
>>> BY_HAND[ROW](model, "hug", {}), BY_HAND["way"](model, "hu g", {}), BY_HAND["cut"](model, "hug", {})
('1/4 1/8 1/16', '1/32', 'h ug')
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

from bpe_core.insight.word_lattice import WordLattice

ROW = "row"
FEWEST = "row of fewest"
EXPECTED = "expected"
FINEST = 10_000  # the largest denominator of an expected count


class Model:
    """A small model for calculations. It consists of pieces with their probabilities, and splits words into pieces."""

    def __init__(self, pieces: Mapping[str, int]) -> None:
        self.pieces = list(pieces)
        self.share = {piece: Fraction(count, sum(pieces.values())) for piece, count in pieces.items()}
        self.scores = [math.log(self.share[piece]) for piece in pieces]

    def cut(self, text: str, *, without: str = "", fewest: bool = False) -> list[str]:
        weights = [-1.0] * len(self.pieces) if fewest else self.scores
        return [self.pieces[id] for id in self._lattice(text, without).best(weights)]

    def probability(self, pieces: list[str]) -> Fraction:
        return math.prod((self.share[piece] for piece in pieces), start=Fraction(1))

    def expected(self, words: Mapping[str, int]) -> list[Fraction]:
        """Return the expected count of each piece in words, over all ways to split the words."""
        counts = [0.0] * len(self.pieces)
        for word, count in words.items():
            for (_, id), share in self._lattice(word).shares(self.scores).items():
                counts[id] += count * share
        return [Fraction(number).limit_denominator(FINEST) for number in counts]

    def _lattice(self, text: str, without: str = "") -> WordLattice:
        id_of = {piece: id for id, piece in enumerate(self.pieces) if piece != without}
        starts = [[text[start:stop] for stop in range(start + 1, len(text) + 1)] for start in range(len(text))]
        edges = [[(len(piece), id_of[piece]) for piece in pieces if piece in id_of] for pieces in starts]
        return WordLattice([*map(ord, text)], edges)

    def loss(self, piece: str, words: Mapping[str, int]) -> float:
        """Return how many additional bits the words need if a piece is removed."""
        ways = ((self.cut(word), self.cut(word, without=piece), count) for word, count in words.items())
        return sum(
            count * math.log2(self.probability(with_it) / self.probability(other)) for with_it, other, count in ways
        )


def _row(model: Model, text: str, by: Callable[[str], object]) -> str:
    return " ".join(str(by(text[:stop])) for stop in range(1, len(text) + 1))


# Each function takes a model, a text, and the words of a corpus.
BY_HAND: dict[str, Callable[[Model, str, Mapping[str, int]], str]] = {
    "way": lambda model, way, _: str(model.probability(way.split())),
    "cut": lambda model, text, _: " ".join(model.cut(text)),
    ROW: lambda model, text, _: _row(model, text, lambda start: model.probability(model.cut(start))),
    FEWEST: lambda model, text, _: _row(model, text, lambda start: len(model.cut(start, fewest=True))),
    "loss": lambda model, piece, words: f"{model.loss(piece, words):g}",
    EXPECTED: lambda model, _, words: " ".join(map(str, model.expected(words))),
    "new probability": lambda model, piece, words: str(
        model.expected(words)[model.pieces.index(piece)] / sum(model.expected(words))
    ),
}
