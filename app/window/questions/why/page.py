"""The page that explains a boundary: the merge tree, the reasons, and the merges of the word."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from app.session.selection import ShownHighlight
from app.session.time import timer
from app.window.parts.layouts import in_column, in_row
from app.window.parts.page import Page
from app.window.parts.widgets import (
    LinkedText,
    label,
    muted_label,
    name_widget,
    scrolling,
    small_button,
    use_fixed_font,
)
from app.window.parts.wording import link_to_step, number_in, tip
from app.window.questions.why.merge_tree import MergeTree
from app.window.questions.why.model import BoundaryFacts, WhyModel, WordFacts

STEP_TIPS = {None: "", 0: "Go to the beginning"}


class WhyPage(Page):
    """A page that explains the clicked boundary at the step shown.

    A user can also replay the merges of the clicked word.
    """

    enlarge_wanted = Signal()

    def __init__(self, model: WhyModel, parent: QWidget | None = None) -> None:
        super().__init__(model, parent)
        self.model = model
        self._step: int | None = None  # an index among the word's steps; None follows the moment shown
        self._marked_row = -1  # the row of the marked boundary
        self.hint = muted_label("Click into the text to see here why it is split where it is.")
        self.tree = MergeTree()
        self.tree_area = scrolling(self.tree, "The word as a tree")
        self._scroll_soon = timer(self, 0, self._scroll_to_boundary)  # the tree has its size by then
        self.back = small_button("‹", "One merge back in this word", lambda: self._walk(-1))
        self.forward = small_button("›", "One merge forward in this word", lambda: self._walk(1))
        self.now = small_button("•", "At the step shown", self._follow)
        self.enlarge = small_button("⤢", "Show the tree in the whole window", self.enlarge_wanted.emit)
        self.sentence = label()
        self.reason = LinkedText("Why the text is split here")
        self.boundaries = name_widget(QListWidget(), "The boundaries of the word")
        use_fixed_font(self.boundaries)
        self._lay_out()
        self._connect()
        self._show()

    def show_highlight(self, shown: ShownHighlight) -> None:
        self.tree.show_highlight(shown.text)

    def _lay_out(self) -> None:
        self.controls = QWidget()
        buttons = self.back, self.now, self.forward
        in_row(*buttons, (self.sentence, 1), self.enlarge, on=self.controls, margins=(0, 0, 0, 0))
        parts = self.hint, self.reason, (self.tree_area, 5), self.controls, (self.boundaries, 2)
        in_column(*parts, on=self, margins=(8, 4, 8, 4), spacing=4)

    def _connect(self) -> None:
        self.model.changed.connect(self._take)
        self.tree.step_pointed.connect(self.step_pointed)
        self.tree.node_chosen.connect(self.step_clicked)
        self.tree.node_chosen.connect(self.model.travel_to)
        self.tree.boundary_chosen.connect(self._choose_boundary)
        self.boundaries.currentRowChanged.connect(self._row_chosen)
        self.boundaries.activated.connect(lambda index: self._travel(index.row()))
        self.reason.linkActivated.connect(lambda link: self.model.travel_to(number_in(link)))

    def _take(self) -> None:
        facts = self.model.facts
        asked = None if facts is None else facts.clicked_boundary
        self._marked_row = facts.boundaries.index(asked) if facts is not None and asked is not None else -1
        self._step = None
        self._show()

    def _show(self) -> None:
        facts = self.model.facts
        place = self.model.place
        if facts is None and place is not None:
            self.model.find_lattice()
        self.controls.setVisible(facts is not None)
        self.tree_area.setVisible(facts is not None or (place is not None and self.model.lattice is not None))
        self.reason.setVisible(facts is not None or place is not None)
        self.boundaries.setVisible(facts is not None or (place is not None and bool(place.ways)))
        self.hint.setVisible(facts is None and place is None)
        rows = [(text, STEP_TIPS.get(step, "Go to that step")) for text, step in self.model.ways]
        if facts is not None:
            rows = [(_place_text(facts, boundary), boundary.sentence) for boundary in facts.boundaries]
        with QSignalBlocker(self.boundaries):
            self.boundaries.clear()
            for text, hint in rows:
                QListWidgetItem(text, self.boundaries).setToolTip(tip(hint))
            self.boundaries.setCurrentRow(self._marked_row)
        self._draw()

    def _draw(self) -> None:
        facts = self.model.facts
        place = self.model.place
        if facts is None:
            self.tree.show_word(None)
            self.tree.set_figure(None if place is None else self.model.lattice)
            self.reason.setText("" if place is None else with_links(place.sentence, place.steps))
            return
        boundary = facts.boundaries[self._marked_row] if self._marked_row >= 0 else None
        step = facts.at if self._step is None else facts.steps[self._step]
        self.tree.show_word(facts, step, None if boundary is None else boundary.place)
        self._scroll_soon.start()
        at = self._index(facts)
        last = len(facts.steps) - 1
        self.back.setEnabled(at > 0)
        self.forward.setEnabled(at < last)
        moment = f"after merge {facts.steps[at]:,}" if at else "before any merge"
        self.sentence.setText(f"step {at} of {last}, {moment}")
        self.reason.setText("" if boundary is None else with_links(boundary.sentence, boundary.steps))

    def _scroll_to_boundary(self) -> None:
        """Scroll a tree that is larger than its view, so that the marked boundary is in the middle."""
        facts = self.model.facts
        if facts is not None and self._marked_row >= 0 and self.isVisible():
            x = round(self.tree.gap_before(facts.boundaries[self._marked_row].place))
            view = self.tree_area.viewport()
            self.tree_area.ensureVisible(x, self.tree.height(), view.width() // 2, 0)

    def _index(self, facts: WordFacts) -> int:
        return bisect_right(facts.steps, facts.at) - 1 if self._step is None else self._step

    def _walk(self, by: int) -> None:
        facts = self.model.facts
        if facts is not None:
            self._step = min(max(0, self._index(facts) + by), len(facts.steps) - 1)
            self._draw()

    def _follow(self) -> None:
        self._step = None
        self._draw()

    def _choose_boundary(self, place: int) -> None:
        facts = self.model.facts
        for row, boundary in enumerate(() if facts is None else facts.boundaries):
            if boundary.place == place:
                self.boundaries.setCurrentRow(row)

    def _row_chosen(self, row: int) -> None:
        if row >= 0:
            self._marked_row = row
            self._draw()

    def _travel(self, row: int) -> None:
        facts = self.model.facts
        steps = self.model.ways[row][1:] if facts is None else facts.boundaries[row].steps
        if steps and steps[-1] is not None:
            self.model.travel_to(steps[-1])


def _place_text(facts: WordFacts, boundary: BoundaryFacts) -> str:
    """Return the word with the boundary marked, such as `new|er`, and the kind of reason for this boundary."""
    before = "".join(facts.symbols[max(0, boundary.place - 8) : boundary.place])
    after = "".join(facts.symbols[boundary.place : boundary.place + 8])
    sign = "╎" if boundary.kind == "joined" else "│"
    return f"{before:>10}{sign}{after:<10} {boundary.kind}"


def with_links(sentence: str, steps: Iterable[int]) -> str:
    """Return a sentence as rich text. Each of `steps` that the sentence mentions becomes a link."""
    text = sentence.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for step in dict.fromkeys(steps):
        text = re.sub(rf"\b(?:merge|step) {step:,}(?!,?\d)", partial(_link, step), text, flags=re.IGNORECASE)
    return text


def _link(step: int, name_widget: re.Match[str]) -> str:
    return link_to_step(step, name_widget.group())
