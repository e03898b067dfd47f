"""Cutting by the best path: of all ways to cut a word, the one that is most probable.

What the alphabet lacks stands alone, neighbours of it as one token (or as bytes, where the recipe has them), and the
path is sought on both sides of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bpe_core.alphabet import Alphabet
from bpe_core.errors import FormatError
from bpe_core.history.history import History
from bpe_core.history.scores import DROPPED, Scores
from bpe_core.learning.unigram.paths import Edge, best_path, edges_of, lengths_of, spelled
from bpe_core.of_alphabet import OfAlphabet
from bpe_core.segmenting.cutting import Cutting, utf8
from bpe_core.segmenting.path_search import drawn_path, n_best_paths
from bpe_core.segmenting.segmentation import Int32s
from bpe_core.segmenting.spelling import Spelling
from bpe_core.segmenting.text_encoder import worth_kernels
from bpe_core.segmenting.word_cuts import ALWAYS, WordCut, WordCuts
from bpe_core.segmenting.word_tokens import WordSegmenter

if TYPE_CHECKING:
    import random

    from bpe_core.segmenting.compiled_paths import CompiledPaths
    from bpe_core.segmenting.in_time import InTime
    from bpe_core.segmenting.laid_words import Laid

CHARACTERS_OF_A_SEED = 6  # on average


def _scores_of(history: History) -> Scores:
    """Its own; where there are only characters yet, there is but one path, and any will do."""
    if history.scores is not None:
        return history.scores
    if history.alphabet.seed_count:
        raise FormatError("This run has no log-probabilities, so no text can be cut by it; train it anew.")
    return Scores((0,), (np.zeros(len(history.alphabet), np.float32),), np.zeros(0, np.int32))


class Seeds(NamedTuple):
    """The seeds of an alphabet as base symbols."""

    id_of: dict[tuple[int, ...], int]
    lengths: list[int]  # of all tokens, by id
    different_lengths: list[int]

    @classmethod
    def of(cls, alphabet: Alphabet, marker: str) -> Seeds:
        seeds = spelled(alphabet, marker.encode())
        first = len(alphabet) - len(seeds)
        id_of = {tuple(symbols): id for id, symbols in enumerate(seeds, first)}
        return cls(id_of, [1] * first + [len(symbols) for symbols in seeds], lengths_of(seeds))


_SEEDS = OfAlphabet(Seeds.of)


class Pieces:
    """The tokens of a history as base symbols, with their scores after any step."""

    def __init__(self, history: History) -> None:
        self.scores = _scores_of(history)
        self._seeds = _SEEDS.of(history.alphabet, history.recipe.marker_text)
        self._gone_at: dict[int, int] = dict(
            zip(history.columns.left.tolist(), range(1, len(history) + 1), strict=True)
        )
        self._found: tuple[int, list[float]] | None = None  # the scores at the step last asked for

    def gone_at(self, id: int) -> int:
        """The first step after which there is no such token."""
        return self._gone_at.get(id, ALWAYS)

    def length(self, id: int) -> int:
        """How many base symbols a token covers."""
        return self._seeds.lengths[id]

    def scores_at(self, at: int) -> list[float]:
        """The score of each token after so many steps, by id."""
        found = self._found
        if found is None or found[0] != at:
            found = self._found = at, self.scores.at(at).tolist()
        return found[1]

    def edges(self, symbols: list[int], at: int) -> list[list[Edge]]:
        """The tokens that could stand at each place after so many steps, the shortest first."""
        scores = self.scores_at(at)
        return [
            [
                edge
                for edge in edges_of(symbols, here, self._seeds.different_lengths, self._seeds.id_of)
                if scores[edge[1]] != DROPPED
            ]
            for here in range(len(symbols))
        ]


class BestPaths(WordSegmenter):
    """Unigram's `Segmenter`."""

    is_in_time = True

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history, cutting, self._cut_word)
        self._history = history
        self._scores = _scores_of(history)
        self._known_compiled: CompiledPaths | None = None
        self._spelling = Spelling(history)
        self._unknown = history.alphabet.unknown_id
        self._joins = history.alphabet.merging

    def ids_of_part(self, text: str, at: int) -> Int32s:
        compiled = self._compiled(len(text))
        return super().ids_of_part(text, at) if compiled is None else compiled.ids(text, at)

    def ids_of_laid(self, laid: Laid, at: int) -> Int32s:
        compiled = self._compiled(len(laid.data))
        return super().ids_of_laid(laid, at) if compiled is None else compiled.ids_of_words(laid.data, laid.cuts, at)

    def cut_words(self, words: Sequence[bytes], at: int) -> WordCuts:
        compiled = self._compiled(sum(map(len, words)))
        return super().cut_words(words, at) if compiled is None else compiled.cut_words(words, at)

    def in_time(self) -> InTime:
        from bpe_core.segmenting.compiled_paths import paths_in_time  # loads machine code

        return paths_in_time(self._history, self._scores)

    def _compiled(self, size: int) -> CompiledPaths | None:
        """The kernels, where they are loaded, or where loading them takes less time than doing without."""
        if self._known_compiled is None and worth_kernels(size + self._to_spell):
            from bpe_core.segmenting.compiled_paths import CompiledPaths  # loads machine code

            self._known_compiled = CompiledPaths(self._history, self._cutting, self._scores)
        return self._known_compiled

    @property
    def _to_spell(self) -> int:
        """The characters, about, of all tokens: the plain cut wants them one by one before it cuts a first word."""
        return 0 if "pieces" in vars(self) else CHARACTERS_OF_A_SEED * self._history.alphabet.seed_count

    @cached_property
    def pieces(self) -> Pieces:
        """What the plain cut needs, and whoever asks for more than the cut."""
        return Pieces(self._history)

    def _cut_word(self, word: bytes, at: int) -> WordCut:
        symbols = self._spelling.symbols(word)
        ends_of = np.cumsum(self._spelling.widths(word, symbols)).tolist()
        ids, ends, start = list[int](), list[int](), 0
        for stop in [*(i for i, symbol in enumerate(symbols) if not self._joins[symbol]), len(symbols)]:
            edges = self.pieces.edges(symbols[start:stop], at)
            for id in best_path(edges, self.pieces.scores_at(at))[1]:
                start += self.pieces.length(id)
                ids.append(id)
                ends.append(ends_of[start - 1])
            if stop < len(symbols):
                if ids and ids[-1] == symbols[stop] == self._unknown:  # neighbours that are unknown are one token
                    del ids[-1], ends[-1]
                ids.append(symbols[stop])
                ends.append(ends_of[stop])
                start = stop + 1
        until = min(self.pieces.scores.until(at), *map(self.pieces.gone_at, ids))
        return WordCut(ids, ends, at, until)

    def known_around(self, symbols: list[int], place: int) -> tuple[int, int] | None:
        """The symbols around a place in a word that the alphabet has: the first and the end; None where one lacks."""
        first, stop = place, place
        while first > 0 and self._joins[symbols[first - 1]]:
            first -= 1
        while stop < len(symbols) and self._joins[symbols[stop]]:
            stop += 1
        return (first, stop) if first < place < stop else None

    # -- more ways than the best -------------------------------------------------------------

    def n_best(self, text: str, wanted: int, at: int, allowed: tuple[str, ...]) -> list[list[int]]:
        """The most probable ways to cut a text, the best first."""
        found = n_best_paths(self._lattice(text, at, allowed), self._scores_of_all(at), wanted)
        return [self._joined(ids) for ids in found]

    def drawn(self, text: str, alpha: float, chance: random.Random, at: int, allowed: tuple[str, ...]) -> list[int]:
        """A way to cut a text, drawn by its probability to the power of alpha."""
        return self._joined(drawn_path(self._lattice(text, at, allowed), self._scores_of_all(at), alpha, chance))

    def _lattice(self, text: str, at: int, allowed: tuple[str, ...]) -> list[list[Edge]]:
        """The tokens that could stand at each place of a whole text."""
        utf8(text)  # so that what cannot be encoded is told by its place
        edges: list[list[Edge]] = []
        for part, special in self._cutting.normalized_parts(text, allowed):
            if special is not None:
                edges.append([(1, self._special_id[special])])
            for word in self._cutting.words(part):
                edges += self.pieces.edges(self._spelling.symbols(word.encode()), at)
        return edges

    def _scores_of_all(self, at: int) -> list[float]:
        """Those of special tokens, too, which stand where they stand."""
        return self.pieces.scores_at(at) + [0.0] * len(self._history.recipe.special_tokens)

    def _joined(self, ids: list[int]) -> list[int]:
        """Neighbours that are unknown as one token."""
        return [id for before, id in zip([None, *ids], ids, strict=False) if id != self._unknown or before != id]
