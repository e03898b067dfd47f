"""Tests of token names that are written from right to left."""

from __future__ import annotations

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextLayout, QTextOption

from app.window.parts.wording import MARK, with_direction_marks
from bpe_core.history.token_texts import shown

PIECES = st.lists(st.sampled_from(["ש", "ل", "7", " ", ".", "x", "\x05"]), min_size=1, max_size=4).map("".join)
TORN = st.sampled_from([b"", b"\xd7", b"\xd8\x95", b"\xff"])
NAMES = st.builds(
    lambda start, torn, end: shown(start.encode() + torn + end.encode()), PIECES, TORN, PIECES | st.just("")
)


def places(text: str) -> list[float]:
    """Return the horizontal positions at which the characters of a line begin or end."""
    layout = QTextLayout(text)
    layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignLeft))
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(100_000)
    layout.endLayout()
    return [line.cursorToX(place)[0] for place in range(len(text) + 1)]  # type: ignore[index]


def is_one_piece(text: str, sign: str) -> bool:
    """Return whether the characters of `sign` stand next to each other, from left to right."""
    start = text.index(sign)
    edges = places(text)[start : start + len(sign) + 1]
    return edges == sorted(edges)


@given(NAMES, NAMES)
def test_the_left_token_of_a_pair_is_painted_on_the_left(qapp: object, left: str, right: str) -> None:
    painted = with_direction_marks(f"{left} + {right}")
    middle = painted.replace(MARK, "").index(left) + len(left)
    x, kept = places(painted), [i for i, sign in enumerate(painted) if sign != MARK]
    before, plus, after = kept[:middle], kept[middle : middle + 3], kept[middle + 3 :]
    assert max(x[i] for i in before) <= x[plus[1] + 1]
    assert min(x[i] for i in after) >= x[plus[1]]


def test_the_name_of_a_byte_is_not_reordered_in_right_to_left_text(qapp: object) -> None:
    name = "של<0xD7>"
    assert is_one_piece(with_direction_marks(name), "<0xD7>")
    assert not is_one_piece(name, "<0xD7>")


@given(st.text(max_size=20))
def test_direction_marks_are_the_only_characters_added_to_show_a_pair_from_left_to_right(text: str) -> None:
    assert with_direction_marks(text).replace(MARK, "") == text.replace(MARK, "")


def test_every_right_to_left_character_gets_a_direction_mark() -> None:
    every = map(chr, range(sys.maxunicode + 1))
    from_the_right = [character for character in every if unicodedata.bidirectional(character) in ("R", "AL", "AN")]
    assert [character for character in from_the_right if not with_direction_marks(character).startswith(MARK)] == []
