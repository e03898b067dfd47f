"""The order in which Tab goes from control to control: by their places, not by when they were made; and into sight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

MET = (Qt.FocusPolicy.TabFocus, Qt.FocusPolicy.StrongFocus, Qt.FocusPolicy.WheelFocus)  # each of them takes Tab


def order_focus(parts: Sequence[QWidget]) -> None:
    """Tab goes through one part of a window after another; within a part it keeps its order."""
    begins = set(parts)
    chain = [(widget, _is_met(widget)) for widget in _chain(parts[0])]  # once: it is long
    chain = [(widget, is_met) for widget, is_met in chain if is_met or widget in begins]
    everything = [widget for part in parts for widget in _controls(part, chain)]
    for one, next_one in pairwise(everything):
        QWidget.setTabOrder(one, next_one)


def insert_focus(place: QWidget, part: QWidget) -> None:
    """Tab goes through a part that was just put into a window where a place is kept for it."""
    new = takewhile(lambda widget: widget is part or part.isAncestorOf(widget), _chain(part))
    for one, next_one in pairwise([place, *(widget for widget in new if _is_met(widget))]):
        QWidget.setTabOrder(one, next_one)


def show_focused(before: QWidget | None, now: QWidget | None) -> None:
    """Scroll to what the keyboard has reached. Qt does so only for who comes from within the same view.

    What is pressed by the mouse stays under it, and a window that is come back to stays as it was left.
    """
    if before is None or now is None or QApplication.mouseButtons():
        return
    above = now.parentWidget()
    while above is not None:
        if isinstance(above, QScrollArea):
            above.ensureWidgetVisible(now)
        above = above.parentWidget()


def _controls(part: QWidget, chain: list[tuple[QWidget, bool]]) -> Iterator[QWidget]:
    """Those of one part that are met, beginning at the part itself."""
    place = next(place for place, (widget, _) in enumerate(chain) if widget is part)
    for widget, is_met in chain[place:] + chain[:place]:
        if is_met and (widget is part or part.isAncestorOf(widget)):
            yield widget


def _is_met(widget: QWidget) -> bool:
    return widget.focusPolicy() in MET


def _chain(start: QWidget) -> Iterator[QWidget]:
    """All widgets of the window in their order so far, beginning at one."""
    yield start
    widget = start.nextInFocusChain()
    while widget is not None and widget is not start:
        yield widget
        widget = widget.nextInFocusChain()
