"""The order in which Tab goes from control to control: by their places, not by when they were made; and into sight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget


def order_focus(parts: Sequence[QWidget]) -> None:
    """Tab goes through one part of a window after another; within a part it keeps its order."""
    chain = [widget for widget in _chain(parts[0]) if widget in parts or _is_met(widget)]  # once: it is long
    everything = [widget for part in parts for widget in _controls(part, chain)]
    for one, next_one in pairwise(everything):
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


def _controls(part: QWidget, chain: list[QWidget]) -> Iterator[QWidget]:
    """Those of one part, beginning at the part itself."""
    place = chain.index(part)
    for widget in chain[place:] + chain[:place]:
        if (widget is part or part.isAncestorOf(widget)) and _is_met(widget):
            yield widget


def _is_met(widget: QWidget) -> bool:
    return bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def _chain(start: QWidget) -> Iterator[QWidget]:
    """All widgets of the window in their order so far, beginning at one."""
    yield start
    widget = start.nextInFocusChain()
    while widget is not None and widget is not start:
        yield widget
        widget = widget.nextInFocusChain()
