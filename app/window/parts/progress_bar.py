"""A progress bar that is drawn together with everything else."""

from __future__ import annotations

from PySide6.QtWidgets import QProgressBar


class ProgressBar(QProgressBar):
    """Qt's own draws itself at each new value without waiting, and with it all that is to be drawn in the window."""

    def __init__(self, most: int = 100, *, with_text: bool = True) -> None:
        super().__init__()
        self.setMaximum(most)
        self.setTextVisible(with_text)

    def setValue(self, value: int) -> None:
        if value == self.value():
            return
        self.setUpdatesEnabled(False)
        super().setValue(value)
        self.setUpdatesEnabled(True)  # which asks for it to be drawn, but later
