"""The dialog that compresses a file, or expands it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from app.window.exchange.compression import Direction, FileCompression
from app.window.exchange.work_dialog import WorkDialog
from app.window.parts.dialogs import PathLine
from app.window.parts.layouts import STRETCH, form_of_fields, in_column
from app.window.parts.widgets import paragraph
from app.window.parts.zoom import resize_zoomed

TITLES: dict[Direction, str] = {"compress": "Compress a File", "expand": "Expand a File"}


class CompressDialog(WorkDialog):
    def __init__(
        self, model: FileCompression, direction: Direction, folder: str, parent: QWidget | None = None
    ) -> None:
        title = TITLES[direction]
        super().__init__(model, title, title.split()[0], parent=parent)
        resize_zoomed(self, 560, 280)
        self.setMinimumSize(420, 260)  # room for the whole report
        self._model = model
        self._direction = direction
        self._folder = folder
        self._confirmed = ""  # a file that may be replaced
        self.source = PathLine("File to read", self._ask_for_source)
        self.target = PathLine("File to write", self._ask_for_target)
        form = form_of_fields(("File", self.source.row), ("Write to", self.target.row))
        in_column(paragraph(model.about(direction)), form, self.bar, self.outcome, STRETCH, self.buttons, on=self)
        model.finished.connect(self.outcome.setText)

    def _ask_for_source(self, before: str) -> str:
        filters = (
            f"Compressed files (*{self._model.ending()});;All files (*)"
            if self._direction == "expand"
            else "All files (*)"
        )
        name, _ = QFileDialog.getOpenFileName(self, self.windowTitle(), self._folder, filters)
        if name:
            self.target.setText(str(self._model.proposal(self._direction, Path(name))))
        return name

    def _ask_for_target(self, before: str) -> str:
        """Ask for the path of the new file. The dialog begins with `before`, the path in the field.

        The system's dialog warns the user if the file already exists.
        """
        name, _ = QFileDialog.getSaveFileName(self, "Write to", before or self._folder)
        self._confirmed = name or self._confirmed
        return name

    def _begin(self) -> None:
        source = self.source.path
        target = self.target.path
        if not source or not target:
            self.outcome.setText("Choose the file to read and the file to write first.")
        elif self._may_write(target):
            self.outcome.setText("")
            self._model.start(self._direction, Path(source), Path(target))

    def _may_write(self, target: str) -> bool:
        if not Path(target).exists() or target == self._confirmed:
            return True
        buttons = QMessageBox.StandardButton
        box = QMessageBox(QMessageBox.Icon.Question, self.windowTitle(), "", buttons.Yes | buttons.Cancel, self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(f"{target} exists already. Replace it?")
        box.setDefaultButton(buttons.Cancel)
        return box.exec() == buttons.Yes

    def _rest(self) -> None:
        super()._rest()
        self._confirmed = ""
