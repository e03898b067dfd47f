"""The merge tree of a word, drawn as large as its place allows."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QTransform
from PySide6.QtWidgets import QToolTip, QWidget

from app.window.parts.theme import fixed_font, shades_of
from app.window.parts.wording import tip
from app.window.questions.why.model import MOST_DRAWN, TreeNode, WordFacts
from app.window.questions.why.tree_layout import TreeLayout, nodes_of, small_font, step_and_count

GROW_MILLISECONDS = 250


class MergeTree(QWidget):
    """A click on a node travels to its merge; a click between two symbols asks about that boundary."""

    node_chosen = Signal(int)  # the step that made it
    joint_chosen = Signal(int)  # before the symbol with this index

    def __init__(self, smallest: float = 0.5, largest: float = 1.0, parent: QWidget | None = None) -> None:
        """As large as its place, between these shares of its natural size."""
        super().__init__(parent)
        self._smallest, self._largest = smallest, largest
        self._facts: WordFacts | None = None
        self._trees: tuple[TreeNode, ...] = ()
        self._marked_joint: int | None = None
        self._font = fixed_font(self.font().pointSizeF())
        self._layout = TreeLayout.of((), (), self._font)
        self._newest: TreeNode | None = None  # that is just growing
        self._growth = QVariantAnimation(self)
        self._growth.setStartValue(0.0)
        self._growth.setEndValue(1.0)
        self._growth.setDuration(GROW_MILLISECONDS)
        self._growth.valueChanged.connect(lambda _: self.update())
        self.setAccessibleName("Merge tree")
        self.setMouseTracking(True)

    def show_trees(
        self,
        facts: WordFacts | None,
        trees: tuple[TreeNode, ...],
        marked_joint: int | None,
        *,
        grows: bool = False,
    ) -> None:
        """Draw these tokens of the word, one boundary marked; what is new grows if it is to."""
        before = {(node.start, node.stop) for node in nodes_of(self._trees)} if facts is self._facts else set()
        self._facts, self._trees, self._marked_joint = facts, trees, marked_joint
        fresh = [node for node in nodes_of(trees) if (node.start, node.stop) not in before]
        self._newest = fresh[0] if grows and before and len(fresh) == 1 else None
        self._growth.stop()
        if self._newest is not None:
            self._growth.start()
        symbols = facts.symbols if facts is not None else ()
        is_whole_known = facts is not None and len(symbols) <= MOST_DRAWN and facts.steps
        whole = facts.steps[-1].tokens if facts is not None and is_whole_known else trees
        self._layout = TreeLayout.of(symbols, whole, self._font)
        told = " | ".join(tree.text for tree in trees)
        self.setAccessibleDescription(f"The word is cut into {told}" if facts else "")
        self.updateGeometry()
        self.setMinimumSize((self._layout.size * self._smallest).toSize() if facts else QSize(0, 0))
        self.update()

    def sizeHint(self) -> QSize:
        return self._layout.size.toSize() if self._facts is not None else QSize(120, 40)

    def nodes(self) -> Iterator[TreeNode]:
        """All nodes drawn, for whoever wants to look at them one by one."""
        return nodes_of(self._trees)

    def area_of(self, node: TreeNode) -> QRectF:
        """Where a node is drawn."""
        return self._placing().mapRect(self._layout.box(node))

    def gap_before(self, symbol: int) -> float:
        """Where the boundary before a symbol is drawn, from the left."""
        return self._placing().map(QPointF(self._layout.gap_before(symbol), 0)).x()

    def draw(self, painter: QPainter, palette: QPalette) -> None:
        """At its natural size, from the corner of whatever is painted on."""
        shades = shades_of(palette)
        if self._marked_joint is not None:
            x = self._layout.gap_before(self._marked_joint)
            painter.setPen(QPen(shades.bar_next, 2, Qt.PenStyle.DotLine))
            painter.drawLine(QPointF(x, 2), QPointF(x, self._layout.size.height() - 2))
        painter.setPen(QPen(shades.muted, 1))
        for node in self.nodes():
            painter.setOpacity(self._strength(node))
            for begin, end in self._layout.lines_below(node):
                painter.drawLine(begin, end)
        tokens = {id(tree) for tree in self._trees}
        for node in self.nodes():
            painter.setOpacity(self._strength(node))
            self._draw_node(painter, palette, node, is_token=id(node) in tokens)
        painter.setOpacity(1.0)

    @property
    def natural_size(self) -> QSize:
        return self._layout.size.toSize()

    def _draw_node(self, painter: QPainter, palette: QPalette, node: TreeNode, *, is_token: bool) -> None:
        box, shades = self._layout.box(node), shades_of(palette)
        if node is self._newest and self._is_growing:
            box = box.translated(0, (1 - self._strength(node)) * box.height() / 2)
        painter.setPen(QPen(shades.curve if is_token else shades.hairline, 1))
        painter.setBrush(shades.mark_ground if is_token else palette.color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(box, 4, 4)
        centred = Qt.AlignmentFlag.AlignHCenter
        painter.setFont(self._font)
        painter.setPen(palette.color(QPalette.ColorRole.Text))
        where = Qt.AlignmentFlag.AlignVCenter if node.step is None else Qt.AlignmentFlag.AlignTop
        painter.drawText(box.adjusted(0, 0 if node.step is None else 1, 0, 0), centred | where, node.text)
        painter.setFont(small_font(self._font))
        painter.setPen(shades.muted)
        painter.drawText(box.adjusted(0, 0, 0, -1), centred | Qt.AlignmentFlag.AlignBottom, step_and_count(node))

    @property
    def _is_growing(self) -> bool:
        return self._growth.state() == QVariantAnimation.State.Running

    def _strength(self, node: TreeNode) -> float:
        return float(self._growth.currentValue()) if node is self._newest and self._is_growing else 1.0

    def _placing(self) -> QTransform:
        """From the drawing to the widget: as large as it can be, in the middle."""
        wanted = self._layout.size
        share = min(self.width() / wanted.width(), self.height() / wanted.height(), self._largest)
        share = max(share, self._smallest)
        left = max(0.0, (self.width() - share * wanted.width()) / 2) if self._largest > 1 else 0.0
        top = max(0.0, (self.height() - share * wanted.height()) / 2) if self._largest > 1 else 0.0
        return QTransform(share, 0, 0, share, left, top)

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._facts is not None:
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setTransform(self._placing(), combine=True)
                self.draw(painter, self.palette())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._facts is None:
            return
        node = self._node_at(event.position())
        if node is not None and node.step is not None:
            self.node_chosen.emit(node.step)
        else:
            inside = self._placing().inverted()[0].map(event.position())
            self.joint_chosen.emit(self._layout.joint_at(inside.x()))

    def _node_at(self, point: QPointF) -> TreeNode | None:
        return next((node for node in self.nodes() if self.area_of(node).contains(point)), None)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            node = self._node_at(QPointF(event.pos()))
            if node is not None:
                QToolTip.showText(event.globalPos(), tip(_told(node)), self)
            return True
        return super().event(event)


def _told(node: TreeNode) -> str:
    if node.step is None:
        return f"{node.text}: a base symbol"
    count = "" if node.count is None else f", {node.count:,} times"
    return f"{node.text}: merge {node.step:,}{count}"
