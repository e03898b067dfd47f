"""Functions that find the positions of a highlighted token, pair or word in a text."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from app.session.selection import Highlight
from app.window.text.text_model import Tokens

ByteSpan = tuple[int, int]


def places_of(highlight: Highlight, data: bytes, tokens: Tokens) -> list[ByteSpan]:
    """Return the byte ranges where a token, a pair or a word occurs among neighbouring tokens.

    >>> low = Tokens(np.array([0, 2, 3, 5]), np.array([9, 7, 9]))
    >>> places_of(Highlight((9,)), b"lowlo", low), places_of(Highlight((9, 7)), b"lowlo", low)
    ([(0, 2), (3, 5)], [(0, 3)])
    >>> places_of(Highlight(word=b"ow"), b"lowlo", low)
    [(1, 3)]
    """
    edges = tokens.edges
    if highlight.word:
        return list(_places_of_word(highlight.word, data, int(edges[0]), int(edges[-1])))
    if not highlight.tokens or not len(tokens.ids):
        return []
    count = len(tokens.ids) - len(highlight.tokens) + 1
    fits = np.ones(max(0, count), np.bool_)
    for place, token in enumerate(highlight.tokens):
        fits &= tokens.ids[place : place + len(fits)] == token
    firsts = np.flatnonzero(fits)
    starts = edges[firsts].tolist()
    stops = edges[firsts + len(highlight.tokens)].tolist()
    return list(zip(starts, stops, strict=True))


def _places_of_word(word: bytes, data: bytes, start: int, stop: int) -> Iterator[ByteSpan]:
    place = data.find(word, max(0, start - len(word) + 1), stop + len(word))
    while place >= 0:
        yield place, place + len(word)
        place = data.find(word, place + len(word), stop + len(word))
