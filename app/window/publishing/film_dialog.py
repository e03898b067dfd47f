"""The dialog that makes a film. A user chooses its size, its first and last step, and perhaps a second run."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QWidget

from app.session.publications import FilmChoices
from app.window.parts.dialogs import dialog_buttons
from app.window.parts.layouts import form_of_fields, in_column
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import muted_label, name_widget

SIZES = (("readme", "For a README"), ("chat", "For a chat"), ("slide", "For a slide"))
LONGEST, USUAL = 120, 20  # seconds
FARTHEST = 10_000_000
ABOUT = (
    "The film shows your current text. For two runs, From and To are vocabulary sizes. A long run may not fit into "
    "the film, so choose where the film ends."
)


class FilmDialog(QDialog):
    chosen = Signal(FilmChoices)

    def __init__(self, others: Sequence[tuple[int, str]], *, is_dark: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Save Film")
        self.size_box = name_widget(QComboBox(), "Size")
        self.beside_box = name_widget(QComboBox(), "Second run")
        for name, title in SIZES:
            self.size_box.addItem(title, name)
        self.beside_box.addItem("no other run", None)
        for number, title in others:
            self.beside_box.addItem(title, number)
        self.first_box = name_widget(NumberBox(0, FARTHEST), "From")
        self.last_box = name_widget(NumberBox(0, FARTHEST), "To")
        self.first_box.setSpecialValueText("the beginning")
        self.last_box.setSpecialValueText("as far as the seconds allow")
        self.seconds_box = name_widget(NumberBox(1, LONGEST), "Seconds")
        self.seconds_box.setValue(USUAL)
        self.seconds_box.setSuffix(" s")
        self.dark = QCheckBox("On a &dark background")
        self.dark.setChecked(is_dark)
        form = form_of_fields()
        rows = (
            ("&Size", self.size_box),
            ("Second &run", self.beside_box),
            ("&From", self.first_box),
            ("&To", self.last_box),
            ("&Length", self.seconds_box),
            ("", self.dark),
        )
        for title, box in rows:
            box.setMinimumHeight(self.size_box.sizeHint().height())
            form.addRow(title, box)
        self.buttons, self.save = dialog_buttons(self, "Save …", self._choose)
        in_column(form, muted_label(ABOUT), self.buttons, on=self)

    def begin_with(self, steps: Sequence[int]) -> None:
        """Limit the film to the steps that the user selected. Do nothing if no steps are selected."""
        if steps:
            self.first_box.setValue(steps[0] - 1)
            self.last_box.setValue(steps[-1])

    def _choose(self) -> None:
        first = self.first_box.value()
        last = self.last_box.value()
        seconds = self.seconds_box.value()
        is_usual = seconds == USUAL and not last  # a short run is filmed at its own pace
        choices = FilmChoices(
            self.size_box.currentData(),
            first or None,
            last or None,
            None if is_usual else float(seconds),
            self.dark.isChecked(),
            self.beside_box.currentData(),
        )
        self.accept()
        self.chosen.emit(choices)
