"""Functions that call machine code with arrays, named tuples of arrays, and numbers.

Machine code takes one argument: the address of an array of 64-bit numbers, which this module calls a row. The
arguments of the Python call are written into the row one after another:
 - a number takes one item of the row;
 - an array takes several items: the address of its data, its shape, and its strides if it is not contiguous;
 - a bundle (see `jit.py`) has a row of its own, which later calls use again. The call's row has only its address;
 - any other tuple is written item by item.

The machine code writes its result at the end of the row. Other Python threads can run during the call, unless the call
is brief (see `with_first`).
"""

from __future__ import annotations

import ctypes
import os
import struct
import threading
from collections.abc import Callable
from functools import cache, partial, update_wrapper
from typing import Any

import numpy as np

from bpe_core.kernels import stored_code
from bpe_core.kernels.stored_code import StoredKernel

# Tests set this variable. Then each call compares its arguments with the types of the machine code. Otherwise the
# arguments are not checked.
CHECKS = bool(os.environ.get("BPE_EXPLORER_CHECK_KERNELS"))

_NATIVE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
# For calls of a few microseconds. Other Python threads cannot run meanwhile, so none of them delays the end of a call.
_BRIEF_NATIVE = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
_NO_BYTES = ctypes.c_char * 0
_UNSIGNED = 2**64 - 1
_lock = threading.Lock()


