"""The dialog that plans a sweep. It writes the plan into a file, from which the sweep can be repeated."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QFileDialog,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from app.window.parts.dialogs import TEXT_FILTER, ask_where_to_save, dialog_buttons
from app.window.parts.layouts import STRETCH, form_of_fields, in_column, in_row
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import entry, muted_label, paragraph, push_button
from app.window.parts.wording import without_options
from app.window.questions.curves.planning import ALL, TIES, CurvePlan, SweepChoices

EXPLANATION = (
    "Each recipe is trained with each tie rule on each sample of the corpus. One run is enough for all sizes. The "
    "plan is saved as a file that you can edit (more corpora, choices of a recipe). Its results are saved in the same "
    "folder, and finished runs are not repeated."
)
MOST_SAMPLES = 50
ROWS_SHOWN = 5
PLAN_FILTERS = {"Plan (*.toml)": "toml"}


class PlanDialog(QDialog):
    """A dialog that plans a sweep. Its initial values come from the recipe of the window."""

    written = Signal(Path, bool)  # the plan, and whether to keep the runs

    def __init__(self, planning: CurvePlan, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("New Sweep")
        self._planning = planning
        self._held_out: Path | None = None
        names = planning.recipes
        self.recipes = _ticked([(name, name) for name in names], {names[0]}, "Recipes")
        self.ties = _ticked(list(TIES), set(), "Tie rules")
        self.ties.setToolTip("If no rule is ticked, each recipe keeps its tie rule")
        self.sizes = entry("1000, 2000, 4000")
        self.sizes.setText(planning.sizes)
        self.samples = NumberBox(1, MOST_SAMPLES)
        self.part = NumberBox(1, ALL)
        self.part.setValue(ALL)
        self.part.setSuffix(" %")
        self.samples.setAccessibleName("How many samples")
        self.part.setAccessibleName("The share of the lines in each sample")
        self.samples.setToolTip("Samples that hold all lines are equal. For several samples, choose less than 100 %")
        choose = "Choose a held-out text"
        self.held_out = push_button("The corpus itself …", self._choose_held_out, choose)
        self.bits = QCheckBox("&Bits per byte of a small model, too (takes longer)")
        self.bits.setChecked(True)
        self.runs = QCheckBox("&Keep the runs, too, in a session that you can open here")
        self.runs.setToolTip(
            "Also save the runs in the folder of the plan. Without this, only the measurements are saved"
        )
        self.trouble = paragraph()
        self.buttons, self.go = dialog_buttons(self, "Save Plan and Start …", self._ask_where)
        self._lay_out()
        self.part.valueChanged.connect(self._enable)
        self._enable()

    def _lay_out(self) -> None:
        samples = in_row(self.samples, QLabel("each with"), self.part, QLabel("of the lines"), STRETCH)
        learned = ("&Recipes", self.recipes), ("&Ties", self.ties), ("&Sizes", self.sizes), ("Samples", samples)
        form = form_of_fields(*learned, ("&Measured on", self.held_out), ("", self.bits), ("", self.runs))
        in_column(form, muted_label(EXPLANATION), self.trouble, self.buttons, on=self)
        self.trouble.hide()
        self.setMinimumWidth(440)

    def _enable(self) -> None:
        self.samples.setEnabled(self.part.value() < ALL)
        if self.part.value() == ALL:
            self.samples.setValue(1)

    def _choose_held_out(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "A text that is not used for training", "", TEXT_FILTER)
        self._held_out = Path(name) if name else None
        self.held_out.setText(self._held_out.name if self._held_out else "The corpus itself …")

    def _ask_where(self) -> None:
        path = ask_where_to_save(self, "Save the plan of the sweep", "sweep.toml", PLAN_FILTERS)
        if path is not None:
            self.write(path)

    def write(self, path: Path) -> None:
        """Write the plan into a file. If that fails, show the reason."""
        choices = SweepChoices(
            _ticked_names(self.recipes),
            self.sizes.text(),
            _ticked_names(self.ties),
            self.samples.value(),
            self.part.value(),
            self._held_out,
            self.bits.isChecked(),
        )
        trouble = self._planning.write(choices, path)
        self.trouble.setText(without_options(trouble))
        self.trouble.setVisible(bool(trouble))
        if not trouble:
            self.accept()
            self.written.emit(path, self.runs.isChecked())


def _ticked(choices: list[tuple[str, str]], ticked: set[str], name: str) -> QListWidget:
    made = QListWidget()
    made.setAccessibleName(name)
    for value, title in choices:
        item = QListWidgetItem(title, made)
        item.setData(Qt.ItemDataRole.UserRole, value)
        item.setCheckState(Qt.CheckState.Checked if value in ticked else Qt.CheckState.Unchecked)
    made.setFixedHeight(made.sizeHintForRow(0) * min(ROWS_SHOWN, len(choices)) + 2 * made.frameWidth())
    return made


def _ticked_names(listed: QListWidget) -> tuple[str, ...]:
    items = (listed.item(row) for row in range(listed.count()))
    return tuple(item.data(Qt.ItemDataRole.UserRole) for item in items if item.checkState() == Qt.CheckState.Checked)
