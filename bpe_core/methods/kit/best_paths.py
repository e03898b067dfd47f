"""The segmenter that splits a word along its best path, the most probable way to cover the word with tokens.

Neighbouring characters that the alphabet lacks become one unknown token, or bytes if the recipe has tokens for bytes.
The best path is searched separately before and after these characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.errors import FormatError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import DROPPED, Scores
from bpe_core.history.history import History
from bpe_core.kernels.stored_code import WEIGHING
from bpe_core.methods.kit.lattices import Edge, edges_of, lengths_of, seed_symbols
from bpe_core.methods.registry import METHODS
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.text_encoder import WordSegmenter
from bpe_core.segmenting.word_tokens import WordCut, WordCuts, WordCutter

if TYPE_CHECKING:  # these imports load machine code
    from bpe_core.segmenting.compiled_methods import CompiledPaths, PiecesOverTime


def scores_of(history: History) -> Scores:
    """Return the scores of a history.

    If the vocabulary holds only single characters, scores make no difference, because each word can be split in only
    one way. Then the function returns zeros. Raise FormatError if a history with longer pieces has no scores.
    """
    if history.scores is not None:
        return history.scores
    waiting = history.alphabet.seed_count
    if waiting and (len(history) or history.recipe.single != "add"):
        raise FormatError("This run has no log-probabilities, so it cannot split texts; train it again.")
    return Scores((0,), (np.zeros(len(history.alphabet), np.float32),), np.zeros(0, np.int32), waiting)


class Seeds(NamedTuple):
    id_of: dict[tuple[int, ...], int]
    lengths: list[int]  # of all tokens, by id
    different_lengths: list[int]

    @classmethod
    def of(cls, alphabet: Alphabet, marker: str) -> Seeds:
        seeds = seed_symbols(alphabet, marker.encode())
        first = len(alphabet) - len(seeds)
        id_of = {tuple(symbols): id for id, symbols in enumerate(seeds, first)}
        return cls(id_of, [1] * first + [len(symbols) for symbols in seeds], lengths_of(seeds))


class Pieces:
    """The tokens of a history, which are the edges of the lattices, and their scores after each step."""

    def __init__(self, history: History) -> None:
        self.scores = scores = scores_of(history)
        alphabet = history.alphabet
        marker = history.recipe.marker_text
        self._seeds = alphabet.kept(("seeds", marker), lambda: Seeds.of(alphabet, marker))
        unknown = history.alphabet.unknown_id
        first = history.alphabet.first_fallback_id if unknown is None else unknown
        # If unknown characters have a score, characters that occur only in longer pieces get this score, too.
        lone = first if history.recipe.sums else None
        self.scores_at: Callable[[int], list[float]] = lru_cache(maxsize=1)(lambda at: _with_lone(scores.at(at), lone))

    def length(self, id: int) -> int:
        return self._seeds.lengths[id]

    def edges(self, symbols: list[int], at: int) -> list[list[Edge]]:
        """Return a list with one entry for each symbol: the tokens that can begin there after `at` steps, the shortest
        first."""
        scores = self.scores_at(at)
        return [
            [
                edge
                for edge in edges_of(symbols, here, self._seeds.different_lengths, self._seeds.id_of)
                if scores[edge[1]] != DROPPED
            ]
            for here in range(len(symbols))
        ]


def _with_lone(scores: npt.NDArray[Any], unknown: int | None) -> list[float]:
    numbers: list[float] = (
        scores if unknown is None else np.where(scores == DROPPED, scores[unknown], scores)
    ).tolist()
    return numbers


class BestPaths(WordSegmenter):
    has_kernels = True
    part = WEIGHING

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history, cutting)
        self._scores = scores_of(history)
        self.has_pieces_over_time = not self._scores.waiting

    @cached_property
    def _joins(self) -> list[bool]:
        return self._history.alphabet.merging

    def make_kernels(self) -> CompiledPaths:
        from bpe_core.segmenting.compiled_methods import CompiledPaths  # loads machine code

        return CompiledPaths(self._history, self._cutting, self._scores)

    def pieces_over_time(self) -> PiecesOverTime | None:
        if not self.has_pieces_over_time:
            return None
        from bpe_core.segmenting.compiled_methods import paths_over_time  # loads machine code

        return paths_over_time(self._history, self._scores)

    def cut_words(self, words: Sequence[bytes], at: int) -> WordCuts:
        kernels = self._kernels(sum(map(len, words)))
        return super().cut_words(words, at) if kernels is None else kernels.cut_words(words, at)

    @cached_property
    def pieces(self) -> Pieces:
        return Pieces(self._history)

    def cut_word(self, word: bytes, at: int) -> WordCut:
        kernels = self._kernels(len(word))
        if kernels is None:
            return self._specified(word, at)
        word_cuts = kernels.cut_words([word], at)
        return WordCut(
            word_cuts.ids.tolist(), word_cuts.ends.tolist(), int(word_cuts.since[0]), int(word_cuts.until[0])
        )

    @cached_property
    def _specified(self) -> WordCutter:
        cutter: WordCutter = METHODS[self._history.recipe.method].word_cutter(self._history)
        return cutter

    def _kernels(self, size: int) -> CompiledPaths | None:
        return self.kernels_for(size)  # type: ignore[return-value]  # made here

    def known_around(self, symbols: list[int], place: int) -> tuple[int, int] | None:
        """Return the range of symbols around a boundary up to the nearest unknown symbols.

        Return None if a symbol beside the boundary is unknown.
        """
        first = place
        stop = place
        while first > 0 and self._joins[symbols[first - 1]]:
            first -= 1
        while stop < len(symbols) and self._joins[symbols[stop]]:
            stop += 1
        return (first, stop) if first < place < stop else None
