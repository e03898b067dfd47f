"""The form with the fields of a question.

At most three fields are visible, and the button More shows the other fields. An empty text field can show an example.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QFileDialog, QGridLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.window.parts.layouts import in_column
from app.window.parts.widgets import OneLine, name_widget, push_button, scale_font
from app.window.parts.wording import tip
from app.window.parts.zoom import set_zoomed
from app.window.questions.question_model import Parameter, QuestionModel

IN_SIGHT = 3  # fields that are always shown
NARROWEST, WIDEST, BETWEEN = 60, 250, 8  # pixels of a field, and between fields
LEAST_SHOWN = 7  # characters of a choice
CHOOSE = "Choose …"
SMALLER = 0.92  # the size of labels above fields
TAKES_EXAMPLE = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class ExampleLine(QLineEdit):
    """A field that shows an example in grey while it is empty. A click or the Enter key fills in the example."""

    taken = Signal()

    def __init__(self, text: str, example: str, placeholder: str) -> None:
        super().__init__(text)
        self.example = example
        self.setCursorPosition(0)  # a long text shows its beginning
        self.setPlaceholderText(example or placeholder)
        self.setClearButtonEnabled(True)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        is_new = not self.hasFocus()
        super().mousePressEvent(event)
        if is_new and not self.text() and event.button() == Qt.MouseButton.LeftButton:
            self.take_example()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in TAKES_EXAMPLE and not self.text() and not self.isModified():
            self.take_example()
        else:
            super().keyPressEvent(event)
            if event.key() in TAKES_EXAMPLE:
                self.setModified(False)

    def take_example(self) -> None:
        """Fill the field with the example, and select the example, so that typing replaces it."""
        if self.example:
            self.setText(self.example)
            self.selectAll()
            self.taken.emit()


class QuestionForm(QWidget):
    """A form with a field for each parameter of a question. Each field has a label above it."""

    def __init__(self, model: QuestionModel) -> None:
        super().__init__()
        self.model = model
        self.fields: dict[str, QWidget] = {}
        self.labels: dict[str, QLabel] = {}
        shown = [parameter for parameter in model.parameters if not parameter.is_extra][:IN_SIGHT]
        extra = [parameter for parameter in model.parameters if parameter not in shown]
        self.first = self._grid(shown)
        self.more = self._grid(extra)
        self.more.hide()
        self.more_button = push_button("More", self._toggle, "Show the other fields of this question, or hide them")
        self.more_button.setCheckable(True)
        self.more_button.setFlat(True)
        self.more_button.setVisible(bool(extra))
        set_zoomed(self, QWidget.setMaximumWidth, IN_SIGHT * (WIDEST + BETWEEN))
        in_column(self.first, self.more, on=self, margins=(0, 0, 0, 0), spacing=4)

    def _toggle(self) -> None:
        self.more.setVisible(self.more_button.isChecked())
        self.more_button.setText("Less" if self.more_button.isChecked() else "More")

    def _grid(self, parameters: Sequence[Parameter]) -> QWidget:
        """Lay out fields side by side, three in a row, with their labels above them."""
        part = QWidget()
        grid = QGridLayout(part)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(1)
        for place, parameter in enumerate(parameters):
            row, column = divmod(place, IN_SIGHT)
            field = name_widget(
                self._field(parameter), parameter.label, parameter.help[:1].upper() + parameter.help[1:]
            )
            label = scale_font(OneLine(), SMALLER)
            label.setText("" if parameter.kind == "truth" else parameter.label)
            label.setBuddy(field)
            set_zoomed(label, QWidget.setMinimumWidth, NARROWEST)
            set_zoomed(field, QWidget.setMaximumWidth, WIDEST)
            self.fields[parameter.name] = field
            self.labels[parameter.name] = label
            grid.addWidget(label, 2 * row, column)
            grid.addWidget(field, 2 * row + 1, column)
            grid.setColumnStretch(column, 2)
        grid.setColumnStretch(IN_SIGHT, max(0, IN_SIGHT - len(parameters)))  # what is left
        return part

    @property
    def is_empty(self) -> bool:
        return all(field.isHidden() for field in self.fields.values())

    def hide_field(self, name: str, on: bool) -> None:
        """Hide the field of a parameter if `on` is true, because a user chooses the value elsewhere.

        Otherwise show the field.
        """
        for part in (self.fields[name], self.labels[name]):
            part.setVisible(not on)

    def enable(self) -> None:
        """Enable only the fields that have an effect with the current values of the other fields."""
        for parameter in self.model.parameters:
            self.fields[parameter.name].setEnabled(self.model.is_meaningful(parameter))

    # -- fields ----------------------------------------------------------------------------

    def _field(self, parameter: Parameter) -> QWidget:
        value = self.model.value(parameter)
        choose = self.model.choose
        if parameter.kind == "truth":
            box = QCheckBox(parameter.label)
            box.setChecked(bool(value))
            box.toggled.connect(lambda on: choose(parameter.name, on))
            return box
        if parameter.kind == "files":
            return push_button(CHOOSE, lambda: self.choose_files(parameter.name, _asked_for_file(self, parameter.help)))
        if parameter.choices or parameter.path or parameter.of_column:
            return self._choice(parameter, value)
        line = ExampleLine(parameter.written(value), parameter.example, parameter.shown(None))
        set_zoomed(line, QWidget.setMinimumWidth, NARROWEST)
        line.editingFinished.connect(lambda: self.model.read(parameter, line.text()))
        line.taken.connect(lambda: self.model.read(parameter, line.text()))
        return line

    def _choice(self, parameter: Parameter, value: Any) -> QComboBox:
        box = QComboBox()
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(LEAST_SHOWN)
        choices = parameter.choices or parameter.offered
        if parameter.default not in choices:
            box.addItem(parameter.shown(None), parameter.default)
        for choice in choices:
            text, meaning = self.model.choice_in_words(parameter, choice)
            box.addItem(text, choice)
            box.setItemData(box.count() - 1, tip(meaning) if meaning else None, Qt.ItemDataRole.ToolTipRole)
        if parameter.path:
            box.addItem(CHOOSE, CHOOSE)
        box.setCurrentIndex(max(0, box.findData(value)))
        box.currentIndexChanged.connect(lambda place: self._take_choice(parameter, box.itemData(place)))
        return box

    def _take_choice(self, parameter: Parameter, chosen: Any) -> None:
        if chosen != CHOOSE:
            self.model.choose(parameter.name, chosen)
            return
        is_folder = parameter.path == "folder"
        ask: Callable[..., Any] = QFileDialog.getExistingDirectory if is_folder else _asked_for_file
        self.choose_path(parameter.name, ask(self, parameter.help))

    def choose_path(self, name: str, path: str) -> None:
        """Choose a file or folder for a parameter, as if a user had picked the path in the field.

        If the path is empty, show the current choice again.
        """
        parameter = self.model.parameter(name)
        box = self.fields[name]
        assert isinstance(box, QComboBox)
        with QSignalBlocker(box):
            if path:
                if box.findData(path) < 0:
                    box.insertItem(box.count() - 1, Path(path).name, path)
                self.model.choose(name, (path,) if parameter.kind == "texts" else path)
            value = self.model.value(parameter)
            box.setCurrentIndex(max(0, box.findData(value[0] if isinstance(value, tuple) and value else value)))

    def choose_files(self, name: str, path: str) -> None:
        """Choose a file for a parameter, as if a user had picked the path in the field."""
        self.model.read(self.model.parameter(name), path)
        button = self.fields[name]
        assert isinstance(button, QPushButton)
        button.setText(path.rpartition("/")[2] or CHOOSE)

    def add_pair(self, name: str, pair: tuple[int, int]) -> None:
        """Add a pair of tokens to the value of the parameter `name`."""
        parameter = self.model.parameter(name)
        field = self.fields[name]
        assert isinstance(field, QLineEdit)
        pairs = [parameter.written(self.model.value(parameter)), self.model.pair_text(pair)]
        field.setText("; ".join(filter(None, pairs)))
        self.model.read(parameter, field.text())

    def offer_values(self) -> None:
        """Update those lists of choices whose items come from a column of the newest answer."""
        columns = {} if self.model.answer is None else self.model.answer.columns
        for parameter in self.model.parameters:
            box = self.fields[parameter.name]
            values = list(dict.fromkeys(columns.get(parameter.of_column, ())))
            if isinstance(box, QComboBox) and values:
                with QSignalBlocker(box):
                    box.clear()
                    for value in (parameter.default, *values):
                        box.addItem(value or parameter.shown(None), value)
                    box.setCurrentIndex(max(0, box.findData(self.model.value(parameter))))


def _asked_for_file(parent: QWidget, title: str) -> str:
    return QFileDialog.getOpenFileName(parent, title)[0]
