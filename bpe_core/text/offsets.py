"""The offsets of tokens in a decoded text, in characters.

>>> text, offsets = decode_with_offsets("né".encode() + b"\\xe2\\x82 ", np.array([0, 1, 2, 3, 5, 6]))
>>> text, offsets.tolist()
('né\ufffd ', [0, 1, 1, 2, 3, 4])
"""

from __future__ import annotations

import numpy as np

from bpe_core.support.arrays import Bools, Bytes, Int64s

AT_ONCE = 1 << 16  # bytes whose arrays stay in the processor's cache
_LONGEST = 4  # bytes of a character
# For each first byte of a character: the number of bytes after it, and the lowest and highest value of the second.
_MORE = np.repeat(np.array([0, 1, 2, 3, 0], np.uint8), [0xC2, 0x1E, 0x10, 5, 0x0B])
_LOWEST = np.full(256, 0x80, np.uint8)
_LOWEST[[0xE0, 0xF0]] = 0xA0, 0x90  # below: shorter forms exist
_HIGHEST = np.full(256, 0xBF, np.uint8)
_HIGHEST[[0xED, 0xF4]] = 0x9F, 0x8F  # above: surrogates, and code points that Unicode does not have


def decode_with_offsets(data: bytes, places: Int64s) -> tuple[str, Int64s]:
    """Decode bytes to a text, and convert offsets in bytes to offsets in the text.

    The offset of a byte inside a character is that of the character. Bytes that form no character become �. The offsets
    in `places` must ascend.
    """
    text = data.decode(errors="replace")
    if data.isascii():
        return text, places
    array = np.frombuffer(data, np.uint8)
    offsets = np.full(len(places), len(text), np.int64)
    begun = 0  # characters
    done = 0  # places
    for start in range(0, len(array), AT_ONCE):
        before = max(0, start - _LONGEST + 1)
        counts = begun + np.cumsum(_begins(array[before : start + AT_ONCE])[start - before :])
        end = int(np.searchsorted(places, start + len(counts)))
        offsets[done:end] = counts[places[done:end] - start] - 1
        begun = int(counts[-1])
        done = end
    return text, offsets


def _begins(data: Bytes) -> Bools:
    """Return for each byte whether a character begins with it.

    If bytes form no character, a � begins where `bytes.decode` puts one.
    """
    more = _MORE[data]
    continues = data & 0xC0 == 0x80
    begins = np.ones(len(data), np.bool_)
    follows = (more[:-1] > 0) & (data[1:] >= _LOWEST[data[:-1]]) & (data[1:] <= _HIGHEST[data[:-1]])
    begins[1:] = ~follows
    for distance in range(2, _LONGEST):
        follows = follows[:-1] & (more[:-distance] >= distance) & continues[distance:]
        begins[distance:] &= ~follows
    return begins
