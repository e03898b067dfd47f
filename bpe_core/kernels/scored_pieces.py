"""The fast reader of SentencePiece pieces. It reads only the form of entries that most programs write."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import inlined, kernel

ENTRY = 0x0A  # the tag of an entry in the file, and of the text in an entry
ODD = 0  # in place of a kind: the entry has another form
_SCORE, _KIND = 0x15, 0x18
_SHORT = 0x80  # a length from this number on has more than one byte


@kernel
def read_short(data, place, kinds_end, places, texts, starts, bits, kinds, free):
    """Read short entries, and write the data of each piece into arrays.

    The data are the offset, the text, the bits of the score, and the kind. Reading stops at a longer entry, at
    data that are no entry, or when the arrays are full. Return the offset that was reached, and the number of the
    next piece.
    """
    most, end = np.int64(len(bits)), starts[free]
    while free < most and place + 1 < len(data) and data[place] == ENTRY and data[place + 1] < _SHORT:
        stop = place + 2 + np.int64(data[place + 1])
        if stop > len(data):
            break
        places[free], kinds[free] = place, ODD
        if _is_usual(data, place, stop, kinds_end):
            behind = place + 4 + np.int64(data[place + 3])
            for at in range(place + 4, behind):
                texts[end] = data[at]
                end += 1
            bits[free] = (
                np.uint32(data[behind + 4]) << np.uint32(24)
                | np.uint32(data[behind + 3]) << np.uint32(16)
                | np.uint32(data[behind + 2]) << np.uint32(8)
                | np.uint32(data[behind + 1])
            )
            kinds[free] = data[behind + 6] if stop - behind == 7 else np.uint8(1)
        free += 1
        starts[free], place = end, stop
    return place, free


@inlined
def _is_usual(data, place, stop, kinds_end):
    """Return whether an entry holds a text, a finite score and perhaps a valid kind, and nothing else."""
    if stop - place < 10 or data[place + 2] != ENTRY or data[place + 3] == 0:
        return False
    behind = place + 4 + np.int64(data[place + 3])
    if (stop - behind != 5 and stop - behind != 7) or data[behind] != _SCORE:
        return False
    if stop - behind == 7 and (data[behind + 5] != _KIND or not 1 <= data[behind + 6] < kinds_end):
        return False
    return (data[behind + 4] & 0x7F) != 0x7F or data[behind + 3] < 0x80
