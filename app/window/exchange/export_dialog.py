"""The dialog that exports a tokenizer. It checks the export and shows the result before it writes any file."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QComboBox, QFileDialog, QGridLayout, QWidget

from app.window.exchange.export import FOLDER, FolderChoices, PreparedExport, RoleChoice, TableExport, format_choices
from app.window.exchange.work_dialog import WorkDialog
from app.window.parts.dialogs import PathLine
from app.window.parts.layouts import STRETCH, form_of_fields, in_column, in_row
from app.window.parts.theme import Shades, shades_of
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import (
    ProgressBar,
    flat_button,
    label,
    name_widget,
    paragraph,
    push_button,
    scrolling,
    selectable,
)
from app.window.parts.wording import without_options
from app.window.parts.zoom import resize_zoomed, set_zoomed

STAGES = {"writing": "Writing", "verifying": "Reading back and comparing"}
NONE = ""
WRITE = "Write"


class ExportDialog(WorkDialog):
    """A dialog that checks an export before it writes the files.

    It asks for a confirmation if it would replace a file, or if the files differ from the run.
    """

    def __init__(self, export: TableExport, folder: Path, parent: QWidget | None = None) -> None:
        super().__init__(export, "Export Tokenizer", WRITE, "What the check found", parent)
        resize_zoomed(self, 620, 360)
        self._export = export
        self._checked: PreparedExport | None = None
        self._writes_at_once = False  # no file is lost, so the dialog need not ask again
        self._choices = format_choices()
        self.format = name_widget(QComboBox(), "Format")
        for choice in self._choices:
            self.format.addItem(choice.title, choice.name)
        self.explanation = paragraph()
        self.folder = FolderFields(export.roles, export.specials, export.template_hint)
        steps = export.session.runs.wording.steps
        cursor = export.session.cursor
        self.merges = name_widget(NumberBox(0, export.merges), f"How many {steps}")
        self.merges.setValue(export.merges)
        only = f"Only the {steps} up to the step that the window shows"
        self.up_to_here = push_button("Up to the Step Shown", lambda: self.merges.setValue(cursor.position), only)
        chosen = export.session.selection.steps
        self.up_to_chosen = push_button(
            f"Up to the Chosen {steps.capitalize()}",
            lambda: self.merges.setValue(chosen[-1]),
            f"Only the {steps} up to the last selected row of their table",
        )
        self.up_to_chosen.setVisible(bool(chosen))
        self.path = PathLine("File to write", self._ask_for_path)
        self.path.setText(str(folder / self._choices[0].file_name))
        self.bar.setAccessibleName("Progress of the export")
        selectable(self.outcome, by_keyboard=True).setTextFormat(Qt.TextFormat.RichText)
        self.outcome.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._lay_out()
        self._connect()
        self._show_format()

    def done(self, result: int) -> None:
        super().done(result)
        self._export.forget()

    def _lay_out(self) -> None:
        merges = (
            self._export.session.runs.wording.steps.capitalize(),
            in_row(self.merges, self.up_to_here, self.up_to_chosen, STRETCH),
        )
        what = ("Format", self.format), ("", self.explanation), ("", self.folder)
        form = form_of_fields(*what, merges, ("Write to", self.path.row))
        in_column(form, self.bar, (scrolling(self.outcome, "What the check found"), 1), self.buttons, on=self)

    def _connect(self) -> None:
        self.format.currentIndexChanged.connect(self._show_format)
        for change in (self.merges.valueChanged, self.folder.changed, self.path.textChanged):
            change.connect(self._begin_anew)
        self._export.refused.connect(self._show_refusal)
        self._export.checked.connect(self._show_check)
        self._export.finished.connect(self._show_written)

    # -- acting ----------------------------------------------------------------------------

    def _show_format(self) -> None:
        choice = self._choices[self.format.currentIndex()]
        is_folder = choice.name == FOLDER
        self.explanation.setText(self._export.folder_explanation if is_folder else choice.explanation)
        self.folder.setVisible(is_folder)
        path = Path(self.path.text())
        if path.name in {other.file_name for other in self._choices}:  # keep a typed name
            self.path.setText(str(path.with_name(choice.file_name)))
        self._begin_anew()

    def _ask_for_path(self, before: str) -> str:
        options = QFileDialog.Option.DontConfirmOverwrite  # the check lists replaced files
        return QFileDialog.getSaveFileName(self, "Where to write", before, options=options)[0]

    def _begin_anew(self) -> None:
        self._checked = None
        self._writes_at_once = False
        self._export.forget()
        self.outcome.clear()
        self.begin.setEnabled(True)
        self._name_button()
        self._export.check_format(self._choices[self.format.currentIndex()].name, self.merges.value())

    def _begin(self) -> None:
        if self._checked is not None:
            self._export.put_in_place()
        elif self.path.path:
            self.outcome.clear()
            name = self._choices[self.format.currentIndex()].name
            self._export.prepare(Path(self.path.path), name, self.merges.value(), self.folder.choices)
        self._name_button()

    # -- showing the result ----------------------------------------------------------------

    def _show_progress(self, fraction: float) -> None:
        self.bar.setFormat(f"{STAGES.get(self._export.stage, self._export.stage)} – %p%")
        super()._show_progress(fraction)
        self._set_enabled(False)

    def _show_check(self, checked: PreparedExport) -> None:
        self._checked = checked
        self.outcome.setText(_report(checked, shades_of(self.palette())))
        self._writes_at_once = checked.verification.agrees and not checked.replaces

    def _show_written(self, sentence: str) -> None:
        report = "" if self._checked is None else _lists(self._checked)
        self._checked = None
        self.outcome.setText(f"<p>{html.escape(without_options(sentence))}</p>{report}")

    def _show_refusal(self, sentence: str) -> None:
        self.begin.setEnabled(not sentence)
        if sentence:
            self._show_failed(sentence)

    def _show_failed(self, sentence: str) -> None:
        self._checked = None
        color = shades_of(self.palette()).error.name()
        self.outcome.setText(f'<p style="color:{color}">{html.escape(without_options(sentence))}</p>')

    def _rest(self) -> None:
        self._set_enabled(True)
        super()._rest()
        if self._writes_at_once:
            self._writes_at_once = False
            self._export.put_in_place()

    def _set_enabled(self, on: bool) -> None:
        for widget in (self.format, self.folder, self.merges, self.up_to_here, self.path, self.path.choose):
            widget.setEnabled(on)

    def _name_button(self) -> None:
        self._verb = _title(self._checked)
        super()._name_button()


class FolderFields(QWidget):
    """The fields for the export of a folder: a token for each role, and a chat template.

    If a user types a token that the vocabulary does not contain, the export adds this token.
    """

    changed = Signal()

    def __init__(
        self, roles: Sequence[RoleChoice], specials: Sequence[str], template: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        self.roles: dict[str, QComboBox] = {}
        for place, role in enumerate(roles):
            meaning = (
                f"The token that {role.meaning}. Leave the field empty for no token. A new name is added as a token."
            )
            box = self.roles[role.name] = name_widget(QComboBox(), f"Token that {role.meaning}", meaning)
            box.setEditable(True)
            box.addItems([NONE, *dict.fromkeys([role.token, *specials] if role.token else specials)])
            box.setCurrentText(role.token)
            box.currentTextChanged.connect(self.changed)
            grid.addWidget(label(role.title), place // 2, place % 2 * 2)
            grid.addWidget(box, place // 2, place % 2 * 2 + 1)
        self.template = PathLine("File with a chat template", self._ask_for_template, template)
        self.template.setClearButtonEnabled(True)
        self.template.textChanged.connect(self.changed)
        last = (len(roles) + 1) // 2
        grid.addWidget(label("Chat template"), last, 0)
        grid.addLayout(self.template.row, last, 1, 1, 3)
        for column in (1, 3):
            grid.setColumnStretch(column, 1)

    @property
    def choices(self) -> FolderChoices:
        chosen = tuple((role, box.currentText()) for role, box in self.roles.items())
        return FolderChoices(chosen, self.template.path)

    def _ask_for_template(self, before: str) -> str:
        return QFileDialog.getOpenFileName(self, "A chat template", "", "Templates (*.jinja *.txt);;All files (*)")[0]


class ExportBar(QWidget):
    """A bar in the status line that shows the progress of an export. Its button stops the export."""

    def __init__(self, export: TableExport, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bar = name_widget(ProgressBar(1000, with_text=False), "Progress of the export")
        set_zoomed(self._bar, QWidget.setFixedWidth, 120)
        set_zoomed(self._bar, QWidget.setFixedHeight, 8)
        self.cancel = name_widget(flat_button("Cancel", export.cancel), "Cancel the export")
        in_row(label("Exporting"), self._bar, self.cancel, on=self, margins=(8, 0, 8, 0))
        export.progressed.connect(self._show)
        export.ended.connect(self.hide)
        self.hide()

    def _show(self, fraction: float) -> None:
        self._bar.setValue(round(1000 * fraction))
        self.show()


def _title(checked: PreparedExport | None) -> str:
    if checked is None:
        return WRITE
    if not checked.verification.agrees:
        return "Write Anyway"
    replaced = [path.name for path in checked.replaces]
    if not replaced:
        return WRITE
    return f"Replace {replaced[0]}" if len(replaced) == 1 else f"Replace {len(replaced)} Files"


def _report(checked: PreparedExport, shades: Shades) -> str:
    """Return the result of the check as rich text: the verdict, losses, differences and replaced files."""
    verification = checked.verification
    sign, color = ("✓", shades.curve) if verification.agrees else ("✗", shades.error)
    lines = [f'<p style="color:{color.name()}"><b>{sign} {html.escape(verification.sentence)}</b></p>']
    lines += _html_list(
        "These results differ:", verification.differences, verification.differing - len(verification.differences)
    )
    lines.append(_lists(checked))
    if checked.replaces:
        names = " and ".join(path.name for path in checked.replaces)
        lines.append(f"<p>This export replaces {html.escape(names)}.</p>")
    elif len(checked.files) > 1:
        names = " and ".join(map(str, checked.files))
        lines.append(f"<p>{len(checked.files)} files will be written: {html.escape(names)}.</p>")
    return "".join(lines)


def _lists(checked: PreparedExport) -> str:
    verification = checked.verification
    chosen = _html_list("Options that the program chose:", verification.chosen)
    return "".join((*chosen, *_html_list("Facts that this format cannot store:", verification.cannot_hold)))


def _html_list(title: str, sentences: tuple[str, ...], more: int = 0) -> list[str]:
    if not sentences:
        return []
    items = [f"<li>{html.escape(sentence)}</li>" for sentence in sentences]
    items += [f"<li>and {more:,} more</li>"] if more else []
    return [f"<p>{title}</p><ul>{''.join(items)}</ul>"]
