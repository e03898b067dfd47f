"""Calling machine code with arrays, named tuples of arrays, and numbers.

Machine code is given one row of eight-byte numbers: for each array, or tuple of arrays, where its Python object
lies, and each number as it is; what it answers stands behind them. So a call costs next to nothing, however many
arrays a tuple holds, and Python's other threads run meanwhile.
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache, update_wrapper
from typing import Any

import numpy as np

from bpe_core.records import dataclass

# Whether each call is compared with what the machine code was made for: in tests. Elsewhere callers are trusted.
CHECKS = bool(os.environ.get("BPE_EXPLORER_CHECK_KERNELS"))

_NATIVE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
_lock = threading.Lock()
_UNUSED = (ctypes.c_int64 * 8)()  # where an answer and an error would be written that no kernel has
_UNUSED_ADDRESS = ctypes.addressof(_UNUSED)
_UNSIGNED = 2**64 - 1


@dataclass(frozen=True)
class Made:
    """What is known of machine code for arguments of some kinds."""

    kernel: str
    kinds: str  # of the arguments
    packing: str  # a letter for each number of the row: how it comes from an argument, tuples taken apart
    answer: str  # and how each part of the answer is read from those behind
    symbol: str  # what the machine code calls it


class Kernel:
    """A function as machine code, which is found or made when it is first called with arguments of these kinds."""

    targetoptions: dict[str, Any] = {}  # noqa: RUF012  # Numba looks there whether it is to be inlined

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self._calls: dict[object, Call] = {}
        self._only: Call | None = None  # where there is but one, nobody need look which
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        call = self._only
        return (call or self._call_for(arguments))(arguments)

    def _call_for(self, arguments: tuple[Any, ...]) -> Call:
        look = _look_of(arguments)
        return self._calls.get(look) or self._found_or_made(look, arguments)

    def _found_or_made(self, look: object, arguments: tuple[Any, ...]) -> Call:
        """By one thread at a time, so that none makes what another has just made."""
        from bpe_core.kernels.objects import machine_code

        with _lock:
            found = self._calls.get(look)
            if found is None:
                made, address, others = machine_code(self, kinds_of(arguments), arguments)
                found = self._calls[look] = Call(made, address, arguments)
                self._only = found if not (others or CHECKS) and len(self._calls) == 1 else None
            return found


class Call:
    """Calls machine code at one address with arguments of the kinds it was made for, such as these."""

    def __init__(self, made: Made, address: int, arguments: tuple[Any, ...]) -> None:
        self._native = _NATIVE(address)
        self._name = made.kernel
        self._row = ctypes.c_int64 * (len(made.packing) + len(made.answer))
        letters = iter(made.packing)
        self._packers = [_packer(argument, letters) for argument in arguments]
        self._read = [(place, _READERS[letter]) for place, letter in enumerate(made.answer, len(made.packing))]

    def __call__(self, arguments: tuple[Any, ...]) -> Any:
        numbers: list[int] = []
        for pack, argument in zip(self._packers, arguments, strict=True):
            numbers += pack(argument)
        row = self._row(*numbers)
        if self._native(_UNUSED_ADDRESS, _UNUSED_ADDRESS, row):
            raise RuntimeError(f"The kernel {self._name} failed.")
        if len(self._read) > 1:
            return tuple(read(row[place]) for place, read in self._read)
        for place, read in self._read:
            return read(row[place])
        return None


def _packer(argument: Any, letters: Iterator[str]) -> Callable[[Any], Iterable[int]]:
    """What makes numbers of an argument of that shape."""
    if not isinstance(argument, tuple) or all(isinstance(part, np.ndarray) for part in argument):
        one = _PACKERS[next(letters)]
        return lambda number: (one(number),)
    packers = [_packer(part, letters) for part in argument]
    return lambda parts: [number for pack, part in zip(packers, parts, strict=True) for number in pack(part)]


def bits(number: float) -> int:
    """A floating-point number as the whole number that has the same bits."""
    found: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return found


_PACKERS: dict[str, Callable[[Any], int]] = {"a": id, "t": id, "i": int, "u": int, "b": int, "f": bits}
_READERS: dict[str, Callable[[int], Any]] = {
    "i": int,
    "u": lambda found: found & _UNSIGNED,
    "b": bool,
    "f": lambda found: struct.unpack("<d", struct.pack("<q", found))[0],
}


# What the arguments are


def kinds_of(value: Any) -> str:
    """What machine code hangs on of a value.

    >>> kinds_of((np.zeros(3, np.int32), 1, 2.0, (True, np.zeros((2, 2))[:, 0])))
    '(i4*1C,i8,f8,(b1,f8*1A))'
    """
    if isinstance(value, tuple):
        return f"({','.join(map(kinds_of, value))})"
    if isinstance(value, np.ndarray):
        layout = "C" if value.flags.c_contiguous else "A"
        return f"{_name(value.dtype)}*{value.ndim}{layout}"
    return _name(np.dtype(type(value)) if isinstance(value, (bool, int, float)) else value.dtype)


def _look_of(value: Any) -> object:
    """Something to compare arguments by, found in a fraction of the time: where it is the same, the kinds are."""
    if isinstance(value, tuple):
        return tuple(map(_look_of, value))
    if isinstance(value, np.ndarray):
        return (value.dtype, value.ndim, value.flags.c_contiguous)
    return type(value)


@cache
def _name(kind: np.dtype[Any]) -> str:
    if kind.names is None:
        return kind.str[1:]
    fields = ((name, *kind.fields[name][:2]) for name in kind.names) if kind.fields else ()
    return "".join(f"{{{name} {_name(type)} {offset}}}" for name, type, offset in fields)
