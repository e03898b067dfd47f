"""Every action there is, found by walking through the menus as a person would."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar

WAY = " › "


def actions_in(bar: QMenuBar) -> Iterator[tuple[str, QAction]]:
    """Each with the way to it. Menus that are filled when they open are filled."""
    waiting = [("", action) for action in reversed(bar.actions())]
    while waiting:
        way, action = waiting.pop()
        menu = action.menu()
        if isinstance(menu, QMenu):
            menu.aboutToShow.emit()
            inner = f"{way}{WAY}{title_of(action)}".removeprefix(WAY)
            waiting += [(inner, child) for child in reversed(menu.actions())]
        elif not action.isSeparator():
            yield way, action


def title_of(action: QAction) -> str:
    """Without the signs that underline a letter."""
    return action.text().replace("&&", "\0").replace("&", "").replace("\0", "&")


def keys_of(action: QAction) -> str:
    return " or ".join(keys.toString(QKeySequence.SequenceFormat.NativeText) for keys in action.shortcuts())
