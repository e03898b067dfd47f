"""Something on its way from one state to another, for a moment."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEasingCurve, QObject, QVariantAnimation

_SMOOTH = QEasingCurve(QEasingCurve.Type.InOutCubic)
_AWAY = QEasingCurve(QEasingCurve.Type.InCubic)


class Motion(QVariantAnimation):
    """Goes from 0 to 1 in so many seconds, and asks for a frame each time the screen can take one, and at the end."""

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
        """At once, as if it had never moved."""
        if self.is_under_way:
            self.stop()
            self._draw()

    @property
    def is_under_way(self) -> bool:
        return self.state() == QVariantAnimation.State.Running

    @property
    def progress(self) -> float:
        """1 where nothing moves."""
        return float(self.currentValue()) if self.is_under_way else 1.0

    def part(self, start: float, stop: float) -> float:
        """How much of a part of the way is done, smoothly.

        >>> parent = QObject()
        >>> Motion(parent, bool).part(0.0, 0.5)
        1.0
        """
        return smooth(min(1.0, max(0.0, (self.progress - start) / (stop - start))))


def smooth(share: float) -> float:
    """Slow at both ends.

    >>> smooth(0.0), smooth(0.5), smooth(1.0)
    (0.0, 0.5, 1.0)
    """
    return _SMOOTH.valueForProgress(share)


def away(share: float) -> float:
    """Faster and faster."""
    return _AWAY.valueForProgress(share)
