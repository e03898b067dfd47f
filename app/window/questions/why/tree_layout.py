"""Where each token of a word's tree has its place: symbols along the bottom, each merge above the two it joined.

The places are those of the whole tree. What is not joined yet leaves its place empty, so that nothing moves while
the tree grows and shrinks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSizeF
from PySide6.QtGui import QFont, QFontMetricsF

from app.window.questions.why.model import TreeNode

MARGIN = 10.0
TOP = 5.0
GAP = 8.0  # between two symbols
LEVEL = 40.0  # from one row of nodes to the next
SMALL = 0.8  # of the font that tells step and count
PADDING = 5.0
Place = tuple[int, int]  # the symbols that a node covers, which no other one does


@dataclass(frozen=True)
class TreeLayout:
    """The box of every node of a tree, and where each symbol begins."""

    boxes: dict[Place, QRectF]
    edges: tuple[float, ...]  # of the symbols, and behind the last one
    size: QSizeF

    @classmethod
    def of(cls, symbols: Sequence[str], whole: Sequence[TreeNode], font: QFont) -> TreeLayout:
        metrics, small = QFontMetricsF(font), QFontMetricsF(small_font(font))
        edges = [MARGIN]
        for symbol in symbols:
            width = max(26.0, metrics.horizontalAdvance(symbol) + 2 * PADDING)
            edges.append(edges[-1] + width + GAP)
        levels = max((_depth(tree) for tree in whole), default=0)
        boxes: dict[Place, QRectF] = {}

        def place(node: TreeNode) -> float:
            """Enter the boxes of a node and all below it; the middle of its own."""
            if node.left is None or node.right is None:
                middle = (edges[node.start] + edges[node.stop] - GAP) / 2
            else:
                middle = (place(node.left) + place(node.right)) / 2
            told = small.horizontalAdvance(step_and_count(node))
            width = max(18.0, metrics.horizontalAdvance(node.text) + 2 * PADDING, told + PADDING)
            top = TOP + (levels - _depth(node)) * LEVEL
            height = metrics.height() + 4 + (small.height() if node.step is not None else 0)
            boxes[node.start, node.stop] = QRectF(middle - width / 2, top, width, height)
            return middle

        for tree in whole:
            place(tree)
        size = QSizeF(edges[-1] + MARGIN, 2 * TOP + levels * LEVEL + metrics.height() + 4)
        return cls(boxes, tuple(edges), size)

    def box(self, node: TreeNode) -> QRectF:
        return self.boxes[node.start, node.stop]

    def joint_at(self, x: float) -> int:
        """The boundary nearest to there: before the symbol with this index."""
        return min(range(len(self.edges)), key=lambda place: abs(self.gap_before(place) - x))

    def gap_before(self, symbol: int) -> float:
        return self.edges[symbol] - GAP / 2

    def lines_below(self, node: TreeNode) -> Iterator[tuple[QPointF, QPointF]]:
        """From a node to the two that it joined."""
        for part in (node.left, node.right):
            if part is not None:
                box, below = self.box(node), self.box(part)
                yield QPointF(box.center().x(), box.bottom()), QPointF(below.center().x(), below.top())


def nodes_of(trees: Sequence[TreeNode]) -> Iterator[TreeNode]:
    """All of them, those below before those above."""
    for tree in trees:
        yield from nodes_of([part for part in (tree.left, tree.right) if part is not None])
        yield tree


def step_and_count(node: TreeNode) -> str:
    if node.step is None:
        return ""
    return f"{node.step:,}" if node.count is None else f"{node.step:,} · {node.count:,}×"


def small_font(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * SMALL)
    return small


def _depth(node: TreeNode) -> int:
    if node.left is None or node.right is None:
        return 0
    return 1 + max(_depth(node.left), _depth(node.right))
