"""The kernels that decode ids to the bytes of their tokens, and find the places of the tokens.

A row of 16 bytes holds a token of at most 15 bytes and, in its last byte, the length of the token. Such a row is copied
as a whole, and the next token is written over its end. So a usual token takes one read of memory and no branch. The
read begins some tokens ahead of its use, so the waits for memory overlap. The row of a longer token holds its offset in
the bytes of all tokens.
"""

from __future__ import annotations

import numpy as np

from bpe_core.kernels.jit import kernel
from bpe_core.kernels.memory import load_eight, prefetch, store_eight

IN_ROW = 15  # bytes of the longest token that lies in its row
LENGTH_SHIFT = 56  # the bits of the second number of a row above which the length is written
AHEAD = 24  # ids between the first read of a row and its use
NO_TOKEN = 1 << 31  # in place of a length
LONG = 255  # in place of the length: the row holds the offset and the length of a longer token


@kernel
def count_bytes(lengths, ids):
    """Return the number of bytes that these ids decode to. Return -1 if an id has no token.

    `lengths` holds for each id the number of its bytes, or NO_TOKEN. The last item is NO_TOKEN.
    """
    last, total, all_bits = np.uint64(len(lengths) - 1), np.uint64(0), np.uint32(0)
    for i in range(np.uint64(len(ids))):
        length = lengths[min(np.uint64(ids[i]), last)]
        all_bits |= length
        total += np.uint64(length)
    return np.int64(-1) if all_bits & np.uint32(NO_TOKEN) else np.int64(total)


@kernel
def place_tokens(characters, ids, offsets, place):
    """Write the offset in characters at which each token begins. Return the offset after the last character.

    `place` is the offset of the first token. `characters` holds for each id twice the number of characters that begin
    in its token, plus 1 if the token begins inside a character. The offset of such a token is that of the character.
    """
    one = np.uint64(1)
    offset = np.uint64(place)
    for i in range(np.uint64(len(ids))):
        number = np.uint64(characters[np.uint64(ids[i])])
        offsets[i] = np.int64(offset - (number & one))
        offset += number >> one
    return np.int64(offset)


@kernel
def decode_ids(rows, data, ids, out, begin, end):
    """Write the bytes of these ids into the output, beginning at the offset `begin`.

    Return the offset after the last byte. `rows` holds two numbers for each id, and `data` holds the bytes of the
    long tokens. Nothing is written at the offset `end` or after it, so another thread can write there. All ids must
    have tokens.
    """
    eight, wide, two, one, long = np.uint64(8), np.uint64(16), np.uint64(2), np.uint64(1), np.uint64(LONG)
    place, stop = np.uint64(begin), np.uint64(end)
    last = np.uint64(max(1, len(ids)) - 1)
    for i in range(np.uint64(len(ids))):
        prefetch(rows, two * np.uint64(ids[min(i + np.uint64(AHEAD), last)]))
        row = two * np.uint64(ids[i])
        first, second = rows[row], rows[row + one]
        length = second >> np.uint64(LENGTH_SHIFT)
        if length != long and place + wide <= stop:
            store_eight(out, place, first)
            store_eight(out, place + eight, second)
            place += length
            continue
        after = place + (second & np.uint64((1 << LENGTH_SHIFT) - 1) if length == long else length)
        if length == long:
            while place + eight <= after:
                store_eight(out, place, load_eight(data, first))
                first += eight
                place += eight
        while place < after:
            if length == long:
                out[place] = data[first]
                first += one
            else:
                out[place] = np.uint8(first)
                first = first >> eight | second << np.uint64(LENGTH_SHIFT)
                second >>= eight
            place += one
    return np.int64(place)
