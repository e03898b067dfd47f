"""Segmenters that cut a word by its best path: the most probable of all ways.

Characters that the alphabet lacks become one unknown token side by side (or bytes, if the recipe has these). The best
path is searched on both sides of them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bpe_core.errors import FormatError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import DROPPED, Scores
from bpe_core.history.history import History
from bpe_core.kernels import LARGEST_SUM
from bpe_core.methods.kit.lattices import Edge, best_path, edges_of, lengths_of, spelled
from bpe_core.segmenting.cutting import Cutting
from bpe_core.segmenting.merging import Spelling
from bpe_core.segmenting.segmentation import NO_TOKEN
from bpe_core.segmenting.word_segmenters import WordSegmenter
from bpe_core.segmenting.word_tokens import ALWAYS, WordCut, WordCuts

if TYPE_CHECKING:  # which load machine code
    from bpe_core.segmenting.compiled_methods import CompiledPaths, PiecesOverTime

_FLOAT = struct.Struct("f")


def narrow(number: float) -> float:
    return float(_FLOAT.unpack(_FLOAT.pack(number))[0])


def _scores_of(history: History) -> Scores:
    """Return the history's scores, or zeros for a vocabulary of characters alone, which has only one path."""
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
        seeds = spelled(alphabet, marker.encode())
        first = len(alphabet) - len(seeds)
        id_of = {tuple(symbols): id for id, symbols in enumerate(seeds, first)}
        return cls(id_of, [1] * first + [len(symbols) for symbols in seeds], lengths_of(seeds))


class Pieces:
    """The tokens of a history as base symbols, with their scores after any step."""

    def __init__(self, history: History) -> None:
        self.scores = scores = _scores_of(history)
        alphabet = history.alphabet
        marker = history.recipe.marker_text
        self._seeds = alphabet.kept(("seeds", marker), lambda: Seeds.of(alphabet, marker))
        self._step_of: dict[int, int] = dict(
            zip(history.columns.left.tolist(), range(1, len(history) + 1), strict=True)
        )
        unknown = history.alphabet.unknown_id
        first = history.alphabet.first_fallback_id if unknown is None else unknown
        # If unknown characters have a score, characters that occur only in longer pieces get it, too.
        lone = first if history.recipe.sums else None
        self.scores_at: Callable[[int], list[float]] = lru_cache(maxsize=1)(lambda at: _with_lone(scores.at(at), lone))

    def until(self, symbols: list[int], ids: Sequence[int], at: int) -> int:
        """Return the first later step that may change the cut: it drops one of the tokens, or adds a better one."""
        if not self.scores.waiting:
            steps = [self._step_of.get(id, ALWAYS) for id in ids]
        else:
            seeds = self._seeds
            places = range(len(symbols))
            held = (edges_of(symbols, here, seeds.different_lengths, seeds.id_of) for here in places)
            steps = [step for edges in held for edge in edges if (step := self._step_of.get(edge[1], 0)) > at]
        return min(self.scores.until(at), min(steps, default=ALWAYS))

    def length(self, id: int) -> int:
        return self._seeds.lengths[id]

    def edges(self, symbols: list[int], at: int) -> list[list[Edge]]:
        """Return the tokens that can begin at each symbol after `at` steps, the shortest first."""
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
    found: list[float] = (scores if unknown is None else np.where(scores == DROPPED, scores[unknown], scores)).tolist()
    return found


