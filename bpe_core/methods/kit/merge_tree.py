"""The merge tree of a word, its encoding step by step, and the pairs that met at each boundary.

All results follow from the ranks of the word's boundaries. Of the boundaries inside a token, the boundary with the
highest rank was removed last, so the last merge of the token joined its two parts there. Only a few pairs met at a
boundary. They explain completely why the word is split there, or is not split.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bpe_core.history.history import NOTHING, History
from bpe_core.segmenting.merging import NEVER
from bpe_core.support.former_names import former_classes


@dataclass(frozen=True)
class Node:
    """A token of a word, and the two tokens from which it was made. It covers the symbols from `start` to `stop`."""

    id: int
    start: int
    stop: int
    rank: int | None = None  # the index of the merge that made the token; None for a base symbol
    left: Node | None = None
    right: Node | None = None


@dataclass(frozen=True)
class EncodingStep:
    rank: int | None  # None for the word before any merge
    tokens: tuple[Node, ...]  # the tokens after this merge


def merge_trees(symbols: Sequence[int], ranks: Sequence[int], base: int, at: int = NEVER) -> list[Node]:
    """Return the tokens of a word after `at` merges, each as a tree.

    `ranks` are the ranks of the word's boundaries. `base` is the number of base symbols, and so the index of the first
    merged token.
    """
    finished: list[Node] = []
    # Each open node waits for the boundary after it, which decides whether a larger node takes it.
    opened: list[tuple[Node, int]] = []
    for place, symbol in enumerate(symbols):
        node = Node(symbol, place, place + 1)
        behind = ranks[place] if place < len(ranks) and ranks[place] < at else NEVER
        while opened and opened[-1][1] <= behind:
            left, rank = opened.pop()
            node = Node(base + rank, left.start, node.stop, rank, left, node)
        if behind == NEVER:
            finished.append(node)
        else:
            opened.append((node, behind))
    return finished


def parts_first(trees: Sequence[Node]) -> Iterator[Node]:
    """Yield all nodes of the trees. The parts of a node come before the node."""
    for node in trees:
        yield from parts_first([part for part in (node.left, node.right) if part is not None])
        yield node


def encoding_steps(symbols: Sequence[int], ranks: Sequence[int], base: int, at: int = NEVER) -> list[EncodingStep]:
    """Return the word before any merge, and after each of the first `at` merges that changes the word."""
    made = sorted({rank for rank in ranks if rank < min(at, NEVER)})
    before = EncodingStep(None, tuple(merge_trees(symbols, ranks, base, 0)))
    return [before] + [EncodingStep(rank, tuple(merge_trees(symbols, ranks, base, rank + 1))) for rank in made]


@dataclass(frozen=True)
class Piece:
    """A token in a word, from the step that made it in this word until the step that splits it."""

    id: int
    start: int  # index of the first symbol in the word
    stop: int
    step: int  # 0 if the token exists before the first step
    until: int | None = None

    def is_there(self, at: int) -> bool:
        return self.step <= at and (self.until is None or at < self.until)

    def times_joined(self, history: History) -> int | None:
        """Return the count of the step that made the token.

        Return None for a base symbol, or if the count is not known. Also return None if the token only came back when a
        larger token was dropped.
        """
        is_known = self.step > 0 and history.has_counts and history.columns.right[self.step - 1] != NOTHING
        return int(history.columns.count[self.step - 1]) if is_known else None


def pieces_of(nodes: Iterable[Node]) -> list[Piece]:
    return [Piece(node.id, node.start, node.stop, 0 if node.rank is None else node.rank + 1) for node in nodes]


class NeighbourPair(NamedTuple):
    """A pair of tokens that meet at a boundary, from the merge `first` until the merge `last`.

    The merge `last` joined the pair, or it joined one of the two tokens to another token.
    """

    left: int
    right: int
    first: int
    last: int  # NEVER if no merge ended the pair


class _Side(NamedTuple):
    token: int
    taken: int


def meetings(symbols: Sequence[int], ranks: Sequence[int], boundary: int, base: int) -> list[NeighbourPair]:
    """Return the pairs of tokens that are neighbours at a boundary while a word is merged.

    The boundary is after the symbol with the index `boundary`. `ranks` holds the number of the merge that removes each
    boundary. `base` is the number of base symbols.

    In `newer` with the merges w+e, e+r, n+e, the boundary between `ne` and `wer` never disappears. The tokens e and w
    meet there first, then e and we, and then ne and we:

    >>> ranks = [2, NEVER, 0, NEVER]
    >>> pairs = meetings(b"newer", ranks, 1, base=256)
    >>> [(pair.left, pair.right, pair.first, pair.last) for pair in pairs]
    [(101, 119, 0, 0), (101, 256, 1, 2), (258, 256, 3, 2147483647)]
    """
    end = ranks[boundary]
    lefts = _grown(symbols, ranks, boundary, base, end, backwards=True)
    rights = _grown(symbols, ranks, boundary + 1, base, end, backwards=False)
    pairs: list[NeighbourPair] = []
    i = j = first = 0
    while True:
        last = min(lefts[i].taken, rights[j].taken)
        pairs.append(NeighbourPair(lefts[i].token, rights[j].token, first, last))
        if last >= end:
            return pairs
        first = last + 1
        if lefts[i].taken == last:
            i += 1
        if rights[j].taken == last:
            j += 1


def _grown(
    symbols: Sequence[int], ranks: Sequence[int], place: int, base: int, end: int, *, backwards: bool
) -> list[_Side]:
    step = -1 if backwards else 1
    edge = place - 1 if backwards else place  # the boundary on the far side
    token = symbols[place]
    sides: list[_Side] = []
    while True:
        taken = ranks[edge] if 0 <= edge < len(ranks) else NEVER
        if taken >= end:
            sides.append(_Side(token, end))
            return sides
        sides.append(_Side(token, taken))
        token = base + taken
        while 0 <= edge < len(ranks) and ranks[edge] <= taken:
            edge += step


__getattr__ = former_classes(__name__, Meeting="NeighbourPair")
