"""A dialog in which the user chooses which tokens to remove from a vocabulary, and how."""

from __future__ import annotations

from PySide6.QtWidgets import QButtonGroup, QComboBox, QDialog, QRadioButton, QWidget

from app.window.parts.dialogs import dialog_buttons
from app.window.parts.layouts import STRETCH, form_of_fields, in_column, in_row
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import muted_label
from app.window.parts.wording import count_text, tip
from app.window.questions.audit.trimming import NEEDED, TrimChoices, TrimTask, What

NEEDED_TITLES = {"spare": "Keep it, and report it", "lose": "Remove all of them", "hide": "Keep it without an id"}
NUMBERINGS = {"renumber": "New ids, without gaps", "keep": "Unchanged, with gaps"}
EXPLANATION = (
    "The run shown stays, and the trimmed table is a new run. Every remaining token can still be made. A message then "
    "shows the number of tokens of your text and the corpus."
)


class TrimDialog(QDialog):
    """A dialog that removes tokens.

    At first it proposes the selected tokens. If no token is selected, it proposes all listed tokens, then the tokens of
    the chosen steps, and at last the least used tokens.
    """

    def __init__(self, trimming: TrimTask, rows: tuple[int, ...], listed: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Trim")
        self._trimming = trimming
        self._rows = rows
        least, most = trimming.sizes
        self.choices: dict[What, QRadioButton] = {
            "selected": QRadioButton(f"The {count_text(len(rows), 'token')} selected"),
            "listed": QRadioButton(f"All {count_text(listed, 'token')} listed"),
            "chosen": QRadioButton(f"The {count_text(len(trimming.chosen_tokens), 'token')} of the chosen steps"),
            "down to": QRadioButton("The least used tokens, until there are"),
        }
        self._group = QButtonGroup(self)
        for button in self.choices.values():
            self._group.addButton(button)
        self.size_box = NumberBox(least, most)
        self.size_box.setValue(max(least, most * 3 // 4))
        self.size_box.setAccessibleName("How many tokens are left")
        self.needed = QComboBox()
        self.ids = QComboBox()
        self.needed.setAccessibleName("A token that other tokens are made of")
        self.needed.setToolTip(
            tip("\n".join(f"{NEEDED_TITLES[choice]}: {explanation}." for choice, explanation in NEEDED.items()))
        )
        for needed, title in NEEDED_TITLES.items():
            self.needed.addItem(title, needed)
        self.ids.setAccessibleName("Ids of the remaining tokens")
        self.ids.setToolTip("If the ids have gaps, a model can keep its embeddings")
        for numbering, title in NUMBERINGS.items():
            self.ids.addItem(title, numbering)
        self.buttons, self.go = dialog_buttons(self, "Trim", self._begin)
        self._enable(listed)
        self._lay_out()
        self.size_box.valueChanged.connect(lambda: self.choices["down to"].setChecked(True))

    def _enable(self, listed: int) -> None:
        self.choices["selected"].setEnabled(bool(self._rows))
        self.choices["listed"].setEnabled(listed > 0)
        self.choices["chosen"].setEnabled(bool(self._trimming.chosen_tokens))
        self.choices["chosen"].setToolTip("Choose steps by selecting several rows of their table")
        for widget in (self.choices["down to"], self.size_box):
            widget.setEnabled(self._trimming.knows_use)
            if not self._trimming.knows_use:
                widget.setToolTip("Add a text to the corpus first, to count how often tokens are used")
        if not self._trimming.needs_parts:
            self.needed.setEnabled(False)
            self.needed.setToolTip(
                "This method makes no token from other tokens, so only the chosen tokens are removed"
            )
        first = next((button for button in self.choices.values() if button.isEnabled()), None)
        if first is not None:
            first.setChecked(True)
        self.go.setEnabled(first is not None)

    def _lay_out(self) -> None:
        down_to = in_row(self.choices["down to"], self.size_box, STRETCH)
        what = in_column(*(self.choices[name] for name in ("selected", "listed", "chosen")), down_to)
        form = form_of_fields(("Remove", what), ("Needed tokens", self.needed), ("Ids", self.ids))
        in_column(form, muted_label(EXPLANATION), self.buttons, on=self)

    def _begin(self) -> None:
        what = next(name for name, button in self.choices.items() if button.isChecked())
        choices = TrimChoices(
            what, self._rows, self.size_box.value(), self.needed.currentData(), self.ids.currentData() == "renumber"
        )
        self.accept()
        self._trimming.start(choices)
