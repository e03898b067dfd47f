"""The pieces of a SentencePiece model as most programs write them, read at once."""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel

ENTRY = 0x0A  # of the file, a message; and of that, the text
_SCORE, _KIND = 0x15, 0x18
_SHORT = 0x80  # no length from here on has one byte


@kernel
def read_usual(data, place, kinds_end, spans, bits, kinds, free):
    """Write where texts are, the bits of scores, and kinds, up to what is written otherwise: its place, and how many.

    An entry is a length, a text with its length, a score, and a kind or none.
    """
    end, most = np.int64(len(data)), np.int64(len(bits))
    while free < most and place + 9 < end and data[place] == ENTRY and data[place + 1] < _SHORT:
        stop, first = place + 2 + np.int64(data[place + 1]), place + 4
        behind = first + np.int64(data[place + 3])
        has_kind = stop - behind == 7
        if data[place + 2] != ENTRY or stop > end or first >= behind or not (has_kind or stop - behind == 5):
            break
        kind = np.int64(data[behind + 6]) if has_kind else np.int64(1)
        high, low = np.uint32(data[behind + 4]), np.uint32(data[behind + 3])
        is_finite = (high & np.uint32(0x7F)) != np.uint32(0x7F) or low < np.uint32(0x80)
        if (
            data[behind] != _SCORE
            or (has_kind and data[behind + 5] != _KIND)
            or not 1 <= kind < kinds_end
            or not is_finite
        ):
            break
        spans[free, 0], spans[free, 1], kinds[free] = first, behind, np.uint8(kind)
        bits[free] = (
            high << np.uint32(24)
            | low << np.uint32(16)
            | np.uint32(data[behind + 2]) << np.uint32(8)
            | np.uint32(data[behind + 1])
        )
        place, free = stop, free + 1
    return place, free
