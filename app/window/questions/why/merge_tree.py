"""The merge tree of a word, and the page that shows the tree alone. The tree follows the time slider."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QFont, QFontInfo, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QWidget

from app.session.playing import Player
from app.session.selection import ShownHighlight
from app.session.time import TimeCursor
from app.window.parts.drawing import PaintedFigure
from app.window.parts.layouts import in_column, in_row
from app.window.parts.page import Frame, Page
from app.window.parts.pictures import picture_of
from app.window.parts.theme import fixed_font
from app.window.parts.widgets import IconButton, muted_label, paragraph, push_button, scrolling, use_fixed_font
from app.window.parts.wording import count_text
from app.window.questions.why.model import TreeNode, WhyModel, WordFacts
from app.window.text.view.painting import LIT_WIDTH
from app.window.text.view.palette import TokenPalette
from bpe_core.figures.figure import Branch, TreeFigure
from bpe_core.figures.tree import Tree

GROW_MILLISECONDS = 250
NOTHING = "Click a word in the text to see its merge tree here."
NO_TREE = (
    "This method does not merge words step by step. The picture shows all tokens that could be in the word, and the "
    "ways to split the word. Why Here? says which way is chosen."
)
HINT = "Each box is a token. Below its text are the merge that made it, and the count of the pair at that step."
HINT_OF_FALLEN = " Faint tokens existed for some steps, and were split again."
SMALLEST = 0.6
LARGEST = 3.0
STEP_MILLISECONDS = 900
LAST_MILLISECONDS = 2_500


class MergeTree(PaintedFigure):
    """A view of a merge tree.

    A click on a node moves the time slider to its merge. A click between two symbols explains that boundary.
    """

    node_chosen = Signal(int)  # the step that made it
    boundary_chosen = Signal(int)  # before the symbol with this index
    step_pointed = Signal(int)  # the step that made the node under the mouse, or 0

    def __init__(self, smallest: float = 0.5, largest: float = 1.0, parent: QWidget | None = None) -> None:
        """Make an empty tree that is scaled to fill its widget.

        `smallest` and `largest` limit the scale. They are multiples of the natural size.
        """
        super().__init__("Merge tree", parent=parent)
        self._smallest = smallest
        self.scale = largest
        self._facts: WordFacts | None = None
        self._step = 0  # the number of steps after which the word is shown
        self._marked_boundary: int | None = None
        self._highlighted_text = ""  # the text of the token that lights up
        self._placed: list[TreeNode] = []  # the nodes that have a place, as they are drawn
        self._newest: TreeNode | None = None  # the node that is growing
        self._growth = QVariantAnimation(self)
        self._growth.setStartValue(0.0)
        self._growth.setEndValue(1.0)
        self._growth.setDuration(GROW_MILLISECONDS)
        self._growth.valueChanged.connect(lambda _: self._draw())
        self.setMouseTracking(True)

    def show_word(
        self, facts: WordFacts | None, step: int = 0, marked_boundary: int | None = None, *, grows: bool = False
    ) -> None:
        """Draw the tree of a word after `step` steps, with the boundary `marked_boundary` marked.

        If `grows` is true, then a single new node appears with an animation.

        Every node has a fixed place in the tree, so that nothing moves while the tree grows and shrinks. The places of
        two nodes overlap if a step splits the first node, and a later step joins a part of it to a neighbour. Then only
        one of them is drawn.
        """
        before = {(node.start, node.stop) for node in self.nodes()} if facts is self._facts else set()
        self._facts = facts
        self._step = step
        self._marked_boundary = marked_boundary
        fresh = [shown for shown in self.nodes() if (shown.start, shown.stop) not in before]
        self._newest = fresh[0] if grows and before and len(fresh) == 1 else None
        self._growth.stop()
        if self._newest is not None:
            self._growth.start()
        self._draw()
        self.updateGeometry()
        self.setMinimumSize(self.natural_size * self._smallest if facts is not None else QSize(0, 0))

    def nodes(self) -> list[TreeNode]:
        """Return the nodes of the tree after the step shown."""
        return [] if self._facts is None else self._facts.nodes_at(self._step)

    def area_of(self, node: TreeNode) -> QRectF:
        """Return the rectangle of a node in the widget."""
        return QRectF(*self._tree.box_of(self._placed.index(node)))

    def gap_before(self, symbol: int) -> float:
        """Return the distance between the left edge of the widget and the boundary before a symbol."""
        return self._tree.gap_before(symbol)

    def figure_font(self) -> QFont:
        return fixed_font(self.font().pointSizeF())

    def sizeHint(self) -> QSize:
        return self.natural_size if self._facts is not None else QSize(120, 40)

    @property
    def natural_size(self) -> QSize:
        unit = QFontInfo(self.figure_font()).pixelSize()
        return QSize(round(self._tree.natural_width * unit), round(self._tree.natural_height * unit))

    @property
    def _tree(self) -> Tree:
        layout = self.layout_now()
        assert isinstance(layout, Tree), "nothing is drawn"
        return layout

    def _draw(self) -> None:
        if self._facts is None:
            self.set_figure(None)
            return
        tokens = self._facts.split_after(self._step)
        shown = set(self.nodes())
        whole = set(tokens)
        self._placed = self._facts.places_at(self._step)
        is_growing = self._growth.state() == QVariantAnimation.State.Running
        branches = []
        for node in self._placed:
            strength = float(self._growth.currentValue()) if is_growing and node == self._newest else 1.0
            has_fallen = node.was_split_again(self._step)
            strength = strength if node in shown or has_fallen else 0.0
            branches.append(replace(_branch(node, has_fallen), is_part=node not in whole, strength=strength))
        cut = " | ".join(token.text for token in tokens)
        self.set_figure(
            TreeFigure("tree", "Merge tree", f"The word is split into {cut}", branches, self._marked_boundary)
        )

    def show_highlight(self, text: str) -> None:
        """Frame the nodes whose token has this text."""
        if text != self._highlighted_text:
            self._highlighted_text = text
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        highlight = [node for node in self._placed if node.text == self._highlighted_text and node in self.nodes()]
        if highlight and self._facts is not None:
            with QPainter(self) as painter:
                painter.setPen(QPen(TokenPalette.matching(self.palette()).mark, LIT_WIDTH))
                painter.drawRects([self.area_of(node) for node in highlight])

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        node = None
        if self._facts is not None:
            item = self._tree.item_at(event.position().x(), event.position().y())
            node = self._placed[item] if item >= 0 else None
        self.step_pointed.emit(0 if node is None or node.step is None else node.step)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.step_pointed.emit(0)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() != Qt.MouseButton.LeftButton or self._facts is None:
            return
        x = event.position().x()
        y = event.position().y()
        item = self._tree.item_at(x, y)
        step = self._placed[item].step if item >= 0 else None
        if step is not None:
            self.node_chosen.emit(step)
        else:
            self.boundary_chosen.emit(int(self._tree.place_at(x, y)))


def _branch(node: TreeNode, has_fallen: bool) -> Branch:
    if node.step is None:
        return Branch(node.text, node.start, node.stop, tip=f"{node.text}: a base symbol")
    label = f"{node.step:,}" if node.count is None else f"{node.step:,} · {node.count:,}×"
    times = "" if node.count is None else f", {count_text(node.count, 'time')}"
    fall = "" if node.until is None else f"; it is split again by step {node.until:,}"
    tip = f"{node.text}: merge {node.step:,}{times}{fall}"
    if has_fallen:
        label = f"{node.step:,} to {node.until:,}"
    return Branch(node.text, node.start, node.stop, label, tip, has_fallen=has_fallen)


class TreePage(Page):
    """A page that shows the tree of a word in the whole window. The key Escape closes the page."""

    close_wanted = Signal()
    copy_wanted = Signal()

    def __init__(self, model: WhyModel, cursor: TimeCursor, playing: Player, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.close_button = IconButton("close", "Back to the window (Esc)", self.close_wanted.emit)
        self.setAccessibleName("Merge tree")
        self.model = model
        self._cursor = cursor
        self._playing = playing
        self.word = paragraph()
        use_fixed_font(self.word, 1.4)
        self.sentence = muted_label()
        self.tree = MergeTree(SMALLEST, LARGEST)
        self.copy = push_button("Copy Picture", self.copy_wanted.emit)
        saved = "As PNG, as SVG, or animated: the tree as it grows"
        self.save = push_button("Save Picture …", self.save_wanted.emit, saved)
        self._lay_out()
        model.changed.connect(self.show_now)
        cursor.moved.connect(lambda _: self._draw())
        self.tree.step_pointed.connect(self.step_pointed)
        self.tree.node_chosen.connect(self.step_clicked)
        self.tree.node_chosen.connect(model.travel_to)
        self.tree.boundary_chosen.connect(self._ask_about)
        self.show_now()

    @property
    def widget_to_save(self) -> QWidget:
        return self.tree

    def frames(self) -> Iterator[Frame]:
        """Yield the frames of an animation in which the tree grows from the symbols to the last merge."""
        facts = self.model.facts
        if facts is None:
            return
        moving = MergeTree()
        moving.setPalette(self.palette())
        for step in facts.steps:
            moving.show_word(facts, step)
            moving.resize(moving.natural_size)
            yield Frame(picture_of(moving), LAST_MILLISECONDS if step == facts.steps[-1] else STEP_MILLISECONDS)

    def recolor(self) -> None:
        self.tree.update()

    def show_highlight(self, shown: ShownHighlight) -> None:
        self.tree.show_highlight(shown.text)

    def _lay_out(self) -> None:
        head = in_row((self.word, 1), self.copy, self.save, self.close_button)
        in_column(head, (scrolling(self.tree, "The word as a tree"), 1), self.sentence, on=self, margins=(8, 6, 8, 4))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_now()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_wanted.emit()
        else:
            super().keyPressEvent(event)

    def show_now(self) -> None:
        has_word = self.model.facts is not None
        for button in (self.copy, self.save):
            button.setEnabled(has_word)
        if not has_word:
            self.word.setText("")
            without_place = "" if self.model.is_asked else NOTHING
            self.sentence.setText(without_place if self.model.place is None else NO_TREE)
            self.tree.show_word(None)
            if self.model.place is not None and self.isVisible():
                self.model.find_lattice()
                self.tree.set_figure(self.model.lattice)
        else:
            self._draw()

    def _draw(self) -> None:
        """Draw the tree of the word at the step shown.

        The facts about the word hold the nodes of all steps. So the engine is not asked again when the step changes.
        """
        facts = self.model.facts
        at = self._cursor.position
        if facts is None or not self.isVisible():
            return
        boundary = facts.clicked_boundary
        self.tree.show_word(facts, at, None if boundary is None else boundary.place, grows=self._playing.has_motion)
        self.word.setText(" | ".join(token.text for token in facts.split_after(at)))
        reason = f"{boundary.sentence} " if boundary is not None and facts.at == at else ""
        fallen = HINT_OF_FALLEN if any(node.was_split_again(at) for node in facts.places_at(at)) else ""
        self.sentence.setText(f"{reason}{HINT}{fallen}")

    def _ask_about(self, place: int) -> None:
        facts = self.model.facts
        boundary = (
            next((shown for shown in facts.boundaries if shown.place == place), None) if facts is not None else None
        )
        if boundary is not None:
            self.model.ask_about_neighbour(boundary.byte)
