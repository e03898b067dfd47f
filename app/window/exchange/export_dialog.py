"""Export the merge table: which format, up to which merge, where; then what the check found, and only then the file."""

from __future__ import annotations

import html
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.window.exchange.export_model import FOLDER, Check, TableExport, format_choices
from app.window.exchange.folder_fields import FolderFields
from app.window.parts.progress_bar import ProgressBar
from app.window.parts.theme import shades_of
from app.window.parts.typed import NumberBox
from app.window.parts.widgets import paragraph, scrolling
from app.window.parts.wording import tip

STAGES = {"writing": "Writing", "verifying": "Reading back and comparing"}


class ExportDialog(QDialog):
    """Two steps: check, then write. Whatever is changed between them asks for another check."""

    def __init__(self, export: TableExport, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export Tokenizer")
        self.resize(620, 440)
        self._export = export
        self._check: Check | None = None
        self._choices = format_choices()
        self.format = QComboBox()
        self.format.setAccessibleName("Format")
        self.format.addItems([choice.name for choice in self._choices])
        self.explanation = paragraph()
        self.folder = FolderFields(export.roles, export.specials)
        self.merges = NumberBox(0, export.merges)
        self.merges.setValue(export.merges)
        self.merges.setAccessibleName(f"How many {export.wording.steps}")
        self.up_to_here = QPushButton("Up to the Moment Shown")
        self.up_to_here.setToolTip(tip(f"Only the {export.wording.steps} that were made by then"))
        self.path = QLineEdit(str(folder / self._choices[0].file_name))
        self.path.setAccessibleName("File to write")
        self.choose = QPushButton("Choose …")
        self.bar = ProgressBar(1000)
        self.bar.setAccessibleName("Progress of the export")
        self.told = paragraph()
        self.told.setAccessibleName("What the check found")
        self.told.setTextFormat(Qt.TextFormat.RichText)
        self.told.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.told.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        self.go = self.buttons.addButton("Check", QDialogButtonBox.ButtonRole.ActionRole)
        self._lay_out()
        self._connect()
        self._show_format()

    def done(self, result: int) -> None:
        """Closing it stops what is under way; nothing that was not written is kept."""
        self._export.cancel()
        self._export.forget()
        super().done(result)

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow("Format", self.format)
        form.addRow("", self.explanation)
        form.addRow("", self.folder)
        row = QHBoxLayout()
        row.addWidget(self.merges)
        row.addWidget(self.up_to_here)
        row.addStretch()
        form.addRow(self._export.wording.steps.capitalize(), row)
        row = QHBoxLayout()
        row.addWidget(self.path, 1)
        row.addWidget(self.choose)
        form.addRow("Write to", row)
        area = scrolling(self.told, "What the check found")
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.bar)
        column.addWidget(area, 1)
        column.addWidget(self.buttons)
        self.bar.hide()

    def _connect(self) -> None:
        self.format.currentIndexChanged.connect(self._show_format)
        self.merges.valueChanged.connect(self._begin_anew)
        self.folder.changed.connect(self._begin_anew)
        self.path.textChanged.connect(self._begin_anew)
        self.up_to_here.clicked.connect(lambda: self.merges.setValue(self._export.position))
        self.choose.clicked.connect(self._choose_path)
        self.go.clicked.connect(self._go)
        self.buttons.rejected.connect(self.reject)
        self._export.refused.connect(self._show_refusal)
        self._export.progressed.connect(self._show_progress)
        self._export.checked.connect(self._show_check)
        self._export.written.connect(self._show_written)
        self._export.failed.connect(self._show_failed)
        self._export.ended.connect(self._rest)

    # What a person does

    def _show_format(self) -> None:
        choice = self._choices[self.format.currentIndex()]
        self.explanation.setText(choice.explanation)
        self.folder.setVisible(choice.name == FOLDER)
        proposals = {one.file_name for one in self._choices}
        path = Path(self.path.text())
        if path.name in proposals:  # a name of the person's own stays
            self.path.setText(str(path.with_name(choice.file_name)))
        self._begin_anew()

    def _choose_path(self) -> None:
        # What is replaced is told by the check.
        name, _ = QFileDialog.getSaveFileName(
            self, "Where to write", self.path.text(), options=QFileDialog.Option.DontConfirmOverwrite
        )
        if name:
            self.path.setText(name)

    def _begin_anew(self) -> None:
        """What was checked is not what is wanted now."""
        self._check = None
        self._export.forget()
        self.told.clear()
        self.go.setEnabled(True)
        self._name_button()
        self._export.look_at(self._choices[self.format.currentIndex()].name, self.merges.value())

    def _go(self) -> None:
        if self._export.is_busy:
            self._export.cancel()
        elif self._check is not None:
            self._export.put_in_place()
        elif self.path.text().strip():
            self.told.clear()
            name = self._choices[self.format.currentIndex()].name
            wish = self.folder.wish if name == FOLDER else None
            self._export.prepare(Path(self.path.text().strip()), name, self.merges.value(), wish)
        self._name_button()

    # What becomes of it

    def _show_progress(self, fraction: float) -> None:
        self.bar.show()
        self.bar.setFormat(f"{STAGES.get(self._export.stage, self._export.stage)} – %p%")
        self.bar.setValue(round(1000 * fraction))
        self._set_enabled(False)

    def _show_check(self, check: Check) -> None:
        self._check = check
        shades = shades_of(self.palette())
        self.told.setText(_report(check, shades.curve.name(), shades.error.name()))

    def _show_written(self, sentence: str) -> None:
        self._check = None
        self.told.setText(f"<p>{html.escape(sentence)}</p>")

    def _show_refusal(self, sentence: str) -> None:
        """Before anybody waits: there is no way to write this as that."""
        self.go.setEnabled(not sentence)
        if sentence:
            self._show_failed(sentence)

    def _show_failed(self, sentence: str) -> None:
        self._check = None
        color = shades_of(self.palette()).error.name()
        self.told.setText(f'<p style="color:{color}">{html.escape(sentence)}</p>')

    def _rest(self) -> None:
        self.bar.hide()
        self._set_enabled(True)
        self._name_button()

    def _set_enabled(self, on: bool) -> None:
        for widget in (self.format, self.folder, self.merges, self.up_to_here, self.path, self.choose):
            widget.setEnabled(on)

    def _name_button(self) -> None:
        self.go.setText("Cancel" if self._export.is_busy else _title(self._check))
        self.go.setDefault(True)


