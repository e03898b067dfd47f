"""The number of tokens of a corpus if its words are not split by the tokenizer's own rule.

The words are split into the fewest tokens, by probability, or at random.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.history.alphabet import Alphabet, SpelledSeeds
from bpe_core.history.columns import DROPPED, Float32s
from bpe_core.history.history import History
from bpe_core.insight.word_lattice import spelled_tokens
from bpe_core.kernels.readiness import need_machine_code
from bpe_core.kernels.stored_code import WEIGHING
from bpe_core.methods.kit.cells import Stretches
from bpe_core.methods.kit.ways import Ways
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.progress import ALONE, Work

if TYPE_CHECKING:
    from bpe_core.methods.kit.compiled_lattices import CompiledLattices

AT_ONCE = 1 << 24  # pieces examined between two checks for cancellation
DRAWS, FEWEST_DRAWS = 4_000, 30  # number of words of the corpus that dropout splits
MOST_DRAWN = 1_000_000  # symbols of these words together
SURE = 1.96  # standard errors on each side of a 95 per cent interval


class CorpusLattices:
    """The lattices of the words in a corpus, with all tokens of a history that can cover parts of the words."""

    def __init__(self, words: WordTable, history: History, work: Work = ALONE) -> None:
        self._base = history.alphabet.but_seeds
        spelled = spelled_tokens(history)
        number_of = dict[tuple[int, ...], int]()
        self._lengths = np.array([*map(len, spelled)], np.int64)
        lone_places = [id if id < len(self._base) else -1 for id in range(len(spelled))]
        # The index of each token's score: base symbols first, then each longer piece once; -1 for tokens without one.
        self._place = np.array(
            [
                len(self._base) + number_of.setdefault(symbols, len(number_of)) if len(symbols) > 1 else lone
                for symbols, lone in zip(spelled, lone_places, strict=True)
            ],
            np.int64,
        )
        bounds = np.cumsum([0, *map(len, number_of)])
        pieces = SpelledSeeds(np.array([symbol for piece in number_of for symbol in piece], np.int32), bounds)
        alphabet = Alphabet(self._base, pieces) if number_of else Alphabet(self._base)
        self._size = len(alphabet)
        stretches = Stretches.of(words, alphabet, history.recipe)
        self._unknown_tokens = stretches.unknown_tokens
        self._lattices = _lattices(stretches, alphabet, history.recipe, work)

    def fewest(self, history: History, work: Work = ALONE) -> int:
        """Return the smallest number of tokens that cover the words, with the vocabulary of this history."""
        return self._on_best_paths(self._placed(history, np.full(history.index_count, -1.0)), work)

    def likeliest(self, history: History, scores: Sequence[float], work: Work = ALONE) -> int:
        return self._on_best_paths(self._placed(history, np.array(scores)), work)

    def sampled(self, history: History, scores: Sequence[float], work: Work = ALONE) -> float:
        """Return the average number of tokens if each word is split at random.

        The probability of a split is proportional to the product of the probabilities of its tokens.
        """
        return self._on_all_paths(self._placed(history, np.array(scores)), work)

    def uniform(self, history: History, work: Work = ALONE) -> float:
        """Return the average number of tokens in the corpus if all ways to split a word are equally likely.

        In a word of n base symbols, each split has the weight 1 / 2 ** n. So all splits have the same weight, and the
        sum of the weights stays below 1, however many splits there are.
        """
        return self._on_all_paths(self._placed(history, -math.log(2) * self._lengths), work)

    def _placed(self, history: History, score_of: np.ndarray) -> Float32s:
        scores = np.full(self._size, DROPPED, np.float32)
        used = history.vocabulary[::-1]  # the oldest of equal tokens counts
        used = used[self._place[used] >= 0]
        scores[self._place[used]] = score_of[used]
        return scores

    def _on_best_paths(self, scores: Float32s, work: Work) -> int:
        return _tokens_on_best_paths(self._lattices, scores, work) + self._unknown_tokens

    def _on_all_paths(self, scores: Float32s, work: Work) -> float:
        start = 0
        while start < len(self._lattices):
            work.check()
            start, _ = self._lattices.expect(start, AT_ONCE, scores)
        return float(self._lattices.expected.sum()) + self._unknown_tokens


def fewest_tokens(words: WordTable, history: History, steps: Sequence[int], work: Work = ALONE) -> list[int]:
    """Return the smallest number of tokens that cover the words, for the vocabulary after each number of steps."""
    lattices = CorpusLattices(words, history, work)
    return [lattices.fewest(history.first(at)) for at in steps]


def fewest_tokens_by(
    pieces: Sequence[Sequence[int]], words: WordTable, alphabet: Alphabet, recipe: Recipe, work: Work = ALONE
) -> int:
    """Return the smallest number of tokens that cover the words.

    A token is one of the given pieces, or a base symbol of the alphabet that is not a seed. Each piece is a sequence of
    symbols. Tokens for unknown characters are not counted.
    """
    bounds = np.cumsum([0, *map(len, pieces)])
    spelled = SpelledSeeds(np.array([symbol for piece in pieces for symbol in piece], np.int32), bounds)
    chosen = Alphabet(alphabet.but_seeds, spelled)
    stretches = Stretches.of(words, chosen, recipe)
    lattices = _lattices(stretches, chosen, recipe, work)
    return _tokens_on_best_paths(lattices, np.full(len(chosen), -1.0, np.float32), work)


def _tokens_on_best_paths(lattices: CompiledLattices, scores: Float32s, work: Work) -> int:
    start = 0
    while start < len(lattices):
        work.check()
        start, _ = lattices.cut(start, AT_ONCE, scores)
    return lattices.tokens if len(lattices) else 0


def drawn_tokens(words: WordTable, ways: Ways, chance: Random, work: Work = ALONE) -> tuple[float, float] | None:
    """Return an estimate of the number of tokens after dropout, and the possible error of the estimate.

    The estimate is computed from words of the corpus that `chance` draws at random. Return None if the words are too
    long.
    """
    known = [word for word, _ in words]
    counts = words.counts.tolist()
    whole = sum(counts)
    average = sum(map(len, chance.choices(known, counts, k=FEWEST_DRAWS))) / FEWEST_DRAWS
    draws = min(DRAWS, int(MOST_DRAWN / max(1.0, average)))
    if draws < FEWEST_DRAWS:
        return None
    lengths = []
    for word in chance.choices(known, counts, k=draws):
        work.check()
        lengths.append(len(ways.draw("dropout", word, chance)))
    return whole * float(np.mean(lengths)), SURE * whole * float(np.std(lengths)) / math.sqrt(draws)


def _lattices(stretches: Stretches, alphabet: Alphabet, recipe: Recipe, work: Work) -> CompiledLattices:
    need_machine_code(WEIGHING, work)
    from bpe_core.methods.kit.compiled_lattices import CompiledLattices

    return CompiledLattices(stretches, alphabet, recipe)
