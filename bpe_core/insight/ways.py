"""One vocabulary, many ways to cut: all ways to cover a word by tokens, what rules take of them, and what chance draws.

Ways differ only in what they prefer of the lattice of a word (`word_lattice.py`):

    own         as the tokenizer itself cuts
    longest     at each place the longest token that fits, from the left
    fewest      as few tokens as can be; of equals the one whose last token is longest
    likeliest   the largest product of probabilities, as Unigram cuts; of equals the same
    dropout     merges, some of which are left out by chance (`dropout.py`)
    sampled     drawn by the product of probabilities
    uniform     drawn, each way to cover the word as likely as any other
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from random import Random

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.history.history import History
from bpe_core.insight.dropout import Dropout, joins_of
from bpe_core.insight.word_lattice import WordLattice, token_symbols
from bpe_core.methods.kit.best_paths import Pieces
from bpe_core.methods.kit.lattices import edges_of, lengths_of
from bpe_core.methods.kit.method import Method
from bpe_core.methods.kit.ways import Ids, Way
from bpe_core.methods.kit.ways import Ways as SomeWays
from bpe_core.segmenting.by_priority import JoinedWords
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.merging import Spelling
from bpe_core.segmenting.text_encoder import WordEncoder
from bpe_core.support.arrays import Int64s

WAYS: Mapping[Way, str] = {
    "own": "As the tokenizer itself splits.",
    "longest": "At each place the longest token that fits, from the left.",
    "fewest": "As few tokens as can be; of equals, the one whose last token is longest.",
    "likeliest": "The largest product of probabilities, as Unigram splits.",
    "dropout": "BPE-dropout: by merges, of which each is left out by chance at each step.",
    "sampled": "Drawn by the product of probabilities, as Unigram is regularised.",
    "uniform": "Drawn, each way as likely as any other.",
}
DRAWN: tuple[Way, ...] = ("dropout", "sampled", "uniform")
BY_PROBABILITY: tuple[Way, ...] = ("likeliest", "sampled")
BELOW_ALL = 10.0  # so much less likely than any other is a token without a probability, in the natural logarithm


def probabilities(history: History, counts: Int64s | None) -> list[float] | None:
    """Return the logarithm of each token's probability: the table's own, else from its count plus one."""
    if history.scores is not None:
        own = np.array(Pieces(history).scores_at(len(history)), np.float64) + Method.of(history.recipe).cost_of_token
        known = np.isfinite(own)
        least = float(own[known].min()) if known.any() else 0.0
        found: list[float] = np.where(known, own, least - BELOW_ALL).tolist()
        return found
    if counts is None:
        return None
    more = counts[: history.first_special] + 1.0
    logarithms: list[float] = np.log(more / more.sum()).tolist()
    return logarithms


def ways_of(history: History, scores: Sequence[float] | None = None, dropout: float = 0.1) -> SomeWays:
    """Return all ways to split words by the tokens of a history, as its method offers them.

    `scores` are the logarithms of the tokens' probabilities, if they are known.
    """
    usual = partial(Ways, history, scores, dropout)
    if history.joining is not None:  # in an order of the file's own, which no method knows
        return usual()
    return Method.of(history.recipe).ways(history, scores, dropout, usual)


class Ways:
    """All ways to cut words by the tokens of a history, after all of its steps."""

    joins_unknown = False  # unknown characters side by side are one token

    def __init__(self, history: History, scores: Sequence[float] | None = None, dropout: float = 0.1) -> None:
        """`scores` are the logarithms of the tokens' probabilities, if they are known."""
        segmenter = Method.of(history.recipe).cutter(history, Cutting(history.recipe))
        if history.joining is not None:
            self.joins_unknown = history.joining.joins_unknown
        if not isinstance(segmenter, WordEncoder):
            raise BpeError("Other ways to split are known only of tokenizers that split word by word; not of this one.")
        self.history, self.scores = history, scores
        self._segmenter, self.unknown = segmenter, history.alphabet.unknown_id
        self._id_of = token_symbols(history)
        self._lengths = lengths_of(self._id_of)
        self._joined = None if history.joining is None else JoinedWords(history)
        self._spelling = Spelling(history)
        has_merges = history.joining is not None or Method.of(history.recipe).has_ranks
        self._dropout = Dropout(joins_of(history), dropout) if has_merges else None
        self._each_costs_one, self._all_alike = [-1.0] * history.id_count, [0.0] * history.id_count
        self._lattices: dict[bytes, WordLattice] = {}
        self._chances: dict[bytes, dict[Ids, float] | None] = {}

    @property
    def known(self) -> tuple[Way, ...]:
        """Return the ways that this history has."""
        unknown: set[Way] = set() if self._dropout else {"dropout"}
        unknown |= set() if self.scores is not None else set(BY_PROBABILITY)
        return tuple(way for way in WAYS if way not in unknown)

    def own(self, word: bytes) -> Ids:
        return tuple(self._segmenter.ids_of_word(word, len(self.history)))

    def lattice(self, word: bytes) -> WordLattice:
        if word not in self._lattices:
            symbols = self.symbols(word)
            edges = [edges_of(symbols, here, self._lengths, self._id_of) for here in range(len(symbols))]
            self._lattices[word] = WordLattice(symbols, edges)
        return self._lattices[word]

    def symbols(self, word: bytes) -> list[int]:
        """Return the base symbols that tokens can cover."""
        symbols = self._spelling.symbols(word) if self._joined is None else self._joined.spelled(word)[0]
        if self.unknown is None or not self.joins_unknown:
            return symbols
        both = zip([None, *symbols], symbols, strict=False)
        return [symbol for before, symbol in both if symbol != self.unknown or symbol != before]

    def cut(self, way: Way, word: bytes) -> Ids:
        """Cut by a way that leaves nothing to chance."""
        if way == "own":
            return self.own(word)
        if way == "longest":
            return self._longest(self.symbols(word))
        return self.lattice(word).best(self._weights(way))

    def _longest(self, symbols: Sequence[int]) -> Ids:
        """Find the longest tokens without the lattice, which a whole text in one word would make very large."""
        ids, place = list[int](), 0
        while place < len(symbols):
            fitting = self._lengths[: bisect_right(self._lengths, len(symbols) - place)]
            rows = ((length, self._id_of.get(tuple(symbols[place : place + length]))) for length in reversed(fitting))
            length, id = next(((length, id) for length, id in rows if id is not None), (1, symbols[place]))
            ids.append(id)
            place += length
        return tuple(ids)

    def draw(self, way: Way, word: bytes, chance: Random) -> Ids:
        if way == "dropout":
            assert self._dropout is not None
            return self._shown(self._dropout.drawn(self.symbols(word), chance))
        return self.lattice(word).drawn(self._weights(way), chance)

    def log_probability(self, way: Way, word: bytes, ids: Ids) -> float | None:
        """Return the logarithm of how likely a way draws this; None where too many ways would have to be looked at."""
        if way == "dropout":
            chances = self.chances(word)
            return None if chances is None else math.log(chances[ids]) if ids in chances else -math.inf
        weights, lattice = self._weights(way), self.lattice(word)
        return sum(weights[id] for id in ids) - lattice.log_of_all(weights)

    def shares(self, way: Way, word: bytes) -> dict[tuple[int, int], float] | None:
        """Return how likely each token is drawn, by the index of its first symbol and its id."""
        if way != "dropout":
            return self.lattice(word).shares(self._weights(way))
        chances = self.chances(word)
        if chances is None:
            return None
        found: dict[tuple[int, int], float] = defaultdict(float)
        for ids, probability in chances.items():
            place = 0
            for id in ids:
                found[place, id] += probability
                place += self.length(id)
        return found

    def expected(self, way: Way, word: bytes) -> float | None:
        """Return how many tokens are drawn on average."""
        if way != "dropout":
            return sum(self.lattice(word).shares(self._weights(way)).values())
        chances = self.chances(word)
        return None if chances is None else sum(len(ids) * one for ids, one in chances.items())

    def chances(self, word: bytes) -> dict[Ids, float] | None:
        """Return the ways that dropout cuts a word, each with its probability; None if there are too many."""
        assert self._dropout is not None
        if word not in self._chances:
            found = self._dropout.outcomes(self.lattice(word).symbols)
            if found is not None:
                shown: dict[Ids, float] = defaultdict(float)
                for ids, probability in found.items():
                    shown[self._shown(ids)] += probability
                found = shown
            self._chances[word] = found
        return self._chances[word]

    def length(self, id: int) -> int:
        """Return how many symbols a token covers."""
        return self._length_of.get(id, 1)

    @cached_property
    def _length_of(self) -> dict[int, int]:
        return {id: len(symbols) for symbols, id in self._id_of.items()}

    def _weights(self, way: Way) -> Sequence[float]:
        if way in BY_PROBABILITY:
            assert self.scores is not None
            return self.scores
        return self._each_costs_one if way == "fewest" else self._all_alike

    def _shown(self, ids: Ids) -> Ids:
        """Replace each hidden token by the tokens that it was joined from."""
        hidden = () if self.history.joining is None else self.history.joining.hidden
        if not hidden:
            return ids
        waiting, found = [*reversed(ids)], list[int]()
        while waiting:
            parts = self.history.parts(waiting[-1]) if waiting[-1] in hidden else None
            if parts is None:
                found.append(waiting.pop())
            else:
                waiting[-1:] = reversed(parts)
        return tuple(found)
