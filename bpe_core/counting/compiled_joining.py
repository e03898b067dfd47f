"""Joining tables of words with the compiled kernels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bpe_core.counting.joining import Bytes, Int64s, Joined, WordColumns
from bpe_core.kernels import word_rows

WORDS_AT_ONCE = 1 << 17  # some ten milliseconds
PADDING = 8  # bytes behind the text that may be read


def join_by_kernels(tables: Sequence[WordColumns]) -> Joined:
    """As `join` says."""
    words = sum(map(len, tables))
    text = np.concatenate([*(table.text for table in tables), np.zeros(PADDING, np.uint8)])
    starts = np.zeros(words + 1, np.int64)
    np.cumsum(np.concatenate([np.diff(table.starts) for table in tables]), out=starts[1:])
    slots = 1 << (4 * words // 3 + 1).bit_length()
    keys, places = np.zeros(slots, np.uint64), np.empty(slots, np.int64)
    rows, firsts = np.empty(words, np.int64), np.empty(words, np.int64)
    found = 0
    for begin in range(0, words, WORDS_AT_ONCE):
        stop = min(words, begin + WORDS_AT_ONCE)
        found = int(word_rows.number_words(text, starts, begin, stop, keys, places, rows, firsts, found))
    borders = np.cumsum([len(table) for table in tables])[:-1]
    return Joined(_gathered(text, starts, firsts[:found]), np.split(rows, borders))


def _gathered(text: Bytes, starts: Int64s, chosen: Int64s) -> WordColumns:
    new_starts = np.zeros(len(chosen) + 1, np.int64)
    np.cumsum(starts[chosen + 1] - starts[chosen], out=new_starts[1:])
    gathered = np.empty(int(new_starts[-1]), np.uint8)
    for begin in range(0, len(chosen), WORDS_AT_ONCE):
        stop = min(len(chosen), begin + WORDS_AT_ONCE)
        word_rows.gather_words(text, starts, begin, stop, chosen, new_starts, gathered)
    return WordColumns(gathered, new_starts)
