"""The fields in the form of a recipe. The type of a choice decides its field.

The field can be a list, a text field, a number field or a check box.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Qt, SignalInstance
from PySide6.QtWidgets import QCheckBox, QComboBox, QDoubleSpinBox, QWidget

from app.window.parts.typed_text import NumberBox
from app.window.parts.widgets import entry, paragraph
from app.window.parts.wording import tip
from app.window.recipe.recipe_form import CHOICES, Choice, Option, options, title_of

NO_LIMIT = 0
LARGEST_NUMBER = 100_000_000  # the largest number that a box accepts
HINTS = {
    "border": "such as | in mor|phe|mes",
    "custom_pattern": "such as \\w+|\\s+",
    "strip_marks": "such as “”’",
    "special_tokens": 'separated by spaces, or "in quotes"',
    "interventions": "such as forbid:116+104@12",
}
_LISTED = re.compile(r'("([^"]+)"|\S+)')


@dataclass(frozen=True)
class Field:
    """A widget for a choice, with functions that read and show its value. A signal reports a new value."""

    widget: QWidget
    value: Callable[[], Any]
    show: Callable[[Any], object]
    chosen: SignalInstance | None = None


def field_of(choice: str) -> Field:
    declared = CHOICES[choice]
    title = title_of(choice)
    if choice in ("preparation", "decoding"):  # only files set these choices
        steps = paragraph()
        field = Field(steps, tuple, lambda value: steps.setText(_numbered_list(value)))
    elif declared.among or options(choice):
        field = _option_field(options(choice))
    elif declared.kind is bool:
        tick = QCheckBox(title)
        field = Field(tick, tick.isChecked, tick.setChecked, tick.clicked)
    elif declared.is_share:
        share = _share_box(declared.unset)
        field = Field(
            share, lambda: share.value() or None, lambda value: share.setValue(value or 0), share.valueChanged
        )
    elif declared.least is not None:
        field = _number_field(declared)
    else:
        line = entry(HINTS.get(choice, ""))
        read = split_items if declared.kind is tuple else str
        field = Field(
            line, lambda: read(line.text()), lambda value: line.setText(join_items(value)), line.editingFinished
        )
    field.widget.setAccessibleName(title)
    field.widget.setToolTip(tip(declared.tip))
    return field


def _numbered_list(steps: tuple[Any, ...]) -> str:
    return "\n".join(f"{place}. {step.words}" for place, step in enumerate(steps, start=1))


def _option_field(offered: list[Option]) -> Field:
    box = QComboBox()
    box.setMinimumContentsLength(6)
    box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    for option in offered:
        add_option(box, option)

    def show(value: Any) -> None:
        box.setCurrentIndex(box.findData(value))
        box.setToolTip(tip(box.currentData(Qt.ItemDataRole.ToolTipRole) or ""))

    return Field(box, box.currentData, show, box.activated)


def _number_field(declared: Choice) -> Field:
    least = NO_LIMIT if declared.optional or declared.least is None else declared.least
    box = NumberBox(least, min(declared.most, LARGEST_NUMBER))
    box.setSuffix(declared.unit)
    box.setKeyboardTracking(False)
    box.setSpecialValueText(declared.unset)

    def show(value: int | None) -> None:
        box.setValue(min(value or NO_LIMIT, box.maximum()))

    return Field(box, lambda: box.value() or None, show, box.valueChanged)


def _share_box(nothing: str) -> QDoubleSpinBox:
    box = QDoubleSpinBox()
    box.setRange(0.0, 1.0)
    box.setSpecialValueText(nothing)
    box.setSingleStep(0.05)
    box.setKeyboardTracking(False)
    return box


def join_items(value: Any) -> str:
    return " ".join(map(_quoted, map(str, value))) if isinstance(value, tuple) else str(value)


def split_items(line: str) -> tuple[str, ...]:
    """Return the items in a line. Spaces separate the items, but an item in quotes may contain spaces.

    >>> split_items('<s> "<end of text>"'), join_items(("<s>", "<end of text>"))
    (('<s>', '<end of text>'), '<s> "<end of text>"')
    """
    return tuple(match[1] or match[0] for match in _LISTED.findall(line))


def _quoted(text: str) -> str:
    return f'"{text}"' if " " in text else text


def add_option(box: QComboBox, option: Option) -> None:
    box.addItem(option.title, option.value)
    box.setItemData(box.count() - 1, option.explanation, Qt.ItemDataRole.ToolTipRole)
