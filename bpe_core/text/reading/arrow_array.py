"""From an Arrow array of strings to documents, without a Python string for any of them.

An Arrow array holds its strings end to end in one buffer, and beside it where each ends: many
documents are handed on at once, as one stretch of bytes with the places where documents end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.errors import EncodingError
from bpe_core.text.reading.rows import BadRow
from bpe_core.text.reading.source import DocumentPiece, OnInvalid
from bpe_core.text.reading.texts import pieces_of
from bpe_core.text.reading.utf8 import first_invalid

Int64s = npt.NDArray[np.int64]
Mended = Callable[[bytes, int], bytes]  # a text that is no UTF-8, and its place in the array

_FIRST_BITS, _GOES_ON = 0xC0, 0x80  # of a byte that does not begin a character


class Damaged(Exception):
    """What of a file is damaged, for the middle of a sentence."""


class Strings:
    """The strings of an array: `bounds[i]` and `bounds[i + 1]` are the ends of the i-th in `data`."""

    def __init__(self, array: Any) -> None:
        import pyarrow as arrow

        kinds = arrow.types
        if kinds.is_dictionary(array.type):
            array = array.dictionary_decode()
        if not any(known(array.type) for known in (kinds.is_string, kinds.is_binary, _is_large)):
            array = array.cast(arrow.large_binary() if "binary" in str(array.type) else arrow.large_string())
        if array.null_count:  # what their places in the buffer hold may be anything
            array = array.drop_null()
        width = np.int64 if _is_large(array.type) else np.int32
        _, bounds, data = array.buffers()
        self.data = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
        self.bounds: Int64s = np.zeros(1, np.int64)
        if len(array):
            all_bounds = np.frombuffer(bounds, width)
            self.bounds = all_bounds[array.offset : array.offset + len(array) + 1].astype(np.int64)
        if self.bounds[0] < 0 or self.bounds[-1] > len(self.data) or bool((np.diff(self.bounds) < 0).any()):
            raise Damaged("its strings lie outside of it")

    def pieces(self, size: int, bytes_read: int, mended: Mended) -> Iterator[DocumentPiece]:
        """The documents, many at once where they are short; empty ones are none."""
        place, count = 0, len(self.bounds) - 1
        while place < count:
            start = int(self.bounds[place])
            after = int(np.searchsorted(self.bounds, np.int64(start + size), side="right")) - 1
            if after <= place:
                text = self._sound(place, mended)
                yield from pieces_of(text, size, bytes_read)
                place += 1
                continue
            after = min(after, count)
            yield from self._several(place, after, size, bytes_read, mended)
            place = after

    def _several(self, first: int, after: int, size: int, bytes_read: int, mended: Mended) -> Iterator[DocumentPiece]:
        bounds = self.bounds[first : after + 1]
        start, stop = int(bounds[0]), int(bounds[-1])
        if start == stop:
            return
        data = np.empty(stop - start, np.uint8)
        data[:] = self.data[start:stop]
        begins = bounds[:-1][np.diff(bounds) > 0] - start
        if first_invalid(data.data) < 0 and not bool(((data[begins] & _FIRST_BITS) == _GOES_ON).any()):
            yield DocumentPiece(data.data, True, bytes_read, begins[1:])
            return
        for place in range(first, after):
            yield from pieces_of(self._sound(place, mended), size, bytes_read)

    def _sound(self, place: int, mended: Mended) -> bytes:
        text = self.data[self.bounds[place] : self.bounds[place + 1]].tobytes()
        return text if first_invalid(text) < 0 else mended(text, place)


def mended_text(text: bytes, on_invalid: OnInvalid) -> bytes:
    """The text of a row, whose bytes may be anything, as UTF-8."""
    try:
        return str(text, "utf-8", {"strict": "strict", "replace": "replace", "skip": "ignore"}[on_invalid]).encode()
    except UnicodeDecodeError as error:
        told = f"its text is not valid UTF-8: byte 0x{text[error.start]:02X} at offset {error.start:,}"
        raise BadRow(told) from EncodingError(told)


def _is_large(kind: Any) -> bool:
    import pyarrow as arrow

    return bool(arrow.types.is_large_string(kind) or arrow.types.is_large_binary(kind))
