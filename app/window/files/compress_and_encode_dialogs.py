"""The dialogs that compress or expand a file and encode texts."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QFileDialog, QMessageBox, QTableWidget, QTableWidgetItem, QWidget

from app.window.files.compress_and_encode import WIDTHS, CorpusEncoding, Direction, FileCompression
from app.window.files.work_dialog import WorkDialog
from app.window.parts.dialogs import PathLine, ask_for_texts, ask_where_to_save
from app.window.parts.layouts import STRETCH, in_column, in_form
from app.window.parts.tables import put_headings_left
from app.window.parts.typed import NumberBox
from app.window.parts.widgets import named, paragraph, push_button
from app.window.parts.wording import count_text

TITLES: dict[Direction, str] = {"compress": "Compress a File", "expand": "Expand a File"}
ABOUT: dict[Direction, str] = {
    "compress": "As Philip Gage did in 1994: in each block of 5,000 bytes, bytes that do not occur stand for the "
    "commonest pairs. Files of any kind can be compressed.",
    "expand": "The original of a file that was compressed here, byte by byte.",
}
ID_FILTERS = {"NumPy array (*.npy)": "npy", "Bare numbers (*.bin)": "bin"}
COLUMNS = ("Text", "Size", "Tokens", "Different", "Bytes per token")


class CompressDialog(WorkDialog):
    def __init__(
        self, model: FileCompression, direction: Direction, folder: str, parent: QWidget | None = None
    ) -> None:
        title = TITLES[direction]
        super().__init__(model, title, title.split()[0], parent=parent)
        self.resize(560, 280)
        self.setMinimumSize(420, 260)  # room for all that is said at the end
        self._model, self._direction, self._folder = model, direction, folder
        self._confirmed = ""  # a file that may be replaced
        self.source = PathLine("File to read", self._ask_for_source)
        self.target = PathLine("File to write", self._ask_for_target)
        form = in_form(("File", self.source.row), ("Write to", self.target.row))
        in_column(paragraph(ABOUT[direction]), form, self.bar, self.outcome, STRETCH, self.buttons, on=self)
        model.finished.connect(self.outcome.setText)

    def _ask_for_source(self, before: str) -> str:
        filters = "Compressed files (*.gage);;All files (*)" if self._direction == "expand" else "All files (*)"
        name, _ = QFileDialog.getOpenFileName(self, self.windowTitle(), self._folder, filters)
        if name:
            self.target.setText(str(self._model.proposal(self._direction, Path(name))))
        return name

    def _ask_for_target(self, before: str) -> str:
        """The system's own dialog asks before a file is replaced."""
        name, _ = QFileDialog.getSaveFileName(self, "Write to", before or self._folder)
        self._confirmed = name or self._confirmed
        return name

    def _begin(self) -> None:
        source, target = self.source.path, self.target.path
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
        box.setText(f"{target} is there already. Replace it?")
        box.setDefaultButton(buttons.Cancel)
        return box.exec() == buttons.Yes

    def _rest(self) -> None:
        super()._rest()
        self._confirmed = ""


class EncodeDialog(WorkDialog):
    """Encode texts as of any step, and show what each became."""

    def __init__(self, model: CorpusEncoding, parent: QWidget | None = None) -> None:
        super().__init__(model, "Encode Texts", "Encode", parent=parent)
        self.resize(640, 440)
        self._model = model
        self._files: list[Path] = []
        self.files = push_button("The texts of the corpus", self._choose_files, "Choose other files to encode")
        self.at = named(NumberBox(0, max(0, model.merges)), f"After how many {model.wording.steps}")
        self.at.setValue(model.position)
        self.width_box = named(QComboBox(), "Numbers as")
        self.width_box.addItems(["the smallest that holds all ids", *WIDTHS])
        self.output = PathLine("File to write", self._ask_for_output, "ids.npy")
        self.table = named(QTableWidget(0, len(COLUMNS)), "What each text became")
        self.table.setHorizontalHeaderLabels(COLUMNS)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setStretchLastSection(True)
        put_headings_left(self.table)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setShowGrid(False)
        form = in_form(
            ("Encode", self.files),
            (f"As of {model.wording.step}", self.at),
            ("Numbers as", self.width_box),
            ("Write to", self.output.row),
        )
        in_column(form, self.bar, self.outcome, (self.table, 1), self.buttons, on=self)
        model.finished.connect(self._show_result)

    def _choose_files(self) -> None:
        self.encode_files([*map(Path, ask_for_texts(self, ""))])

    def encode_files(self, files: list[Path]) -> None:
        self._files = files
        self.files.setText(count_text(len(files), "file") if files else "The texts of the corpus")

    def _ask_for_output(self, before: str) -> Path | None:
        return ask_where_to_save(self, "Write the ids", before or "ids.npy", ID_FILTERS)

    def _begin(self) -> None:
        if not self.output.path:
            self.output.ask()
        if self.output.path:
            chosen = self.width_box.currentIndex()
            width = WIDTHS[chosen - 1] if chosen > 0 else None
            self.outcome.setText("")
            self._model.start(self._files, self.at.value(), width, Path(self.output.path))

    def _show_result(self, rows: list[tuple[str, ...]], sentence: str) -> None:
        self.outcome.setText(sentence)
        self.table.setRowCount(len(rows))
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                self.table.setItem(row, column, QTableWidgetItem(cell))
        self.table.resizeColumnsToContents()
        for column in range(len(COLUMNS) - 1):
            self.table.setColumnWidth(column, self.table.columnWidth(column) + 16)
