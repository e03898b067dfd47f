"""A word table in pieces that fit into rows, and back.

>>> table = WordTable.from_counts({"low": 5, "lower": 2})
>>> [(words, text, len(lengths), len(counts)) for words, text, lengths, counts in word_chunks(table)]
[(2, b'lowlower', 8, 16)]
>>> list(word_table(word_chunks(table), "the example"))
[(b'low', 5), (b'lower', 2)]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError

WORDS_IN_A_CHUNK = 65_536
BYTES_IN_A_CHUNK = 64 * 2**20  # a single longer word still makes one chunk; SQLite holds up to 10^9

WordChunk = tuple[int, bytes, bytes, bytes]  # words, their text, lengths, counts


def word_chunks(table: WordTable) -> Iterator[WordChunk]:
    """Rows of bounded size."""
    start = 0
    while start < len(table):
        most = np.searchsorted(table.starts, table.starts[start] + BYTES_IN_A_CHUNK, side="right") - 1
        stop = min(max(int(most), start + 1), start + WORDS_IN_A_CHUNK, len(table))
        text = table.text[table.starts[start] : table.starts[stop]]
        lengths = np.diff(table.starts[start : stop + 1])
        counts = table.counts[start:stop]
        yield stop - start, text.tobytes(), lengths.astype("<i4").tobytes(), counts.astype("<i8").tobytes()
        start = stop


def word_table(chunks: Iterable[WordChunk], where: str) -> WordTable:
    """The table again, if its pieces fit together; `where` begins the sentence if not."""
    texts, lengths, counts = [], [], []
    for number, (words, text, chunk_lengths, chunk_counts) in enumerate(chunks):
        if len(chunk_lengths) != 4 * words or len(chunk_counts) != 8 * words:
            raise FormatError(f"{where}: piece {number} of a word table has the wrong size.")
        texts.append(text)
        lengths.append(np.frombuffer(chunk_lengths, "<i4"))
        counts.append(np.frombuffer(chunk_counts, "<i8"))
        if int(lengths[-1].astype(np.int64).sum()) != len(text) or (lengths[-1] <= 0).any():
            raise FormatError(f"{where}: the words in piece {number} of a word table do not fill it.")
    whole = b"".join(texts)
    starts = np.zeros(sum(map(len, lengths)) + 1, np.int64)
    if lengths:
        np.cumsum(np.concatenate(lengths), out=starts[1:], dtype=np.int64)
    numbers = np.concatenate(counts).astype(np.int64) if counts else np.zeros(0, np.int64)
    table = WordTable(np.frombuffer(whole, np.uint8), starts, numbers)
    _check(table, whole, where)
    return table


def _check(table: WordTable, whole: bytes, where: str) -> None:
    weight = np.diff(table.starts).astype(np.float64) @ table.counts.astype(np.float64)
    if (table.counts <= 0).any() or weight >= 2.0**62:
        raise FormatError(f"{where}: a word count is not positive, or larger than any corpus could give.")
    try:
        whole.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{where}: the words are not UTF-8 text at byte {error.start:,}.") from error
    if ((table.text[table.starts[:-1]] & 0xC0) == 0x80).any():
        raise FormatError(f"{where}: a word begins in the middle of a character.")