class Kernel:
    """A function whose machine code is loaded when it is needed.

    The machine code depends on the types and layouts of the arguments. It is loaded at the first call with such
    arguments.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function
        self.name = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
        self._calls: dict[object, Call] = {}
        self._only: Call | None = None  # the only machine code, if there is just one
        update_wrapper(self, function)

    def __call__(self, *arguments: Any) -> Any:
        call = self._only or self.call_for(arguments)
        row = call.row()
        call.write(row, 0, *call.pack(arguments))
        call.native(row)
        if len(call.answer) > 1:
            return tuple(read(row[place]) for place, read in call.answer)
        for place, read in call.answer:
            return read(row[place])
        return None

    def call_for(self, arguments: tuple[Any, ...]) -> Call:
        look = _quick_key(arguments)
        call = self._calls.get(look)
        if call is None:
            with _lock:  # so that two threads do not load the same code
                call = self._calls.get(look)
                if call is None:
                    call = self._calls[look] = Call(self._made(kinds_of(arguments), arguments), arguments)
                    self._only = call if self._has_one_kind() and not CHECKS else None
        return call

    def _made(self, kinds: str, arguments: tuple[Any, ...]) -> StoredKernel:
        pack = stored_code.pack()
        made = None if pack is None else pack.kernels.get((self.name, kinds))
        if made is None:
            raise RuntimeError(f"There is no machine code of {self.name} for {kinds}.")
        return made

    def _has_one_kind(self) -> bool:
        pack = stored_code.pack()
        return pack is not None and pack.is_whole and sum(name == self.name for name, _ in pack.kernels) == 1


class Call:
    """The machine code for arguments of certain types and layouts.

    It also has a function that turns the arguments into numbers, and functions that turn numbers into results.
    """

    def __init__(self, made: StoredKernel, arguments: tuple[Any, ...]) -> None:
        self.address = load(made)
        self.native = _NATIVE(self.address)
        self.pack = _row_packer(arguments)
        given = len(self.pack(arguments))
        self.row = ctypes.c_int64 * (given + len(made.answer))
        self.write = struct.Struct(f"<{given}q").pack_into  # takes half the time of a row made of the numbers
        self.answer = [(place, _READERS[letter]) for place, letter in enumerate(made.answer, given)]

    def with_first(self, first: Any) -> Callable[[int], int]:
        """Return a function that makes this call with a fixed first argument.

        The returned function takes the second argument only.
        """
        given = self.pack((first, 0))
        row = self.row()
        self.write(row, 0, *given)
        native = _BRIEF_NATIVE(self.address)
        address = ctypes.addressof(row)
        last_given = len(given) - 1
        answer = len(given)

        def call(number: int) -> int:
            row[last_given] = number
            native(address)
            return row[answer]

        def checked_call(number: int) -> int:
            self.pack((first, number))
            return call(number)

        return checked_call if CHECKS else call


def with_first(kernel: Callable[[Any, int], int], first: Any) -> Callable[[int], int]:
    """Return a kernel with a fixed first argument, which is a bundle.

    The returned function takes the second argument only. The second argument and the result are whole numbers. A
    call takes a third of the time of a call of `kernel`. Only one thread at a time may call the function, and other
    Python threads do not run during the call.
    """
    if not isinstance(kernel, Kernel):
        return partial(kernel, first)
    return kernel.call_for((first, 0)).with_first(first)


# Loading


def load(made: StoredKernel) -> int:
    from llvmlite import binding

    engine = _engine()
    engine.add_object_file(binding.ObjectFileRef.from_data(made.code))
    engine.finalize_object()
    address: int = engine.get_function_address(made.symbol)
    if not address:
        raise RuntimeError(f"The machine code does not hold {made.symbol}.")
    return address


@cache
def _engine() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    machine = binding.Target.from_default_triple().create_target_machine()
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine)


# From arguments to numbers, and back


def _row_packer(example: tuple[Any, ...]) -> Callable[[tuple[Any, ...]], list[int]]:
    """Return a function that turns a tuple into numbers. The tuple must have the types and layouts of the example."""
    packers = [_packer(part) for part in example]

    def pack(parts: tuple[Any, ...]) -> list[int]:
        # Most parts are contiguous arrays and whole numbers, so their numbers are made here, without a call.
        numbers: list[int] = []
        for pack_part, part in zip(packers, parts, strict=True):
            if pack_part is int:
                numbers.append(int(part))
            elif pack_part is not np.ndarray:
                numbers += pack_part(part)
            elif part.flags.writeable:
                numbers += ctypes.addressof(_NO_BYTES.from_buffer(part)), *part.shape
            else:  # a buffer must be writable; the array interface takes three times as long
                numbers += part.__array_interface__["data"][0], *part.shape
        return numbers

    return pack


def _packer(example: Any) -> Callable[[Any], Any]:
    """Return a function that converts an argument into the numbers that represent it in a row.

    `example` is an argument of the same type and layout. For a whole number or a contiguous array, return `int`
    or `np.ndarray` instead of a function. The caller converts such arguments itself, which saves a call.
    """
    if isinstance(example, tuple):
        return _bundle_packer(example) if hasattr(example, "is_bundle") else _row_packer(example)
    if isinstance(example, np.ndarray):
        return np.ndarray if example.flags.c_contiguous else _strided
    if isinstance(example, (float, np.floating)):
        return _bits
    if isinstance(example, np.unsignedinteger):
        return lambda number: (int(number) - (int(number) >> 63 << 64),)  # the signed number with the same bits
    return int


def _bundle_packer(example: tuple[Any, ...]) -> Callable[[Any], tuple[int]]:
    """Return a function that takes a bundle and returns the address of its row.

    The row is written at the first call with a bundle. Later calls with the same bundle return the same address.
    """
    pack = _row_packer(example)

    def place_of_row(parts: Any) -> tuple[int]:
        stored = parts.__dict__.get("_kept")  # no field of a named tuple begins like this
        if stored is None:
            numbers = pack(parts)
            row = (ctypes.c_int64 * len(numbers))(*numbers)
            # If several threads come here at once, all get the row of the first thread. The other rows are freed.
            stored = parts.__dict__.setdefault("_kept", (row, (ctypes.addressof(row),)))
        if CHECKS and [*stored[0]] != pack(parts):
            raise RuntimeError(f"An array of {type(parts).__name__} was moved in memory.")
        address: tuple[int] = stored[1]
        return address

    return place_of_row


def _strided(array: np.ndarray[Any, Any]) -> tuple[int, ...]:
    return array.__array_interface__["data"][0], *array.shape, *array.strides


def _bits(number: float) -> tuple[int, ...]:
    bits: tuple[int, ...] = struct.unpack("<q", struct.pack("<d", number))
    return bits


_READERS: dict[str, Callable[[int], Any]] = {
    "i": int,
    "u": lambda found: found & _UNSIGNED,
    "b": bool,
    "f": lambda found: struct.unpack("<d", struct.pack("<q", found))[0],
}


# The kinds of arguments


def kinds_of(value: Any) -> str:
    """Return a text that describes the types in a value, and the dimensions and layouts of its arrays.

    Values with the same text can use the same machine code.

    >>> kinds_of((np.zeros(3, np.int32), 1, 2.0, (True, np.zeros((2, 2))[:, 0])))
    '(i4*1C,i8,f8,(b1,f8*1A))'
    """
    if isinstance(value, tuple):
        return f"({','.join(map(kinds_of, value))})"
    if isinstance(value, np.ndarray):
        return f"{_name(value.dtype)}*{value.ndim}{'C' if value.flags.c_contiguous else 'A'}"
    return _name(np.dtype(type(value)) if isinstance(value, (bool, int, float)) else value.dtype)


def _quick_key(value: Any) -> object:
    """Return a key for the type and layout of an argument.

    Arguments that need the same machine code have equal keys. The key is computed faster than `kinds_of`.
    """
    if isinstance(value, tuple):
        return tuple(map(_quick_key, value))
    if isinstance(value, np.ndarray):
        return (value.dtype, value.ndim, value.flags.c_contiguous)
    return type(value)


@cache
def _name(kind: np.dtype[Any]) -> str:
    if kind.names is None:
        return kind.str[1:]
    fields = ((name, *kind.fields[name][:2]) for name in kind.names) if kind.fields else ()
    return "".join(f"{{{name} {_name(type)} {offset}}}" for name, type, offset in fields)
