"""The check whether bytes are valid UTF-8, and the reading of characters.

The check is as fast as a disk delivers bytes. An automaton with nine states reads one byte at a time. A table holds one
number for each byte. The number contains the next state for every present state, and a state is the number of bits by
which it is shifted. So each byte needs only one shift.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.memory import load_eight
from bpe_core.text.reading.utf8 import use_compiled_check

_ALL_ASCII = 0x8080808080808080  # has no bit in common with eight ASCII bytes
_STATE = 63  # the bits of a number that hold a state

# Between characters; after an error; before one, two, three more bytes of a character;
# and behind the first bytes after which not every other byte is allowed.
_SOUND, _BROKEN, _ONE_MORE, _TWO_MORE, _THREE_MORE, _AFTER_E0, _AFTER_ED, _AFTER_F0, _AFTER_F4 = range(0, 54, 6)


def _steps() -> npt.NDArray[np.uint64]:
    states = range(0, 54, 6)
    reached = np.full((len(states), 256), _BROKEN, np.uint64)

    def lead(state: int, codes: Sequence[int], to: int) -> None:
        reached[states.index(state), codes] = to

    lead(_SOUND, range(0x80), _SOUND)
    lead(_SOUND, range(0xC2, 0xE0), _ONE_MORE)  # shorter forms exist for 0xC0 and 0xC1
    lead(_SOUND, range(0xE0, 0xF0), _TWO_MORE)
    lead(_SOUND, [0xE0], _AFTER_E0)
    lead(_SOUND, [0xED], _AFTER_ED)
    lead(_SOUND, range(0xF1, 0xF4), _THREE_MORE)
    lead(_SOUND, [0xF0], _AFTER_F0)
    lead(_SOUND, [0xF4], _AFTER_F4)
    lead(_ONE_MORE, range(0x80, 0xC0), _SOUND)
    lead(_TWO_MORE, range(0x80, 0xC0), _ONE_MORE)
    lead(_THREE_MORE, range(0x80, 0xC0), _TWO_MORE)
    lead(_AFTER_E0, range(0xA0, 0xC0), _ONE_MORE)  # below: shorter forms exist
    lead(_AFTER_ED, range(0x80, 0xA0), _ONE_MORE)  # above: the surrogates
    lead(_AFTER_F0, range(0x90, 0xC0), _TWO_MORE)  # below: shorter forms exist
    lead(_AFTER_F4, range(0x80, 0x90), _TWO_MORE)  # above: beyond the last code point of Unicode
    steps: npt.NDArray[np.uint64] = np.bitwise_or.reduce(reached << np.array(states, np.uint64)[:, None])
    return steps


_STEPS = _steps()


@kernel
def valid_until(data):
    """Return the offset up to which the data is valid UTF-8.

    The offset is the end of the data, or the start of a character near the first error.
    """
    end = np.uint64(len(data))
    state = np.uint64(_SOUND)
    i = sound = np.uint64(0)
    while i + np.uint64(8) <= end:
        eight = load_eight(data, i)
        i += np.uint64(8)
        if state == np.uint64(_SOUND) and eight & np.uint64(_ALL_ASCII) == np.uint64(0):
            sound = i
            continue
        for _ in range(8):
            state = _STEPS[eight & np.uint64(0xFF)] >> (state & np.uint64(_STATE))
            eight >>= np.uint64(8)
        state &= np.uint64(_STATE)
        if state == np.uint64(_SOUND):
            sound = i
        elif state == np.uint64(_BROKEN):
            return np.int64(sound)
    while i < end:
        state = _STEPS[np.uint64(data[i])] >> (state & np.uint64(_STATE))
        i += np.uint64(1)
    return np.int64(end if state & np.uint64(_STATE) == np.uint64(_SOUND) else sound)


@inlined
def width_at(data, place):
    byte = data[place]
    return np.int64(1) + np.int64(byte >= 0xC0) + np.int64(byte >= 0xE0) + np.int64(byte >= 0xF0)


@kernel
def character_at(data, place):
    """Return the code point at an offset, and the number of its bytes."""
    code, width = np.int64(data[place]), np.int64(1)
    if code >= 0x80:
        width = np.int64(2) if code < 0xE0 else np.int64(3) if code < 0xF0 else np.int64(4)
        code &= np.int64(0x7F) >> width
        for i in range(1, width):
            code = code << np.int64(6) | np.int64(data[place + i] & 0x3F)
    return code, width


@inlined
def kind_at(kinds, data, place):
    """Return the scanner's class of the character that starts at an offset."""
    code = np.int64(data[place])
    if code >= 0x80:
        code, _ = character_at(data, np.int64(place))
    return np.int64(kinds[code])


use_compiled_check(valid_until)  # reading uses it from now on
