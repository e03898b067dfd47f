"""The lattices of all words in plain Python: for small texts, and while the kernels are being compiled."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from bpe_core.alphabet import Alphabet
from bpe_core.history.scores import DROPPED, Float32s
from bpe_core.learning.unigram.cells import Int32s, Int64s, Stretches
from bpe_core.learning.unigram.lattices import SHIFT, SMALL, UNREACHED, Float64s, OwnPaths
from bpe_core.learning.unigram.paths import Edge, best_path, edges_of, lengths_of, spelled
from bpe_core.recipe import Recipe

# A token that is looked at costs some hundred times what it costs a kernel.
WORK_AN_EDGE = 100


class PlainLattices:
    """For each place of each stretch the tokens that could stand there, the shortest first."""

    def __init__(self, stretches: Stretches, alphabet: Alphabet, recipe: Recipe) -> None:
        self._weights = stretches.counts.tolist()
        self._size = len(alphabet)
        ids = spelled(alphabet, recipe.marker_text.encode())
        id_of = {tuple(symbols): id for id, symbols in enumerate(ids, self._size - len(ids))}
        lengths = lengths_of(id_of)
        cells = stretches.symbols.tolist()
        starts = stretches.starts.tolist()
        self._edges: list[list[list[Edge]]] = []
        self._place: dict[int, tuple[int, int, int]] = {}  # where a piece stands, and its length
        for first, stop in pairwise(starts):
            symbols = cells[first : stop - 1]
            edges = [edges_of(symbols, here, lengths, id_of) for here in range(len(symbols))]
            for here, found in enumerate(edges):
                for length, id in found:
                    self._place.setdefault(id, (len(self._edges), here, length))
            self._edges.append(edges)
        self._paths: list[list[int]] = [[] for _ in self._edges]
        self._words_with: list[list[int]] = []
        self.tokens, self.log_likelihood = 0, 0.0
        self.counts: Int64s = np.zeros(self._size, np.int64)
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
            self._words_with = [[] for _ in range(self._size)]
            self._paths = [[] for _ in self._edges]
        done = 0
        while start < len(self._edges) and done < work:
            done += WORK_AN_EDGE * sum(map(len, self._edges[start]))
            self._cut_one(start)
            start += 1
        return start, done

    def _cut_one(self, word: int) -> None:
        """Cut a stretch anew, and count its tokens in place of those it had."""
        weight, old = self._weights[word], self._paths[word]
        new = best_path(self._edges[word], self._scores)[1]
        for id in old:
            self.counts[id] -= weight
        for id in new:
            self.counts[id] += weight
            self._words_with[id].append(word)
        self._paths[word] = new
        self.tokens += weight * (len(new) - len(old))

    def drop(self, pieces: Int32s, work: int) -> tuple[Int64s, Int64s, int]:
        counts, tokens, done = list[int](), list[int](), 0
        for piece in pieces.tolist():
            if counts and done >= work:
                break
            counts.append(int(self.counts[piece]))
            self._scores[piece] = float(DROPPED)
            done += WORK_AN_EDGE
            for word in self._words_with[piece]:
                if piece in self._paths[word]:
                    done += WORK_AN_EDGE * sum(map(len, self._edges[word]))
                    self._cut_one(word)
            self._words_with[piece] = []
            tokens.append(self.tokens)
        return np.array(counts, np.int64), np.array(tokens, np.int64), done

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
        """Add, for each token at each place, how probable the paths are that go through it."""
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
    """For each place the probability to get there, and how often it was lifted to keep it in range."""
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
    """A number multiplied so often, or divided where it is less than 0; exactly, unless it becomes nothing."""
    return math.ldexp(number, SHIFT * times) if times else number
