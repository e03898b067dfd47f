"""Whether bytes are valid UTF-8, as fast as they come from a disk."""

from __future__ import annotations

import numpy as np

from bpe_core.compiled.jit import kernel
from bpe_core.compiled.memory import load_eight

_ALL_ASCII = 0x8080808080808080  # has no bit in common with eight ASCII bytes


@kernel
def first_invalid(data):  # type: ignore[no-untyped-def]
    """The start of the first character that is not valid, or -1."""
    end = np.uint64(len(data))
    i = np.uint64(0)
    while i + np.uint64(8) <= end:
        eight = load_eight(data, i)
        if eight & np.uint64(_ALL_ASCII) == np.uint64(0):
            i += np.uint64(8)
        else:
            length = _length(eight)
            if length == np.uint64(0):
                return np.int64(i)
            i += length
            while i + np.uint64(8) <= end and data[i] >= 0x80:  # such characters stand together
                length = _length(load_eight(data, i))
                if length == np.uint64(0):
                    return np.int64(i)
                i += length
    while i < end:
        last = np.uint64(0)  # zeros behind the end continue no character
        for place in range(i, end):
            last |= np.uint64(data[place]) << (np.uint64(8) * (place - i))
        length = _length(last)
        if length == np.uint64(0):
            return np.int64(i)
        i += length
    return np.int64(-1)


@kernel
def _length(eight):  # type: ignore[no-untyped-def]
    """How long the character is that these bytes begin with, the first being the lowest; 0 if it is not valid."""
    if eight & np.uint64(0x80) == np.uint64(0):
        return np.uint64(1)
    if eight & np.uint64(0xC0F0) == np.uint64(0x80E0):
        second = eight & np.uint64(0x200F)  # with the last bits of the first byte
        # Shorter forms exist below 0xE0 0xA0, and 0xED 0xA0 begins the surrogates.
        sound = (second != np.uint64(0)) & (second != np.uint64(0x200D))
        return np.uint64(3) if sound & (eight & np.uint64(0xC00000) == np.uint64(0x800000)) else np.uint64(0)
    if eight & np.uint64(0xC0E0) == np.uint64(0x80C0):  # shorter forms exist for 0xC0 and 0xC1
        return np.uint64(2) if eight & np.uint64(0x1E) != np.uint64(0) else np.uint64(0)
    if eight & np.uint64(0xC0C0C0F8) != np.uint64(0x808080F0):
        return np.uint64(0)
    start = (eight & np.uint64(0x07)) << np.uint64(2) | (eight & np.uint64(0x3000)) >> np.uint64(12)
    # In units of 0x10000 code points: below 1 shorter forms exist, and Unicode ends behind 16.
    return np.uint64(4) if (start >= np.uint64(1)) & (start <= np.uint64(16)) else np.uint64(0)
