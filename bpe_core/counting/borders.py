"""Words with borders in them, `mor|phe|mes`: no merge crosses one, so each part is learned from as a word of its own.

>>> list(cut_at_borders(WordTable.from_counts({"mor|phe|mes": 3, "phe": 1}), "|"))
[(b'mor', 3), (b'phe', 4), (b'mes', 3)]
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bpe_core.counting.words import WordTable


def cut_at_borders(words: WordTable, border: str) -> WordTable:
    """Return the parts of all words in the order in which they are met; a line ends with the last part of a word."""
    sign = border.encode()
    if not len(words) or not words.which_hold(sign).any():
        return words
    counts: dict[bytes, int] = {}
    ends: dict[bytes, int] = {}
    of_lines = np.zeros(len(words), np.int64) if words.line_ends is None else words.line_ends
    for (word, count), at_end in zip(words, of_lines.tolist(), strict=True):
        parts = [part for part in word.split(sign) if part]
        for part in parts:
            counts[part] = counts.get(part, 0) + count
        for part in parts[-1:]:
            ends[part] = ends.get(part, 0) + at_end
    known = None if words.line_ends is None else np.array([ends.get(part, 0) for part in counts], np.int64)
    return replace(WordTable.from_counts(counts.items()), line_ends=known, text_bytes=words.text_bytes)
