"""Any text of any size is shown, scrolled and edited in the token text, whatever is done to it."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window.text.text_model import TextChange
from app.window.text.view.canvas import MARGIN
from app.window.text.view.editor import TokenTextEdit
from tests.conftest import EXPLORES
from tests.gui.text.conftest import CTRL, LANGUAGES, SHIFT, Key, press


@pytest.mark.parametrize("text", [LANGUAGES, "", "\n", "\r", "\r\n", "a\u2029b\u2028c\x00", "\u200b" * 50, " " * 3000])
def test_every_text_is_shown_and_comes_back_exactly(shown: Callable[..., TokenTextEdit], text: str) -> None:
    editor = shown(text)
    for blanks in (True, False):
        editor.set_show_blanks(blanks)
        editor.grab()
    assert editor.model.text() == text
    seen = [block.layout.text for block in editor.flow.visible()]
    assert text.startswith("".join(seen))
    cells = [block.layout.cells(row) for block in editor.flow.visible() for row in block.layout.rows]
    right = max(float(np.max(begins_and_ends, initial=0.0)) for begins_and_ends in cells)
    assert right <= editor.viewport().width() - MARGIN, "nothing hangs over the edge"


def test_one_line_of_a_megabyte_is_edited_like_any_other(shown: Callable[..., TokenTextEdit]) -> None:
    text = "word " * 200_000
    editor = shown(text)
    press(editor, Key.Key_End, CTRL)
    assert editor.caret.position == len(text)
    QTest.keyClicks(editor, "end")
    editor.select_bytes(500_001, 500_001)
    QTest.keyClicks(editor, "middle")
    press(editor, Key.Key_Home, CTRL)
    QTest.keyClicks(editor, "start")
    assert editor.model.text() == "start" + text[:500_001] + "middle" + text[500_001:] + "end"
    assert editor.verticalScrollBar().value() == 0


def test_in_a_long_line_no_row_ends_before_the_edge_and_none_is_lost(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("seven letters " * 2_000)
    for scroll in (0, 1000, 3000, 500):
        editor.verticalScrollBar().setValue(scroll)
        blocks = editor.flow.visible()
        for block, following in pairwise(blocks):
            shown_characters = block.layout.rows[-1].stop
            assert block.start + shown_characters == following.start
            for row in block.layout.rows:
                assert row.line.naturalTextWidth() > editor.flow.setting.width - 130


def test_scrolling_to_the_end_shows_the_end_and_back_the_start(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("\n".join("some words " * (i % 40) for i in range(3000)))
    bar = editor.verticalScrollBar()
    bar.setValue(bar.maximum())
    last = editor.flow.visible()[-1]
    assert last.index == len(editor.model.chunks) - 1
    assert abs(last.y + last.layout.height - editor.viewport().height()) < 1
    bar.setValue(bar.maximum() // 2)
    assert 0 < editor.flow.visible()[0].index < len(editor.model.chunks) - 1
    bar.setValue(0)
    first = editor.flow.visible()[0]
    assert (first.index, first.y) == (0, 0)


def test_a_new_width_keeps_the_first_row_in_sight(shown: Callable[..., TokenTextEdit], qtbot: QtBot) -> None:
    editor = shown("\n".join(f"line {i} with some more words in it" for i in range(400)))
    editor.verticalScrollBar().setValue(2500)
    top = editor.flow.character_at(0, 0)
    editor.resize(300, 400)
    block = editor.flow.visible()[0]
    assert block.start <= top < block.start + len(block.layout.text)


KEYS = [
    *(Key.Key_Left, Key.Key_Right, Key.Key_Up, Key.Key_Down, Key.Key_Home, Key.Key_End, Key.Key_PageUp),
    *(Key.Key_PageDown, Key.Key_Backspace, Key.Key_Delete, Key.Key_Return, Key.Key_Tab),
]
PASTED = ["x", "\n", "long line " * 400, LANGUAGES, "\r\n\x00", "ש" * 300, "👩\u200d👧" * 500, "\n" * 60]


@pytest.mark.parametrize("seed", range(200 if EXPLORES else 8))
def test_whatever_is_done_the_text_is_right_and_the_caret_in_sight(
    shown: Callable[..., TokenTextEdit], seed: int
) -> None:
    rng = random.Random(seed)
    editor = shown(rng.choice(PASTED))
    expected = editor.model.text()

    def follow(change: TextChange) -> None:
        nonlocal expected
        assert expected[change.start : change.start + len(change.removed)] == change.removed
        expected = expected[: change.start] + change.added + expected[change.start + len(change.removed) :]

    editor.model.text_changed.connect(follow)
    actions: list[Callable[[], object]] = [
        lambda: press(
            editor, rng.choice(KEYS), rng.choice([Qt.KeyboardModifier.NoModifier, CTRL, SHIFT, CTRL | SHIFT])
        ),
        lambda: press(editor, rng.choice(KEYS)),
        lambda: editor.insert(rng.choice(PASTED)),
        lambda: rng.choice([editor.undo, editor.redo, editor.select_all])(),
        lambda: editor.set_show_blanks(rng.random() < 0.5),
        lambda: editor.resize(rng.randint(60, 900), rng.randint(60, 500)),
        lambda: editor.verticalScrollBar().setValue(rng.randint(0, editor.verticalScrollBar().maximum())),
        lambda: editor.model.set_cursor(rng.randint(0, 100)),
        lambda: QApplication.sendEvent(editor, QInputMethodEvent(rng.choice(["", "にほ"]), [])),
        lambda: QTest.mouseClick(
            editor.viewport(),
            Qt.MouseButton.LeftButton,
            pos=QPoint(rng.randint(0, editor.width()), rng.randint(0, editor.height())),
        ),
        lambda: editor.zoom(rng.choice([-1, 1])),
    ]
    for _ in range(40):
        rng.choice(actions)()
        editor.viewport().repaint()
        assert editor.model.text() == expected
        blocks = editor.flow.visible()
        shown_text = "".join(block.layout.text[: block.layout.rows[-1].stop] for block in blocks)
        assert expected[blocks[0].start :].startswith(shown_text)
        assert 0 <= editor.caret.position <= len(expected)
    press(editor, Key.Key_Right)
    assert editor.viewport().rect().intersects(editor.rectangle_of(editor.caret.position))


def test_a_row_at_the_lower_edge_stays_whole_when_the_scroll_bar_takes_room(
    shown: Callable[..., TokenTextEdit],
) -> None:
    editor = shown("0\n" * 400 + "last", width=300, height=100)
    editor.reveal_character(800)
    before = editor.rectangle_of(800)
    editor.resize(288, 100)
    assert editor.rectangle_of(800) == before
    assert editor.viewport().rect().contains(before)
