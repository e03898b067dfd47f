"""The zoom of the window: how large its letters and icons are, compared with the desktop.

A size in pixels that has to hold letters is given at 100 percent. `set_zoomed` and `adapt_to_zoom` keep it right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QWidget

Widget = TypeVar("Widget", bound=QWidget)

STEPS = (80, 90, 100, 110, 125, 150, 175, 200)  # percent
USUAL = 100
PERCENT = "zoom in percent"  # the names of properties: of the application,
POINTS = "size of letters at 100 percent"
ADAPTIONS = "adaptions to the zoom"  # and of a widget


def zoom_percent() -> int:
    """Return the zoom of all windows in percent."""
    return QApplication.instance().property(PERCENT) or USUAL  # type: ignore[union-attr]


def zoomed(pixels: float) -> int:
    """Return the present size in pixels of something that has `pixels` pixels at 100 percent."""
    return round(pixels * zoom_percent() / USUAL)


def adapt_to_zoom(widget: Widget, adapt: Callable[[Any], object]) -> Widget:
    """Call `adapt` with the widget now and at each change of the zoom. Return the widget.

    `adapt` must not hold the widget, because Python cannot free a widget that its own property holds.
    """
    widget.setProperty(ADAPTIONS, [*(widget.property(ADAPTIONS) or ()), adapt])
    adapt(widget)
    return widget


def set_zoomed(widget: Widget, setter: Callable[[Any, int], object], pixels: float) -> Widget:
    """Call a setter of the widget, such as `QWidget.setFixedHeight`, with a size at 100 percent. Return the widget."""
    return adapt_to_zoom(widget, lambda widget: setter(widget, zoomed(pixels)))


def resize_zoomed(window: QWidget, width: int, height: int) -> None:
    """Resize a window to a size at 100 percent, but not beyond the screen."""
    window.resize(QSize(zoomed(width), zoomed(height)).boundedTo(window.screen().availableSize()))


def nearest_step(percent: int) -> int:
    """Return the step of the zoom that is nearest to a number of percent."""
    return min(STEPS, key=lambda step: abs(step - percent))


def step_beside(percent: int, places: int) -> int:
    """Return the step that is some places after a step of the zoom. The first and the last step are the limits."""
    return STEPS[min(len(STEPS) - 1, max(0, STEPS.index(nearest_step(percent)) + places))]


def set_zoom(percent: int) -> None:
    """Set the zoom of all windows, which exist now or are made later."""
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    percent = nearest_step(percent)
    if percent == zoom_percent():
        return
    font = application.font()
    points = application.property(POINTS) or font.pointSizeF()
    application.setProperty(POINTS, points)
    application.setProperty(PERCENT, percent)
    font.setPointSizeF(points * percent / USUAL)
    application.setFont(font)


def adapt_all() -> None:
    """Adapt all widgets to the zoom. Call this after the style sheet is set, because it restores former fonts."""
    for widget in QApplication.allWidgets():
        for adapt in widget.property(ADAPTIONS) or ():
            adapt(widget)
