"""Tests of the editor, which shows, scrolls and edits texts of any content and size."""

from __future__ import annotations

import gc
import random
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from weakref import ref

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window.text.chunks import LONGEST_CHUNK
from app.window.text.text_model import TextChange, TokenTextModel
from app.window.text.view import token_layout
from app.window.text.view.cells import BlockCells
from app.window.text.view.editor import TokenTextEdit
from app.window.text.view.token_layout import MARGIN
from tests.conftest import EXPLORES
from tests.gui.text.conftest import CTRL, LANGUAGES, SHIFT, Key, press


def visible_text(editor: TokenTextEdit) -> str:
    """Return the text in the visible rows. Check that each row begins with the byte after the row above."""
    blocks = editor.visible_blocks()
    rows = [(block, row) for block in blocks for row in block.rows]
    for (block, row), (following, next_row) in pairwise(rows):
        assert block.start + row.first_byte + row.byte_count == following.start + next_row.first_byte
    return "".join(block.cells.text[row.start : row.stop] for block, row in rows)


@pytest.mark.parametrize("text", [LANGUAGES, "", "\n", "\r", "\r\n", "a\u2029b\u2028c\x00", "\u200b" * 50, " " * 3000])
def test_the_token_editor_shows_and_keeps_every_text_exactly(
    show_editor: Callable[..., TokenTextEdit], text: str
) -> None:
    editor = show_editor(text)
    for blanks in (True, False):
        editor.set_show_blanks(blanks)
        editor.grab()
    assert editor.model.text() == text
    assert text.startswith(visible_text(editor))
    cells = [row.cells for block in editor.visible_blocks() for row in block.rows]
    right = max(float(np.max([*row.begins, *row.ends], initial=0.0)) for row in cells)
    assert right <= editor.viewport().width() - MARGIN, "nothing hangs over the edge"


