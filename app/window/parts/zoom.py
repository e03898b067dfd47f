"""The zoom of the window: the size of its letters and icons, compared with the desktop.

If letters must fit into a size in pixels, the code states this size for a zoom of 100 percent. `set_zoomed` and
`adapt_to_zoom` adapt it to the current zoom.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QWidget

Widget = TypeVar("Widget", bound=QWidget)

STEPS = (80, 90, 100, 110, 125, 150, 175, 200)  # percent
USUAL = 100
PERCENT = "zoom_percent"  # the names of properties: of the application,
POINTS = "letter_size"
ADAPTIONS = "zoom_adaptions"  # and of a widget


def zoom_percent() -> int:
    """Return the zoom of all windows in percent."""
    return QApplication.instance().property(PERCENT) or USUAL  # type: ignore[union-attr]


def zoomed(pixels: float) -> int:
    """Return the current number of pixels for a size that is `pixels` pixels at 100 percent."""
    return round(pixels * zoom_percent() / USUAL)


def adapt_to_zoom(widget: Widget, adapt: Callable[[Any], object]) -> Widget:
    """Call `adapt` with the widget now and after each change of the zoom. Return the widget.

    `adapt` must not refer to the widget, because Python cannot free a widget that its own property refers to.
    """
    widget.setProperty(ADAPTIONS, [*(widget.property(ADAPTIONS) or ()), adapt])
    adapt(widget)
    return widget


def set_zoomed(widget: Widget, setter: Callable[[Any, int], object], pixels: float) -> Widget:
    """Call a setter of the widget, such as `QWidget.setFixedHeight`, with `pixels` multiplied by the zoom.

    The setter is called now and after each change of the zoom. Return the widget.
    """
    return adapt_to_zoom(widget, lambda widget: setter(widget, zoomed(pixels)))


def resize_zoomed(window: QWidget, width: int, height: int) -> None:
    """Resize a window to `width` and `height`, both multiplied by the zoom, but not beyond the screen."""
    window.resize(QSize(zoomed(width), zoomed(height)).boundedTo(window.screen().availableSize()))


def nearest_step(percent: int) -> int:
    """Return the zoom step that is nearest to a percentage."""
    return min(STEPS, key=lambda step: abs(step - percent))


def step_beside(percent: int, places: int) -> int:
    """Return the zoom step that is `places` steps above the given zoom, or below it if `places` is negative.

    The result is never beyond the first or the last zoom step.
    """
    return STEPS[min(len(STEPS) - 1, max(0, STEPS.index(nearest_step(percent)) + places))]


def set_zoom(percent: int) -> None:
    """Set the zoom of all windows, including windows that are made later."""
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
    """Adapt all widgets to the zoom.

    Call this after setting the style sheet, because Qt then restores earlier fonts.
    """
    for widget in QApplication.allWidgets():
        for adapt in widget.property(ADAPTIONS) or ():
            adapt(widget)
