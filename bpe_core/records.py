"""`dataclass` of the standard library, for a program that declares hundreds of classes and uses few of them in a run.

It writes and compiles up to six functions of each class, which took a fifth of all the time of a small command. Here
a class becomes what it was declared to be when its first value is made, or when somebody asks for its fields. Whoever
makes, compares, copies or pickles values, or inherits from their class, cannot tell the difference.

>>> @dataclass(frozen=True)
... class Place:
...     line: int
...     column: int = 1
>>> Place(3), Place(3) == Place(3, 1), {Place(3), Place(3)}
(Place(line=3, column=1), True, {Place(line=3, column=1)})
"""

from __future__ import annotations

import dataclasses
import threading
from typing import TYPE_CHECKING, Any

_DECLARED = "__declared__"  # where a class keeps the options it was declared with, until it is asked for
_one_at_a_time = threading.RLock()


def _fulfil(kind: type) -> None:
    """Let a class, and those it inherits from, become what they were declared to be."""
    with _one_at_a_time:
        for one in reversed(kind.__mro__):
            if _DECLARED in vars(one):
                options = vars(one)[_DECLARED]
                for name in (_DECLARED, *_STANDING_IN):
                    delattr(one, name)
                dataclasses.dataclass(**options)(one)


class _AskedFor:
    """An attribute of a class that it has, if at all, once it is what it was declared to be."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, value: object, kind: type) -> Any:
        _fulfil(kind)
        return getattr(kind, self._name)


def _make_first(self: object, /, *values: Any, **named: Any) -> None:
    _fulfil(type(self))
    self.__init__(*values, **named)  # type: ignore[misc]


def _unpickle_first(self: object, /, state: dict[str, Any]) -> None:
    _fulfil(type(self))
    self.__dict__.update(state)


_STANDING_IN: dict[str, Any] = {
    "__init__": _make_first,
    "__setstate__": _unpickle_first,
    "__dataclass_fields__": _AskedFor("__dataclass_fields__"),
    "__signature__": _AskedFor("__signature__"),
}


def _declared(kind: type | None = None, /, **options: Any) -> Any:
    """A decorator of classes, or the class that it is given."""

    def declare(kind: type) -> type:
        for name, attribute in {_DECLARED: options, **_STANDING_IN}.items():
            setattr(kind, name, attribute)
        return kind

    return declare if kind is None else declare(kind)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _declared
