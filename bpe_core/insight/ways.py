"""The ways to split a word with one vocabulary. A way is a rule that chooses tokens that cover the word.

The covers of a word are the paths through its lattice (`word_lattice.py`). The ways are:

    own         the cover that the tokenizer itself gives
    longest     from the left, each time the longest token that fits
    fewest      the fewest tokens; in a tie the cover with the longest last token
    likeliest   the largest product of probabilities; in a tie the cover with the longest last token
    dropout     merges, some of which are left out at random (`dropout.py`)
    sampled     a random cover; its probability is proportional to the product of its tokens' probabilities
    uniform     a random cover; all covers are equally likely
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
from bpe_core.history.alphabet import Spelling
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
from bpe_core.segmenting.text_encoder import WordEncoder
from bpe_core.support.arrays import Int64s

WAYS: Mapping[Way, str] = {
    "own": "The way in which the tokenizer splits the text.",
    "longest": "From the left, always the longest token that fits.",
    "fewest": "The fewest possible tokens. Among equal ways, the way with the longest last token.",
    "likeliest": "The way with the largest product of probabilities, as Unigram splits.",
    "dropout": "BPE-dropout: the text is split by merges, and each merge is left out at random at each step.",
    "sampled": "A random way, by the product of probabilities, as in Unigram's subword regularization.",
    "uniform": "A random way, with the same probability for each way.",
}
DRAWN: tuple[Way, ...] = ("dropout", "sampled", "uniform")
BY_PROBABILITY: tuple[Way, ...] = ("likeliest", "sampled")
BELOW_ALL = 10.0  # the difference in log-probability between the least likely token and one without a probability


def probabilities(history: History, counts: Int64s | None) -> list[float] | None:
    """Return the log-probability of each token.

    If the table has no log-probabilities, they are computed from the count of each token plus one. Return None if there
    are no counts either.
    """
    if history.scores is not None:
        own = np.array(Pieces(history).scores_at(len(history)), np.float64) + Method.of(history.recipe).cost_of_token
        known = np.isfinite(own)
        least = float(own[known].min()) if known.any() else 0.0
        scores: list[float] = np.where(known, own, least - BELOW_ALL).tolist()
        return scores
    if counts is None:
        return None
    more = counts[: history.first_special] + 1.0
    logarithms: list[float] = np.log(more / more.sum()).tolist()
    return logarithms


def ways_of(history: History, scores: Sequence[float] | None = None, dropout: float = 0.1) -> SomeWays:
    """Return an object that splits words in several ways by the tokens of a history.

    `scores` are the log-probabilities of the tokens, if they are known. `dropout` is the probability with which a merge
    is left out.
    """
    usual = partial(Ways, history, scores, dropout)
    if history.joining is not None:  # merge priorities of a file, which methods do not handle
        return usual()
    return Method.of(history.recipe).ways(history, scores, dropout, usual)


class Ways:
    """A splitter of words into the tokens of a history, in several ways: into the fewest tokens, at random, and others.

    The beginning of this module lists all ways.
    """

    joins_unknown = False  # neighbouring unknown characters are one token

    def __init__(self, history: History, scores: Sequence[float] | None = None, dropout: float = 0.1) -> None:
        """Store a history. `scores` are the log-probabilities of its tokens, if they are known."""
        segmenter = Method.of(history.recipe).cutter(history, Cutting(history.recipe))
        if history.joining is not None:
            self.joins_unknown = history.joining.joins_unknown
        if not isinstance(segmenter, WordEncoder):
            raise BpeError(
                "Other ways to split are known only for tokenizers that split word by word. This tokenizer does not."
            )
        self.history = history
        self.scores = scores
        self._segmenter = segmenter
        self.unknown = history.alphabet.unknown_id
        self._id_of = token_symbols(history)
        self._lengths = lengths_of(self._id_of)
        self._joined = None if history.joining is None else JoinedWords(history)
        self._spelling = Spelling(history.alphabet, history.recipe)
        has_merges = history.joining is not None or Method.of(history.recipe).has_ranks
        self._dropout = Dropout(joins_of(history), dropout) if has_merges else None
        self._each_costs_one = [-1.0] * history.index_count
        self._all_alike = [0.0] * history.index_count
        self._lattices: dict[bytes, WordLattice] = {}
        self._chances: dict[bytes, dict[Ids, float] | None] = {}

    @property
    def known(self) -> tuple[Way, ...]:
        """Return the names of the ways in which this history can split words."""
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
        """Return the base symbols of a word.

        If the tokenizer joins neighbouring unknown symbols, they become a single symbol.
        """
        symbols = self._spelling.symbols(word) if self._joined is None else self._joined.spelled(word)[0]
        if self.unknown is None or not self.joins_unknown:
            return symbols
        both = zip([None, *symbols], symbols, strict=False)
        return [symbol for before, symbol in both if symbol != self.unknown or symbol != before]

    def cut(self, way: Way, word: bytes) -> Ids:
        """Return the tokens of a word. The way must not be random."""
        if way == "own":
            return self.own(word)
        if way == "longest":
            return self._longest(self.symbols(word))
        return self.lattice(word).best(self._weights(way))

    def _longest(self, symbols: Sequence[int]) -> Ids:
        """Split a word into tokens by the rule "longest": from the left, always take the longest token that fits.

        This needs no lattice. A lattice would be very large if a whole text is one word.
        """
        ids = list[int]()
        place = 0
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
        """Return the log-probability that `way`, which splits words at random, splits a word into exactly these tokens.

        Return None if the word can be split in so many ways that the probability cannot be computed.
        """
        if way == "dropout":
            chances = self.dropout_covers(word)
            if chances is None:
                return None
            return math.log(chances[ids]) if ids in chances else -math.inf
        weights = self._weights(way)
        lattice = self.lattice(word)
        return sum(weights[id] for id in ids) - lattice.log_of_all(weights)

    def shares(self, way: Way, word: bytes) -> dict[tuple[int, int], float] | None:
        """Return how probable it is that a random split of the word uses a token at a place.

        `way` says how random splits are chosen. The keys of the result are `(place, id)`, where `place` is the index of
        the token's first symbol in the word. Return None if the word has too many splits to compute the probabilities.
        """
        if way != "dropout":
            return self.lattice(word).shares(self._weights(way))
        chances = self.dropout_covers(word)
        if chances is None:
            return None
        shares: dict[tuple[int, int], float] = defaultdict(float)
        for ids, probability in chances.items():
            place = 0
            for id in ids:
                shares[place, id] += probability
                place += self.length(id)
        return shares

    def expected(self, way: Way, word: bytes) -> float | None:
        """Return the average number of tokens of a word that is split at random by the rule `way`, such as "dropout".

        Return None if the word can be split in too many ways to compute the average.
        """
        if way != "dropout":
            return sum(self.lattice(word).shares(self._weights(way)).values())
        chances = self.dropout_covers(word)
        return None if chances is None else sum(len(ids) * chance for ids, chance in chances.items())

    def dropout_covers(self, word: bytes) -> dict[Ids, float] | None:
        """Return the ways in which BPE-dropout can split a word, each with its probability.

        Return None if there are too many ways.
        """
        assert self._dropout is not None
        if word not in self._chances:
            outcomes = self._dropout.outcomes(self.lattice(word).symbols)
            if outcomes is not None:
                shown: dict[Ids, float] = defaultdict(float)
                for ids, probability in outcomes.items():
                    shown[self._shown(ids)] += probability
                outcomes = shown
            self._chances[word] = outcomes
        return self._chances[word]

    def length(self, id: int) -> int:
        """Return the number of symbols that a token covers."""
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
        """Return the ids with each hidden token replaced by its parts. A hidden token only serves as a part of other
        tokens.
        """
        hidden = () if self.history.joining is None else self.history.joining.hidden
        if not hidden:
            return ids
        waiting = [*reversed(ids)]
        shown = list[int]()
        while waiting:
            parts = self.history.parts(waiting[-1]) if waiting[-1] in hidden else None
            if parts is None:
                shown.append(waiting.pop())
            else:
                waiting[-1:] = reversed(parts)
        return tuple(shown)
