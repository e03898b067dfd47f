"""Tests of escaped texts: every character is visible, and the original text can be recovered."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from bpe_core.support.escaped_bytes import escape, unescape


@given(st.binary() | st.text().map(str.encode) | st.text("<0x1A>F").map(str.encode))
def test_escaped_bytes_are_printable_and_can_be_unescaped(raw: bytes) -> None:
    assert escape(raw).isprintable()
    assert unescape(escape(raw)) == raw


def test_escaped_text_shows_invisible_characters_as_bytes() -> None:
    assert escape(" a\u00a0b\u200d\u2028".encode()) == " a<0xC2><0xA0>b<0xE2><0x80><0x8D><0xE2><0x80><0xA8>"
