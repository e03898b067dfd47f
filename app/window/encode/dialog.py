"""Encode texts: which, as of which merge, into which file; then what each became."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app.window.encode.model import WIDTHS, CorpusEncoding, FileRow
from app.window.parts.dialogs import ask_for_texts, ask_where_to_save
from app.window.parts.progress_bar import ProgressBar
from app.window.parts.typed import NumberBox
from app.window.parts.widgets import entry, paragraph
from app.window.parts.wording import count_text, size_text

FILTERS = {"NumPy array (*.npy)": "npy", "Bare numbers (*.bin)": "bin"}
TITLES = ("Text", "Size", "Tokens", "Different", "Bytes per token")


class EncodeDialog(QDialog):
    """Stays open while it works, beside the window."""

    def __init__(self, model: CorpusEncoding, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Encode Texts")
        self.resize(640, 440)
        self._model = model
        self._files: list[Path] = []
        self.files = QPushButton("The texts of the corpus")
        self.files.setToolTip("Choose other files to encode")
        self.at = NumberBox(0, max(0, model.merges))
        self.at.setValue(model.position)
        self.at.setAccessibleName(f"After how many {model.wording.steps}")
        self.width_box = QComboBox()
        self.width_box.setAccessibleName("Numbers as")
        self.width_box.addItems(["the smallest that holds all ids", *WIDTHS])
        self.output = entry("ids.npy")
        self.output.setAccessibleName("File to write")
        self.choose = QPushButton("Choose …")
        self.bar = ProgressBar(1000)
        self.bar.hide()
        self.told = paragraph()
        self.told.setAccessibleName("What became of it")
        self.told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.table = QTableWidget(0, len(TITLES))
        self.table.setAccessibleName("What each text became")
        self.table.setHorizontalHeaderLabels(TITLES)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setStretchLastSection(True)
        self.table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setShowGrid(False)
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.begin = self.buttons.addButton("Encode", QDialogButtonBox.ButtonRole.ActionRole)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow("Encode", self.files)
        form.addRow(f"As of {self._model.wording.step}", self.at)
        form.addRow("Numbers as", self.width_box)
        row = QHBoxLayout()
        row.addWidget(self.output, 1)
        row.addWidget(self.choose)
        form.addRow("Write to", row)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.bar)
        column.addWidget(self.told)
        column.addWidget(self.table, 1)
        column.addWidget(self.buttons)

    def _connect(self) -> None:
        self.files.clicked.connect(self._choose_files)
        self.choose.clicked.connect(self._choose_output)
        self.begin.clicked.connect(self._begin_or_cancel)
        self.buttons.rejected.connect(self.reject)
        self._model.progressed.connect(self._show_progress)
        self._model.finished.connect(self._show_result)
        self._model.failed.connect(self.told.setText)
        self._model.ended.connect(self._rest)

    def encode_files(self, files: list[Path]) -> None:
        """Instead of the corpus."""
        self._files = files
        self.files.setText(count_text(len(files), "file") if files else "The texts of the corpus")

    def _choose_files(self) -> None:
        self.encode_files([*map(Path, ask_for_texts(self, ""))])

    def _choose_output(self) -> None:
        path = ask_where_to_save(self, "Write the ids", self.output.text() or "ids.npy", FILTERS)
        if path is not None:
            self.output.setText(str(path))

    def _begin_or_cancel(self) -> None:
        if self._model.is_busy:
            self._model.cancel()
            return
        if not self.output.text().strip():
            self._choose_output()
        if self.output.text().strip():
            chosen = self.width_box.currentIndex()
            width = WIDTHS[chosen - 1] if chosen > 0 else None
            self.told.setText("")
            self._model.start(self._files, self.at.value(), width, Path(self.output.text().strip()))

    def _show_progress(self, fraction: float) -> None:
        self.bar.show()
        self.bar.setValue(round(1000 * fraction))
        self.begin.setText("Cancel")

    def _show_result(self, rows: list[FileRow], sentence: str) -> None:
        self.told.setText(sentence)
        self.table.setRowCount(len(rows))
        for i, row in enumerate(rows):
            cells = (
                row.name,
                size_text(row.bytes),
                f"{row.tokens:,}",
                f"{row.different:,}",
                f"{row.bytes_per_token:.2f}",
            )
            for column, text in enumerate(cells):
                self.table.setItem(i, column, QTableWidgetItem(text))
        self.table.resizeColumnsToContents()
        for column in range(len(TITLES) - 1):
            self.table.setColumnWidth(column, self.table.columnWidth(column) + 16)

    def _rest(self) -> None:
        self.bar.hide()
        self.begin.setText("Encode")

    def done(self, result: int) -> None:
        """Closing it stops what it began."""
        self._model.cancel()
        super().done(result)