def test_a_line_of_a_megabyte_can_be_edited_at_both_ends_and_in_the_middle(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    text = "word " * 200_000
    editor = show_editor(text)
    press(editor, Key.Key_End, CTRL)
    assert editor.caret == len(text)
    QTest.keyClicks(editor, "end")
    editor.select_bytes(500_001, 500_001)
    QTest.keyClicks(editor, "middle")
    press(editor, Key.Key_Home, CTRL)
    QTest.keyClicks(editor, "start")
    assert editor.model.text() == "start" + text[:500_001] + "middle" + text[500_001:] + "end"
    assert editor.verticalScrollBar().value() == 0


@pytest.mark.parametrize("text", ["words in a line\n" * 60_000, "words in a line " * 60_000], ids=["lines", "a line"])
def test_typing_in_a_megabyte_of_text_lays_out_only_the_changed_block(
    show_editor: Callable[..., TokenTextEdit], text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = show_editor(text)
    editor.select_bytes(500_000, 500_000)
    editor.viewport().repaint()
    blocks: list[str] = []

    class CountedCells(BlockCells):
        def __init__(self, text: str, *given: Any, **named: Any) -> None:
            blocks.append(text)
            super().__init__(text, *given, **named)

    monkeypatch.setattr(token_layout, "BlockCells", CountedCells)
    for letter in "abc":
        QTest.keyClicks(editor, letter)
        editor.viewport().repaint()
    assert 3 <= len(blocks) <= 6
    blocks.clear()
    for step in range(30):
        editor.model.set_cursor(step)
        editor.viewport().repaint()
    assert blocks == []


def test_a_long_line_is_divided_into_a_few_blocks_without_losing_characters(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    text = "seven letters " * 2_000
    editor = show_editor(text)
    room = editor.token_layout.setting.width
    for scroll in (0, 40, 200, 20):
        editor.verticalScrollBar().setValue(scroll)
        blocks = editor.visible_blocks()
        first = blocks[0].start + blocks[0].rows[0].first_byte
        assert text[first:].startswith(visible_text(editor))
        for block in blocks:
            for row in block.rows:
                is_full = float(row.cells.ends.max(initial=0.0)) > room - 130
                assert is_full or row.stop == len(block.cells.text), "only where the line is broken for Qt"
    assert len(editor.model.chunks) == -(-len(text) // LONGEST_CHUNK)


def test_breaks_that_the_editor_inserts_into_a_long_line_are_not_part_of_the_text(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    line = "".join(f"{i:05} " for i in range(1_000))
    editor = show_editor(f"above\n{line}\nbelow")
    assert editor.blockCount() > 4, "the line is broken for Qt"
    editor.selectAll()
    assert editor.selected_text() == f"above\n{line}\nbelow"
    border = len("above\n") + len(editor.model.chunks[1])
    editor.select(border - 3, border + 3)
    assert editor.selected_text() == f"above\n{line}\nbelow"[border - 3 : border + 3]
    editor.copy()
    assert QApplication.clipboard().text() == editor.selected_text()
    editor.select(border + 1, border + 1)
    places = []
    for _ in range(3):
        press(editor, Key.Key_Left)
        places.append(editor.caret)
    assert places == [border, border - 1, border - 2], "a break takes no step"
    for _ in range(3):
        press(editor, Key.Key_Right)
        places.append(editor.caret)
    assert places[3:] == [border - 1, border, border + 1]
    press(editor, Key.Key_Left)
    press(editor, Key.Key_Backspace)
    assert (
        editor.model.text()
        == f"above\n{line}\nbelow".replace(line[border - 7 : border - 6], "", 0)[: border - 1]
        + f"above\n{line}\nbelow"[border:]
    )


def test_a_triple_click_selects_a_whole_line_that_qt_stores_in_several_blocks(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    line = "many words " * 600
    editor = show_editor(f"above\n{line}\nbelow")
    place = editor.rectangle_of(40).center()
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert editor.selected_text() == f"{line}\n"


def test_scrolling_to_the_start_or_the_end_of_a_text_shows_its_first_or_last_row(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    editor = show_editor("\n".join("some words " * (i % 40) for i in range(3000)))
    bar = editor.verticalScrollBar()
    for _ in range(2):  # rows that were never seen are guessed
        bar.setValue(bar.maximum())
        editor.viewport().repaint()
    last = editor.visible_blocks()[-1]
    assert last.block == editor.document().lastBlock()
    bottom = last.y + last.rows[-1].y + last.rows[-1].height
    assert bottom <= editor.viewport().height() < bottom + 2 * last.rows[-1].height
    bar.setValue(bar.maximum() // 2)
    assert 0 < editor.visible_blocks()[0].block.blockNumber() < len(editor.model.chunks) - 1
    bar.setValue(0)
    first = editor.visible_blocks()[0]
    assert (first.start, first.y) == (0, 0)


def test_a_new_editor_width_keeps_the_first_visible_row(
    show_editor: Callable[..., TokenTextEdit], qtbot: QtBot
) -> None:
    editor = show_editor("\n".join(f"line {i} with some more words in it" for i in range(400)))
    editor.verticalScrollBar().setValue(120)
    top = editor.firstVisibleBlock().blockNumber()
    editor.resize(300, 400)
    assert editor.firstVisibleBlock().blockNumber() == top


def test_unused_token_editors_are_freed(qtbot: QtBot) -> None:
    """Python frees the parts of a view in an arbitrary order. An older version of this program crashed then."""
    for _ in range(4):
        editor = TokenTextEdit(TokenTextModel(LANGUAGES))
        editor.grab()
        gone = ref(editor)
        del editor
        gc.collect()
        assert gone() is None


KEYS = [
    *(Key.Key_Left, Key.Key_Right, Key.Key_Up, Key.Key_Down, Key.Key_Home, Key.Key_End, Key.Key_PageUp),
    *(Key.Key_PageDown, Key.Key_Backspace, Key.Key_Delete, Key.Key_Return, Key.Key_Tab),
]
PASTED = ["x", "\n", "long line " * 400, LANGUAGES, "\r\n\x00", "ש" * 300, "👩\u200d👧" * 500, "\n" * 60]


@pytest.mark.parametrize("seed", range(200 if EXPLORES else 8))
def test_after_random_editing_the_text_is_as_expected_and_the_caret_is_visible(
    show_editor: Callable[..., TokenTextEdit], seed: int
) -> None:
    rng = random.Random(seed)
    editor = show_editor(rng.choice(PASTED))
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
        lambda: rng.choice([editor.undo, editor.redo, editor.selectAll])(),
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
        block = editor.visible_blocks()[0]
        first = block.start + block.rows[0].first_byte
        assert expected.encode()[first:].startswith(visible_text(editor).encode())
        assert 0 <= editor.caret <= len(expected)
        assert editor.document().toRawText().count("\u2029") == len(editor.model.chunks) - 1
    press(editor, Key.Key_Right)
    assert editor.viewport().rect().intersects(editor.rectangle_of(editor.caret))


def test_a_row_at_the_lower_edge_stays_fully_visible_when_the_scroll_bar_appears(
    show_editor: Callable[..., TokenTextEdit],
) -> None:
    editor = show_editor("0\n" * 400 + "last", width=300, height=100)
    editor.reveal(800)
    before = editor.rectangle_of(800)
    editor.resize(288, 100)
    assert editor.rectangle_of(800) == before
    assert editor.viewport().rect().contains(before)