def _title(check: Check | None) -> str:
    if check is None:
        return "Check"
    if not check.agrees:
        return "Write Anyway"
    if not check.replaces:
        return "Write"
    return f"Replace {check.replaces[0]}" if len(check.replaces) == 1 else f"Replace {len(check.replaces)} Files"


def _report(check: Check, good: str, bad: str) -> str:
    """The check in a few lines: the verdict, what is lost, what differs, what will be replaced."""
    sign, color = ("✓", good) if check.agrees else ("✗", bad)
    lines = [f'<p style="color:{color}"><b>{sign} {html.escape(check.sentence)}</b></p>']
    lines += _list("This differs:", check.differences, check.more_differences)
    lines += _list("What was chosen for you:", check.chosen)
    lines += _list("What this format cannot hold:", check.cannot_hold)
    if check.replaces:
        lines.append(f"<p>Writing replaces {html.escape(' and '.join(check.replaces))}.</p>")
    elif len(check.files) > 1:
        lines.append(f"<p>{len(check.files)} files will be written: {html.escape(' and '.join(check.files))}.</p>")
    return "".join(lines)


def _list(title: str, sentences: tuple[str, ...], more: int = 0) -> list[str]:
    if not sentences:
        return []
    items = [f"<li>{html.escape(sentence)}</li>" for sentence in sentences]
    items += [f"<li>and {more:,} more</li>"] if more else []
    return [f"<p>{title}</p><ul>{''.join(items)}</ul>"]
