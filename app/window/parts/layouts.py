"""Functions that put widgets into a row or a column in one call."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtWidgets import QBoxLayout, QFormLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

STRETCH = 0  # empty room that takes what is left


class AtTop(NamedTuple):
    """A widget that stays at the top of its row, even if the row is higher than the widget."""

    widget: QWidget


Part = QWidget | QLayout | AtTop | int | tuple[QWidget | QLayout, int]  # an int is empty room with this share
Margins = tuple[int, int, int, int]
Box = TypeVar("Box", bound=QBoxLayout)


def form_of_fields(*rows: tuple[str, QWidget | QLayout]) -> QFormLayout:
    """Return a form with a row for each field. The title of a field is on its left."""
    form = QFormLayout()
    for title, field in rows:
        form.addRow(title, field)
    return form


def _fill_layout(
    kind: Callable[[], Box],
    *parts: Part,
    on: QWidget | None = None,
    margins: Margins | None = None,
    spacing: int | None = None,
) -> Box:
    """Return a layout with these widgets and layouts. A part `(widget, 1)` grows into the free space."""
    box = kind()
    if on is not None:
        on.setLayout(box)
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        if isinstance(part, AtTop):
            box.addWidget(part.widget, 0, Qt.AlignmentFlag.AlignTop)
            continue
        content, share = part if isinstance(part, tuple) else (part, 0)
        if isinstance(content, int):
            box.addStretch(content)
        elif isinstance(content, QLayout):
            box.addLayout(content, share)
        else:
            box.addWidget(content, share)
    return box


def lay_out_now() -> None:
    """Resize all widgets now, instead of at the next turn of the event loop.

    Otherwise Qt may first paint a page with new texts in widgets of the old sizes. Then the texts overlap for a moment.
    """
    QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)


in_row = partial(_fill_layout, QHBoxLayout)  # side by side
in_column = partial(_fill_layout, QVBoxLayout)  # below each other
