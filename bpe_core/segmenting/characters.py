"""The characters of a large text where Python keeps them, to UTF-8 part by part.

A text that is not ASCII can keep its bytes, too; but to have all of them made takes a third of the time in which they
are encoded for the first time, most of it for memory that nothing was ever written to. A part at a time takes hardly
any, in memory that is written to again and again.

    >>> characters = Characters.of("\N{EURO SIGN} low")
    >>> characters.utf8(slice(0, 3)).tobytes().decode()
    '€ l'
"""

from __future__ import annotations

import ctypes
import sys
import threading
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.records import dataclass

Bytes = npt.NDArray[np.uint8]

_SAMPLES, _SAMPLE = 16, 256  # stretches of a text that are looked at, and how many characters each has
_FEW = _SAMPLES * _SAMPLE // 128
_MOST_BYTES = 4  # of a character
_WIDTHS = (1, 2, 4)  # of a character in memory, the same for all of a text
_HEAD = sys.getsizeof("\u20ac\u20ac") - 6  # bytes of a text beside its characters and its end
_STATE = object.__basicsize__ + 2 * ctypes.sizeof(ctypes.c_ssize_t)  # where, behind its length and hash, bits tell more


def _bits(text: str) -> int:
    return ctypes.c_uint32.from_address(id(text) + _STATE).value


_OF_EACH_WIDTH = ("\u00e9\u00e9", "\u20ac\u20ac", "\U0001f600\U0001f600")
_SHIFT = next((at for at in range(30) if tuple(_bits(text) >> at & 7 for text in _OF_EACH_WIDTH) == _WIDTHS), None)


def _width(text: str) -> int:
    """Of its characters; 0 where this Python keeps that elsewhere.

    Its size does not tell: with its bytes, a text of narrow characters can be as large as one of wide ones without.
    """
    return 0 if _SHIFT is None else _bits(text) >> _SHIFT & 7


def keeps_utf8(text: str) -> bool:
    """Whether its bytes are there: a text that is ASCII has them, others where they were viewed before."""
    if type(text) is not str or text.isascii():  # one of a class of its own lies elsewhere, and is left to Python
        return True
    return sys.getsizeof(text) - _HEAD != (len(text) + 1) * _width(text)


@dataclass(frozen=True, eq=False)
class Characters:
    """Those of a text that does not keep its bytes."""

    text: str
    codes: npt.NDArray[Any]
    rooms: dict[int, Bytes] = field(default_factory=dict)  # of each thread, what it writes to

    @classmethod
    def of(cls, text: str) -> Characters:
        width = _width(text)  # which stays the same where another thread has its bytes made meanwhile
        held: Any = (ctypes.c_uint8 * (len(text) * width)).from_address(id(text) + _HEAD)
        return cls(text, np.frombuffer(held, f"u{width}"))

    @property
    def are_nearly_ascii(self) -> bool:
        """Whether bytes are made of them in no time, so that it need not be made up for by keeping them."""
        places = range(0, len(self.codes), max(_SAMPLE, len(self.codes) // _SAMPLES))
        return sum(int(np.count_nonzero(self.codes[place : place + _SAMPLE] >= 0x80)) for place in places) <= _FEW

    def utf8(self, which: slice) -> Bytes | None:
        """The bytes of some of them, until the same thread asks again; None where one is no character."""
        from bpe_core.kernels.characters import write_utf8  # loads machine code

        thread, most = threading.get_ident(), (which.stop - which.start) * _MOST_BYTES
        room = self.rooms.get(thread)
        if room is None or len(room) < most:
            room = self.rooms[thread] = np.empty(most, np.uint8)
        size = write_utf8(self.codes, which.start, which.stop, room)
        return room[:size] if size >= 0 else None
