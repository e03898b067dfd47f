"""The token text as a person uses it: keys, mouse, clipboard, and what is really on the screen."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QColor, QDropEvent, QImage, QInputMethodEvent, QKeySequence, QMouseEvent, QPalette, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.window.text.model import NO_TOKEN, TextChange, TokenAt, Tokens, TokenTextModel
from app.window.text.view.block_layout import BlockLayout, Typesetting
from app.window.text.view.canvas import MARGIN
from app.window.text.view.caret import next_word, previous_word, word_around
from app.window.text.view.colouring import COLOURS, UNCOLOURED, coloured_tokens, colours_of, preferred_colours
from app.window.text.view.counts_bar import CountsBar
from app.window.text.view.editor import TokenTextEdit
from app.window.text.view.ids_view import IdsView
from app.window.text.view.palette import DARK_FILLS, LIGHT_FILLS, TokenPalette
from app.window.text.view.panel import TokenTextPanel
from app.window.text.view.visible_text import VisibleText, utf16_length
from bpe_core import NEVER
from bpe_core import PATTERN_CUT as CUT
from bpe_core.segmenting.boundaries import Boundaries
from bpe_core.segmenting.hidden_symbols import HiddenSymbols
from bpe_core.segmenting.segmentation import Int32s

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
    """Ranks for showing: a cut before each blank or line end, and inside words whatever comes."""
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
def shown(qtbot: QtBot) -> Callable[..., TokenTextEdit]:
    """An editor on the screen with the focus, its text encoded after each edit."""
    QApplication.setStyle("Fusion")

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
    """A point in the cell of a visible byte."""
    for block in editor.flow.visible():
        first = editor.model.pieces.byte_of(block.start)
        for row in block.layout.rows:
            within = byte - first - row.first_byte
            if 0 <= within < row.byte_count:
                begins, ends = block.layout.cells(row)
                x = (begins[within] + ends[within]) / 2 + MARGIN
                return QPointF(x, block.y + row.y + row.height / 2).toPoint()
    raise AssertionError(f"byte {byte} is not on the screen")


# -- typing --------------------------------------------------------------------------------


def test_what_is_typed_is_in_the_text_and_each_edit_is_told(shown: Callable[..., TokenTextEdit], qtbot: QtBot) -> None:
    editor = shown()
    changes: list[TextChange] = []
    editor.model.text_changed.connect(changes.append)
    QTest.keyClicks(editor, "low ")
    press(editor, Key.Key_Return)
    press(editor, Key.Key_Tab)
    assert editor.model.text() == "low \n\t"
    assert [change.added for change in changes] == ["l", "o", "w", " ", "\n", "\t"]
    assert [change.start_byte for change in changes] == [0, 1, 2, 3, 4, 5]
    assert editor.caret.position == 6


def test_backspace_and_delete_take_whole_characters(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("a👩\u200d👧e\u0301z")
    press(editor, Key.Key_End)
    press(editor, Key.Key_Left)
    press(editor, Key.Key_Backspace)
    assert editor.model.text() == "a👩\u200d👧z"
    press(editor, Key.Key_Home)
    press(editor, Key.Key_Right)
    press(editor, Key.Key_Delete)
    assert editor.model.text() == "az"
    press(editor, Key.Key_Backspace, CTRL)
    assert editor.model.text() == "z"
    press(editor, Key.Key_Delete)
    press(editor, Key.Key_Delete)
    press(editor, Key.Key_Backspace)
    assert editor.model.text() == ""


def test_typing_replaces_the_selection_and_undo_brings_it_back(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("one two three")
    press(editor, Key.Key_Right, CTRL)
    press(editor, Key.Key_Right, CTRL | SHIFT)
    assert editor.selected_text() == "two "
    QTest.keyClicks(editor, "2")
    assert editor.model.text() == "one 2three"
    press(editor, Key.Key_Z, CTRL)
    assert editor.model.text() == "one two three"
    QTest.keySequence(editor, QKeySequence(QKeySequence.StandardKey.Redo))
    assert editor.model.text() == "one 2three"


def test_cut_copy_and_paste_go_through_the_clipboard_exactly(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown(LANGUAGES)
    press(editor, Key.Key_A, CTRL)
    press(editor, Key.Key_C, CTRL)
    assert QApplication.clipboard().text() == LANGUAGES
    press(editor, Key.Key_X, CTRL)
    assert editor.model.text() == ""
    press(editor, Key.Key_V, CTRL)
    press(editor, Key.Key_V, CTRL)
    assert editor.model.text() == LANGUAGES * 2


def test_an_input_method_composes_in_place_and_commits(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("ab")
    press(editor, Key.Key_Right)
    QApplication.sendEvent(editor, QInputMethodEvent("にほ", []))
    assert editor.model.text() == "ab", "what is being composed is not in the text yet"
    assert editor.flow.visible()[0].layout.visible.text == "aにほb"
    commit = QInputMethodEvent("", [])
    commit.setCommitString("日本")
    QApplication.sendEvent(editor, commit)
    assert editor.model.text() == "a日本b"
    assert editor.flow.visible()[0].layout.visible.text == "a日本b"
    replacing = QInputMethodEvent("", [])
    replacing.setCommitString("x", -2, 2)
    QApplication.sendEvent(editor, replacing)
    assert editor.model.text() == "axb"
    assert editor.inputMethodQuery(Qt.InputMethodQuery.ImSurroundingText) == "axb"
    assert editor.inputMethodQuery(Qt.InputMethodQuery.ImCursorPosition) == 2


def test_the_windows_shortcuts_do_not_take_the_keys_that_edit(
    shown: Callable[..., TokenTextEdit], qtbot: QtBot
) -> None:
    editor = shown("text")
    taken: list[str] = []
    for keys in ("Ctrl+Z", "Ctrl+A", "S", "Ctrl+T"):
        QShortcut(QKeySequence(keys), editor, lambda keys=keys: taken.append(keys))
    press(editor, Key.Key_S)
    press(editor, Key.Key_Z, CTRL)
    press(editor, Key.Key_A, CTRL)
    press(editor, Key.Key_T, CTRL)
    assert taken == ["Ctrl+T"]
    assert editor.selected_text() == "text"


# -- the caret -----------------------------------------------------------------------------


def test_the_caret_goes_where_the_keys_say(shown: Callable[..., TokenTextEdit]) -> None:
    text = "first line here\nsecond\n\nlast one"
    editor = shown(text)
    steps: list[tuple[Qt.Key, Qt.KeyboardModifier, int]] = [
        (Key.Key_Right, CTRL, 6),
        (Key.Key_End, Qt.KeyboardModifier.NoModifier, 15),
        (Key.Key_Down, Qt.KeyboardModifier.NoModifier, 22),
        (Key.Key_Down, Qt.KeyboardModifier.NoModifier, 23),
        (Key.Key_Up, Qt.KeyboardModifier.NoModifier, 22),
        (Key.Key_Up, Qt.KeyboardModifier.NoModifier, 15),  # the place where the way began is remembered
        (Key.Key_Home, Qt.KeyboardModifier.NoModifier, 0),
        (Key.Key_Left, Qt.KeyboardModifier.NoModifier, 0),
        (Key.Key_End, CTRL, len(text)),
        (Key.Key_Right, Qt.KeyboardModifier.NoModifier, len(text)),
        (Key.Key_Left, CTRL, text.index("one")),
        (Key.Key_Home, CTRL, 0),
    ]
    for key, modifier, place in steps:
        press(editor, key, modifier)
        assert editor.caret.position == place, (key, modifier)


def test_home_and_end_stay_in_the_row_of_a_wrapped_line(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("word " * 60)
    rows = editor.flow.visible()[0].layout.rows
    assert len(rows) > 2
    press(editor, Key.Key_Down)
    press(editor, Key.Key_End)
    assert rows[1].start < editor.caret.position < rows[1].stop
    press(editor, Key.Key_Home)
    assert editor.caret.position == rows[1].start


def test_in_a_right_to_left_line_the_left_key_goes_on(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("שלום\nabc")
    press(editor, Key.Key_Left)
    assert editor.caret.position == 1
    assert editor.rectangle_of(1).left() < editor.rectangle_of(0).left()
    press(editor, Key.Key_Right)
    assert editor.caret.position == 0
    assert editor.rectangle_of(0).left() > editor.viewport().width() / 2, "the line begins at the right"


def test_pages_move_the_caret_and_the_view(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("\n".join(f"line {i}" for i in range(500)))
    for _ in range(3):
        press(editor, Key.Key_PageDown)
    down = editor.caret.position
    assert editor.verticalScrollBar().value() > 0
    assert editor.viewport().rect().contains(editor.rectangle_of(down).center())
    for _ in range(4):
        press(editor, Key.Key_PageUp, SHIFT)
    assert editor.caret.selection == (0, down)
    assert editor.verticalScrollBar().value() == 0


@given(st.text("ab_1é .,\n\u0301", max_size=30), st.integers(0, 30))
def test_words_are_found_forwards_backwards_and_around(text: str, position: int) -> None:
    pieces = TokenTextModel(text).pieces
    position = min(position, len(text))
    after, before = next_word(pieces, position), previous_word(pieces, position)
    assert position < after <= len(text) or position == after == len(text)
    assert 0 <= before < position or position == before == 0
    assert "\n" not in text[position:after] or after == position + 1
    start, stop = word_around(pieces, position)
    assert start <= position <= stop
    assert "\n" not in text[start:stop]


def test_no_key_ever_leaves_the_caret_inside_a_character(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown(LANGUAGES, width=220)
    forwards = [0]
    while forwards[-1] < len(LANGUAGES):
        editor.caret.go(editor.caret.after())
        forwards.append(editor.caret.position)
    backwards = [len(LANGUAGES)]
    while backwards[-1] > 0:
        editor.caret.go(editor.caret.before())
        backwards.append(editor.caret.position)
    assert forwards == sorted(backwards)
    for inside in (LANGUAGES.index("🏽"), LANGUAGES.index("\u0301"), LANGUAGES.index("\u200d")):
        assert inside not in forwards


# -- the mouse -----------------------------------------------------------------------------


def test_dragging_selects_and_the_bytes_are_told(shown: Callable[..., TokenTextEdit], qtbot: QtBot) -> None:
    editor = shown("né two three")
    told: list[tuple[int, int] | None] = []
    editor.selection_changed.connect(told.append)
    rows = [editor.rectangle_of(i).center() for i in (0, 6)]
    QTest.mousePress(editor.viewport(), Qt.MouseButton.LeftButton, pos=rows[0])
    for x in range(rows[0].x(), rows[1].x() + 1, 5):
        QTest.mouseMove(editor.viewport(), QPoint(x, rows[0].y()))
        move(editor, QPoint(x, rows[0].y()), Qt.MouseButton.LeftButton)
    move(editor, rows[1], Qt.MouseButton.LeftButton)
    QTest.mouseRelease(editor.viewport(), Qt.MouseButton.LeftButton, pos=rows[1])
    assert editor.selected_text() == "né two"
    assert told[-1] == (0, 7)
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=rows[0])
    assert told[-1] is None


def move(editor: TokenTextEdit, point: QPoint, button: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
    """A mouse that moves with a button held, which the offscreen platform cannot do by itself."""
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


def test_two_clicks_select_a_word_and_three_a_line(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("one two three\nnext")
    place = editor.rectangle_of(5).center()
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QTest.mouseDClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert editor.selected_text() == "two"
    QTest.mouseClick(editor.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert editor.selected_text() == "one two three\n"


def test_the_token_under_the_mouse_is_told(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("né two\nשלום 😀")
    told: list[TokenAt | None] = []
    editor.token_hovered.connect(told.append)
    for byte in range(editor.model.byte_length):
        move(editor, middle_of(editor, byte))
        assert told[-1] == editor.model.token_at(byte), byte
    move(editor, QPoint(editor.viewport().width() - 2, editor.viewport().height() - 2))
    assert told[-1] is None


def test_the_token_at_the_caret_is_told(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("one two")
    told: list[TokenAt | None] = []
    editor.caret_token_changed.connect(told.append)
    press(editor, Key.Key_End)
    assert told[-1] == editor.model.token_at(6)
    assert editor.model.token_at(6) != editor.model.token_at(0)


def test_text_can_be_dropped_in_and_files_are_left_to_the_window(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("ab")
    data = QMimeData()
    data.setText("dropped")
    event = QDropEvent(
        QPointF(editor.rectangle_of(1).center()),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    editor.dropEvent(event)
    assert editor.model.text() == "adroppedb"
    assert editor.selected_text() == "dropped"
    files = QMimeData()
    files.setUrls([QUrl.fromLocalFile("/some.txt")])
    refused = QDropEvent(
        QPointF(5, 5), Qt.DropAction.CopyAction, files, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    refused.accept()
    editor.dropEvent(refused)
    assert not refused.isAccepted()


@pytest.mark.parametrize(("place", "expected"), [(0, "twoone three"), (13, "one threetwo"), (5, "one two three")])
def test_moving_the_selection_within_the_text_is_one_step(
    shown: Callable[..., TokenTextEdit], place: int, expected: str
) -> None:
    editor = shown("one two three")
    editor.select_bytes(4, 7)
    editor.move_selection(place)
    assert editor.model.text().replace("  ", " ") == expected
    assert editor.selected_text() == "two"
    if place != 5:
        editor.undo()
    assert editor.model.text() == "one two three"


# -- any text, any size --------------------------------------------------------------------


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


def test_invisible_characters_are_named() -> None:
    assert [box.label for box in VisibleText("\x00\r\u200b\x9f").boxes] == ["NUL", "CR", "ZWSP", "U+009F"]
    family = "👩\u200d👧"
    assert VisibleText(family).boxes == [], "a joiner does its work"
    assert [box.label for box in VisibleText(family, all_invisible=True).boxes] == ["ZWJ"]


@given(st.text(st.sampled_from("ab  \x00\u200b😀\u0301ש\t") | st.characters(codec="utf-8"), max_size=40), st.booleans())
def test_places_in_the_text_and_in_what_is_laid_out_map_both_ways(text: str, all_invisible: bool) -> None:
    visible = VisibleText(text, all_invisible=all_invisible)
    units = [visible.units_of(character) for character in range(len(text) + 1)]
    assert units == sorted(set(units)), "every character has room of its own"
    assert units[-1] == utf16_length(visible.text)
    assert [visible.character_of(unit) for unit in units] == list(range(len(text) + 1))


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
    assert last.index == len(editor.model.pieces) - 1
    assert abs(last.y + last.layout.height - editor.viewport().height()) < 1
    bar.setValue(bar.maximum() // 2)
    assert 0 < editor.flow.visible()[0].index < len(editor.model.pieces) - 1
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


@pytest.mark.parametrize("seed", range(25))
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


# -- colours -------------------------------------------------------------------------------


def pixels_of(editor: TokenTextEdit) -> Callable[[QPoint], QColor]:
    picture: QImage = editor.viewport().grab().toImage()
    return lambda point: QColor(picture.pixel(point))


@pytest.mark.parametrize("cursor", [0, 40, 97])
@pytest.mark.parametrize("text", [LANGUAGES, "ab " * 3000, "a" * 5000], ids=["languages", "long line", "one word"])
def test_every_cell_on_the_screen_has_the_colour_of_its_token(
    shown: Callable[..., TokenTextEdit], text: str, cursor: int
) -> None:
    editor = shown(text, cursor=cursor)
    model = editor.model
    tokens = model.tokens_between(0, model.byte_length)
    colours = colours_of(tokens)
    pixel = pixels_of(editor)
    checked = 0
    for block in editor.flow.visible():
        first = model.pieces.byte_of(block.start)
        for row in block.layout.rows:
            begins, ends = block.layout.cells(row)
            top = round(block.y + row.y) + 1
            if not 0 <= top < editor.viewport().height():
                continue
            for byte in range(row.byte_count):
                if abs(ends[byte] - begins[byte]) < 4:
                    continue  # too narrow to look between the hairlines
                index = int(np.searchsorted(tokens.edges, first + row.first_byte + byte, side="right")) - 1
                point = QPoint(int(MARGIN + (begins[byte] + ends[byte]) / 2), top)
                assert pixel(point) == LIGHT_FILLS[colours[index]], (byte, block.index)
                checked += 1
    assert checked > 30


def test_the_hairline_between_two_tokens_is_darker_than_both(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("aa bb", cursor=200)
    x = editor.rectangle_of(2).left()
    pixel = pixels_of(editor)
    line = [pixel(QPoint(x + i, 4)).lightness() for i in (-4, -3, -1, 0, 1, 3, 4)]
    assert min(line) < min(line[0], line[-1]) - 40


def test_a_step_in_time_changes_the_colours_and_an_unknown_token_has_none(
    shown: Callable[..., TokenTextEdit],
) -> None:
    editor = shown("abcdefghij klmnop", cursor=0)
    before = editor.viewport().grab().toImage()
    editor.model.set_cursor(97)
    after = editor.viewport().grab().toImage()
    assert before != after
    editor.model.forget_tokens()
    assert pixels_of(editor)(middle_of(editor, 3) - QPoint(0, 8)) == QColor(editor.palette().base().color())


def test_light_and_dark_follow_the_palette_at_once(shown: Callable[..., TokenTextEdit]) -> None:
    editor = shown("some words to see")
    point = middle_of(editor, 1) - QPoint(0, 9)
    assert pixels_of(editor)(point) in LIGHT_FILLS
    editor.setPalette(dark())
    assert pixels_of(editor)(point) in DARK_FILLS
    assert pixels_of(editor)(QPoint(2, 2)) == QColor("#17191c")


ids_with_runs = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6)), min_size=1, max_size=40).map(
    lambda runs: [token for token, times in runs for _ in range(times)]
)


def tokens_of(ids: list[int]) -> Tokens:
    """Tokens as long as their ids say."""
    lengths = np.array([token % 4 + 1 for token in ids])
    return Tokens(np.append(0, np.cumsum(lengths)).astype(np.int64), np.array(ids, np.int64))


@given(ids_with_runs)
def test_neighbours_never_have_the_same_colour(ids: list[int]) -> None:
    colours = colours_of(tokens_of(ids))
    assert (colours[1:] != colours[:-1]).all()
    assert colours.min() >= 0
    assert colours.max() < COLOURS


@given(ids_with_runs, st.data())
def test_a_stretch_has_the_colours_it_has_in_the_whole_text(ids: list[int], data: st.DataObject) -> None:
    whole = tokens_of(ids * 8)
    length = int(whole.edges[-1])
    colours = colours_of(whole)

    def between(start: int, stop: int) -> Tokens:
        first = int(np.searchsorted(whole.edges, start, side="right")) - 1
        last = int(np.searchsorted(whole.edges, stop, side="left"))
        return Tokens(whole.edges[first : last + 1], whole.ids[first:last])

    start = data.draw(st.integers(0, length - 1))
    stop = data.draw(st.integers(start + 1, length))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("app.window.text.view.colouring._CONTEXT", 2)
        tokens, found = coloured_tokens(between, start, stop, length)
    first = int(np.searchsorted(whole.edges, tokens.edges[0]))
    assert tokens.edges[0] <= start < tokens.edges[1]
    assert tokens.edges[-2] < stop <= tokens.edges[-1]
    np.testing.assert_array_equal(found, colours[first : first + len(tokens)])


def test_a_token_keeps_its_own_colour_almost_everywhere() -> None:
    ids = np.random.default_rng(5).integers(0, 30_000, 20_000)
    tokens = Tokens(np.arange(20_001), ids)
    assert (colours_of(tokens) == preferred_colours(ids)[0]).mean() > 0.8
    first, second, third = preferred_colours(ids)
    assert ((first != second) & (second != third) & (first != third)).all()
    assert colours_of(Tokens(np.arange(3), np.array([NO_TOKEN, 5])))[0] == UNCOLOURED


# Machado, Oliveira and Fernandes (2009): what linear red, green and blue become where one kind of cone is missing.
VISIONS = {
    "full": np.eye(3),
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
JUST_NOTICEABLE = 0.02  # in OKLab
Floats = npt.NDArray[np.float64]


def linear(colour: QColor) -> Floats:
    channels = np.array([colour.redF(), colour.greenF(), colour.blueF()])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def oklab(rgb: Floats) -> Floats:
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return cast(Floats, lab @ np.cbrt(cones @ np.clip(rgb, 0, 1)))


def contrast(one: QColor, other: QColor) -> float:
    """The ratio that the Web Content Accessibility Guidelines ask to be 4.5 or more."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    dark_one, light_one = sorted((float(weights @ linear(one)), float(weights @ linear(other))))
    return (light_one + 0.05) / (dark_one + 0.05)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("window", [light(), dark()], ids=["light", "dark"])
