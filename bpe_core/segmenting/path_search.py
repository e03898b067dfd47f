"""More ways to cut a text than the best: the n most probable ones, and one drawn by chance.

The n best are searched from the end of the text: a way that is known from a place on is as good as that and the best
way to the place together, so the next complete one that is found is the next best (A*). Scores are added with 32
bits, and of equals that one comes first which the heap of C++'s library hands out: so SentencePiece lists them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from bpe_core.learning.unigram.paths import Edge
from bpe_core.segmenting.segmentation import NO_TOKEN

if TYPE_CHECKING:
    import random

MOST_WAITING = 10_000  # ways that are not complete; of more only the best go on
GO_ON = 512
MOST_LOOKED_AT = 500_000  # beyond, the best alone is told

_FLOAT = struct.Struct("f")


def narrow(number: float) -> float:
    """As 32 bits hold it."""
    return float(_FLOAT.unpack(_FLOAT.pack(number))[0])


class _Node(NamedTuple):
    """A token at a place."""

    start: int
    id: int
    score: float
    best: float  # of all ways to the end of it


class _Way(NamedTuple):
    """A way to cut the text from some token on."""

    promise: float  # its score, and that of the best way to it
    score: float
    node: _Node
    rest: _Way | None


_BEGINNING = _Node(0, NO_TOKEN, 0.0, 0.0)


def n_best_paths(edges: Sequence[Sequence[Edge]], score_of: Sequence[float], wanted: int) -> list[list[int]]:
    """The most probable ways to cut a text, the best first; fewer where there are not so many."""
    ending = _nodes(edges, score_of)
    size = len(edges)
    end = _Node(size, NO_TOKEN, 0.0, max(node.best for node in ending[size]))
    heap = [_Way(end.best, 0.0, end, None)]
    found: list[list[int]] = []
    looked_at = 1
    while heap and len(found) < wanted:
        way = pop(heap)
        if way.node is _BEGINNING:
            found.append(_ids(way.rest))
            continue
        for node in ending[way.node.start]:
            push(heap, _Way(narrow(node.best + way.score), narrow(node.score + way.score), node, way))
        looked_at += len(ending[way.node.start])
        if looked_at > MOST_LOOKED_AT:
            return n_best_paths(edges, score_of, 1)
        if len(heap) >= MOST_WAITING:
            kept: list[_Way] = []
            for _ in range(min(GO_ON, 10 * wanted)):
                push(kept, pop(heap))
            heap = kept
    return found


def _nodes(edges: Sequence[Sequence[Edge]], score_of: Sequence[float]) -> list[list[_Node]]:
    """For each place the tokens that end there, those that begin first before others."""
    ending: list[list[_Node]] = [[_BEGINNING], *([] for _ in edges)]
    for start, found in enumerate(edges):
        for length, id in found:
            best = max(narrow(node.best + score_of[id]) for node in ending[start])
            ending[start + length].append(_Node(start, id, score_of[id], best))
    return ending


def _ids(way: _Way | None) -> list[int]:
    ids: list[int] = []
    while way is not None and way.node.id != NO_TOKEN:
        ids.append(way.node.id)
        way = way.rest
    return ids


def push(heap: list[_Way], way: _Way) -> None:
    """
    >>> heap = []
    >>> for promise in (1, 3, 2): push(heap, _Way(promise, 0.0, None, None))
    >>> [pop(heap).promise for _ in range(3)]
    [3, 2, 1]
    """
    heap.append(way)
    _lift(heap, len(heap) - 1, way)


def pop(heap: list[_Way]) -> _Way:
    """The most promising; of equals as C++ does it."""
    top, last = heap[0], heap.pop()
    size = len(heap)
    if size == 0:
        return top
    hole = child = 0
    while child < (size - 1) // 2:
        child = 2 * (child + 1)
        if heap[child].promise < heap[child - 1].promise:
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * (child + 1)
        heap[hole] = heap[child - 1]
        hole = child - 1
    _lift(heap, hole, last)
    return top


def _lift(heap: list[_Way], hole: int, way: _Way) -> None:
    while hole > 0 and heap[(hole - 1) // 2].promise < way.promise:
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = way


def drawn_path(
    edges: Sequence[Sequence[Edge]], score_of: Sequence[float], alpha: float, chance: random.Random
) -> list[int]:
    """A way to cut a text, drawn by its probability to the power of alpha."""
    ending: list[list[tuple[int, int, float]]] = [[] for _ in range(len(edges) + 1)]
    reached = [0.0] + [-math.inf] * len(edges)  # the logarithm of the sum over all ways to a place
    for start, found in enumerate(edges):
        if start:
            reached[start] = _log_of_sum([weight for _, _, weight in ending[start]])
        for length, id in found:
            ending[start + length].append((start, id, reached[start] + alpha * score_of[id]))
    ids, place = list[int](), len(edges)
    while place:
        highest = max(weight for _, _, weight in ending[place])
        weights = [math.exp(weight - highest) for _, _, weight in ending[place]]
        place, id, _ = chance.choices(ending[place], weights)[0]
        ids.append(id)
    return ids[::-1]


def _log_of_sum(logarithms: list[float]) -> float:
    highest = max(logarithms)
    return highest + math.log(sum(math.exp(one - highest) for one in logarithms))
