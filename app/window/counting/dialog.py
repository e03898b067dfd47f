"""Count the corpus into a file: by whom, how, where to; below, all counts that go on or have ended."""

from __future__ import annotations

import html
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.window.counting.model import BY, CountsApart, share, told
from app.window.parts.dialogs import ask_where_to_save
from app.window.parts.linked_text import LinkedText
from app.window.parts.progress_bar import ProgressBar
from app.window.parts.typed import NumberBox
from app.window.parts.widgets import entry, paragraph

ABOUT = (
    "Counts the words of the corpus into a file that can be trained from, added to others, and opened. It is done by a "
    "program of its own, so this window can be closed meanwhile."
)
FILTERS = {"Counts (*.parquet)": "parquet"}
MOST_WORKERS = 1024
LEAST_LIST = 70  # pixels


class CountDialog(QDialog):
    """Closing it stops nothing."""

    def __init__(self, model: CountsApart, proposal: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Count Words into a File")
        self.resize(620, 520)
        self._model = model
        self.by = QComboBox()
        self.by.addItems(BY)
        self.by.setAccessibleName("Counted by")
        self.address = entry("tcp://host:8786")
        self.address.setAccessibleName("Address of the scheduler")
        self.workers = NumberBox(0, MOST_WORKERS)
        self.workers.setSpecialValueText("one for each core")
        self.workers.setAccessibleName("Workers")
        self.memory = entry("as much as there is; or 2GB")
        self.memory.setAccessibleName("Memory at most")
        self.output = entry("counts.parquet, or s3://bucket/counts")
        self.output.setAccessibleName("File to write")
        self.output.setText(proposal)
        self.choose = QPushButton("Choose …")
        self.refusal = paragraph()
        self.refusal.setAccessibleName("Why it was not begun")
        self.choose.setAutoDefault(False)
        self.begin = QPushButton("Count")
        self.begin.setDefault(True)
        self.list = QListWidget()
        self.list.setAccessibleName("Counts that go on or have ended")
        self.list.setMinimumHeight(LEAST_LIST)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.told = LinkedText("How the count chosen stands")
        self.told.setOpenExternalLinks(True)
        self.bar = ProgressBar(1000, with_text=False)
        self.open_button, self.stop_button, self.forget_button = (
            QPushButton(title) for title in ("Open the Counts", "Stop", "Remove from List")
        )
        self._lay_out()
        self._connect()
        self._offer()
        self._show()

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow("Counted by", self.by)
        form.addRow("Its address", self.address)
        form.addRow("Workers", self.workers)
        form.addRow("Memory", self.memory)
        where = QHBoxLayout()
        where.addWidget(self.output, 1)
        where.addWidget(self.choose)
        form.addRow("Write to", where)
        begin = QHBoxLayout()
        begin.addWidget(self.refusal, 1)
        begin.addWidget(self.begin, 0, Qt.AlignmentFlag.AlignTop)
        acts = QHBoxLayout()
        for button in (self.open_button, self.stop_button, self.forget_button):
            acts.addWidget(button)
        acts.addStretch()
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        acts.addWidget(buttons)
        column = QVBoxLayout(self)
        column.addWidget(paragraph(ABOUT))
        column.addLayout(form)
        column.addLayout(begin)
        column.addWidget(self.list, 1)
        column.addWidget(self.told)
        column.addWidget(self.bar)
        column.addLayout(acts)

    def _connect(self) -> None:
        self.by.currentIndexChanged.connect(self._offer)
        self.choose.clicked.connect(self._choose_output)
        self.begin.clicked.connect(self._begin)
        self.list.currentItemChanged.connect(self._show_chosen)
        self.open_button.clicked.connect(self._open)
        self.stop_button.clicked.connect(self._stop)
        self.forget_button.clicked.connect(self._forget)
        self._model.changed.connect(self._show)
        self._model.failed.connect(self.refusal.setText)

    def _offer(self) -> None:
        self.workers.setEnabled(self.by.currentIndex() == 1)
        self.address.setEnabled(self.by.currentIndex() == 2)

    def _choose_output(self) -> None:
        path = ask_where_to_save(self, "Write the counts", self.output.text() or "counts.parquet", FILTERS)
        if path is not None:
            self.output.setText(str(path))

    def _begin(self) -> None:
        self.refusal.setText("")
        texts = (line.text().strip() for line in (self.address, self.memory, self.output))
        address, memory, output = texts
        self._model.begin(self.by.currentIndex(), address, self.workers.value(), memory, output)

    # -- the list --------------------------------------------------------------------------

    def _show(self) -> None:
        """Each count in a line; the one that was chosen stays so, a new one is."""
        chosen, known = self._chosen(), self._model.known
        before = {self._path(row) for row in range(self.list.count())}
        self.list.blockSignals(True)
        self.list.clear()
        for path, standing in known.items():
            item = QListWidgetItem(f"{standing.output} · {told(standing)}")
            item.setData(Qt.ItemDataRole.UserRole, str(path))
            self.list.addItem(item)
        paths = list(known)
        fresh = next((path for path in paths if path not in before), None)
        wanted = fresh if fresh is not None else chosen
        if paths:
            self.list.setCurrentRow(paths.index(wanted) if wanted in paths else 0)
        self.list.blockSignals(False)
        self._show_chosen()

    def _show_chosen(self) -> None:
        path = self._chosen()
        standing = None if path is None else self._model.known.get(path)
        self.bar.setVisible(standing is not None and standing.is_under_way)
        self.open_button.setEnabled(standing is not None and standing.state == "done")
        self.stop_button.setEnabled(standing is not None and standing.is_under_way)
        self.forget_button.setEnabled(standing is not None and not standing.is_under_way)
        if standing is None:
            self.told.setText("")
            return
        self.bar.setValue(round(1000 * share(standing)))
        sentence = html.escape(told(standing))
        if standing.is_under_way:
            sentence += f"<br>The counts will be in {html.escape(standing.output)}."
        if standing.dashboard:
            link = html.escape(standing.dashboard)
            sentence += f'<br>Watch the cluster: <a href="{link}">{link}</a>'
        self.told.setText(sentence)

    def _path(self, row: int) -> Path:
        return Path(self.list.item(row).data(Qt.ItemDataRole.UserRole))

    def _chosen(self) -> Path | None:
        row = self.list.currentRow()
        return None if row < 0 else self._path(row)

    def _open(self) -> None:
        if (path := self._chosen()) is not None:
            self._model.open_wanted.emit(self._model.known[path].output)

    def _stop(self) -> None:
        if (path := self._chosen()) is not None:
            self._model.stop(path)

    def _forget(self) -> None:
        if (path := self._chosen()) is not None:
            self._model.forget(path)