class SummedPaths:
    """The search for the best path of a whole word in plain Python, with sums rounded as libraries round them."""

    def __init__(self, history: History) -> None:
        self._alphabet = history.alphabet
        self._known = _scores_of(history).at(len(history))
        self._is_narrow = history.recipe.sums == "32 bits"
        self._unknown = history.alphabet.unknown_id
        self._first_fallback = history.alphabet.first_fallback_id
        self._means_unknown = {NO_TOKEN, history.unknown_twin}

    @cached_property
    def _scores(self) -> list[float]:
        found: list[float] = self._known.tolist()
        return found

    @cached_property
    def _unknown_score(self) -> float:
        return self._scores[self._first_fallback if self._unknown is None else self._unknown or 0]  # type: ignore[index]

    @cached_property
    def _id_of(self) -> dict[bytes, int]:
        return {
            symbol.text: id
            for id, symbol in enumerate(self._alphabet.symbols)
            if symbol.kind in ("character", "seed") and self._scores[id] != DROPPED
        }

    @cached_property
    def _lengths(self) -> list[int]:
        return sorted({len(text) for text in self._id_of})

    def cut(self, word: bytes, at: int) -> WordCut:
        size = len(word)
        narrowed = narrow if self._is_narrow else float
        best = [0.0] + [-math.inf] * size
        last = [NO_TOKEN] * (size + 1)
        before = [0] * (size + 1)
        starts = [place for place, byte in enumerate(word) if byte & 0xC0 != 0x80]
        for here, behind in pairwise([*starts, size]):
            if self._is_narrow and abs(sum_here := best[here]) > LARGEST_SUM:
                reached = slice(here, here + max(self._lengths, default=0) + 1)
                best[reached] = [narrow(total - sum_here) for total in best[reached]]
            is_one = False
            for length in self._lengths:
                id = self._id_of.get(word[here : here + length]) if here + length <= size else None
                if id is None:
                    continue
                total = narrowed(best[here] + self._scores[id])
                if total > best[here + length]:
                    best[here + length] = total
                    last[here + length] = id
                    before[here + length] = here
                is_one |= here + length == behind
            if not is_one and (total := narrowed(best[here] + self._unknown_score)) > best[behind]:
                best[behind] = total
                last[behind] = NO_TOKEN
                before[behind] = here
        ids = list[int]()
        ends = list[int]()
        place = size
        while place:
            self._put_before(ids, ends, last[place], before[place], place, word)
            place = before[place]
        return WordCut(ids[::-1], ends[::-1], at, ALWAYS)

    def _put_before(self, ids: list[int], ends: list[int], id: int, start: int, stop: int, word: bytes) -> None:
        if id not in self._means_unknown:
            ids.append(id)
            ends.append(stop)
        elif self._unknown is None:
            ids += [self._first_fallback + byte for byte in reversed(word[start:stop])]  # type: ignore[operator]
            ends += range(stop, start, -1)
        elif ids[-1:] != [self._unknown]:  # neighbours are one token
            ids.append(self._unknown)
            ends.append(stop)


class BestPaths(WordSegmenter):
    has_kernels = True

    def __init__(self, history: History, cutting: Cutting) -> None:
        super().__init__(history, cutting, SummedPaths(history).cut if history.recipe.sums else self._cut_word)
        self._scores = _scores_of(history)
        self.has_pieces_over_time = not self._scores.waiting
        self._spelling = Spelling(history)
        self._unknown = history.alphabet.unknown_id

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
        kernels: CompiledPaths | None = self.kernels_for(sum(map(len, words)))  # type: ignore[assignment]  # made here
        return super().cut_words(words, at) if kernels is None else kernels.cut_words(words, at)

    @cached_property
    def pieces(self) -> Pieces:
        return Pieces(self._history)

    def _cut_word(self, word: bytes, at: int) -> WordCut:
        symbols = self._spelling.symbols(word)
        ends_of = np.cumsum(self._spelling.widths(word, symbols)).tolist()
        ids = list[int]()
        ends = list[int]()
        start = 0
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
        return WordCut(ids, ends, at, self.pieces.until(symbols, ids, at))

    def known_around(self, symbols: list[int], place: int) -> tuple[int, int] | None:
        """Return the range of known symbols around a boundary in a word; None if a neighbour is unknown."""
        first = place
        stop = place
        while first > 0 and self._joins[symbols[first - 1]]:
            first -= 1
        while stop < len(symbols) and self._joins[symbols[stop]]:
            stop += 1
        return (first, stop) if first < place < stop else None
