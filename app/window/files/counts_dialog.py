"""Counting the corpus into a file by a program of its own: how and where to, and a list of all such counts."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDialog, QListWidget, QListWidgetItem, QPushButton, QWidget

from app.window.files.background_counts import BY, BackgroundCounts, share, status_text
from app.window.parts.dialogs import PathLine, ask_where_to_save
from app.window.parts.layouts import STRETCH, AtTop, in_column, in_form, in_row
from app.window.parts.typed import NumberBox
from app.window.parts.widgets import LinkedText, ProgressBar, entry, named, paragraph

ABOUT = (
    "Counts the words of the corpus into a file that can be trained from, added to others, and opened. It is done by a "
    "program of its own, so this window can be closed meanwhile."
)
FILTERS = {"Counts (*.parquet)": "parquet"}
MOST_WORKERS = 1024
LEAST_LIST = 70  # pixels


class CountDialog(QDialog):
    """A form to begin a count, above the list of counts. Closing the dialog stops none of them."""

    def __init__(self, model: BackgroundCounts, proposal: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Count Words into a File")
        self.resize(620, 520)
        self._model = model
        self.by = named(QComboBox(), "Counted by")
        self.by.addItems(BY)
        self.address = named(entry("tcp://host:8786"), "Address of the scheduler")
        self.workers = named(NumberBox(0, MOST_WORKERS), "Workers")
        self.workers.setSpecialValueText("one for each core")
        self.memory = named(entry("as much as there is; or 2GB"), "Memory at most")
        self.output = PathLine("File to write", self._ask_for_output, "counts.parquet, or s3://bucket/counts")
        self.output.setText(proposal)
        self.refusal = named(paragraph(), "Why it was not begun")
        self.list = named(QListWidget(), "Counts that go on or have ended")
        self.list.setMinimumHeight(LEAST_LIST)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.status = LinkedText("Status of the chosen count")
        self.status.setOpenExternalLinks(True)
        self.bar = ProgressBar(1000, with_text=False)
        self.begin = self._button("Count", self._begin)
        self.begin.setDefault(True)
        self.open_button = self._button("Open the Counts", lambda: self._do(self._open))
        self.stop_button = self._button("Stop", lambda: self._do(model.stop))
        self.forget_button = self._button("Remove from List", lambda: self._do(model.forget))
        place = ("Counted by", self.by), ("Its address", self.address), ("Workers", self.workers)
        form = in_form(*place, ("Memory", self.memory), ("Write to", self.output.row))
        begin = in_row((self.refusal, 1), AtTop(self.begin))
        close = self._button("Close", self.reject)
        acts = in_row(self.open_button, self.stop_button, self.forget_button, STRETCH, close)
        in_column(paragraph(ABOUT), form, begin, (self.list, 1), self.status, self.bar, acts, on=self)
        self.by.currentIndexChanged.connect(self._offer)
        self.list.currentItemChanged.connect(self._show_chosen)
        model.changed.connect(self._show)
        model.failed.connect(self.refusal.setText)
        self._offer()
        self._show()

    @staticmethod
    def _button(title: str, act: Callable[[], object]) -> QPushButton:
        button = QPushButton(title)
        button.clicked.connect(lambda: act())
        return button

    def _offer(self) -> None:
        self.workers.setEnabled(self.by.currentIndex() == 1)
        self.address.setEnabled(self.by.currentIndex() == 2)

    def _ask_for_output(self, before: str) -> Path | None:
        return ask_where_to_save(self, "Write the counts", before or "counts.parquet", FILTERS)

    def _begin(self) -> None:
        self.refusal.setText("")
        address, memory = self.address.text().strip(), self.memory.text().strip()
        self._model.begin(self.by.currentIndex(), address, self.workers.value(), memory, self.output.path)

    # -- the list --------------------------------------------------------------------------

    def _show(self) -> None:
        """List the counts; a new one is chosen, else the one that was."""
        chosen, known = self._chosen(), self._model.known
        before = {self._path(row) for row in range(self.list.count())}
        self.list.blockSignals(True)
        self.list.clear()
        for path, status in known.items():
            item = QListWidgetItem(f"{status.output} · {status_text(status)}")
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
        status = None if path is None else self._model.known.get(path)
        self.bar.setVisible(status is not None and status.is_under_way)
        self.open_button.setEnabled(status is not None and status.state == "done")
        self.stop_button.setEnabled(status is not None and status.is_under_way)
        self.forget_button.setEnabled(status is not None and not status.is_under_way)
        if status is None:
            self.status.setText("")
            return
        self.bar.setValue(round(1000 * share(status)))
        sentence = html.escape(status_text(status))
        if status.is_under_way:
            sentence += f"<br>The counts will be in {html.escape(status.output)}."
        if status.dashboard:
            link = html.escape(status.dashboard)
            sentence += f'<br>Watch the cluster: <a href="{link}">{link}</a>'
        self.status.setText(sentence)

    def _path(self, row: int) -> Path:
        return Path(self.list.item(row).data(Qt.ItemDataRole.UserRole))

    def _chosen(self) -> Path | None:
        row = self.list.currentRow()
        return None if row < 0 else self._path(row)

    def _do(self, act: Callable[[Path], object]) -> None:
        if (path := self._chosen()) is not None:
            act(path)

    def _open(self, path: Path) -> None:
        self._model.open_wanted.emit(self._model.known[path].output)
