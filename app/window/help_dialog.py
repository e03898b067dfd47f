"""The dialog that lists the keys, and the dialog about the program."""

from __future__ import annotations

import html
from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMainWindow, QWidget

from app.window.actions import WAY, actions_in, keys_of, title_of
from app.window.parts.icons import app_icon
from app.window.parts.layouts import in_column
from app.window.parts.widgets import paragraph, scrolling
from app.window.parts.zoom import resize_zoomed

ABOUT = """
<h2>BPE Explorer</h2>
<p>{version}</p>
<p>Watch how a byte-pair-encoding tokenizer is learned, travel through its history, and ask why a text is split where it
is.</p>
<p>The program connects only to computers whose addresses or <code>hf:</code> names you type. Your texts stay on this
computer.</p>
"""


IN_THE_TEXT = (("Move to the next control", "Tab"), ("Write a tab", "Ctrl+Tab"))


class TextDialog(QDialog):
    def __init__(self, title: str, text: str, size: tuple[int, int], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        resize_zoomed(self, *size)
        label = paragraph(text)
        label.setTextFormat(Qt.TextFormat.RichText)
        label.setAlignment(Qt.AlignmentFlag.AlignTop)
        label.setContentsMargins(16, 8, 16, 8)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        area = scrolling(label, title)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        in_column((area, 1), buttons, on=self)


def keys_dialog(window: QMainWindow) -> TextDialog:
    rows = [
        (way.split(WAY)[0], title_of(action).removesuffix(" …"), keys_of(action))
        for way, action in actions_in(window)
        if keys_of(action)
    ]
    rows += [("Your text", what, keys) for what, keys in IN_THE_TEXT]
    parts = []
    for menu, listed in groupby(rows, key=lambda row: row[0]):
        lines = "".join(f"<tr>{_cell(keys, 190)}{_cell(what, 260)}</tr>" for _, what, keys in listed)
        parts.append(f"<h3>{html.escape(menu)}</h3><table cellpadding='3'>{lines}</table>")
    return TextDialog("Keys", "".join(parts), (560, 560), window)


def _cell(text: str, width: int) -> str:
    return f"<td width='{width}'>{html.escape(text)}</td>"


def about_dialog(version: str, parent: QWidget) -> TextDialog:
    dialog = TextDialog("About BPE Explorer", ABOUT.format(version=html.escape(version)), (420, 280), parent)
    dialog.setWindowIcon(app_icon())
    return dialog
