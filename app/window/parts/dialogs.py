"""The dialogs that ask for a file, a number, a decision or the size of a printed picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon, QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QInputDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QWidget,
)

from app.settings import PRINT_CAPTION, PRINT_HEIGHT, PRINT_LIGHT, PRINT_TEXT, PRINT_WIDTH, Settings
from app.window.parts.layouts import form_of_fields, in_column, in_row
from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import muted_label, name_widget, push_button
from app.window.parts.wording import tip

TEXT_FILTER = (
    "Texts, tables and archives (*.txt *.md *.jsonl *.ndjson *.csv *.tsv *.parquet *.arrow *.feather *.zip *.tar *.tgz "
    "*.tbz2 *.txz *.tzst *.gz *.bz2 *.xz *.zst);;All files (*)"
)
TOKENIZER_FILTER = (
    "Tokenizers and tables (*.json *.txt *.bpe *.tiktoken *.codes *.model *.spm *.gguf *.csv *.tsv *.parquet);;"
    "All files (*)"
)
SESSION_FILTERS = {"Session (*.bpex)": "bpex"}
SESSION_FILTER = "Session (*.bpex);;All files (*)"
REPORT_FILTERS = {"Web page (*.html)": "html"}
FILM_FILTERS = {"Animated GIF (*.gif)": "gif", "Animated PNG (*.png)": "png", "MP4, made by ffmpeg (*.mp4)": "mp4"}
DATA_FILTERS = {
    "CSV table (*.csv)": "csv",
    "TSV table (*.tsv)": "tsv",
    "JSON (*.json)": "json",
    "Parquet (*.parquet)": "parquet",
}
PICTURE_FILTERS = {"PNG picture (*.png)": "png", "SVG drawing (*.svg)": "svg", "PDF (*.pdf)": "pdf"}
CHART_FILTERS = PICTURE_FILTERS | DATA_FILTERS
PRINT_FILTERS = {"PDF (*.pdf)": "pdf", "SVG drawing (*.svg)": "svg", "PNG picture, 300 dots an inch (*.png)": "png"}
ANIMATED_FILTER = {"Animated PNG picture (*.apng)": "apng"}
MOST_DRAWS = 2**31 - 1


class PathLine(QLineEdit):
    """A text field for a path, with a button that opens a dialog for the path."""

    def __init__(self, name: str, ask: Callable[[str], object], hint: str = "") -> None:
        """Make the field.

        The button calls `ask` with the current text. If the result is not empty, the field shows it.
        """
        super().__init__()
        self.setAccessibleName(name)
        self.setPlaceholderText(hint)
        self.choose = name_widget(push_button("Choose …", self.ask), f"Choose: {name}")
        self._ask = ask
        self.row = in_row((self, 1), self.choose)

    @property
    def path(self) -> str:
        return self.text().strip()

    def ask(self) -> None:
        if chosen := self._ask(self.text()):
            self.setText(str(chosen))


class DialogButtons(QDialogButtonBox):
    """A box of buttons for a dialog. The Enter key presses the main button."""

    main: QPushButton | None = None

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.main is not None:
            self.main.setDefault(True)


def dialog_buttons(
    dialog: QDialog, title: str, act: Callable[[], object], *, stays: bool = False, on_enter: bool = True
) -> tuple[QDialogButtonBox, QPushButton]:
    """Return a box with two buttons, and its main button. The main button calls `act`.

    The other button is Cancel. If the dialog stays open after `act`, the other button is Close.
    """
    kind = QDialogButtonBox.StandardButton
    role = QDialogButtonBox.ButtonRole
    buttons = DialogButtons(kind.Close if stays else kind.Cancel)
    button = buttons.addButton(title, role.ActionRole if stays else role.AcceptRole)
    button.clicked.connect(lambda: act())
    buttons.rejected.connect(dialog.reject)
    buttons.main = button if on_enter else None
    for any_button in buttons.findChildren(QPushButton):
        any_button.setAutoDefault(on_enter)
    return buttons, button


def ask_for_texts(parent: QWidget, folder: str, title: str = "Add texts to the corpus") -> list[str]:
    """Ask for files, and return their paths as strings.

    There may be tens of thousands of paths, and Path objects would take longer to make.
    """
    names, _ = QFileDialog.getOpenFileNames(parent, title, folder, TEXT_FILTER)
    return names


def ask_to_open(parent: QWidget, title: str, folder: str, filters: str) -> Path | None:
    name, _ = QFileDialog.getOpenFileName(parent, title, folder, filters)
    return Path(name) if name else None


def ask_for_folder(parent: QWidget, folder: str) -> Path | None:
    name = QFileDialog.getExistingDirectory(parent, "Add the texts of a folder", folder)
    return Path(name) if name else None


def ask_for_address(parent: QWidget) -> str:
    question = (
        "An address of a text, a table, an archive or a folder, such as https://…, s3://… or hf://….\n"
        "The texts are read from this address each time they are counted."
    )
    address, is_chosen = QInputDialog.getText(parent, "Open from an address", question)
    return address.strip() if is_chosen else ""


def ask_for_column(parent: QWidget, name: str, columns: Sequence[str]) -> str:
    question = f"Which column of {name} holds the texts?"
    column, is_chosen = QInputDialog.getItem(parent, "Choose a column", question, list(columns), 0, False)
    return column if is_chosen else ""


def ask_for_encoding(parent: QWidget, name: str, encodings: Sequence[str]) -> str:
    question = f"In which encoding was {name} written?"
    encoding, is_chosen = QInputDialog.getItem(parent, "Choose an encoding", question, list(encodings), 0, False)
    return encoding if is_chosen else ""


def ask_where_to_save(parent: QWidget, title: str, proposal: str, filters: dict[str, str]) -> Path | None:
    """Ask for the path of a new file. Return None if the user cancelled.

    If the name has no known extension, add the extension of the chosen filter.
    """
    name, chosen = QFileDialog.getSaveFileName(parent, title, proposal, ";;".join(filters))
    if not name:
        return None
    path = Path(name)
    if path.suffix.lower().lstrip(".") in filters.values():
        return path
    return path.with_name(f"{path.name}.{filters.get(chosen, next(iter(filters.values())))}")


def ask_for_step(parent: QWidget, position: int, end: int, step: str) -> int | None:
    title = f"Go to {step}"
    question = f"After how many {step}s?"
    number, is_chosen = QInputDialog.getInt(parent, title, question, position, 0, end)
    return number if is_chosen else None


def ask_for_draw(parent: QWidget, seed: int) -> int | None:
    question = "Seed of the random sample. The same seed draws the same sample again."
    number, is_chosen = QInputDialog.getInt(parent, "Another random sample", question, seed, 0, MOST_DRAWS)
    return number if is_chosen else None


def ask_for_ratio(parent: QWidget, before: float) -> float | None:
    question = "How many times as much as the other languages should this language be compressed? 1 means equally."
    number, is_chosen = QInputDialog.getDouble(
        parent, "Relative compression of a language", question, before, 0.01, 100.0, 2
    )
    return number if is_chosen else None


def ask_before_leaving(parent: QWidget, why: str) -> QMessageBox.StandardButton:
    """Ask the user whether to save, to cancel, or to leave without saving. Return the answer.

    `why` says why unsaved work would be lost. It is empty if a safety copy contains the work.
    """
    buttons = QMessageBox.StandardButton
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Warning if why else QMessageBox.Icon.Question)
    box.setWindowTitle("Not saved")
    box.setTextFormat(Qt.TextFormat.PlainText)  # a file's name is not markup
    lost = "This session is not saved, and its safety copy cannot be written. If you quit now, the session is lost."
    box.setText(lost if why else "Do you want to save this session?")
    box.setInformativeText(
        why or "If you keep the session for next time, BPE Explorer offers to restore it at the next start."
    )
    for part in box.findChildren(QLabel):  # the box applies its format to its first text only
        part.setTextFormat(Qt.TextFormat.PlainText)
    box.setStandardButtons(buttons.Save | buttons.Discard | buttons.Cancel)
    box.setDefaultButton(buttons.Save)
    if not why:
        keep = box.button(buttons.Discard)
        keep.setText("&Keep for Next Time")
        keep.setIcon(QIcon())  # Qt's own icon, a waste bin, would be wrong
    box.finished.connect(box.deleteLater)  # or its parent keeps it for ever
    return buttons(box.exec())


ABOUT_CAPTION = "Also write a .csv file, and a .tex file that names recipe, tie rule, texts, seeds and version"
ABOUT_PRINT = "A column of a paper is about 85 mm wide, and small print has 7 or 8 points."


class PrintDialog(QDialog):
    # Width and height in millimetres, points of the text, whether it is dark, and whether files are written beside it.
    chosen = Signal(int, int, int, bool, bool)

    def __init__(self, settings: Settings, *, has_caption: bool, parent: QWidget | None = None) -> None:
        """Make the dialog.

        `has_caption` says whether the figure belongs to an answer. Only such a figure can be saved with its rows and a
        caption.
        """
        super().__init__(parent)
        self.setWindowTitle("Save Figure for Print")
        self._settings = settings
        self.width_box = NumberBox(20, 2_000)
        self.height_box = NumberBox(20, 2_000)
        self.text_box = NumberBox(3, 72)
        self.light = QCheckBox("On a &light background")
        self.light.setChecked(settings.get(PRINT_LIGHT))
        self.caption = QCheckBox("With its rows and a &caption for LaTeX")
        self.caption.setToolTip(tip(ABOUT_CAPTION))
        self.caption.setChecked(settings.get(PRINT_CAPTION))
        self.caption.setVisible(has_caption)
        form = form_of_fields()
        for box, setting, title, unit in (
            (self.width_box, PRINT_WIDTH, "&Width", " mm"),
            (self.height_box, PRINT_HEIGHT, "&Height", " mm"),
            (self.text_box, PRINT_TEXT, "&Text", " pt"),
        ):
            box.setSuffix(unit)
            box.setAccessibleName(title.replace("&", ""))
            box.setValue(settings.get(setting))
            form.addRow(title, box)
        form.addRow("", self.light)
        form.addRow("", self.caption)
        self.buttons, self.save = dialog_buttons(self, "Save …", self._choose)
        in_column(form, muted_label(ABOUT_PRINT), self.buttons, on=self)

    def _choose(self) -> None:
        sizes = self.width_box.value(), self.height_box.value(), self.text_box.value()
        for setting, value in zip((PRINT_WIDTH, PRINT_HEIGHT, PRINT_TEXT), sizes, strict=True):
            self._settings.put(setting, value)
        self._settings.put(PRINT_LIGHT, self.light.isChecked())
        self._settings.put(PRINT_CAPTION, self.caption.isChecked())
        self.accept()
        self.chosen.emit(*sizes, not self.light.isChecked(), self.caption.isChecked())
