"""Functions that split words further after the words are counted. A method treats each part as a separate word.

>>> list(cut_at_borders(WordTable.from_counts({"mor|phe|mes": 3, "phe": 1}), "|"))
[(b'mor', 3), (b'phe', 4), (b'mes', 3)]
>>> list(cut_numbers(WordTable.from_counts({"1234567": 2, "567": 1, "a1234": 1})))
[(b'1', 2), (b'234', 2), (b'567', 3), (b'a1234', 1)]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bpe_core.counting.words import WordTable

LONGEST_GROUP = 3  # digits


def cut_at_borders(words: WordTable, border: str) -> WordTable:
    """Split words wherever they contain `border`, and return the parts with their counts.

    With the border `|`, the word `mor|phe|mes` has three parts. No merge crosses a border.
    """
    sign = border.encode()
    if not len(words) or not words.which_hold(sign).any():
        return words
    return _cut(words, lambda word: [part for part in word.split(sign) if part])


def cut_numbers(words: WordTable) -> WordTable:
    """Return the words, with each number split into groups of three digits from the right."""
    import regex  # takes a while to load

    groups = regex.compile(rf"\p{{N}}{{1,{LONGEST_GROUP}}}(?=(?:\p{{N}}{{{LONGEST_GROUP}}})*$)")
    number = regex.compile(rf"\p{{N}}{{{LONGEST_GROUP + 1},}}")

    def parts_of(word: bytes) -> list[bytes]:
        if len(word) <= LONGEST_GROUP or not number.fullmatch(text := word.decode()):
            return [word]
        return [part.encode() for part in groups.findall(text)]

    return _cut(words, parts_of)


def _cut(words: WordTable, parts_of: Callable[[bytes], list[bytes]]) -> WordTable:
    """Split each word into parts with `parts_of`, and return the parts with their counts, in first-seen order.

    The table may also say how many lines end with each word. This number then goes to the last part of the word.
    """
    counts: dict[bytes, int] = {}
    ends: dict[bytes, int] = {}
    of_lines = np.zeros(len(words), np.int64) if words.line_ends is None else words.line_ends
    for (word, count), at_end in zip(words, of_lines.tolist(), strict=True):
        parts = parts_of(word)
        for part in parts:
            counts[part] = counts.get(part, 0) + count
        for part in parts[-1:]:
            ends[part] = ends.get(part, 0) + at_end
    known = None if words.line_ends is None else np.array([ends.get(part, 0) for part in counts], np.int64)
    return replace(WordTable.from_counts(counts.items()), line_ends=known, text_bytes=words.text_bytes)
