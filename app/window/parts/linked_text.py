"""Paragraphs with links in them, reached by mouse and by key."""

from __future__ import annotations

import re

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QWidget


class LinkedText(QLabel):
    """Rich text that wraps; Tab goes from link to link, Enter follows one."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setTextFormat(Qt.TextFormat.RichText)
        self.setWordWrap(True)
        self.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByMouse
            | Qt.TextInteractionFlag.LinksAccessibleByKeyboard
        )


def link_to_step(step: int, text: str) -> str:
    """A link to the moment after so many merges; `text` is HTML already.

    >>> link_to_step(7, "merge 7")
    '<a href="step:7">merge 7</a>'
    """
    return f'<a href="step:{step}">{text}</a>'


def number_in(link: str) -> int:
    """The number that a link leads to.

    >>> number_in("step:1204")
    1204
    """
    found = re.fullmatch(r"[a-z]+:(\d+)", link)
    if found is None:
        raise ValueError(f"{link} leads nowhere")
    return int(found[1])
