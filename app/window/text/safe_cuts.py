"""How much of a text must be encoded again after an edit.

A pre-tokenization pattern looks only a little way around each cut it makes, so an edit can
change no word beyond the next place where the pattern is sure to cut. Such places are told
by a regular expression over bytes: the cut is where a match starts. For most named patterns
a blank after an ASCII letter is one; for a person's own pattern no place is. Blanks divide what
normalization looks at, too: none is composed onto another character or tells the case of one.

    >>> text = b"one line\\ntwo lines\\nthree\\n"
    >>> span_to_encode(reader_of(text), len(text), 12, 13)
    (8, 18)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from bpe_core import Recipe
from bpe_core.text.normalization import normalize
from bpe_core.text.scanner import safe_ascii_pairs

NEWLINE_AFTER_LETTER = re.compile(rb"(?<=[A-Za-z])\n")
_WINDOW = 4096  # bytes read at first; doubled until a safe cut is found
NOWHERE = re.compile(rb"(?!)")

ByteReader = Callable[[int, int], bytes]  # the bytes of the new text from one position to another


def span_to_encode(
    read: ByteReader, length: int, start: int, stop: int, safe_cut: re.Pattern[bytes] = NEWLINE_AFTER_LETTER
) -> tuple[int, int]:
    """The bytes of the new text whose words an edit may have changed.

    `start` to `stop` are the bytes that are new (an empty range where some were removed).
    A match that touches them proves nothing about the text as it was, so the nearest safe
    cuts that lie wholly before and wholly behind them are taken.
    """
    return _last_cut_before(read, start, safe_cut), _first_cut_after(read, length, stop, safe_cut)


@lru_cache(maxsize=8)
def safe_cut_of(recipe: Recipe) -> re.Pattern[bytes]:
    """Where a text may be divided without changing a word of either part."""
    if recipe.special_tokens:
        return NOWHERE  # an edit can make or break one, and with it words on both sides
    pairs = safe_ascii_pairs(recipe.pattern, recipe.unit)
    if recipe.normalizes:
        certain = {(chr(x), chr(y)) for x, y in pairs}
        pairs = [(x, y) for x, y in pairs if chr(y).isspace() and (*normalize(chr(x) + chr(y), recipe),) in certain]
    firsts_of: dict[int, bytes] = {}
    for x, y in pairs:
        firsts_of[y] = firsts_of.get(y, b"") + bytes([x])
    seconds_of: dict[bytes, bytes] = {}
    for y, firsts in firsts_of.items():
        seconds_of[firsts] = seconds_of.get(firsts, b"") + bytes([y])
    parts = [b"(?<=[%b])[%b]" % (re.escape(x), re.escape(y)) for x, y in seconds_of.items()]
    return re.compile(b"|".join(parts)) if parts else NOWHERE


def reader_of(text: bytes) -> ByteReader:
    return lambda start, stop: text[start:stop]


def _last_cut_before(read: ByteReader, position: int, safe_cut: re.Pattern[bytes]) -> int:
    window = _WINDOW
    while True:
        start = max(0, position - window)
        cuts = [match.start() for match in safe_cut.finditer(read(start, position))]
        if cuts:
            return start + cuts[-1]
        if start == 0:
            return 0
        window *= 2


def _first_cut_after(read: ByteReader, length: int, position: int, safe_cut: re.Pattern[bytes]) -> int:
    window = _WINDOW
    while True:
        stop = min(length, position + window)
        match = safe_cut.search(read(position, stop))
        if match:
            return position + match.start()
        if stop == length:
            return length
        window *= 2
