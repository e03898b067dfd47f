"""`dataclass` for a program that declares hundreds of small classes, and uses few of them in a run.

The standard library's writes and compiles up to six functions for each class at its declaration, 0.4 to 3 ms, which
was a quarter of what a small command took. Here those functions are the same for all classes, and a declaration only
collects the fields, in the standard library's own terms: its `fields`, `replace` and `asdict` know these classes, and
type checkers see the original.

>>> @dataclass(frozen=True)
... class Place:
...     line: int
...     column: int = 1
>>> Place(3), Place(3) == Place(3, 1), replace(Place(3), column=2).column, {Place(3), Place(3)}
(Place(line=3, column=1), True, 2, {Place(line=3, column=1)})
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import MISSING, FrozenInstanceError, replace
from operator import attrgetter
from reprlib import recursive_repr
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

_FIELDS = "__dataclass_fields__"  # where the standard library looks for them
_USUAL = dataclasses._FIELD  # type: ignore[attr-defined]  # by which it tells fields from what is none
_MADE_ANEW = dataclasses._HAS_DEFAULT_FACTORY  # type: ignore[attr-defined]  # by which signatures show a factory
_set = object.__setattr__  # which values that are frozen do not refuse


def _declared(kind: type | None = None, /, *, frozen: bool = False, eq: bool = True, kw_only: bool = False) -> Any:
    """A decorator of classes whose annotations are texts, or the class that it is given."""

    def declare(kind: Any) -> Any:
        fields = _fields_of(kind, kw_only)
        compared = [name for name, field in fields.items() if field.compare]
        declared = {
            "__dataclass_fields__": fields,
            "__dataclass_params__": SimpleNamespace(frozen=frozen),
            "__match_args__": tuple([name for name, field in fields.items() if not field.kw_only]),
            "__signature__": _Signature(),
            "__compared__": attrgetter(*compared) if compared else type,
            "__init__": _begin,
            "__repr__": _shown,
            "__replace__": replace,
            **({"__eq__": _is_equal, "__hash__": _hashed if frozen else None} if eq else {}),
            **({"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete} if frozen else {}),
        }
        own = vars(kind)
        for name, value in declared.items():
            if own.get(name) is None:  # as the hash is where a class says itself what is equal
                setattr(kind, name, value)
        return kind

    return declare if kind is None else declare(kind)


def _fields_of(kind: Any, kw_only: bool) -> dict[str, Any]:
    """Those of its parents first; what a field is by default becomes an attribute of the class."""
    fields: dict[str, Any] = {}
    for parent in kind.__mro__[-1:0:-1]:
        fields |= vars(parent).get(_FIELDS, {})
    for name, told in kind.__annotations__.items():
        if not told.startswith("ClassVar"):
            fields[name] = field = _field(kind, name)
            field.name, field.type, field.kw_only = name, told, kw_only
    return fields


def _field(kind: Any, name: str) -> Any:
    default: Any = vars(kind).get(name, MISSING)
    if isinstance(default, dataclasses.Field):
        if default.default is MISSING:
            delattr(kind, name)
        else:
            setattr(kind, name, default.default)
    field: Any = default if isinstance(default, dataclasses.Field) else dataclasses.field(default=default)
    if field.default.__class__.__hash__ is None:
        raise ValueError(f"what {kind.__name__}.{name} is by default can change: use default_factory")
    field._field_type = _USUAL
    return field


def _begin(self: Any, /, *values: Any, **named: Any) -> None:
    kind, given = type(self), dict(zip(self.__match_args__, values, strict=False))
    if len(given) < len(values) or not given.keys().isdisjoint(named):
        raise TypeError(f"{kind.__name__}() got more values than it has fields, or one of them twice")
    given |= named
    for name, field in self.__dataclass_fields__.items():
        if name in given:
            _set(self, name, given.pop(name))
        elif field.default is not MISSING:
            _set(self, name, field.default)
        elif field.default_factory is not MISSING:
            _set(self, name, field.default_factory())
        else:
            raise TypeError(f"{kind.__name__}() was not given {name!r}")
    if given:
        raise TypeError(f"{kind.__name__}() has no field {', '.join(map(repr, given))}")
    if hasattr(kind, "__post_init__"):
        self.__post_init__()


def _is_equal(self: Any, other: Any) -> bool:
    return self.__compared__(self) == self.__compared__(other) if type(self) is type(other) else NotImplemented


def _hashed(self: Any) -> int:
    return hash(self.__compared__(self))


@recursive_repr("...")
def _shown(self: Any) -> str:
    fields = [field for field in dataclasses.fields(self) if field.repr]
    return f"{type(self).__qualname__}({', '.join(f'{field.name}={getattr(self, field.name)!r}' for field in fields)})"


def _refuse_to_set(self: Any, name: str, value: object) -> None:
    if _is_held(self, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    _set(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if _is_held(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _is_held(value: Any, name: str) -> bool:
    """Whether that may not change: a class derived without this decorator may have more than the fields."""
    return _FIELDS in vars(type(value)) or name in value.__dataclass_fields__


class _Signature:
    """How values of a class are made, where somebody is shown it; not how one of them is called."""

    def __get__(self, value: object, kind: Any) -> Any:
        if value is not None or kind.__init__ is not _begin:
            raise AttributeError("__signature__")
        import inspect

        parameters = sorted(self._parameters(kind), key=lambda parameter: parameter.kind)
        return inspect.Signature(parameters, return_annotation=None)

    def _parameters(self, kind: type) -> Iterator[Any]:
        from inspect import Parameter

        for field in dataclasses.fields(kind):
            place = Parameter.KEYWORD_ONLY if field.kw_only else Parameter.POSITIONAL_OR_KEYWORD
            default = field.default if field.default_factory is MISSING else _MADE_ANEW
            told = Parameter.empty if default is MISSING else default
            yield Parameter(field.name, place, default=told, annotation=field.type)


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _declared
