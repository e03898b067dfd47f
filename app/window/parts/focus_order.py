"""Functions that set the order of the Tab key, and that scroll to the control with the focus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

TAKES_TAB = (Qt.FocusPolicy.TabFocus, Qt.FocusPolicy.StrongFocus, Qt.FocusPolicy.WheelFocus)


def order_focus(parts: Sequence[QWidget]) -> None:
    """Let the Tab key go from part to part of the window. The order inside a part does not change."""
    begins = set(parts)
    chain = [(widget, _takes_tab(widget)) for widget in _chain(parts[0])]  # read once, as the chain is long
    chain = [(widget, takes_tab) for widget, takes_tab in chain if takes_tab or widget in begins]
    everything = [widget for part in parts for widget in _controls(part, chain)]
    for widget, next_widget in pairwise(everything):
        QWidget.setTabOrder(widget, next_widget)


def insert_focus(place: QWidget, part: QWidget) -> None:
    """Insert a new part into the order of the Tab key, right after the widget `place`."""
    new = takewhile(lambda widget: widget is part or part.isAncestorOf(widget), _chain(part))
    for widget, next_widget in pairwise([place, *(widget for widget in new if _takes_tab(widget))]):
        QWidget.setTabOrder(widget, next_widget)


def show_focused(before: QWidget | None, now: QWidget | None) -> None:
    """Scroll all views that contain the control with the keyboard focus, so that this control is visible.

    Qt scrolls only one of these views. Do not scroll while a mouse button is pressed.
    """
    if before is None or now is None or QApplication.mouseButtons():
        return
    above = now.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(now)
        above = above.parentWidget()


def _controls(part: QWidget, chain: list[tuple[QWidget, bool]]) -> Iterator[QWidget]:
    place = next(place for place, (widget, _) in enumerate(chain) if widget is part)
    for widget, takes_tab in chain[place:] + chain[:place]:
        if takes_tab and (widget is part or part.isAncestorOf(widget)):
            yield widget


def _takes_tab(widget: QWidget) -> bool:
    return widget.focusPolicy() in TAKES_TAB


def _chain(start: QWidget) -> Iterator[QWidget]:
    yield start
    widget = start.nextInFocusChain()
    while widget is not None and widget is not start:
        yield widget
        widget = widget.nextInFocusChain()
