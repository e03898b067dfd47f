"""The merge tree of one word with all the room there is: it grows and shrinks with the slider."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Signal
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.session.playing import Playing
from app.session.time import TimeCursor
from app.window.parts.page import Frame, StagePage
from app.window.parts.pictures import SCALE
from app.window.parts.theme import fixed_font
from app.window.parts.widgets import label, muted, scrolling
from app.window.questions.why.merge_tree import MergeTree
from app.window.questions.why.model import StepShown, WhyModel

NOTHING = "Click into the text first: here grows the tree of the word that was clicked."
NO_TREE = "By this method no word is put together step by step, so this one has no tree. Why Here? tells how it is cut."
HINT = "Each box is a token: below its text the merge that made it, and how often its parts stood side by side then."
SMALLEST, LARGEST = 0.6, 3.0
STEP_MILLISECONDS, LAST_MILLISECONDS = 900, 2_500


class TreePage(StagePage):
    """Escape goes back to the window as it was."""

    copy_wanted = Signal()

    def __init__(self, model: WhyModel, cursor: TimeCursor, playing: Playing, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.setAccessibleName("Merge tree")
        self.model, self._cursor, self._playing = model, cursor, playing
        self.word = label()
        self.word.setFont(fixed_font(1.4 * self.font().pointSizeF()))
        self.told = muted()
        self.tree = MergeTree(SMALLEST, LARGEST)
        self.copy = QPushButton("Copy Picture")
        self.save = QPushButton("Save Picture …")
        self.save.setToolTip("As PNG, as SVG, or animated: the tree as it grows")
        self._lay_out()
        model.changed.connect(self.show_now)
        cursor.moved.connect(lambda _: self._draw())
        self.tree.node_chosen.connect(model.travel_to)
        self.tree.joint_chosen.connect(self._ask_about)
        self.copy.clicked.connect(self.copy_wanted)
        self.save.clicked.connect(self.save_wanted)
        self.show_now()

    @property
    def pictured(self) -> QWidget:
        return self.tree

    def frames(self) -> Iterator[Frame]:
        """The tree as it grows, from the symbols to the end."""
        facts = self.model.facts
        if facts is None:
            return
        moving = MergeTree()
        moving.setPalette(self.palette())
        for step in facts.steps:
            moving.show_trees(facts, step.tokens, None)
            image = QImage(moving.natural_size * SCALE, QImage.Format.Format_RGB32)
            image.setDevicePixelRatio(SCALE)
            image.fill(self.palette().base().color())
            with QPainter(image) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                moving.draw(painter, self.palette())
            yield Frame(image, LAST_MILLISECONDS if step is facts.steps[-1] else STEP_MILLISECONDS)

    def recolor(self) -> None:
        self.tree.update()

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.addWidget(self.word)
        head.addStretch(1)
        for button in (self.copy, self.save, self.close_button):
            head.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 6, 8, 4)
        column.addLayout(head)
        column.addWidget(scrolling(self.tree, "The word as a tree"), 1)
        column.addWidget(self.told)

    def show_now(self) -> None:
        has_word = self.model.facts is not None
        for button in (self.copy, self.save):
            button.setEnabled(has_word)
        if not has_word:
            self.word.setText("")
            self.told.setText(NO_TREE if self.model.place is not None else "" if self.model.is_asked else NOTHING)
            self.tree.show_trees(None, (), None)
        else:
            self._draw()

    def _draw(self) -> None:
        """As of the moment shown: the word is known at every moment, so that nothing has to be asked."""
        facts, step = self.model.facts, self._step_now()
        if facts is None or step is None or not self.isVisible():
            return
        joint = facts.asked
        self.tree.show_trees(facts, step.tokens, None if joint is None else joint.place, grows=self._playing.has_motion)
        self.word.setText(" | ".join(token.text for token in step.tokens))
        reason = f"{joint.sentence} " if joint is not None and facts.at == self._cursor.position else ""
        self.told.setText(f"{reason}{HINT}")

    def _step_now(self) -> StepShown | None:
        facts = self.model.facts
        if facts is None:
            return None
        made = [step for step in facts.steps if step.step is None or step.step <= self._cursor.position]
        return made[-1]

    def _ask_about(self, place: int) -> None:
        """Why the boundary before that symbol stands or fell."""
        facts = self.model.facts
        joint = next((one for one in facts.joints if one.place == place), None) if facts is not None else None
        if joint is not None:
            self.model.look_next_to(joint.byte)
