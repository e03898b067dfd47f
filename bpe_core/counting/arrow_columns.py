"""Words between Arrow's buffers and ours, which hold the same: no Python object is made for any of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.counting.joining import Int64s, WordColumns
from bpe_core.counting.words import WordTable
from bpe_core.errors import CorpusError
from bpe_core.text.reading.arrow_array import Strings
from bpe_core.text.reading.utf8 import first_invalid


def arrow_words(arrow: Any, columns: WordColumns) -> Any:
    """The words as an Arrow array; nothing is copied."""
    buffers = [None, arrow.py_buffer(np.ascontiguousarray(columns.starts)), arrow.py_buffer(columns.text)]
    return arrow.Array.from_buffers(arrow.large_binary(), len(columns), buffers)


def columns_in(column: Any, name: str) -> WordColumns:
    """The words of a column of strings or bytes, empty ones too; `name` begins the sentence where they are no text."""
    large = "large_binary" if "binary" in str(column.type) else "large_string"
    whole = column.cast(large)
    strings = Strings(whole.combine_chunks() if hasattr(whole, "combine_chunks") else whole)
    starts = strings.bounds - strings.bounds[0]
    text = np.array(strings.data[int(strings.bounds[0]) : int(strings.bounds[-1])])
    begins = starts[:-1][np.diff(starts) > 0]
    if first_invalid(text.data) >= 0 or bool(((text[begins] & 0xC0) == 0x80).any()):
        raise CorpusError(f"{name} holds words that are not valid UTF-8; they cannot be words of texts.")
    return WordColumns(text, starts)


def kept_words(columns: WordColumns, counts: Int64s, line_ends: Int64s | None = None) -> WordTable:
    """Those of the words that are some, and occur."""
    kept: npt.NDArray[np.bool_] = (counts > 0) & (np.diff(columns.starts) > 0)
    if bool(kept.all()):
        return WordTable(*columns, counts, line_ends)
    return WordTable(*columns.where(kept), counts[kept], None if line_ends is None else line_ends[kept])
