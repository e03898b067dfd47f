"""Sums that a student does by hand with a few pieces and their shares.

>>> model = Model({"h": 4, "u": 2, "g": 4, "hu": 2, "ug": 4})
>>> BY_HAND[ROW](model, "hug", {}), BY_HAND["way"](model, "hu g", {}), BY_HAND["cut"](model, "hug", {})
('1/4 1/8 1/16', '1/32', 'h ug')
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

ROW, FEWEST, EXPECTED = "row", "row of fewest", "expected"
FINEST = 10_000  # the largest denominator of an expected count


class Model:
    """Pieces as probable as their shares say; the reference cuts words into them."""

    def __init__(self, pieces: Mapping[str, int]) -> None:
        self.pieces = list(pieces)
        self.share = {piece: Fraction(count, sum(pieces.values())) for piece, count in pieces.items()}
        self.ids = {tuple(map(ord, piece)): id for id, piece in enumerate(pieces)}
        self.scores = {id: math.log(self.share[piece]) for id, piece in enumerate(pieces)}

    def cut(self, text: str, *, without: str = "", fewest: bool = False) -> list[str]:
        import bpe_core.methods.mingram.reference as mingram  # takes a while to load
        import bpe_core.methods.unigram.reference as unigram

        best_path = mingram.fewest_tokens if fewest else unigram.best_path
        ids = {symbols: id for symbols, id in self.ids.items() if self.pieces[id] != without}
        return [self.pieces[id] for id in best_path(tuple(map(ord, text)), ids, self.scores)[1]]

    def probability(self, pieces: list[str]) -> Fraction:
        return math.prod((self.share[piece] for piece in pieces), start=Fraction(1))

    def expected(self, words: Mapping[str, int]) -> list[Fraction]:
        """Return the expected count of each piece in words, over all ways to cut them."""
        from bpe_core.methods.unigram.reference import shares

        found = [0.0] * len(self.pieces)
        for word, count in words.items():
            for id, share in shares(tuple(map(ord, word)), self.ids, self.scores).items():
                found[id] += count * share
        return [Fraction(number).limit_denominator(FINEST) for number in found]

    def loss(self, piece: str, words: Mapping[str, int]) -> float:
        """Return by how many bits the words grow without a piece."""
        ways = ((self.cut(word), self.cut(word, without=piece), count) for word, count in words.items())
        return sum(
            count * math.log2(self.probability(with_it) / self.probability(other)) for with_it, other, count in ways
        )


def _row(model: Model, text: str, by: Callable[[str], object]) -> str:
    return " ".join(str(by(text[:stop])) for stop in range(1, len(text) + 1))


# Each takes a model, a text, and the words of a corpus.
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
