"""Compress or expand a file: which, into which, then what came of it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.window.compress.model import FileCompression
from app.window.parts.progress_bar import ProgressBar
from app.window.parts.widgets import entry, paragraph

TITLES = {"compress": "Compress a File", "expand": "Expand a File"}
ABOUT = {
    "compress": "As Philip Gage did in 1994: in each block of 5,000 bytes, bytes that do not occur stand for the "
    "commonest pairs. Files of any kind can be compressed.",
    "expand": "The original of a file that was compressed here, byte by byte.",
}


class CompressDialog(QDialog):
    """Stays open while it works, beside the window."""

    def __init__(self, model: FileCompression, folder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        title = TITLES[model.direction]
        self.setWindowTitle(title)
        self.resize(560, 280)
        self.setMinimumSize(420, 260)  # where all that is told can be read
        self._model, self._folder = model, folder
        self._confirmed = ""  # a file that may be replaced
        self.source, self.target = entry(), entry()
        self.source.setAccessibleName("File to read")
        self.target.setAccessibleName("File to write")
        self.choose_source, self.choose_target = QPushButton("Choose …"), QPushButton("Choose …")
        self.choose_source.setToolTip("Choose the file to read")
        self.choose_target.setToolTip("Choose the file to write")
        self.bar = ProgressBar(1000)
        self.bar.hide()
        self.told = paragraph()
        self.told.setAccessibleName("What became of it")
        self.told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self._verb = title.split()[0]
        self.begin = self.buttons.addButton(self._verb, QDialogButtonBox.ButtonRole.ActionRole)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow("File", _row(self.source, self.choose_source))
        form.addRow("Write to", _row(self.target, self.choose_target))
        column = QVBoxLayout(self)
        column.addWidget(paragraph(ABOUT[self._model.direction]))
        column.addLayout(form)
        column.addWidget(self.bar)
        column.addWidget(self.told)
        column.addStretch(1)
        column.addWidget(self.buttons)

    def _connect(self) -> None:
        self.choose_source.clicked.connect(self.ask_for_source)
        self.choose_target.clicked.connect(self._ask_for_target)
        self.begin.clicked.connect(self._begin_or_cancel)
        self.buttons.rejected.connect(self.reject)
        self._model.progressed.connect(self._show_progress)
        self._model.finished.connect(self.told.setText)
        self._model.failed.connect(self.told.setText)
        self._model.ended.connect(self._rest)

    def ask_for_source(self) -> None:
        filters = "Compressed files (*.gage);;All files (*)" if self._model.direction == "expand" else "All files (*)"
        name, _ = QFileDialog.getOpenFileName(self, self.windowTitle(), self._folder, filters)
        if name:
            self.source.setText(name)
            self.target.setText(str(self._model.proposal(Path(name))))

    def _ask_for_target(self) -> None:
        """The system's own dialog asks before a file is replaced."""
        name, _ = QFileDialog.getSaveFileName(self, "Write to", self.target.text() or self._folder)
        if name:
            self._confirmed = name
            self.target.setText(name)

    def _begin_or_cancel(self) -> None:
        if self._model.is_busy:
            self._model.cancel()
            return
        source, target = self.source.text().strip(), self.target.text().strip()
        if not source or not target:
            self.told.setText("Choose the file to read and the file to write first.")
        elif self._may_write(target):
            self.told.setText("")
            self._model.start(Path(source), Path(target))

    def _may_write(self, target: str) -> bool:
        """Nothing is replaced unasked."""
        if not Path(target).exists() or target == self._confirmed:
            return True
        buttons = QMessageBox.StandardButton
        box = QMessageBox(QMessageBox.Icon.Question, self.windowTitle(), "", buttons.Yes | buttons.Cancel, self)
        box.setTextFormat(Qt.TextFormat.PlainText)
        box.setText(f"{target} is there already. Replace it?")
        box.setDefaultButton(buttons.Cancel)
        return box.exec() == buttons.Yes

    def _show_progress(self, fraction: float) -> None:
        self.bar.show()
        self.bar.setValue(round(1000 * fraction))
        self.begin.setText("Cancel")

    def _rest(self) -> None:
        self.bar.hide()
        self.begin.setText(self._verb)
        self._confirmed = ""

    def done(self, result: int) -> None:
        """Closing it stops what it began."""
        self._model.cancel()
        super().done(result)


def _row(line: QLineEdit, button: QPushButton) -> QHBoxLayout:
    row = QHBoxLayout()
    row.addWidget(line, 1)
    row.addWidget(button)
    return row