def test_fills_differ_for_every_kind_of_colour_vision(window: QPalette, vision: str) -> None:
    palette = TokenPalette.matching(window)
    seen = [oklab(VISIONS[vision] @ linear(fill)) for fill in (*palette.fills, palette.paper)]
    distances = [float(np.linalg.norm(a - b)) for a, b in combinations(seen, 2)]
    assert min(distances) > 2.5 * JUST_NOTICEABLE


@pytest.mark.parametrize("window", [light(), dark()], ids=["light", "dark"])
def test_letters_are_easy_to_read_on_every_fill_selected_or_not(window: QPalette) -> None:
    palette = TokenPalette.matching(window)
    assert len(palette.fills) == COLOURS
    for fill in (*palette.fills, palette.paper):
        assert contrast(palette.ink, fill) >= 4.5
        assert contrast(palette.ink, palette.selected(fill)) >= 4.5
        assert contrast(palette.outline, fill) >= 3


# -- the ids and the counts ----------------------------------------------------------------


@pytest.fixture
def panel(qtbot: QtBot) -> TokenTextPanel:
    model = TokenTextModel("some words, and numbers 123\n" * 40)
    panel = TokenTextPanel(model)
    panel.setPalette(light())
    qtbot.addWidget(panel)
    panel.resize(900, 400)
    panel.show()
    qtbot.waitExposed(panel)
    answer(model)
    model.set_cursor(60)
    QApplication.processEvents()
    return panel


