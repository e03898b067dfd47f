"""The field where one choice of a recipe is made: as its kind asks for, with its title.

A choice that is not named here gets a field, too: what is declared of it in the recipe says of what kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QLabel, QLineEdit, QSpinBox, QWidget

from app.window.parts.typed import NumberBox
from app.window.parts.widgets import entry
from app.window.parts.wording import tip
from app.window.recipe.model import DECLARED, KINDS, OF_A_METHOD, Option, RecipeForm, options, presets, title_of

NO_PRESET = "own choices"
NO_LIMIT = 0
LARGEST_NUMBER = 100_000_000  # that a box offers

MAIN = ("min_frequency", "ties", "pattern", "custom_pattern")  # always in view, behind what belongs to the method
_MORE = (
    *("base", "unit", "marker", "marker_text", "lowercase", "strip_ascii_punctuation", "strip_marks", "unicode_form"),
    *("special_tokens", "max_token_length", "alphabet_limit", "unknown", "unknown_text"),
)
MORE = list(dict.fromkeys((*_MORE, *DECLARED)))
for _elsewhere in ("name", "mixture", "method", "vocab_size", "merges", *MAIN, *OF_A_METHOD):
    MORE.remove(_elsewhere)
HINTS = {
    "custom_pattern": "such as \\w+|\\s+",
    "strip_marks": "such as “”’",
    "special_tokens": 'separated by blanks, or "in quotes"',
    "interventions": "such as forbid:116+104@12",
}
_LISTED = re.compile(r'("([^"]+)"|\S+)')
NOTHING_SAID = {"max_token_length": "no limit", "alphabet_limit": "all characters"}
SUFFIXES = {"min_frequency": "×", "keep_share": " %", "block_size": " bytes", "block_bytes": " different"}


def field_of(choice: str) -> QWidget:
    """A box, a line or a tick, by what can be chosen."""
    declared, title = DECLARED[choice], title_of(choice)
    field: QWidget
    if choice == "preparation":  # it came with a file, and goes with it
        field = QLabel()
        field.setWordWrap(True)
    elif declared.among or options(choice):
        field = option_box(options(choice))
    elif KINDS[choice] is bool:
        field = QCheckBox(title)
    elif KINDS[choice] is float:
        field = _share_box(declared.least, declared.most)
    elif declared.least is not None:
        least = NO_LIMIT if declared.optional else declared.least
        field = _number_box(least, declared.most, SUFFIXES.get(choice, ""), NOTHING_SAID.get(choice, ""))
    else:
        field = entry(HINTS.get(choice, ""))
    field.setAccessibleName(title)
    field.setToolTip(tip(declared.tip))
    return field


def connect(field: QWidget, chosen: Callable[[], None], refused: Callable[[str], None]) -> None:
    """Tell when another value was chosen there, or why what was typed is none."""
    if isinstance(field, NumberBox):
        field.refused.connect(refused)
    if isinstance(field, QComboBox):
        field.setMinimumContentsLength(6)
        field.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        field.activated.connect(lambda _: chosen())
    elif isinstance(field, QCheckBox):
        field.clicked.connect(lambda _: chosen())
    elif isinstance(field, QSpinBox | QDoubleSpinBox):
        field.valueChanged.connect(lambda _: chosen())
    elif isinstance(field, QLineEdit):
        field.editingFinished.connect(chosen)


def value_in(field: QWidget, *, is_list: bool) -> Any:
    if isinstance(field, QComboBox):
        return field.currentData()
    if isinstance(field, QCheckBox):
        return field.isChecked()
    if isinstance(field, QSpinBox):
        return field.value() or None
    if isinstance(field, QDoubleSpinBox):
        return field.value()
    assert isinstance(field, QLineEdit)
    return listed(field.text()) if is_list else field.text()


def put_into(field: QWidget, value: Any) -> None:
    if isinstance(field, QComboBox):
        field.setCurrentIndex(field.findData(value))
        field.setToolTip(tip(field.currentData(Qt.ItemDataRole.ToolTipRole) or ""))
    elif isinstance(field, QCheckBox):
        field.setChecked(value)
    elif isinstance(field, QSpinBox):
        field.setValue(min(value or NO_LIMIT, field.maximum()))
    elif isinstance(field, QDoubleSpinBox):
        field.setValue(value)
    elif isinstance(field, QLabel):
        field.setText("\n".join(f"{place}. {step.words}" for place, step in enumerate(value, start=1)))
    elif isinstance(field, QLineEdit):
        field.setText(written(value))


def written(value: Any) -> str:
    """As a line of text holds it."""
    return " ".join(map(_quoted, map(str, value))) if isinstance(value, tuple) else str(value)


def listed(line: str) -> tuple[str, ...]:
    """What a line of text lists, separated by blanks; what is quoted may hold blanks itself.

    >>> listed('<s> "<end of text>"'), written(("<s>", "<end of text>"))
    (('<s>', '<end of text>'), '<s> "<end of text>"')
    """
    return tuple(found[1] or found[0] for found in _LISTED.findall(line))


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text


def option_box(offered: list[Option]) -> QComboBox:
    box = QComboBox()
    for option in offered:
        _add_option(box, option)
    return box


def preset_box(form: RecipeForm) -> QComboBox:
    """A box to choose a preset by name, those of each method together; it says where the recipe is none of them."""
    box = QComboBox()
    for title, offered in presets().items():
        if len(presets()) > 1:
            _add_heading(box, title)
        for option in offered:
            _add_option(box, option)
    box.setAccessibleName("Preset")
    box.setMinimumContentsLength(9)
    box.setToolTip("A recipe to start from")

    def show() -> None:
        box.setCurrentIndex(box.findData(form.preset) if form.preset else -1)

    box.setPlaceholderText(NO_PRESET)
    box.activated.connect(lambda _: form.choose_preset(box.currentData()))
    form.changed.connect(show)
    show()
    return box


def _add_option(box: QComboBox, option: Option) -> None:
    box.addItem(option.title, option.value)
    box.setItemData(box.count() - 1, option.explanation, Qt.ItemDataRole.ToolTipRole)


def _add_heading(box: QComboBox, title: str) -> None:
    """A line that tells what follows, and cannot be chosen."""
    box.addItem(title)
    box.setItemData(box.count() - 1, Qt.ItemFlag.NoItemFlags.value, Qt.ItemDataRole.UserRole - 1)


def _number_box(least: int, most: int, suffix: str, none: str) -> NumberBox:
    box = NumberBox(least, min(most, LARGEST_NUMBER))
    box.setSuffix(suffix)
    box.setKeyboardTracking(False)
    box.setSpecialValueText(none)
    return box


def _share_box(least: float | None, most: float) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setRange(least or 0.0, min(most, 1.0))
    box.setSingleStep(0.05)
    box.setKeyboardTracking(False)
    return box
