"""Helpers that edit a text and its segmentation at random, and list the tokens of a range."""

from __future__ import annotations

from hypothesis import strategies as st

from bpe_core.segmenting.segmentation import Segmentation, Tokens
from tests.core.test_encoding_any_recipe import TEXTS


def edit_at_random(text: str, known: Segmentation, data: st.DataObject) -> str:
    """Replace a few characters of the text, update the segmentation `known`, and return the new text.

    The replacement has at most six characters, or exactly fifty. With fifty, many tokens move.
    """
    start = data.draw(st.integers(0, len(text)), label="start")
    stop = data.draw(st.integers(start, min(start + 4, len(text))), label="stop")
    added = data.draw(TEXTS.map(lambda new: new[:6]) | st.just("x" * 50), label="added")
    known.splice(len(text[:start].encode()), len(text[start:stop].encode()), added.encode())
    return text[:start] + added + text[stop:]


def tokens_in_range(whole: Tokens, start: int, stop: int) -> list[tuple[int, int, int]]:
    """Return the tokens that share a byte with a range: the start, the end and the id of each token."""
    rows = zip(whole.edges[:-1].tolist(), whole.edges[1:].tolist(), whole.ids.tolist(), strict=True)
    return [row for row in rows if row[0] < stop and row[1] > start and row[0] < row[1]]
