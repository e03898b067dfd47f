"""The dialog that extends a table: how many new tokens it gets, their first id, and how they are learned."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QWidget

from app.window.exchange.extend_options import ExtendOptions
from app.window.parts.dialogs import ask_for_texts, dialog_buttons
from app.window.parts.layouts import form_of_fields, in_column, in_row
from app.window.parts.typed_text import NumberBox, is_refused, mark_refused
from app.window.parts.widgets import label, muted_label, name_widget, push_button
from app.window.parts.wording import without_options

ABOUT_EXTENDING = (
    "All existing tokens keep their ids. The run shown stays, and the extended table is a new run. A report shows how "
    "many tokens the new table saves, and which tokens the corpus never uses."
)
FIRST_ID = (
    "The field shows the first free id. If a model has special tokens with higher ids, choose an id after these ids."
)
HELD_OUT = "Choose held-out texts. A report compares their numbers of tokens before and after the extension"
MOST_NAMED = 3  # texts
USUAL = 1_000  # tokens


class ExtendDialog(QDialog):
    wished = Signal(int, int, tuple, dict)  # the number of tokens, the first id, texts held out, changes of the recipe

    def __init__(self, offer: ExtendOptions, folder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Extend on My Corpus")
        self._offer = offer
        self._folder = folder
        self._held_out: tuple[Path, ...] = ()
        self.by = name_widget(NumberBox(1, offer.most), "How many tokens to add")
        self.by.setValue(USUAL)
        self.first_id = name_widget(NumberBox(0, offer.largest), "The id of the first new token", FIRST_ID)
        self.first_id.setValue(offer.first_free)
        self.rule = name_widget(QComboBox(), "How pairs are chosen")
        if offer.rule is not None:
            for rule, title in offer.rule.titles.items():
                self.rule.addItem(title, rule)
            self.rule.setCurrentIndex(max(0, self.rule.findData(offer.rule.value)))
        self.across = QCheckBox("New tokens may hold several words")
        self.across.setToolTip(
            "The merges of the table become the first stage. Later merges may cross the ends of words"
        )
        self.across.setVisible(offer.goes_across)
        self.choose = push_button("Choose Texts …", self._choose, HELD_OUT)
        self.held_out = label("none")
        self.note = muted_label(ABOUT_EXTENDING)
        buttons, self.go = dialog_buttons(self, "Extend", self._request_tokens)
        join = [("Join", self.rule)] if offer.rule else []
        texts = "Held-out texts", in_row(self.choose, (self.held_out, 1))
        form = form_of_fields(("Tokens to add", self.by), ("First new id", self.first_id), *join, texts)
        in_column(form, self.across, self.note, buttons, on=self)
        for box in (self.by, self.first_id):
            box.valueChanged.connect(self._check)

    def _choose(self) -> None:
        chosen = [Path(name) for name in ask_for_texts(self, self._folder, "Texts that are not used for training")]
        if chosen:
            self._held_out = tuple(chosen)
            more = f" and {len(chosen) - MOST_NAMED} more" if len(chosen) > MOST_NAMED else ""
            self.held_out.setText(", ".join(path.name for path in chosen[:MOST_NAMED]) + more)

    def _check(self) -> None:
        refusal = self._offer.refusal(self.by.value(), self.first_id.value())
        mark_refused(self.first_id, refusal)
        self.note.setText(without_options(refusal) or ABOUT_EXTENDING)

    def _request_tokens(self) -> None:
        self._check()
        if is_refused(self.first_id):
            self.first_id.setFocus()
            return
        choices = {self._offer.rule.name: self.rule.currentData()} if self._offer.rule else {}
        choices |= {"across_words": True} if self.across.isChecked() else {}
        self.accept()
        self.wished.emit(self.by.value(), self.first_id.value(), self._held_out, choices)
