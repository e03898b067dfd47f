"""One vocabulary, many ways to cut: all ways to cover a word by tokens, what rules take of them, and what chance draws.

The tokens that could stand at each place of a word are its lattice, whatever the method made them by. Ways differ only
in what they prefer of it:

    own         as the tokenizer itself cuts
    longest     at each place the longest token that fits, from the left
    fewest      as few tokens as can be; of equals the one whose last token is longest
    likeliest   the largest product of probabilities, as Unigram cuts; of equals the same
    dropout     merges, some of which are left out by chance
    sampled     drawn by the product of probabilities
    uniform     drawn, each way to cover the word as likely as any other

**Dropout** is that of Provilkov and others (2020): at each step, each place where a pair could be joined is left out by
itself, with the same probability; of the places that are kept, the one whose merge is first is joined, the leftmost of
equals; the word is done when none is kept. What was left out may be joined at the next step.

    >>> dropped = Dropout(lambda left, right: (0, 3) if (left, right) == (1, 2) else None, 0.25)
    >>> dropped.outcomes([1, 2])
    {(1, 2): 0.25, (3,): 0.75}
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from itertools import pairwise
from random import Random
from typing import Literal

import numpy as np

from bpe_core.errors import BpeError, TooLarge
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.learning.methods import Method
from bpe_core.learning.unigram.lattices import Edge, best_path, edges_of, lengths_of
from bpe_core.recipes.recipe import Recipe
from bpe_core.segmenting.best_paths import BestPaths, Pieces, drawn_path
from bpe_core.segmenting.by_priority import Found, JoinedWords
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.merging import MOST_SYMBOLS, Spelling
from bpe_core.segmenting.text_encoder import WordEncoder
from bpe_core.support.arrays import Int64s

Way = Literal["own", "longest", "fewest", "likeliest", "dropout", "sampled", "uniform"]
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
MOST_STATES = 2_000  # of a word on its ways through dropout; of more, chances are only drawn
BELOW_ALL = 10.0  # so much less likely than any other is a token without a probability, in the natural logarithm

Join = Callable[[int, int], Found | None]
Ids = tuple[int, ...]


# --- The lattice of a word ------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class WordLattice:
    symbols: Sequence[int]
    edges: list[list[Edge]]  # the tokens that could begin at each symbol, the shortest first

    @cached_property
    def ways(self) -> int:
        """How many ways there are to cover the word."""
        found = [1] + [0] * len(self.edges)
        for start, edges in enumerate(self.edges):
            for length, _ in edges:
                found[start + length] += found[start]
        return found[-1]

    def best(self, score_of: Sequence[float]) -> Ids:
        return tuple(best_path(self.edges, score_of)[1])

    def drawn(self, score_of: Sequence[float], chance: Random) -> Ids:
        return tuple(drawn_path(self.edges, score_of, 1.0, chance))

    def shares(self, score_of: Sequence[float]) -> dict[tuple[int, int], float]:
        """The probability that a way has a token there, by its first symbol and its id; ways weigh what scores say."""
        size = len(self.edges)
        behind = [-math.inf] * size + [0.0]  # the logarithm of the sum over all ways from a place to the end
        for start in reversed(range(size)):
            behind[start] = log_of_sum([score_of[id] + behind[start + length] for length, id in self.edges[start]])
        reached, found = [1.0] + [0.0] * size, dict[tuple[int, int], float]()
        for start, edges in enumerate(self.edges):
            for length, id in edges:
                share = reached[start] * math.exp(score_of[id] + behind[start + length] - behind[start])
                found[start, id] = share
                reached[start + length] += share
        return found

    def log_of_all(self, score_of: Sequence[float]) -> float:
        """The logarithm of the sum over all ways."""
        reached = [[0.0], *([] for _ in self.edges)]
        for start, edges in enumerate(self.edges):
            here = log_of_sum(reached[start])
            for length, id in edges:
                reached[start + length].append(here + score_of[id])
        return log_of_sum(reached[-1])


def log_of_sum(logarithms: Sequence[float]) -> float:
    highest = max(logarithms, default=-math.inf)
    if highest == -math.inf:
        return highest
    return highest + math.log(sum(math.exp(one - highest) for one in logarithms))


def token_symbols(history: History) -> dict[tuple[int, ...], int]:
    """All tokens in use by the base symbols that they cover; of equal ones the oldest."""
    spelled, hidden = spelled_tokens(history), set() if history.joining is None else {*history.joining.hidden}
    used = [id for id in history.vocabulary.tolist() if id not in hidden and spelled[id]]
    return {spelled[id]: id for id in reversed(used)}


def spelled_tokens(history: History) -> list[tuple[int, ...]]:
    """The base symbols of every token that ever was; none for a seed that they cannot spell."""
    if np.minimum(history.token_lengths(), MOST_SYMBOLS + 1).sum() > MOST_SYMBOLS:
        raise TooLarge(f"The tokens of this table have more than {MOST_SYMBOLS:,} symbols, too many to compare.")
    spelled: list[tuple[int, ...]] = [(id,) for id in range(len(history.alphabet.but_seeds))]
    spelled += _seed_symbols(history.alphabet, history.recipe)
    for left, right in history.pairs():
        spelled.append(spelled[left] + spelled[right])
    return spelled


def _seed_symbols(alphabet: Alphabet, recipe: Recipe) -> list[tuple[int, ...]]:
    if (known := alphabet.spelled) is not None:
        return [tuple(known.symbols[first:stop].tolist()) for first, stop in pairwise(known.starts.tolist())]
    marker, marker_id = recipe.marker_text.encode(), alphabet.marker_id
    first_of, inside_of = alphabet.id_of_piece, alphabet.id_of_continuation or alphabet.id_of_piece
    found = list[tuple[int, ...]]()
    for symbol in alphabet.symbols[len(alphabet.but_seeds) :]:
        text, ids = symbol.text, list[int | None]()
        continues = alphabet.continuing != b"" and text != symbol.decoded
        if marker_id is not None and text.startswith(marker):
            text, ids = text.removeprefix(marker), [marker_id]
        elif continues:
            text = symbol.decoded
        pieces = [bytes([byte]) for byte in text] if recipe.base == "bytes" else [one.encode() for one in text.decode()]
        for place, piece in enumerate(pieces):
            ids.append((first_of if place == 0 and not continues else inside_of).get(piece))
        found.append(tuple(id for id in ids if id is not None) if None not in ids else ())
    return found


# --- Dropout --------------------------------------------------------------------------------


class Dropout:
    def __init__(self, join: Join, probability: float) -> None:
        """`join` says of two neighbours which merge joins them, the first having the lowest number, and to what."""
        if not 0 <= probability <= 1:
            raise BpeError(f"A merge is left out with a probability from 0 to 1, not {probability:g}.")
        self._join, self._left_out = join, probability

    def drawn(self, symbols: Sequence[int], chance: Random) -> Ids:
        """Join by chance. A heap has the places that could be joined; what a step leaves out is put back behind it."""
        end, ids = len(symbols), list(symbols)
        after, before = list(range(1, end + 1)), list(range(-1, end - 1))
        heap: list[tuple[int, int, int, int]] = []  # which merge, where, the end of what it makes, and what

        def enter(start: int) -> None:
            middle = after[start]
            if middle < end and (found := self._join(ids[start], ids[middle])) is not None:
                heappush(heap, (found[0], start, after[middle], found[1]))

        for start in range(end - 1):
            enter(start)
        left_out: list[tuple[int, int, int, int]] = []
        while heap:
            place = heappop(heap)
            _, start, stop, token = place
            middle = after[start]
            if not start < middle < end or after[middle] != stop:
                continue  # one of the two has been joined to another since
            if chance.random() < self._left_out:
                left_out.append(place)
                continue
            for one in left_out:
                heappush(heap, one)
            left_out.clear()
            ids[start], after[start], after[middle] = token, stop, 0
            if stop < end:
                before[stop] = start
                enter(start)
            if start:
                enter(before[start])
        return tuple(ids[start] for start in range(end) if after[start])

    def outcomes(self, symbols: Sequence[int]) -> dict[Ids, float] | None:
        """The probability of each way that can come out; None where there are too many on the way to them.

        Of the places that could be joined, in their order, the one behind i others is joined if those are left out and
        it is not; the word is done if all are left out.
        """
        waiting: dict[Ids, float] = {tuple(symbols): 1.0}
        found: dict[Ids, float] = {}
        seen = 0
        while waiting:
            shorter: dict[Ids, float] = defaultdict(float)
            seen += len(waiting)
            if seen > MOST_STATES:
                return None
            for ids, probability in waiting.items():
                joins = ((self._join(*pair), place) for place, pair in enumerate(pairwise(ids)))
                for (_, token), place in sorted((join, place) for join, place in joins if join is not None):
                    kept = probability * (1 - self._left_out)
                    if kept:
                        shorter[(*ids[:place], token, *ids[place + 2 :])] += kept
                    probability *= self._left_out
                if probability:
                    found[ids] = found.get(ids, 0.0) + probability
            waiting = shorter
        return found


def joins_of(history: History) -> Join:
    if history.joining is not None:
        return JoinedWords(history).find
    ranks, base = history.ranks(), len(history.alphabet)

    def join(left: int, right: int) -> Found | None:
        rank = ranks.get((left, right))
        return None if rank is None else (rank, base + rank)

    return join


# --- All ways of a history ------------------------------------------------------------------


def probabilities(history: History, counts: Int64s | None) -> list[float] | None:
    """The logarithm of each token's probability: the table's own, else by how often each occurs, and one more."""
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


class Ways:
    """All ways to cut words by the tokens of a history, after all of its steps."""

    def __init__(self, history: History, scores: Sequence[float] | None = None, dropout: float = 0.1) -> None:
        """`scores` are the logarithms of the tokens' probabilities, if they are known."""
        segmenter = Method.of(history.recipe).segmenter(history, Cutting(history.recipe))
        joins_unknown = history.joining is not None and history.joining.joins_unknown
        self._joins_unknown = joins_unknown or isinstance(segmenter, BestPaths)
        if not isinstance(segmenter, WordEncoder):
            raise BpeError("Other ways to split are known only of tokenizers that split word by word; not of this one.")
        self.history, self.scores = history, scores
        self._segmenter, self._unknown = segmenter, history.alphabet.unknown_id
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
        """The ways that this history has."""
        unknown: set[Way] = set() if self._dropout else {"dropout"}
        unknown |= set() if self.scores is not None else set(BY_PROBABILITY)
        return tuple(way for way in WAYS if way not in unknown)

    def own(self, word: bytes) -> Ids:
        return tuple(self._segmenter.ids_of_word(word, len(self.history)))

    def lattice(self, word: bytes) -> WordLattice:
        if word not in self._lattices:
            symbols = self._symbols(word)
            edges = [edges_of(symbols, here, self._lengths, self._id_of) for here in range(len(symbols))]
            self._lattices[word] = WordLattice(symbols, edges)
        return self._lattices[word]

    def _symbols(self, word: bytes) -> list[int]:
        symbols = self._spelling.symbols(word) if self._joined is None else self._joined.spelled(word)[0]
        if self._unknown is None:
            return symbols
        if self.own(word) == (self._unknown,):  # WordPiece has no tokens for a part of such a word
            return [self._unknown]
        if self._joins_unknown:
            both = zip([None, *symbols], symbols, strict=False)
            symbols = [one for before, one in both if one != self._unknown or one != before]
        return symbols

    def cut(self, way: Way, word: bytes) -> Ids:
        """Cut by a way that leaves nothing to chance."""
        if way == "own":
            return self.own(word)
        if way == "longest":
            return self._longest(self._symbols(word))
        return self.lattice(word).best(self._weights(way))

    def _longest(self, symbols: Sequence[int]) -> Ids:
        """Without the lattice, which a whole text in one word would make very large."""
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
            return self._shown(self._dropout.drawn(self._symbols(word), chance))
        return self.lattice(word).drawn(self._weights(way), chance)

    def log_probability(self, way: Way, word: bytes, ids: Ids) -> float | None:
        """The logarithm of how likely a way draws this; None where too many ways would have to be looked at."""
        if way == "dropout":
            chances = self.chances(word)
            return None if chances is None else math.log(chances[ids]) if ids in chances else -math.inf
        weights, lattice = self._weights(way), self.lattice(word)
        return sum(weights[id] for id in ids) - lattice.log_of_all(weights)

    def shares(self, way: Way, word: bytes) -> dict[tuple[int, int], float] | None:
        """How likely each token is drawn at its place, by its first symbol and its id."""
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
        """How many tokens are drawn on average."""
        if way != "dropout":
            return sum(self.lattice(word).shares(self._weights(way)).values())
        chances = self.chances(word)
        return None if chances is None else sum(len(ids) * one for ids, one in chances.items())

    def chances(self, word: bytes) -> dict[Ids, float] | None:
        """What dropout makes of a word, each with its probability."""
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
        """How many symbols a token covers."""
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
        """The same with tokens that are steps to others only taken apart."""
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