def test_hovering_an_id_lights_its_token_and_the_other_way_round(panel: TokenTextPanel) -> None:
    grid, editor = panel.ids.grid, panel.editor
    index = grid.cells.columns + 1
    QTest.mouseMove(grid.viewport(), grid.cell_of(index).center().toPoint())
    span = tuple(editor.model.edges()[index : index + 2].tolist())
    assert grid.hovered is not None
    assert editor.highlighted == span == grid.hovered.span
    byte = int(editor.model.edges()[5])
    move(editor, middle_of(editor, byte))
    assert grid.highlighted == tuple(editor.model.edges()[5:7].tolist())


def test_choosing_an_id_selects_and_shows_its_token(panel: TokenTextPanel) -> None:
    grid, editor = panel.ids.grid, panel.editor
    grid.setFocus()
    QTest.keyClick(grid, Key.Key_End)
    last = editor.model.edges()[-2:].tolist()
    assert editor.selected_bytes() == tuple(last)
    assert editor.flow.visible()[-1].index == len(editor.model.pieces) - 1
    QTest.keyClick(grid, Key.Key_Home)
    QTest.keyClick(grid, Key.Key_Right)
    assert editor.selected_bytes() == tuple(editor.model.edges()[1:3].tolist())
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=grid.cell_of(3).center().toPoint())
    assert editor.selected_bytes() == tuple(editor.model.edges()[3:5].tolist())


