"""Classes that limit how often a function is called, and that run animations."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation

from app.session.time import pause, timer


class Throttle(QObject):
    """A limit on how often a function is called.

    The first call is made immediately, and then a pause begins. All calls during the pause become one call at its end,
    which begins the next pause. So the last call is always made.
    """

    def __init__(self, milliseconds: int, act: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._act = act
        self._wanted = False
        self._timer = timer(self, milliseconds, self._pause_over)

    def call(self) -> None:
        if self._timer.isActive():
            self._wanted = True
        else:
            self._timer.start()
            self._act()

    def catch_up(self) -> None:
        """Make the call that is waiting for the end of the pause. Do nothing if no call is waiting."""
        if self._wanted:
            self._pause_over()

    def set_pause(self, milliseconds: int) -> None:
        """Change the length of the pause. If a pause has already begun, it starts again."""
        if pause(milliseconds) != self._timer.interval():
            self._timer.setInterval(pause(milliseconds))

    @property
    def is_pending(self) -> bool:
        return self._wanted

    def _pause_over(self) -> None:
        if self._wanted:
            self._wanted = False
            self._timer.start()
            self._act()


_SMOOTH = QEasingCurve(QEasingCurve.Type.InOutCubic)
_AWAY = QEasingCurve(QEasingCurve.Type.InCubic)


class Motion(QVariantAnimation):
    """An animation from 0 to 1. It draws a frame whenever the screen is ready, and a last frame at the end."""

    def __init__(self, parent: QObject, draw: Callable[[], object]) -> None:
        super().__init__(parent)
        self.setStartValue(0.0)
        self.setEndValue(1.0)
        self._draw = draw
        self.valueChanged.connect(lambda _: draw())
        self.finished.connect(draw)

    def begin(self, seconds: float) -> None:
        self.stop()
        self.setDuration(max(1, round(1000 * seconds)))
        self.start()

    def end(self) -> None:
        """Stop the animation immediately, and draw the last frame."""
        if self.is_under_way:
            self.stop()
            self._draw()

    @property
    def is_under_way(self) -> bool:
        return self.state() == QVariantAnimation.State.Running

    @property
    def progress(self) -> float:
        """Return the progress of the animation, from 0 to 1. If no animation runs, return 1."""
        return float(self.currentValue()) if self.is_under_way else 1.0

    def part(self, start: float, stop: float) -> float:
        """Return the smoothed progress of one part of the animation. The part begins at `start` and ends at `stop`.

        >>> parent = QObject()
        >>> Motion(parent, bool).part(0.0, 0.5)
        1.0
        """
        return smooth_progress(min(1.0, max(0.0, (self.progress - start) / (stop - start))))


def smooth_progress(share: float) -> float:
    """Return the progress of a movement that begins slowly and ends slowly.

    >>> smooth_progress(0.0), smooth_progress(0.5), smooth_progress(1.0)
    (0.0, 0.5, 1.0)
    """
    return _SMOOTH.valueForProgress(share)


def accelerated_progress(share: float) -> float:
    """Return the progress of a movement after a share of its time. The movement gets faster and faster."""
    return _AWAY.valueForProgress(share)
