"""The UTF-8 bytes of Python texts, without a copy where the text keeps them, part by part where it does not.

A text that is not ASCII can keep its bytes, but making all of them takes a third of the time of encoding it for the
first time, mostly for memory that was never written to. A part at a time takes hardly any, in memory that is written
to again and again.

    >>> characters = Characters.of("\N{EURO SIGN} low")
    >>> characters.utf8(slice(0, 3)).tobytes().decode()
    '€ l'
"""

from __future__ import annotations

import ctypes
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from bpe_core.errors import BpeError
from bpe_core.support.arrays import Bytes

_SAMPLES, _SAMPLE = 16, 256  # stretches of a text that are looked at, and how many characters each has
_FEW = _SAMPLES * _SAMPLE // 128
_MOST_BYTES = 4  # of a character
_WIDTHS = (1, 2, 4)  # of a character in memory, the same for all of a text
_HEAD = sys.getsizeof("\u20ac\u20ac") - 6  # bytes of a text besides its characters and its end
_STATE = object.__basicsize__ + 2 * ctypes.sizeof(ctypes.c_ssize_t)  # where its flags lie, behind length and hash


def utf8(text: str) -> bytes:
    """Return the bytes of a text. Half of a surrogate pair is no character and has none."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise _no_character(text, error.start) from error


def utf8_view(text: str) -> Bytes:
    """Return the same bytes where the text itself keeps them, which it does from now on."""
    size = ctypes.c_ssize_t()
    try:
        address = _bytes_of(text, ctypes.byref(size))
    except UnicodeEncodeError as error:
        raise _no_character(text, error.start) from error
    held: Any = (ctypes.c_uint8 * size.value).from_address(address)
    held.text = text  # which must live as long as the array
    view: Bytes = np.frombuffer(held, np.uint8)
    view.flags.writeable = False
    return view


_bytes_of = ctypes.pythonapi.PyUnicode_AsUTF8AndSize
_bytes_of.restype, _bytes_of.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.POINTER(ctypes.c_ssize_t))


def _no_character(text: str, place: int) -> BpeError:
    return BpeError(
        f"Character {place + 1:,} of the text is U+{ord(text[place]):04X}, half of a surrogate pair, "
        "which is no character of its own; remove or replace it."
    )


def _bits(text: str) -> int:
    return ctypes.c_uint32.from_address(id(text) + _STATE).value


_OF_EACH_WIDTH = ("\u00e9\u00e9", "\u20ac\u20ac", "\U0001f600\U0001f600")
_SHIFT = next((at for at in range(30) if tuple(_bits(text) >> at & 7 for text in _OF_EACH_WIDTH) == _WIDTHS), None)


def _width(text: str) -> int:
    """Return the width of its characters; 0 where this Python keeps that elsewhere.

    The size does not tell: with its bytes, a text of narrow characters can be as large as one of wide ones without.
    """
    return 0 if _SHIFT is None else _bits(text) >> _SHIFT & 7


def keeps_utf8(text: str) -> bool:
    """Whether its bytes are there: an ASCII text has them, others once they were viewed."""
    if type(text) is not str or text.isascii():  # an instance of a subclass lies elsewhere, and is left to Python
        return True
    return sys.getsizeof(text) - _HEAD != (len(text) + 1) * _width(text)


@dataclass(frozen=True, eq=False)
class Characters:
    """The characters of a text that does not keep its bytes."""

    text: str
    codes: npt.NDArray[Any]
    rooms: dict[int, Bytes] = field(default_factory=dict)  # what each thread writes to

    @classmethod
    def of(cls, text: str) -> Characters:
        width = _width(text)  # which stays the same where another thread has its bytes made meanwhile
        held: Any = (ctypes.c_uint8 * (len(text) * width)).from_address(id(text) + _HEAD)
        return cls(text, np.frombuffer(held, f"u{width}"))

    @property
    def are_nearly_ascii(self) -> bool:
        """Whether making their bytes takes hardly any time, so that there is no need to keep them."""
        places = range(0, len(self.codes), max(_SAMPLE, len(self.codes) // _SAMPLES))
        return sum(int(np.count_nonzero(self.codes[place : place + _SAMPLE] >= 0x80)) for place in places) <= _FEW

    def utf8(self, which: slice) -> Bytes | None:
        """Return the bytes of some of them, valid until the same thread asks again; None where one is no character."""
        from bpe_core.kernels.utf8 import write_utf8  # loads machine code

        thread, most = threading.get_ident(), (which.stop - which.start) * _MOST_BYTES
        room = self.rooms.get(thread)
        if room is None or len(room) < most:
            room = self.rooms[thread] = np.empty(most, np.uint8)
        size = write_utf8(self.codes, which.start, which.stop, room)
        return room[:size] if size >= 0 else None