def test_the_ids_of_the_selected_tokens_are_copied(panel: TokenTextPanel) -> None:
    edges = panel.editor.model.edges()
    panel.editor.select_bytes(int(edges[2]), int(edges[5]))
    ids = panel.editor.model.tokens_between(int(edges[2]), int(edges[5])).ids.tolist()
    assert len(ids) == 3
    panel.ids.grid.copy()
    assert QApplication.clipboard().text() == ", ".join(map(str, ids))
    panel.editor.caret.go(0)
    panel.editor.caret_moved()
    assert len(panel.ids.grid.selected_ids()) == panel.editor.model.token_count()


def test_pasted_ids_are_passed_on_and_their_meaning_shown(qtbot: QtBot) -> None:
    view = IdsView(TokenTextModel("x"))
    qtbot.addWidget(view)
    view.show()
    QTest.keyClicks(view.entry, "104, 105")
    with qtbot.waitSignal(view.ids_pasted) as caught:
        QTest.keyClick(view.entry, Key.Key_Return)
    assert caught.args == ["104, 105"]
    view.show_decoded("hi")
    assert view.decoded.isVisible()
    view.show_decoded("")
    assert not view.decoded.isVisible()


def test_three_hundred_thousand_ids_are_reached_to_the_last(qtbot: QtBot) -> None:
    model = TokenTextModel("abc" * 100_000)
    view = IdsView(model)
    qtbot.addWidget(view)
    view.resize(300, 300)
    view.show()
    model.accept(model.revision, 0, Boundaries(model.data, np.full(300_001, NEVER, np.int32)))
    grid = view.grid
    qtbot.waitUntil(lambda: grid.verticalScrollBar().maximum() > 10_000)
    grid.verticalScrollBar().setValue(grid.verticalScrollBar().maximum())
    grid.grab()
    assert grid.index_at(grid.cell_of(299_999).center()) == 299_999
    assert grid.viewport().rect().contains(grid.cell_of(299_999).center().toPoint())


