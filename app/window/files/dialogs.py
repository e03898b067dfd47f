"""The dialogs of work on files: compressing, encoding texts, counting words, and extending a table."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QFileDialog,
    QMessageBox,
    QTableWidget,
    QTableWidgetItem,
    QWidget,
)

from app.window.files.background_counts import BY, BackgroundCounts, CountStatus, share, status_text
from app.window.files.compress_and_encode import WIDTHS, CorpusEncoding, Direction, FileCompression
from app.window.files.work_dialog import WorkDialog
from app.window.parts.dialogs import PathLine, ask_for_texts, ask_where_to_save, dialog_buttons
from app.window.parts.layouts import STRETCH, AtTop, in_column, in_form, in_row
from app.window.parts.tables import list_of_rows, put_headings_left
from app.window.parts.typed import NumberBox, is_refused, mark_refused
from app.window.parts.widgets import LinkedText, ProgressBar, entry, label, muted, named, paragraph, push_button
from app.window.parts.wording import count_text

TITLES: dict[Direction, str] = {"compress": "Compress a File", "expand": "Expand a File"}
ABOUT_COMPRESSING: dict[Direction, str] = {
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
        self.setMinimumSize(420, 260)  # room for the whole report
        self._model, self._direction, self._folder = model, direction, folder
        self._confirmed = ""  # a file that may be replaced
        self.source = PathLine("File to read", self._ask_for_source)
        self.target = PathLine("File to write", self._ask_for_target)
        form = in_form(("File", self.source.row), ("Write to", self.target.row))
        in_column(paragraph(ABOUT_COMPRESSING[direction]), form, self.bar, self.outcome, STRETCH, self.buttons, on=self)
        model.finished.connect(self.outcome.setText)

    def _ask_for_source(self, before: str) -> str:
        filters = "Compressed files (*.gage);;All files (*)" if self._direction == "expand" else "All files (*)"
        name, _ = QFileDialog.getOpenFileName(self, self.windowTitle(), self._folder, filters)
        if name:
            self.target.setText(str(self._model.proposal(self._direction, Path(name))))
        return name

    def _ask_for_target(self, before: str) -> str:
        """Ask with the system's dialog, which warns before it replaces a file."""
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
    """Encode texts as of any step, and show the figures of each."""

    def __init__(self, model: CorpusEncoding, parent: QWidget | None = None) -> None:
        super().__init__(model, "Encode Texts", "Encode", parent=parent)
        self.resize(640, 440)
        self._model = model
        self._files: list[Path] = []
        self.files = push_button("The texts of the corpus", self._choose_files, "Choose other files to encode")
        self.at = named(NumberBox(0, max(0, model.merges)), f"After how many {model.session.runs.wording.steps}")
        self.at.setValue(model.session.cursor.position)
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
            (f"As of {model.session.runs.wording.step}", self.at),
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


ABOUT_COUNTING = (
    "Counts the words of the corpus into a file that can be trained from, added to others, and opened. It is done by a "
    "program of its own, so this window can be closed meanwhile."
)
COUNT_FILTERS = {"Counts (*.parquet)": "parquet"}
MOST_WORKERS = 1024
LEAST_LIST = 70  # pixels


class CountDialog(QDialog):
    """A form to begin a count, above the list of counts. Closing the dialog stops no count."""

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
        self.list = list_of_rows(model, "Counts that go on or have ended")
        self.list.setMinimumHeight(LEAST_LIST)
        self.status = LinkedText("Status of the chosen count")
        self.status.setOpenExternalLinks(True)
        self.bar = ProgressBar(1000, with_text=False)
        self.begin = push_button("Count", self._begin)
        self.begin.setDefault(True)
        self.open_button = push_button("Open the Counts", lambda: self._do(self._open))
        self.stop_button = push_button("Stop", lambda: self._do(model.stop))
        self.forget_button = push_button("Remove from List", lambda: self._do(model.forget))
        place = ("Counted by", self.by), ("Its address", self.address), ("Workers", self.workers)
        form = in_form(*place, ("Memory", self.memory), ("Write to", self.output.row))
        begin = in_row((self.refusal, 1), AtTop(self.begin))
        close = push_button("Close", self.reject)
        acts = in_row(self.open_button, self.stop_button, self.forget_button, STRETCH, close)
        in_column(paragraph(ABOUT_COUNTING), form, begin, (self.list, 1), self.status, self.bar, acts, on=self)
        self.by.currentIndexChanged.connect(self._offer)
        self.list.selectionModel().currentChanged.connect(self._show_chosen)
        model.modelReset.connect(self._choose_newest)
        model.dataChanged.connect(self._show_chosen)
        model.failed.connect(self.refusal.setText)
        self._offer()
        self._choose_newest()

    def _offer(self) -> None:
        self.workers.setEnabled(self.by.currentIndex() == 1)
        self.address.setEnabled(self.by.currentIndex() == 2)

    def _ask_for_output(self, before: str) -> Path | None:
        return ask_where_to_save(self, "Write the counts", before or "counts.parquet", COUNT_FILTERS)

    def _begin(self) -> None:
        self.refusal.setText("")
        address, memory = self.address.text().strip(), self.memory.text().strip()
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


