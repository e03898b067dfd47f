"""The decoding of arrays of ids by machine code.

The number of bytes is counted first. Then every thread writes its share of the tokens to its place in the result, so no
byte is copied a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from io import BytesIO
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.history.history import History
from bpe_core.history.laid_texts import concatenate
from bpe_core.history.token_texts import decoded
from bpe_core.kernels.decode import IN_ROW, LENGTH_SHIFT, LONG, NO_TOKEN, count_bytes, decode_ids, place_tokens
from bpe_core.support.arrays import Int64s, UInt32s
from bpe_core.support.limits import check_room
from bpe_core.support.threads import available_threads, run_in_threads
from bpe_core.text.offsets import decode_with_offsets

CONVERTED_AT_ONCE = 1 << 16  # ids of other widths, which become 32-bit numbers in the processor's cache
WORTH_THREADS = 1 << 20  # ids: some milliseconds
_LAST = np.uint64(2**32 - 1)  # no token has this id


class TokenTable:
    """A table for decoding: the bytes and the length of the token for each id of the file."""

    def __init__(self, history: History, *, skip_special: bool) -> None:
        specials = (b"" if skip_special else token.encode() for token in history.recipe.special_tokens)
        texts = [*decoded(history), *specials]
        all_numbers = np.unique(history.numbers_of(np.arange(history.index_count)))
        self._numbers = numbers = all_numbers[all_numbers >= 0]
        self._indices = indices = np.array(history.indices_of(numbers.tolist()), np.int64)
        self._data, self._starts = concatenate(texts)
        lengths = np.diff(self._starts)
        rows = np.array(texts, f"S{IN_ROW + 1}").view("<u8").reshape(-1, 2)
        is_long = lengths > IN_ROW
        rows[is_long, 0] = self._starts[:-1][is_long]
        rows[is_long, 1] = lengths[is_long]
        rows[:, 1] |= np.where(is_long, LONG, lengths).astype(np.uint64) << np.uint64(LENGTH_SHIFT)
        known = int(numbers.max(initial=-1)) + 1
        self._lengths: UInt32s = np.full(known + 1, NO_TOKEN, np.uint32)
        self._lengths[numbers] = lengths[indices]
        rows_by_number = np.zeros((known, 2), np.uint64)
        rows_by_number[numbers] = rows[indices]
        self._rows = rows_by_number.reshape(-1)

    def decoded(self, ids: npt.NDArray[Any]) -> bytes | None:
        """Return the joined bytes of tokens. Return None if an id has no token."""
        threads = available_threads() if len(ids) >= WORTH_THREADS else 1
        shares = [ids] if threads == 1 else np.array_split(ids, threads)
        sizes = run_in_threads(self._size, shares)
        if min(sizes) < 0:
            return None
        total = sum(sizes)
        if not total:
            return b""
        check_room(total, "Decoding", "Decode fewer tokens at once.")
        joined = BytesIO(bytes(total))  # gives its bytes without a copy
        with joined.getbuffer() as room:
            self._write(shares, sizes, room)
        return joined.getvalue()

    def with_offsets(self, ids: npt.NDArray[Any]) -> tuple[str, Int64s] | None:
        """Return the text of tokens, and the offset of each token in it. Return None if an id has no token."""
        data = self.decoded(ids)
        if data is None:
            return None
        characters = self._characters
        try:
            text = data.decode()
        except UnicodeDecodeError:
            characters = None
        if characters is None:
            ends = np.cumsum(np.concatenate([self._lengths.take(some) for some in _converted(ids)]), dtype=np.int64)
            return decode_with_offsets(data, np.append(np.int64(0), ends[:-1]))
        offsets = np.empty(len(ids), np.int64)
        done = place = 0
        for some in _converted(ids):
            place = int(place_tokens(characters, some, offsets[done : done + len(some)], np.int64(place)))
            done += len(some)
        return text, offsets

    @cached_property
    def _characters(self) -> UInt32s | None:
        """Return for each id how many characters begin in its token, and whether the token begins inside a character.

        Both facts are in one number: twice the number of characters, plus 1 if the token begins inside a character.
        Return None if a token has no bytes, because its place among the characters depends on the tokens around it.
        """
        starts = self._starts
        if not np.diff(starts).all():
            return None
        begins = self._data & 0xC0 != 0x80
        doubled = 2 * np.add.reduceat(begins, starts[:-1], dtype=np.uint32)
        characters = np.zeros(len(self._lengths), np.uint32)
        characters[self._numbers] = (doubled + ~begins[starts[:-1]])[self._indices]
        return characters

    def _size(self, ids: npt.NDArray[Any]) -> int:
        sizes = [int(count_bytes(self._lengths, some)) for some in _converted(ids)]
        return -1 if min(sizes, default=0) < 0 else sum(sizes)

    def _write(self, shares: Sequence[npt.NDArray[Any]], sizes: Sequence[int], room: memoryview) -> None:
        out = np.frombuffer(room, np.uint8)

        def write(share: tuple[npt.NDArray[Any], tuple[int, int]]) -> None:
            ids, (place, end) = share
            for some in _converted(ids):
                place = int(decode_ids(self._rows, self._data, some, out, np.int64(place), np.int64(end)))

        run_in_threads(write, list(zip(shares, pairwise(accumulate(sizes, initial=0)), strict=True)))


def _converted(ids: npt.NDArray[Any]) -> Iterator[UInt32s]:
    """Yield the ids as unsigned 32-bit integers. A number that does not fit is replaced by an id that no token has."""
    if ids.dtype in (np.int32, np.uint32) and ids.flags.c_contiguous:
        yield ids.view(np.uint32)
        return
    for start in range(0, len(ids), CONVERTED_AT_ONCE):
        some = ids[start : start + CONVERTED_AT_ONCE].astype(np.int64, copy=False).view(np.uint64)
        yield np.minimum(some, _LAST).astype(np.uint32) if some.max() > _LAST else some.astype(np.uint32)