def test_the_counts_follow_the_text_and_the_cursor(qtbot: QtBot) -> None:
    model = TokenTextModel("low low")
    bar = CountsBar(model)
    qtbot.addWidget(bar)
    assert "… tokens" in bar.accessibleName()
    model.accept(0, 0, Boundaries(model.data, np.array([CUT, 0, 1, CUT, 2, 0, 1, CUT], np.int32)))
    qtbot.waitUntil(lambda: bar.accessibleName().startswith("7 characters, 7 bytes, 7 tokens, 1.00 bytes per token"))
    model.set_cursor(3)
    qtbot.waitUntil(lambda: "2 tokens, 3.50 bytes per token, 1.00 tokens per word" in bar.accessibleName())


def test_everything_has_a_name_and_can_be_reached_by_keyboard(panel: TokenTextPanel) -> None:
    for widget in (panel.editor, panel.ids.grid, panel.ids.entry):
        assert widget.accessibleName()
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus
    panel.ids.grid.setFocus()
    QTest.keyClick(panel.ids.grid, Key.Key_Backtab, SHIFT)
    assert panel.editor.hasFocus()
    QTest.keyClick(panel.editor, Key.Key_Tab)
    assert panel.editor.hasFocus(), "a tab is a character of the text"
    assert panel.editor.model.text().startswith("\t")


