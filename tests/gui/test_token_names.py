"""Names of tokens hide nothing."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.worker.token_names import TokenNames, shown
from tests.gui.histories import random_history


@given(
    st.binary(min_size=1, max_size=12)
    | st.text(min_size=1, max_size=8).map(lambda text: text.encode("utf-8", "ignore"))
)
def test_every_byte_leaves_a_visible_trace(raw: bytes) -> None:
    text = shown(raw)
    assert not raw or text
    assert all(unicodedata.category(character) not in ("Cc", "Cf", "Cn", "Zs", "Zl", "Zp") for character in text)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b" the", "·the"),
        (b"\n\n", "⏎⏎"),
        (b"\t\r", "⇥<0x0D>"),
        ("é".encode()[:1], "<0xC3>"),
        ("a🎉".encode()[:3], "a<0xF0><0x9F>"),
        ("·".encode(), "<0xC2><0xB7>"),
        ("\u200b".encode(), "<0xE2><0x80><0x8B>"),
        ("日本".encode(), "日本"),
        (b"", ""),
    ],
)
def test_signs(raw: bytes, text: str) -> None:
    assert shown(raw) == text


def test_names_grow_with_the_history() -> None:
    history = random_history(50)
    at_once, bit_by_bit = TokenNames(history.alphabet), TokenNames(history.alphabet)
    at_once.grow(history)
    for merges in (0, 3, 3, 40, 50):
        bit_by_bit.grow(history.first(merges))
    assert at_once.raw == bit_by_bit.raw
    assert at_once.text == bit_by_bit.text
    last = history[49]
    assert at_once.raw[-1] == at_once.raw[last.left] + at_once.raw[last.right]
