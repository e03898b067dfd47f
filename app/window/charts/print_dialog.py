"""How large a chart is printed, and how large its text is."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QWidget

from app.settings import PRINT_HEIGHT, PRINT_LIGHT, PRINT_TEXT, PRINT_WIDTH, Settings
from app.window.parts.dialogs import dialog_buttons
from app.window.parts.layouts import in_column, in_form
from app.window.parts.typed import NumberBox
from app.window.parts.widgets import muted

EXPLANATION = "A column of a paper is some 85 mm wide, and its small print has 7 or 8 points."


class PrintDialog(QDialog):
    chosen = Signal(int, int, int, bool)  # width and height in millimetres, points of the text, whether it is dark

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Save Figure for Print")
        self._settings = settings
        self.width_box, self.height_box, self.text_box = NumberBox(20, 2_000), NumberBox(20, 2_000), NumberBox(3, 72)
        self.light = QCheckBox("On a &light ground")
        self.light.setChecked(settings.get(PRINT_LIGHT))
        form = in_form()
        for box, setting, title, unit in (
            (self.width_box, PRINT_WIDTH, "&Width", " mm"),
            (self.height_box, PRINT_HEIGHT, "&Height", " mm"),
            (self.text_box, PRINT_TEXT, "&Text", " pt"),
        ):
            box.setSuffix(unit)
            box.setAccessibleName(title.replace("&", ""))
            box.setValue(settings.get(setting))
            form.addRow(title, box)
        form.addRow("", self.light)
        self.buttons, self.save = dialog_buttons(self, "Save …", self._choose)
        in_column(form, muted(EXPLANATION), self.buttons, on=self)

    def _choose(self) -> None:
        sizes = self.width_box.value(), self.height_box.value(), self.text_box.value()
        for setting, value in zip((PRINT_WIDTH, PRINT_HEIGHT, PRINT_TEXT), sizes, strict=True):
            self._settings.put(setting, value)
        self._settings.put(PRINT_LIGHT, self.light.isChecked())
        self.accept()
        self.chosen.emit(*sizes, not self.light.isChecked())
