"""How a word came to be cut as it is: its merge tree, and its encoding step by step.

Both can be read off the ranks of the boundaries between its symbols: the boundary with the
highest rank inside a token is where its two parts met last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from bpe_core.records import dataclass
from bpe_core.segmenting.merging import NEVER


@dataclass(frozen=True)
class Node:
    """A token of a word, and the two it was joined from; it covers the symbols from `start` to `stop`."""

    id: int
    start: int
    stop: int
    rank: int | None = None  # the merge that made it; None for a base symbol
    left: Node | None = None
    right: Node | None = None

    @property
    def depth(self) -> int:
        """How many merges lie on the longest way to a base symbol."""
        depth, row = 0, [self]
        while row := [part for node in row for part in (node.left, node.right) if part is not None]:
            depth += 1
        return depth

    def walk(self) -> Iterator[Node]:
        """The node itself and all below it, parts after what they are part of."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [part for part in (node.right, node.left) if part is not None]


@dataclass(frozen=True)
class EncodingStep:
    """A moment in the encoding of a word: which merge was made, and the tokens after it."""

    rank: int | None  # None for the word as it was before any merge
    tokens: tuple[Node, ...]  # those that this very merge made have its rank


def merge_trees(symbols: Sequence[int], ranks: Sequence[int], base: int, at: int = NEVER) -> list[Node]:
    """The tokens of a word after so many merges, each as a tree.

    `ranks` has one number for each boundary between two symbols.

    >>> tree, = merge_trees([108, 111, 119], [0, 1], base=256)  # l+o, then lo+w
    >>> tree.id, tree.left.id, tree.left.left.id, tree.right.id
    (257, 256, 108, 119)
    """
    finished: list[Node] = []
    # Each open node waits for the boundary behind it, which decides whether a larger one takes it.
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


def encoding_steps(symbols: Sequence[int], ranks: Sequence[int], base: int, at: int = NEVER) -> list[EncodingStep]:
    """The word before any merge and after each one that changes it, as far as merge `at`.

    >>> for step in encoding_steps([108, 111, 119], [0, 1], base=256):
    ...     print(step.rank, [token.id for token in step.tokens])
    None [108, 111, 119]
    0 [256, 119]
    1 [257]
    """
    made = sorted({rank for rank in ranks if rank < min(at, NEVER)})
    before = EncodingStep(None, tuple(merge_trees(symbols, ranks, base, 0)))
    return [before] + [EncodingStep(rank, tuple(merge_trees(symbols, ranks, base, rank + 1))) for rank in made]
