"""A short help, the keys, and the About dialog."""

from __future__ import annotations

import html
from itertools import groupby

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMainWindow, QWidget

from app.window.actions import WAY, actions_in, keys_of, title_of
from app.window.parts.icons import app_icon
from app.window.parts.layouts import in_column
from app.window.parts.widgets import paragraph, scrolling

HELP = """
<h3>In one minute</h3>
<p>The program reads the texts of the corpus, splits them into words and then merges, again and again, the two
neighbouring parts that occur together most often. Every merge becomes a token.</p>
<p><b>Watch</b> shows that happen to a word and a text of your own. In <b>Ask</b>,
click into the text to see why it is cut there. <b>Compare</b> puts tokenizers side by side. In <b>Build</b>, choose
texts and recipe, and <b>Train</b>.</p>
<h3>Travelling in time</h3>
<p>Drag the slider along the bottom, or click a merge in the table: text, charts and table then show the world as it
was after that merge, even while training goes on. <b>Jump to End</b> (F8) returns to the newest merge.</p>
<h3>Finding what there is</h3>
<p><b>Find Anything</b> (Ctrl+K) reaches every action, recent file, lesson, token and merge by typing: try a token, or
two tokens with a space between them. <b>Keys</b> (F1) lists which key does what.</p>
<h3>The corpus</h3>
<p>Open files or a folder, drop them on the window, or paste a text. The order counts: where two pairs are equally
frequent, the tie rule may ask which one came first.</p>
<h3>The recipe</h3>
<p>A preset decides how text becomes words and words become symbols. The preview shows where your text is cut before
anything is merged; merges never cross such a cut. Under <b>More</b> you find everything else.</p>
<h3>Tables in and out</h3>
<p><b>Export</b> (Ctrl+E) writes the merges for another library or as a table. The file is read back and thousands of
words are cut by both before anything is replaced. <b>Import</b> (Ctrl+I) opens a tokenizer made elsewhere; <b>Count on
My Corpus</b> in the menu Training finds out how often its merges occur in your texts, and the room <b>Compare</b>
puts it beside your runs.</p>
<h3>What was not saved</h3>
<p>A safety copy follows what you do. What a crash, a power cut or a closed window left is found under <b>File >
Unsaved Sessions</b>, a damaged one too, for what can be saved of it. Each is kept for 30 days at least, counted from
when it was written; older ones are removed, the oldest first, only while all of them together take more than 1 GB.</p>
<h3>What the signs mean</h3>
<p><code>␣</code> is a space, <code>⏎</code> a newline, <code>⇥</code> a tab. <code>&lt;0xE2&gt;</code> is a byte
that is no character by itself: a part of a longer one. <b>=</b> in the column Tie: the runner-up had the same count,
and the tie rule decided.</p>
"""
ABOUT = """
<h2>BPE Explorer</h2>
<p>Watch a byte-pair-encoding tokenizer being learned, travel through its history, and ask why a text is cut where it
is.</p>
<p>It opens no network connection. Your texts stay on this computer.</p>
"""


IN_THE_TEXT = (("Leave the text", "Tab"), ("Write a tab", "Ctrl+Tab"))


class TextDialog(QDialog):
    def __init__(self, title: str, text: str, size: tuple[int, int], parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        self.resize(*size)
        label = paragraph(text)
        label.setTextFormat(Qt.TextFormat.RichText)
        label.setAlignment(Qt.AlignmentFlag.AlignTop)
        label.setContentsMargins(16, 8, 16, 8)
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        area = scrolling(label, title)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        in_column((area, 1), buttons, on=self)


def help_dialog(parent: QWidget) -> TextDialog:
    return TextDialog("Help", HELP, (560, 560), parent)


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


def about_dialog(parent: QWidget) -> TextDialog:
    dialog = TextDialog("About BPE Explorer", ABOUT, (420, 260), parent)
    dialog.setWindowIcon(app_icon())
    return dialog
