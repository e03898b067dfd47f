"""The dialog that encodes whole texts into a file of ids."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QComboBox, QTableWidget, QTableWidgetItem, QWidget

from app.window.exchange.encoding import WIDTHS, CorpusEncoding
from app.window.exchange.work_dialog import WorkDialog
from app.window.parts.dialogs import PathLine, ask_for_texts, ask_where_to_save
from app.window.parts.layouts import form_of_fields, in_column
from app.window.parts.tables import put_headings_left
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import name_widget, push_button
from app.window.parts.wording import count_text
from app.window.parts.zoom import resize_zoomed

ID_FILTERS = {"NumPy array (*.npy)": "npy", "Bare numbers (*.bin)": "bin"}
COLUMNS = ("Text", "Size", "Tokens", "Different", "Bytes per token")


class EncodeDialog(WorkDialog):
    """A dialog that encodes texts with the vocabulary after any step.

    A table shows the number of tokens in each text.
    """

    def __init__(self, model: CorpusEncoding, parent: QWidget | None = None) -> None:
        super().__init__(model, "Encode Texts", "Encode", parent=parent)
        resize_zoomed(self, 640, 440)
        self._model = model
        self._files: list[Path] = []
        self.files = push_button("The texts of the corpus", self._choose_files, "Choose other files to encode")
        self.at = name_widget(NumberBox(0, max(0, model.merges)), f"After how many {model.session.runs.wording.steps}")
        self.at.setValue(model.session.cursor.position)
        self.width_box = name_widget(QComboBox(), "Store ids as")
        self.width_box.addItems(["the smallest type that holds all ids", *WIDTHS])
        self.output = PathLine("File to write", self._ask_for_output, "ids.npy")
        self.table = name_widget(QTableWidget(0, len(COLUMNS)), "Result for each text")
        self.table.setHorizontalHeaderLabels(COLUMNS)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setStretchLastSection(True)
        put_headings_left(self.table)
        self.table.setEditTriggers(QTableWidget.EditTrigger.NoEditTriggers)
        self.table.setShowGrid(False)
        form = form_of_fields(
            ("Encode", self.files),
            (f"Use {model.session.runs.wording.steps} up to", self.at),
            ("Store ids as", self.width_box),
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
