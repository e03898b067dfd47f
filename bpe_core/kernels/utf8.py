"""UTF-8: whether bytes are valid, as fast as they come from a disk, and from Python's characters to bytes.

Validity: an automaton of nine states reads a byte at a time. The steps that a byte makes from all of them are one
number, the step from state s at bit s. So a state is where to shift the next byte's number, and a byte costs one shift.

Writing: most characters of most texts are ASCII, so many are written at once, and looked at afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from bpe_core.kernels.jit import inlined, kernel
from bpe_core.kernels.memory import NARROWED, load_eight, narrow, trailing_zeros
from bpe_core.text.reading.utf8 import check_by

_ALL_ASCII = 0x8080808080808080  # has no bit in common with eight ASCII bytes
_STATE = 63  # the bits of a number that hold a state

# Between characters; where nothing can follow; one, two, three more bytes of a character to come;
# and behind the first bytes after which not every other byte is allowed.
_SOUND, _BROKEN, _ONE_MORE, _TWO_MORE, _THREE_MORE, _AFTER_E0, _AFTER_ED, _AFTER_F0, _AFTER_F4 = range(0, 54, 6)


def _steps() -> npt.NDArray[np.uint64]:
    known: dict[tuple[int, int], int] = {}

    def lead(state: int, codes: Iterable[int], to: int) -> None:
        known.update({(state, byte): to for byte in codes})

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
    lead(_AFTER_E0, range(0xA0, 0xC0), _ONE_MORE)  # below, shorter forms exist
    lead(_AFTER_ED, range(0x80, 0xA0), _ONE_MORE)  # above are the surrogates
    lead(_AFTER_F0, range(0x90, 0xC0), _TWO_MORE)  # below, shorter forms exist
    lead(_AFTER_F4, range(0x80, 0x90), _TWO_MORE)  # above, Unicode has ended
    states = range(0, 54, 6)
    return np.array([sum(known.get((s, byte), _BROKEN) << s for s in states) for byte in range(256)], np.uint64)


_STEPS = _steps()


@kernel
def sound_until(data):
    """Up to where all is valid: the end, or the start of a character at most some bytes before what is not."""
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
    """A code point, and how many bytes it has."""
    code, width = np.int64(data[place]), np.int64(1)
    if code >= 0x80:
        width = np.int64(2) if code < 0xE0 else np.int64(3) if code < 0xF0 else np.int64(4)
        code &= np.int64(0x7F) >> width
        for i in range(1, width):
            code = code << np.int64(6) | np.int64(data[place + i] & 0x3F)
    return code, width


@inlined
def kind_at(kinds, data, place):
    """The kind of the character that starts there, as the scanner sees it."""
    code = np.int64(data[place])
    if code >= 0x80:
        code, _ = character_at(data, np.int64(place))
    return np.int64(kinds[code])


check_by(sound_until)  # reading uses it from now on


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
    """Write characters as UTF-8, with room for MOST_BYTES each; how many bytes, or -1 for half a surrogate pair."""
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
