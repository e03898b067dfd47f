"""Fixtures for tests of the token text: an editor on the screen, and simulated keys and mouse clicks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window.text.text_model import TextChange, TokenTextModel
from app.window.text.view.editor import TokenTextEdit
from bpe_core.kernels import NEVER
from bpe_core.segmenting.boundaries import Boundaries
from bpe_core.segmenting.merging import PATTERN_CUT as CUT
from bpe_core.support.arrays import Int32s

Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier

LANGUAGES = (
    "Plain words, naïve café, Ελληνικά и русский.\n"
    "\tTab,  two blanks,   three.\n"
    "שלום עולם, English inside, 123.\n"
    "مرحبا بالعالم\n"
    "हिन्दी में, ไทย, 日本語、한국어\n"
    "👍🏽 👩\u200d👩\u200d👧 🇩🇪 😀 e\u0301\n"
    "\x00\x1b\r\u200b\ufeff\u2028\u2029\u00ad\u0085\n"
    "\r\n\n"
)


def words_of_letters(data: bytes) -> Int32s:
    """Return made-up ranks of the boundaries in a text.

    Words end before each space and line break, and ranks inside words are arbitrary.
    """
    raw = np.frombuffer(data, np.uint8)
    ranks = ((np.arange(len(raw) + 1, dtype=np.int64) * 2654435761 >> 7) % 97).astype(np.int32)
    ranks[ranks % 5 == 0] = NEVER
    ranks[:-1][(raw == 32) | (raw == 10)] = CUT
    ranks[0] = ranks[-1] = CUT
    return ranks


def answer(model: TokenTextModel) -> None:
    data = model.text().encode()
    model.accept(model.revision, 0, Boundaries(data, words_of_letters(data)))


@pytest.fixture
def show_editor(qtbot: QtBot) -> Callable[..., TokenTextEdit]:
    """Return a function that shows an editor and gives it the keyboard focus.

    The text of the editor is encoded after each edit.
    """
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    application.setStyleSheet("")  # which windows of other tests wear: its colours are those of their theme
    application.setStyle("Fusion")
    application.setCursorFlashTime(0)  # pictures are compared, whenever they are taken

    def show(text: str = "", cursor: int = 40, width: int = 640, height: int = 400) -> TokenTextEdit:
        model = TokenTextModel(text)
        editor = TokenTextEdit(model)
        editor.setPalette(light())
        qtbot.addWidget(editor)
        editor.resize(width, height)
        editor.show()
        editor.activateWindow()
        editor.setFocus()
        qtbot.waitUntil(editor.hasFocus)
        answer(model)
        model.set_cursor(cursor)

        def answer_change(_: TextChange) -> None:
            answer(model)

        model.text_changed.connect(answer_change)
        return editor

    return show


def light() -> QPalette:
    return QPalette(QColor("#f0f0f0"), QColor("#f0f0f0"))


def dark() -> QPalette:
    palette = QPalette(QColor("#26282c"), QColor("#26282c"))
    palette.setColor(QPalette.ColorRole.Base, QColor("#17191c"))
    return palette


def press(editor: TokenTextEdit, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(editor, key, modifier)


def middle_of(editor: TokenTextEdit, byte: int) -> QPoint:
    """Return the middle of the cell in which the editor shows a byte."""
    for block in editor.visible_blocks():
        for row in block.rows:
            within = byte - block.start - row.first_byte
            if 0 <= within < row.byte_count:
                x = (row.cells.begins[within] + row.cells.ends[within]) / 2
                return QPointF(x, block.y + row.y + row.height / 2).toPoint()
    raise AssertionError(f"byte {byte} is not on the screen")


def move(editor: TokenTextEdit, point: QPoint, button: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
    """Move the mouse to a point of the editor while `button` is pressed. By default, no button is pressed.

    Qt's offscreen platform cannot move the mouse by itself.
    """
    where = QPointF(point)
    event = QMouseEvent(
        QEvent.Type.MouseMove,
        where,
        QPointF(editor.viewport().mapToGlobal(point)),
        Qt.MouseButton.NoButton,
        button,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(editor.viewport(), event)
