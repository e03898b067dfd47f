"""A reader of pickles of plain values. It follows the opcodes itself, and never runs code from a pickle.

Python's own reader calls every function that a pickle names. This reader supports lists, tuples, dictionaries, bytes,
texts and numbers. It refuses every other opcode, and names the opcode in an error.

>>> import pickle
>>> values_of(pickle.dumps([(b"t", b"h"), {"low": 3}]), "merges.pkl")
[(b't', b'h'), {'low': 3}]
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable
from typing import Any

from bpe_core.errors import FormatError
from bpe_core.support.wording import count_text

MOST_BYTES = 256 * 2**20
MOST_OPCODES = 20_000_000
_MARK = object()
_VALUES = frozenset(
    (
        *("BININT", "BININT1", "BININT2", "INT", "LONG", "LONG1", "LONG4", "BINFLOAT", "FLOAT"),
        *("SHORT_BINBYTES", "BINBYTES", "BINBYTES8"),
        *("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE"),
    )
)
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False}
_EMPTY: dict[str, Callable[[], Any]] = {"EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_TUPLE": tuple}
_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_PUT = frozenset(("BINPUT", "LONG_BINPUT", "PUT"))
_GET = frozenset(("BINGET", "LONG_BINGET", "GET"))
_NOTHING = frozenset(("PROTO", "FRAME"))


def values_of(data: bytes, name: str) -> Any:
    """Return the value in a pickle. Raise FormatError if the pickle is damaged, or if it calls or imports anything."""
    if len(data) > MOST_BYTES:
        raise FormatError(f"{name} has {count_text(len(data), 'byte')}; a pickle of merges has at most {MOST_BYTES:,}.")
    reader = _Reader(name)
    try:
        for count, (opcode, argument, place) in enumerate(pickletools.genops(data)):
            if count > MOST_OPCODES:
                raise FormatError(f"{name} has more than {MOST_OPCODES:,} instructions.")
            if opcode.name == "STOP":
                return reader.pop()
            reader.follow(opcode.name, argument, place or 0)
    except FormatError:
        raise
    except (ValueError, TypeError, IndexError, KeyError, AttributeError, RecursionError, MemoryError) as error:
        raise FormatError(f"{name} is not a complete pickle: {error}") from error
    raise FormatError(f"{name} is not a complete pickle: it has no end.")


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def pop(self) -> Any:
        return self._stack.pop()

    def follow(self, opcode: str, argument: Any, place: int) -> None:
        stack = self._stack
        if opcode in _NOTHING:
            return
        if opcode in _VALUES:
            stack.append(argument)
        elif opcode in _CONSTANTS:
            stack.append(_CONSTANTS[opcode])
        elif opcode in _EMPTY:
            stack.append(_EMPTY[opcode]())
        elif opcode in _TUPLES:
            count = _TUPLES[opcode]
            stack[-count:] = [tuple(stack[-count:])]
        elif opcode == "MARK":
            stack.append(_MARK)
        elif opcode == "MEMOIZE":
            self._memo[len(self._memo)] = stack[-1]
        elif opcode in _PUT:
            self._memo[int(argument)] = stack[-1]
        elif opcode in _GET:
            stack.append(self._memo[int(argument)])
        else:
            self._build(opcode, argument, place)

    def _build(self, opcode: str, argument: Any, place: int) -> None:
        stack = self._stack
        if opcode == "APPEND":
            item = stack.pop()
            stack[-1].append(item)
        elif opcode == "SETITEM":
            value, key = stack.pop(), stack.pop()
            stack[-1][key] = value
        elif opcode in ("APPENDS", "SETITEMS", "LIST", "TUPLE", "DICT"):
            items = self._since_mark()
            if opcode == "APPENDS":
                stack[-1].extend(items)
            elif opcode == "SETITEMS":
                stack[-1].update(zip(items[::2], items[1::2], strict=True))
            elif opcode == "DICT":
                stack.append(dict(zip(items[::2], items[1::2], strict=True)))
            else:
                stack.append(items if opcode == "LIST" else tuple(items))
        else:
            where = f"{opcode} at byte {place:,}{self._named(argument)}"
            raise FormatError(
                f"{self._name} has the instruction {where}, which is refused: only lists, tuples, dictionaries, bytes, "
                "texts and numbers are read. Save the merges as JSON, or as a plain list of pairs."
            )

    def _named(self, argument: Any) -> str:
        """Return a part of an error message. It names the object that a refused instruction wants to load.

        An example is " for 'os.system'". Return an empty string if the name is not known.
        """
        if isinstance(argument, str):
            return f" for {argument.replace(' ', '.')!r}"
        texts = [value for value in self._stack[-2:] if isinstance(value, str)]
        return f" for {'.'.join(texts)!r}" if len(texts) == 2 else ""

    def _since_mark(self) -> list[Any]:
        place = len(self._stack) - 1
        while self._stack[place] is not _MARK:
            place -= 1
            if place < 0:
                raise ValueError("a mark is missing")
        items = self._stack[place + 1 :]
        del self._stack[place:]
        return items