ABOUT_EXTENDING = (
    "All tokens that are there keep their ids; the run shown stays, and the extended table is a run of its own. "
    "A report says what that saves, and which tokens the corpus never uses."
)
FIRST_ID = "The first free id is proposed. Where a model has special tokens behind the table's, begin behind them."
HELD_OUT = "Texts that nothing is learned from: the report says how many tokens each has before and after"
RULES = {"count": "The pair that occurs most", "score": "The pair that occurs most in relation to its halves"}
MOST_NAMED = 3  # texts
USUAL = 1_000  # tokens


@dataclass(frozen=True)
class GrowthOffer:
    """The possible choices."""

    most: int  # tokens
    first_free: int  # id
    largest: int  # id
    rule: str  # how pairs are chosen; empty without a choice
    refusal: Callable[[int, int], str]  # why that many tokens cannot have ids from there on; empty if they can
    goes_across: bool = False  # whether new tokens may hold several words


class GrowthDialog(QDialog):
    wished = Signal(int, int, tuple, dict)  # the number of tokens, the first id, texts held out, changes of the recipe

    def __init__(self, offer: GrowthOffer, folder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Extend on My Corpus")
        self._offer, self._folder = offer, folder
        self._held_out: tuple[Path, ...] = ()
        self.by = named(NumberBox(1, offer.most), "How many tokens to add")
        self.by.setValue(USUAL)
        self.first_id = named(NumberBox(0, offer.largest), "The id of the first new token", FIRST_ID)
        self.first_id.setValue(offer.first_free)
        self.rule = named(QComboBox(), "How pairs are chosen")
        for rule, title in RULES.items():
            self.rule.addItem(title, rule)
        self.rule.setCurrentIndex(max(0, self.rule.findData(offer.rule)))
        self.across = QCheckBox("New tokens may hold several words")
        self.across.setToolTip("SuperBPE: the table's merges become its first stage, and runs of words teach more")
        self.across.setVisible(offer.goes_across)
        self.choose = push_button("Choose Texts …", self._choose, HELD_OUT)
        self.held_out = label("none")
        self.note = muted(ABOUT_EXTENDING)
        buttons, self.go = dialog_buttons(self, "Extend", self._wish)
        join = [("Join", self.rule)] if offer.rule else []
        texts = "Show savings in", in_row(self.choose, (self.held_out, 1))
        form = in_form(("Tokens to add", self.by), ("Ids from", self.first_id), *join, texts)
        in_column(form, self.across, self.note, buttons, on=self)
        for box in (self.by, self.first_id):
            box.valueChanged.connect(self._check)

    def _choose(self) -> None:
        chosen = [Path(name) for name in ask_for_texts(self, self._folder, "Texts that nothing is learned from")]
        if chosen:
            self._held_out = tuple(chosen)
            more = f" and {len(chosen) - MOST_NAMED} more" if len(chosen) > MOST_NAMED else ""
            self.held_out.setText(", ".join(path.name for path in chosen[:MOST_NAMED]) + more)

    def _check(self) -> None:
        refusal = self._offer.refusal(self.by.value(), self.first_id.value())
        mark_refused(self.first_id, refusal)
        self.note.setText(refusal or ABOUT_EXTENDING)

    def _wish(self) -> None:
        self._check()
        if is_refused(self.first_id):
            self.first_id.setFocus()
            return
        choices = {"wordpiece_rule": self.rule.currentData()} if self._offer.rule else {}
        choices |= {"across_words": True} if self.across.isChecked() else {}
        self.accept()
        self.wished.emit(self.by.value(), self.first_id.value(), self._held_out, choices)
