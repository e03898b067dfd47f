"""A dialog to start word counts in other processes. It also lists running and ended counts."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QComboBox, QDialog, QWidget

from app.window.exchange.counts import BY, BackgroundCounts, CountStatus, share, status_text
from app.window.parts.dialogs import PathLine, ask_where_to_save
from app.window.parts.layouts import STRETCH, AtTop, form_of_fields, in_column, in_row
from app.window.parts.tables import list_of_rows
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import LinkedText, ProgressBar, entry, name_widget, paragraph, push_button
from app.window.parts.wording import without_options
from app.window.parts.zoom import resize_zoomed

ABOUT_COUNTING = (
    "The words of the corpus and their counts are written to a file. You can open this file, train from it, and add "
    "it to other counts. Another program counts the words, so you can close this window meanwhile."
)
COUNT_FILTERS = {"Counts (*.parquet)": "parquet"}
MOST_WORKERS = 1024
LEAST_LIST = 70  # pixels


class CountDialog(QDialog):
    """A dialog with a form that starts a count, and a list of counts. The counts go on after the dialog is closed."""

    def __init__(self, model: BackgroundCounts, proposal: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Count Words into a File")
        resize_zoomed(self, 620, 520)
        self._model = model
        self.by = name_widget(QComboBox(), "Count with")
        self.by.addItems(BY)
        self.address = name_widget(entry("tcp://host:8786"), "Address of the scheduler")
        self.workers = name_widget(NumberBox(0, MOST_WORKERS), "Workers")
        self.workers.setSpecialValueText("one for each core")
        self.memory = name_widget(entry("all free memory, or a size such as 2GB"), "Memory at most")
        self.output = PathLine("File to write", self._ask_for_output, "counts.parquet, or s3://bucket/counts")
        self.output.setText(proposal)
        self.refusal = name_widget(paragraph(), "Why counting did not start")
        self.list = list_of_rows(model, "Running and finished counts")
        self.list.setMinimumHeight(LEAST_LIST)
        self.status = LinkedText("Status of the chosen count")
        self.status.setOpenExternalLinks(True)
        self.bar = ProgressBar(1000, with_text=False)
        self.begin = push_button("Count", self._begin)
        self.open_button = push_button("Open the Counts", lambda: self._do(self._open))
        self.stop_button = push_button("Stop", lambda: self._do(model.stop))
        self.forget_button = push_button("Remove from List", lambda: self._do(model.forget))
        place = ("Count with", self.by), ("Address of the cluster", self.address), ("Workers", self.workers)
        form = form_of_fields(*place, ("Memory", self.memory), ("Write to", self.output.row))
        begin = in_row((self.refusal, 1), AtTop(self.begin))
        close = push_button("Close", self.reject)
        acts = in_row(self.open_button, self.stop_button, self.forget_button, STRETCH, close)
        in_column(paragraph(ABOUT_COUNTING), form, begin, (self.list, 1), self.status, self.bar, acts, on=self)
        self.begin.setDefault(True)  # once it is in the dialog
        self.by.currentIndexChanged.connect(self._offer)
        self.list.selectionModel().currentChanged.connect(self._show_chosen)
        model.modelReset.connect(self._choose_newest)
        model.dataChanged.connect(self._show_chosen)
        model.failed.connect(lambda sentence: self.refusal.setText(without_options(sentence)))
        self._offer()
        self._choose_newest()

    def _offer(self) -> None:
        self.workers.setEnabled(self.by.currentIndex() == 1)
        self.address.setEnabled(self.by.currentIndex() == 2)

    def _ask_for_output(self, before: str) -> Path | None:
        return ask_where_to_save(self, "Write the counts", before or "counts.parquet", COUNT_FILTERS)

    def _begin(self) -> None:
        self.refusal.setText("")
        address = self.address.text().strip()
        memory = self.memory.text().strip()
        self._model.begin(self.by.currentIndex(), address, self.workers.value(), memory, self.output.path)

    # -- the list --------------------------------------------------------------------------

    def _choose_newest(self) -> None:
        self.list.setCurrentIndex(self._model.index(0))
        self._show_chosen()

    def _show_chosen(self) -> None:
        chosen = self._chosen()
        status = None if chosen is None else chosen[1]
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

    def _chosen(self) -> tuple[Path, CountStatus] | None:
        row = self.list.currentIndex().row()
        return self._model.rows[row] if 0 <= row < len(self._model.rows) else None

    def _do(self, act: Callable[[Path], object]) -> None:
        if (chosen := self._chosen()) is not None:
            act(chosen[0])

    def _open(self, path: Path) -> None:
        self._model.open_wanted.emit(self._model.known[path].output)
