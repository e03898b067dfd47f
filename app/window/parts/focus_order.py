"""The order of the controls for Tab, and scrolling to the control that it reaches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

TAKES_TAB = (Qt.FocusPolicy.TabFocus, Qt.FocusPolicy.StrongFocus, Qt.FocusPolicy.WheelFocus)


def order_focus(parts: Sequence[QWidget]) -> None:
    """Let Tab go through one part of a window after another; within a part the order stays."""
    begins = set(parts)
    chain = [(widget, _takes_tab(widget)) for widget in _chain(parts[0])]  # read once, as the chain is long
    chain = [(widget, takes_tab) for widget, takes_tab in chain if takes_tab or widget in begins]
    everything = [widget for part in parts for widget in _controls(part, chain)]
    for one, next_one in pairwise(everything):
        QWidget.setTabOrder(one, next_one)


def insert_focus(place: QWidget, part: QWidget) -> None:
    """Let Tab go through a part that has just been put at `place`."""
    new = takewhile(lambda widget: widget is part or part.isAncestorOf(widget), _chain(part))
    for one, next_one in pairwise([place, *(widget for widget in new if _takes_tab(widget))]):
        QWidget.setTabOrder(one, next_one)


def show_focused(before: QWidget | None, now: QWidget | None) -> None:
    """Scroll to the control the keyboard has reached (Qt does so only within one view), but never under the mouse."""
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
