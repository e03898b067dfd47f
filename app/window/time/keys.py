"""The keys of playing, in the whole window: not where a person types, nor where a control needs them for itself."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSlider,
    QApplication,
    QComboBox,
    QTabBar,
    QWidget,
)

from app.window.main_window import MainWindow
from app.window.merges.table import MergeTableView
from app.window.time.track import TimeTrack

Key = Qt.Key
MOVES = (Key.Key_Left, Key.Key_Right, Key.Key_Home, Key.Key_End)
PRESSED_BY_SPACE = (QAbstractButton, QComboBox)
MOVED_BY_KEYS = (QAbstractSlider, QTabBar, QComboBox)
OF_TIME = (TimeTrack, MergeTableView)  # where these keys mean the same


class KeysOfControls(QObject):
    """Lets the control with the focus have a key that it knows, before the window takes it for playing.

    Fields of text keep theirs by themselves: they say so before the window is asked.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            plain = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            if plain and self._is_needed(QApplication.focusWidget(), Key(event.key())):
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _is_needed(self, focused: QWidget | None, key: Key) -> bool:
        if key != Key.Key_Space and key not in MOVES:
            return False
        if self._window.stage:  # where time is hidden
            return True
        if focused is None or isinstance(focused, OF_TIME):
            return False
        if isinstance(focused, QAbstractScrollArea):  # lists, tables and grids go from one to the next
            return True
        return isinstance(focused, PRESSED_BY_SPACE if key == Key.Key_Space else MOVED_BY_KEYS)
