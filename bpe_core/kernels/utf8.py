"""The kernels that check whether bytes are valid UTF-8, and read characters.

The check is about as fast as reading a file from a disk. An automaton with nine states reads one byte at a time. A
table has one number for each byte. This number contains the next state for each of the nine current states. The current
state is itself the distance by which the number must be shifted to bring the next state into the lowest bits. So each
byte needs one look-up and one shift.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.memory import load_eight
from bpe_core.text.reading.utf8 import use_compiled_check

ALL_ASCII = 0x8080808080808080  # has no bit in common with eight ASCII bytes
_STATE = 63  # the bits of a number that hold a state

# Between characters; after an error; before one, two, three more bytes of a character;
# and behind the first bytes after which not every other byte is allowed.
SOUND, _BROKEN, _ONE_MORE, _TWO_MORE, _THREE_MORE, _AFTER_E0, _AFTER_ED, _AFTER_F0, _AFTER_F4 = range(0, 54, 6)


def _steps() -> npt.NDArray[np.uint64]:
    states = range(0, 54, 6)
    reached = np.full((len(states), 256), _BROKEN, np.uint64)

    def lead(state: int, codes: Sequence[int], to: int) -> None:
        reached[states.index(state), codes] = to

    lead(SOUND, range(0x80), SOUND)
    lead(SOUND, range(0xC2, 0xE0), _ONE_MORE)  # shorter forms exist for 0xC0 and 0xC1
    lead(SOUND, range(0xE0, 0xF0), _TWO_MORE)
    lead(SOUND, [0xE0], _AFTER_E0)
    lead(SOUND, [0xED], _AFTER_ED)
    lead(SOUND, range(0xF1, 0xF4), _THREE_MORE)
    lead(SOUND, [0xF0], _AFTER_F0)
    lead(SOUND, [0xF4], _AFTER_F4)
    lead(_ONE_MORE, range(0x80, 0xC0), SOUND)
    lead(_TWO_MORE, range(0x80, 0xC0), _ONE_MORE)
    lead(_THREE_MORE, range(0x80, 0xC0), _TWO_MORE)
    lead(_AFTER_E0, range(0xA0, 0xC0), _ONE_MORE)  # below: shorter forms exist
    lead(_AFTER_ED, range(0x80, 0xA0), _ONE_MORE)  # above: the surrogates
    lead(_AFTER_F0, range(0x90, 0xC0), _TWO_MORE)  # below: shorter forms exist
    lead(_AFTER_F4, range(0x80, 0x90), _TWO_MORE)  # above: beyond the last code point of Unicode
    steps: npt.NDArray[np.uint64] = np.bitwise_or.reduce(reached << np.array(states, np.uint64)[:, None])
    return steps


_STEPS = _steps()


@inlined
def _has_only_ascii(data, place):
    """Return whether the 32 bytes from an offset on are ASCII."""
    first = load_eight(data, place) | load_eight(data, place + np.uint64(8))
    last = load_eight(data, place + np.uint64(16)) | load_eight(data, place + np.uint64(24))
    return (first | last) & np.uint64(ALL_ASCII) == np.uint64(0)


@inlined
def state_after(eight, count, state):
    """Return the automaton's state after the first `count` of eight bytes. `state` is the state before them.

    The result is SOUND if these bytes are valid, and the last of them ends a character.
    """
    for _ in range(count):
        state = _STEPS[eight & np.uint64(0xFF)] >> (state & np.uint64(_STATE))
        eight >>= np.uint64(8)
    return state & np.uint64(_STATE)


@kernel
def valid_until(data):
    """Return an offset before which all bytes are valid UTF-8. The offset is never inside a character.

    If all bytes are valid, this offset is the end of the data. Otherwise the first error is at this offset or after it.
    """
    end = np.uint64(len(data))
    state = np.uint64(SOUND)
    i = sound = np.uint64(0)
    while i + np.uint64(8) <= end:
        eight = load_eight(data, i)
        i += np.uint64(8)
        if state == np.uint64(SOUND) and eight & np.uint64(ALL_ASCII) == np.uint64(0):
            while i + np.uint64(32) <= end and _has_only_ascii(data, i):
                i += np.uint64(32)
            sound = i
            continue
        state = state_after(eight, 8, state)
        if state == np.uint64(SOUND):
            sound = i
        elif state == np.uint64(_BROKEN):
            return np.int64(sound)
    while i < end:
        state = _STEPS[np.uint64(data[i])] >> (state & np.uint64(_STATE))
        i += np.uint64(1)
    return np.int64(end if state & np.uint64(_STATE) == np.uint64(SOUND) else sound)


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
