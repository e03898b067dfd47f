"""The merge tree of a word, drawn: symbols along the bottom, each merge above the two it joined."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QToolTip, QWidget

from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.wording import tip
from app.window.questions.why.model import TreeNode, WordFacts

MARGIN = 10.0
TOP = 5.0
GAP = 8.0  # between two symbols
LEVEL = 40.0  # from one row of nodes to the next
SMALL = 0.8  # of the font that tells step and count
PADDING = 5.0


class MergeTree(QWidget):
    """A click on a node travels to its merge; a click between two symbols asks about that boundary."""

    node_chosen = Signal(int)  # the step that made it
    joint_chosen = Signal(int)  # before the symbol with this index

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._facts: WordFacts | None = None
        self._trees: tuple[TreeNode, ...] = ()
        self._marked_joint: int | None = None
        self._boxes: list[tuple[QRectF, TreeNode]] = []
        self._font = fixed_font(self.font().pointSizeF())
        self._small = QFont(self.font())
        self._small.setPointSizeF(self.font().pointSizeF() * SMALL)
        self.setAccessibleName("Merge tree")
        self.setMouseTracking(True)

    def show_trees(self, facts: WordFacts | None, trees: tuple[TreeNode, ...], marked_joint: int | None) -> None:
        """Draw these tokens of the word, one boundary marked."""
        self._facts, self._trees, self._marked_joint = facts, trees, marked_joint
        self._lay_out()
        told = " | ".join(tree.text for tree in trees)
        self.setAccessibleDescription(f"The word is cut into {told}" if facts else "")
        self.updateGeometry()
        self.setMinimumSize(self.sizeHint())
        self.update()

    def sizeHint(self) -> QSize:
        if self._facts is None:
            return QSize(120, 40)
        levels = max((_depth(tree) for tree in self._trees), default=0)
        leaf = QFontMetricsF(self._font).height() + 4
        return QSize(round(self._edges[-1] + MARGIN), round(2 * TOP + levels * LEVEL + leaf))

    def _lay_out(self) -> None:
        """Where each symbol begins; boxes stand over the middle of what they cover."""
        metrics = QFontMetricsF(self._font)
        symbols = self._facts.symbols if self._facts is not None else ()
        self._edges = [MARGIN]
        for symbol in symbols:
            width = max(26.0, metrics.horizontalAdvance(symbol) + 2 * PADDING)
            self._edges.append(self._edges[-1] + width + GAP)
        levels = max((_depth(tree) for tree in self._trees), default=0)
        self._boxes = []
        for tree in self._trees:
            self._place(tree, levels, metrics)

    def _place(self, node: TreeNode, levels: int, metrics: QFontMetricsF) -> float:
        """Enter the boxes of a node and all below it; the middle of its own."""
        if node.left is None or node.right is None:
            middle = (self._edges[node.start] + self._edges[node.stop] - GAP) / 2
        else:
            middle = (self._place(node.left, levels, metrics) + self._place(node.right, levels, metrics)) / 2
        told = QFontMetricsF(self._small).horizontalAdvance(_step_and_count(node))
        width = max(18.0, metrics.horizontalAdvance(node.text) + 2 * PADDING, told + PADDING)
        top = TOP + (levels - _depth(node)) * LEVEL
        height = metrics.height() + 4 + (QFontMetricsF(self._small).height() if node.step is not None else 0)
        self._boxes.append((QRectF(middle - width / 2, top, width, height), node))
        return middle

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setFont(self._font)
            shades = shades_of(self.palette())
            self._paint_mark(painter)
            boxes = {id(node): box for box, node in self._boxes}
            painter.setPen(QPen(shades.muted, 1))
            for box, node in self._boxes:
                for part in (node.left, node.right):
                    if part is not None:
                        below = boxes[id(part)]
                        start = QPointF(box.center().x(), box.bottom())
                        painter.drawLine(start, QPointF(below.center().x(), below.top()))
            whole = {id(tree) for tree in self._trees}
            for box, node in self._boxes:
                is_token = id(node) in whole
                painter.setPen(QPen(shades.curve if is_token else shades.hairline, 1))
                painter.setBrush(shades.mark_ground if is_token else self.palette().base())
                painter.drawRoundedRect(box, 4, 4)
                if node.step is None:
                    painter.setPen(self.palette().color(QPalette.ColorRole.Text))
                    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, node.text)
                else:
                    self._paint_merge(painter, box, node)

    def _paint_merge(self, painter: QPainter, box: QRectF, node: TreeNode) -> None:
        centred = Qt.AlignmentFlag.AlignHCenter
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        painter.drawText(box.adjusted(0, 1, 0, 0), centred | Qt.AlignmentFlag.AlignTop, node.text)
        painter.setFont(self._small)
        painter.setPen(shades_of(self.palette()).muted)
        painter.drawText(box.adjusted(0, 0, 0, -1), centred | Qt.AlignmentFlag.AlignBottom, _step_and_count(node))
        painter.setFont(self._font)

    def _paint_mark(self, painter: QPainter) -> None:
        if self._marked_joint is None or self._facts is None:
            return
        x = self._edges[self._marked_joint] - GAP / 2
        painter.setPen(QPen(shades_of(self.palette()).bar_next, 2, Qt.PenStyle.DotLine))
        painter.drawLine(QPointF(x, 2), QPointF(x, self.height() - 2))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        node = self._node_at(event.position())
        if node is not None and node.step is not None:
            self.node_chosen.emit(node.step)
            return
        joint = self._joint_at(event.position().x())
        if joint is not None:
            self.joint_chosen.emit(joint)

    def _node_at(self, point: QPointF) -> TreeNode | None:
        return next((node for box, node in self._boxes if box.contains(point)), None)

    def _joint_at(self, x: float) -> int | None:
        if self._facts is None:
            return None
        places = range(len(self._edges))
        return min(places, key=lambda place: abs(self._edges[place] - GAP / 2 - x))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            node = self._node_at(QPointF(event.pos()))
            if node is not None:
                QToolTip.showText(event.globalPos(), tip(_told(node)), self)
            return True
        return super().event(event)

    def nodes(self) -> Iterator[TreeNode]:
        """All nodes drawn, for whoever wants to look at them one by one."""
        return (node for _, node in self._boxes)


def _depth(node: TreeNode) -> int:
    if node.left is None or node.right is None:
        return 0
    return 1 + max(_depth(node.left), _depth(node.right))


def _step_and_count(node: TreeNode) -> str:
    if node.step is None:
        return ""
    return f"{node.step:,}" if node.count is None else f"{node.step:,} · {node.count:,}×"


def _told(node: TreeNode) -> str:
    if node.step is None:
        return f"{node.text}: a base symbol"
    count = "" if node.count is None else f", {node.count:,} times"
    return f"{node.text}: merge {node.step:,}{count}"