def test_a_setting_is_measured_once() -> None:
    setting = Typesetting(QApplication.font(), 300.0)
    assert setting.metrics is setting.metrics
    assert BlockLayout("", setting, right_to_left=False, goes_on=False).height == setting.row_height


@pytest.mark.parametrize("text", ["עולם two ab", "two עולם x", "שלום 123 עולם", "a ע b", "שָׁלוֹם ab", "a مرحبا 1 b"])
@pytest.mark.parametrize("right_to_left", [False, True])
def test_where_the_reading_direction_turns_each_letter_has_its_cell(text: str, right_to_left: bool) -> None:
    layout = BlockLayout(text, Typesetting(QApplication.font(), 500.0), right_to_left=right_to_left, goes_on=False)
    (row,) = layout.rows
    begins, ends = layout.cells(row)
    low, high = np.sort(np.stack((begins, ends)), axis=0)
    order = np.lexsort((high, low))
    assert np.allclose(low[order][1:], high[order][:-1], atol=0.6), "the cells lie side by side"
    widths = high - low
    assert (widths > 0.1).all()
    assert abs(widths.sum() - row.line.naturalTextWidth()) < 2


def test_an_id_without_bytes_stands_among_the_others(qtbot: QtBot) -> None:
    """As a word marker does: it can be hovered and gone to, and points to its place in the text."""
    model = TokenTextModel("low low")
    panel = TokenTextPanel(model)
    qtbot.addWidget(panel)
    panel.show()
    symbols = np.array([1, 2, 3, NO_TOKEN, 1, 2, 3], np.int32)
    ranks = np.array([CUT, 0, NEVER, CUT, CUT, 0, NEVER, CUT], np.int32)
    markers = HiddenSymbols(
        np.array([3, 7]), *(np.array(two, np.int32) for two in ([4, 4], [NEVER, NEVER], [CUT, CUT]))
    )
    model.accept(model.revision, 0, Boundaries(model.data, ranks, symbols, markers, alphabet_size=9))
    model.set_cursor(1)
    grid = panel.ids.grid
    qtbot.waitUntil(lambda: grid.cells == grid._measured())  # laid out for what the model holds by now
    grid.grab()
    assert grid.selected_ids() == [9, 3, 4, 9, 3, 4]
    with qtbot.waitSignal(grid.token_hovered) as hovered:
        QTest.mouseMove(grid.viewport(), grid.cell_of(2).center().toPoint())
    assert hovered.args == [TokenAt(3, 3, 4, b"")]
    panel.grab()
    QTest.mouseClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=grid.cell_of(6).center().toPoint())
    assert panel.editor.caret.position == 7
