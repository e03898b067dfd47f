"""From characters as Python keeps them, each one, two or four bytes wide, to UTF-8.

Most characters of most texts are ASCII, so many are written at once and looked at afterwards: were they all?
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.memory import NARROWED, narrow, trailing_zeros

_ONE_BY_ONE = 8  # from one that is not ASCII on
MOST_BYTES = 4  # of a character


@inlined
def _write_character(code, out, place):
    """Write one; where the next begins."""
    one, two, three, six = np.uint64(1), np.uint64(2), np.uint64(3), np.uint32(63)
    if code < 0x80:
        out[place] = code
        return place + one
    if code < 0x800:
        out[place], out[place + one] = 0xC0 | code >> 6, 0x80 | code & six
        return place + two
    if code < 0x10000:
        out[place], out[place + one], out[place + two] = 0xE0 | code >> 12, 0x80 | code >> 6 & six, 0x80 | code & six
        return place + three
    out[place], out[place + one] = 0xF0 | code >> 18, 0x80 | code >> 12 & six
    out[place + two], out[place + three] = 0x80 | code >> 6 & six, 0x80 | code & six
    return place + np.uint64(MOST_BYTES)


@kernel
def write_utf8(characters, start, stop, out):
    """Write some characters as UTF-8; how many bytes, or -1 where one is half of a surrogate pair, which has none.

    There must be room for MOST_BYTES each.
    """
    i, end, place = np.uint64(start), np.uint64(stop), np.uint64(0)
    one, none, many, halves = np.uint64(1), np.uint64(0), np.uint64(NARROWED), np.uint64(0)
    while i < end:
        while i + many <= end:
            others = narrow(characters, i, out, place)
            if others != none:
                i += trailing_zeros(others)
                place += trailing_zeros(others)
                break
            i += many
            place += many
        pause = min(end, i + np.uint64(_ONE_BY_ONE))
        while i < pause:
            code = np.uint32(characters[i])
            halves |= np.uint64(code & np.uint32(0xFFFFF800) == np.uint32(0xD800))
            place = _write_character(code, out, place)
            i += one
    return np.int64(place) if halves == none else np.int64(-1)
