"""Extending a table: by how many tokens, from which id on, and which texts show what that saves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QComboBox, QDialog, QDialogButtonBox, QFormLayout, QPushButton, QWidget

from app.window.parts.dialogs import ask_for_texts
from app.window.parts.layouts import in_column, in_row
from app.window.parts.typed import NumberBox, is_refused, mark_refused
from app.window.parts.widgets import label, muted, named
from app.window.parts.wording import tip

EXPLANATION = (
    "All tokens that are there keep their ids; the run shown stays, and the extended table is a run of its own. "
    "A report says what that saves, and which tokens the corpus never uses."
)
FIRST_ID = "The first free id is proposed. Where a model has special tokens behind the table's, begin behind them."
HELD_OUT = "Texts that nothing is learned from: the report says how many tokens each has before and after"
RULES = {"count": "The pair that occurs most", "score": "The pair that occurs most for how often its halves do"}
MOST_NAMED = 3  # texts


@dataclass(frozen=True)
class GrowthWish:
    """What the person chose."""

    by: int
    first_id: int
    held_out: tuple[Path, ...] = ()
    choices: dict[str, Any] = field(default_factory=dict)  # changes of the recipe


@dataclass(frozen=True)
class GrowthOffer:
    """What can be chosen."""

    usual: int  # tokens
    most: int
    first_free: int  # id
    largest: int  # id
    rule: str  # how pairs are chosen; empty without a choice
    refusal: Callable[[int, int], str]  # why that many tokens have no ids from there on; empty if they do


class GrowthDialog(QDialog):
    """Once accepted, `wish` holds the choices."""

    def __init__(self, offer: GrowthOffer, folder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Extend on My Corpus")
        self._offer, self._folder = offer, folder
        self._held_out: tuple[Path, ...] = ()
        self.by = named(NumberBox(1, offer.most), "How many tokens to add")
        self.by.setValue(offer.usual)
        self.first_id = named(NumberBox(0, offer.largest), "The id of the first new token", FIRST_ID)
        self.first_id.setValue(offer.first_free)
        self.rule = named(QComboBox(), "How pairs are chosen")
        for rule, title in RULES.items():
            self.rule.addItem(title, rule)
        self.rule.setCurrentIndex(max(0, self.rule.findData(offer.rule)))
        self.choose = QPushButton("Choose Texts …")
        self.choose.setToolTip(tip(HELD_OUT))
        self.held_out = label("none")
        self.note = muted(EXPLANATION)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self.go = self.buttons.addButton("Extend", QDialogButtonBox.ButtonRole.AcceptRole)
        self._lay_out()
        self.choose.clicked.connect(self._choose)
        for box in (self.by, self.first_id):
            box.valueChanged.connect(self._check)
        self.buttons.accepted.connect(self._accept)
        self.buttons.rejected.connect(self.reject)

    @property
    def wish(self) -> GrowthWish:
        choices = {"wordpiece_rule": self.rule.currentData()} if self._offer.rule else {}
        return GrowthWish(self.by.value(), self.first_id.value(), self._held_out, choices)

    def _lay_out(self) -> None:
        row = in_row(self.choose, (self.held_out, 1))
        form = QFormLayout()
        form.addRow("Tokens to add", self.by)
        form.addRow("Ids from", self.first_id)
        if self._offer.rule:
            form.addRow("Join", self.rule)
        form.addRow("Show savings in", row)
        in_column(form, self.note, self.buttons, on=self)

    def _choose(self) -> None:
        chosen = [Path(name) for name in ask_for_texts(self, self._folder, "Texts that nothing is learned from")]
        if chosen:
            self._held_out = tuple(chosen)
            more = f" and {len(chosen) - MOST_NAMED} more" if len(chosen) > MOST_NAMED else ""
            self.held_out.setText(", ".join(path.name for path in chosen[:MOST_NAMED]) + more)

    def _check(self) -> None:
        refusal = self._offer.refusal(self.by.value(), self.first_id.value())
        mark_refused(self.first_id, refusal)
        self.note.setText(refusal or EXPLANATION)

    def _accept(self) -> None:
        self._check()
        if is_refused(self.first_id):
            self.first_id.setFocus()
        else:
            self.accept()
