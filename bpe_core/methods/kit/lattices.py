"""The lattices of all words: tokens possible at each place, paths through them, and plain Python that finds these.

Plain Python serves small texts, and all until the kernels are compiled. The reference cannot: it cuts every word anew
at each step, and takes 13 s for the sample of 4 kB, this 0.05 s.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from bpe_core.errors import FormatError
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.columns import DROPPED, Float32s
from bpe_core.kernels import SHIFT, SMALL, UNREACHED
from bpe_core.methods.kit.cells import Stretches
from bpe_core.recipes.recipe import Recipe
from bpe_core.support.arrays import Float64s, Int32s, Int64s

Edge = tuple[int, int]  # how many symbols a token covers, and its id
Symbols = tuple[int, ...]


def spelled(alphabet: Alphabet, marker: bytes) -> list[list[int]]:
    if (known := alphabet.spelled) is not None:
        return [known.symbols[first:stop].tolist() for first, stop in pairwise(known.starts.tolist())]
    id_of, marker_id = alphabet.id_of_piece, alphabet.marker_id
    symbol_of = {text.decode(): id for text, id in id_of.items()}
    found = []
    for symbol in alphabet.symbols:
        if symbol.kind == "seed":
            begins = marker_id is not None and symbol.text.startswith(marker)
            rest = symbol.text[len(marker) :] if begins else symbol.text
            try:
                ids = [symbol_of[character] for character in rest.decode()]
            except KeyError as missing:
                raise FormatError(
                    f"Pieces of this table are made of {missing}, which is none of its symbols."
                ) from None
            found.append([marker_id, *ids] if begins and marker_id is not None else ids)
    return found


def lengths_of(seeds: Iterable[Sequence[int]]) -> list[int]:
    """List the lengths that occur: one piece of 60,000 symbols must not have all shorter ones looked for."""
    return sorted({len(symbols) for symbols in seeds} - {1})


def edges_of(symbols: Sequence[int], here: int, lengths: Sequence[int], id_of: Mapping[Symbols, int]) -> list[Edge]:
    edges = [(1, symbols[here])]
    for length in lengths:
        if length > len(symbols) - here:
            break
        id = id_of.get(tuple(symbols[here : here + length]))
        if id is not None:
            edges.append((length, id))
    return edges


def best_path(edges: list[list[Edge]], scores: Sequence[float]) -> tuple[float, list[int]]:
    """Return the score and tokens of the best path through a stretch; of equals the one whose last token is longest.

    >>> best_path([[(1, 0), (2, 2)], [(1, 1)]], [-1.0, -1.0, -1.5])
    (-1.5, [2])
    """
    size = len(edges)
    best, last, before = [0.0] + [-math.inf] * size, [-1] * (size + 1), [0] * (size + 1)
    for here, found in enumerate(edges):
        for length, id in found:
            score = best[here] + scores[id]
            if score > best[here + length]:
                best[here + length], last[here + length], before[here + length] = score, id, here
    path, place = list[int](), size
    while place:
        path.append(last[place])
        place = before[place]
    return best[size], path[::-1]


class OwnPaths(NamedTuple):
    """The best path over each of some pieces that is not the piece itself."""

    scores: Float32s
    starts: Int64s  # where in `tokens` each begins, and the end of all
    tokens: Int64s


class Lattices(Protocol):
    """Each word with the pieces that could be in it. `work` counts pieces looked at, and is only about right."""

    tokens: int  # of the corpus, on the best paths
    counts: Int64s  # how often each occurs there, by id
    expected: Float64s  # how often each token would occur in the corpus, over all paths by their probability
    log_likelihood: float  # of the corpus, as it was last expected
    leaving: Int64s  # how often each piece that was planned to leave occurs on the best paths when it does
    tokens_after: Int64s  # how many tokens the corpus has then

    def coverage(self) -> Int64s:
        """Count the symbols of the corpus that each token could cover."""

    def __len__(self) -> int:
        """Count the stretches."""

    def cut(self, start: int, work: int, scores: Float32s) -> tuple[int, int]:
        """Find the best paths, from this stretch on; return the next stretch, and the work done. 0: all anew."""

    def expect(self, start: int, work: int, scores: Float32s) -> tuple[int, int]:
        """Add to what is expected, from this stretch on, as before. 0: begin anew."""

    def in_order(self, pieces: Int64s) -> Int64s:
        """Return the order to ask for their own paths in."""

    def own_paths(self, pieces: Int64s, scores: Float32s) -> OwnPaths:
        """Find how these pieces would be cut themselves."""

    def plan(self, start: int, work: int, pieces: Int32s) -> tuple[int, int]:
        """Find how stretches are cut, from this one on, while these pieces leave; after the last one they have left.

        All must have been cut since other pieces left.
        """

    def tidy(self, scores: Float32s) -> None:
        """Forget pieces that have no score any more."""


# A token that is looked at costs some hundred times what it costs a kernel.
BYTES_A_CELL = 200  # of the lattices of machine code
WORK_AN_EDGE = 100


class PlainLattices:
    """The tokens that may begin at each place of each stretch, the shortest first."""

    def __init__(self, stretches: Stretches, alphabet: Alphabet, recipe: Recipe) -> None:
        self._weights = stretches.counts.tolist()
        self._size = len(alphabet)
        ids = spelled(alphabet, recipe.marker_text.encode())
        id_of = {tuple(symbols): id for id, symbols in enumerate(ids, self._size - len(ids))}
        lengths = lengths_of(id_of)
        cells = stretches.symbols.tolist()
        starts = stretches.starts.tolist()
        self._edges: list[list[list[Edge]]] = []
        self._place: dict[int, tuple[int, int, int]] = {}  # where a piece occurs, and its length
        for first, stop in pairwise(starts):
            symbols = cells[first : stop - 1]
            edges = [edges_of(symbols, here, lengths, id_of) for here in range(len(symbols))]
            for here, found in enumerate(edges):
                for length, id in found:
                    self._place.setdefault(id, (len(self._edges), here, length))
            self._edges.append(edges)
        self._paths: list[list[int]] = [[] for _ in self._edges]
        self._turns: dict[int, int] = {}  # when each piece leaves
        self.tokens, self.log_likelihood = 0, 0.0
        self.counts: Int64s = np.zeros(self._size, np.int64)
        self.leaving, self.tokens_after, self._changes = (np.zeros(0, np.int64) for _ in range(3))
        self.expected: Float64s = np.zeros(self._size)
        self._scores: list[float] = []
        self._probabilities: list[float] = []
        self._expected_so_far: list[float] = []

    def __len__(self) -> int:
        return len(self._edges)

    def coverage(self) -> Int64s:
        covered = np.zeros(self._size, np.int64)
        for edges, weight in zip(self._edges, self._weights, strict=True):
            for found in edges:
                for length, id in found:
                    covered[id] += length * weight
        return covered

    # -- Best paths ------------------------------------------------------------------------

    def cut(self, start: int, work: int, scores: Float32s) -> tuple[int, int]:
        if start == 0:
            self._scores = scores.tolist()
            self.tokens, self.counts = 0, np.zeros(self._size, np.int64)
        done = 0
        while start < len(self._edges) and done < work:
            done += WORK_AN_EDGE * sum(map(len, self._edges[start]))
            weight, path = self._weights[start], best_path(self._edges[start], self._scores)[1]
            self._paths[start] = path
            self.tokens += weight * len(path)
            for id in path:
                self.counts[id] += weight
            start += 1
        return start, done

    def plan(self, start: int, work: int, pieces: Int32s) -> tuple[int, int]:
        if start == 0:
            self._turns = {piece: turn for turn, piece in enumerate(pieces.tolist())}
            self.leaving, self._changes = np.zeros(len(pieces), np.int64), np.zeros(len(pieces), np.int64)
            self.counts = self.counts.copy()
        done = 0
        while start < len(self._edges) and done < work:
            done += WORK_AN_EDGE * (1 + self._cut_in_turn(start))
            start += 1
        if start == len(self._edges):
            self.tokens_after = self.tokens + np.cumsum(self._changes)
            self.tokens += int(self._changes.sum())
            for piece in pieces.tolist():
                self._scores[piece] = float(DROPPED)
        return start, done

    def _cut_in_turn(self, word: int) -> int:
        """Cut a stretch anew whenever a token of its best path leaves; how many tokens were looked at."""
        turns, weight, edges, path, looked = self._turns, self._weights[word], self._edges[word], self._paths[word], 0
        while (turn := min((turns[id] for id in path if id in turns), default=None)) is not None:
            left = [[edge for edge in found if turns.get(edge[1], turn + 1) > turn] for found in edges]
            new = best_path(left, self._scores)[1]
            self.leaving[turn] += weight * sum(turns.get(id) == turn for id in path)
            self._changes[turn] += weight * (len(new) - len(path))
            for id in path:
                self.counts[id] -= weight
            for id in new:
                self.counts[id] += weight
            path, looked = new, looked + sum(map(len, edges))
        self._paths[word] = path
        return looked

    def in_order(self, pieces: Int64s) -> Int64s:
        return pieces

    def own_paths(self, pieces: Int64s, scores: Float32s) -> OwnPaths:
        found, starts, tokens, values = [], [0], list[int](), scores.tolist()
        for piece in pieces.tolist():
            word, here, length = self._place[piece]
            edges = [
                [edge for edge in self._edges[word][at] if at + edge[0] <= here + length and edge[1] != piece]
                for at in range(here, here + length)
            ]
            score, path = best_path(edges, values)
            found.append(score)
            tokens += path
            starts.append(len(tokens))
        return OwnPaths(np.array(found, np.float32), np.array(starts, np.int64), np.array(tokens, np.int64))

    def tidy(self, scores: Float32s) -> None:
        values = scores.tolist()
        self._edges = [
            [[edge for edge in found if values[edge[1]] != DROPPED] for found in edges] for edges in self._edges
        ]

    # -- All paths -------------------------------------------------------------------------

    def expect(self, start: int, work: int, scores: Float32s) -> tuple[int, int]:
        if start == 0:
            self._probabilities = np.exp(scores.astype(np.float64)).tolist()
            self._expected_so_far = [0.0] * self._size
            self.log_likelihood = 0.0
        done = 0
        while start < len(self._edges) and done < work:
            done += 3 * WORK_AN_EDGE * sum(map(len, self._edges[start]))
            self._expect_one(self._edges[start], self._weights[start])
            start += 1
        if start == len(self._edges):
            self.expected = np.array(self._expected_so_far)
        return start, done

    def _expect_one(self, edges: list[list[Edge]], weight: int) -> None:
        probabilities, expected, size = self._probabilities, self._expected_so_far, len(edges)
        reached, lifts = _probability_to_reach(edges, probabilities)
        whole = reached[size]
        self.log_likelihood += weight * (math.log(whole) - lifts[size] * SHIFT * math.log(2))
        left, lifts_left = [0.0] * size + [1.0], [0] * (size + 1)  # the probability to get to the end from each place
        for here in range(size - 1, -1, -1):
            through = reached[here] * (weight / whole)
            least = min(lifts_left[here + length] for length, _ in edges[here])
            for length, id in edges[here]:
                behind = probabilities[id] * left[here + length]
                left[here] += lifted(behind, least - lifts_left[here + length])
                times = lifts[size] - lifts[here] - lifts_left[here + length]
                first = int(times / 2)  # half of it at a time: what comes between stays in range
                expected[id] += lifted(lifted(through, first) * behind, times - first)
            lifts_left[here] = least
            if left[here] < SMALL:
                left[here], lifts_left[here] = lifted(left[here], 1), least + 1


def _probability_to_reach(edges: list[list[Edge]], probabilities: list[float]) -> tuple[list[float], list[int]]:
    """Return the probability of reaching each place, and how often it was lifted to keep it in range."""
    size = len(edges)
    reached, lifts = [1.0] + [0.0] * size, [0] + [UNREACHED] * size
    for here, found in enumerate(edges):
        if reached[here] < SMALL:
            reached[here], lifts[here] = lifted(reached[here], 1), lifts[here] + 1
        for length, id in found:
            there = here + length
            if lifts[here] < lifts[there]:  # what was known so far is nothing beside this
                reached[there] = lifted(reached[there], lifts[here] - lifts[there])
                lifts[there] = lifts[here]
            reached[there] += lifted(reached[here] * probabilities[id], lifts[there] - lifts[here])
    return reached, lifts


def lifted(number: float, times: int) -> float:
    """Return a number multiplied so often, or divided where it is less than 0; exactly, unless it becomes nothing."""
    return math.ldexp(number, SHIFT * times) if times else number
