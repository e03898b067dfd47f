"""The UTF-8 bytes of Python texts; without a copy where the text keeps them, as ASCII does, and others once viewed."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from bpe_core.errors import BpeError
from bpe_core.support.arrays import Bytes


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
