"""`dataclass` as in the standard library, for a program that defines hundreds of classes and uses few of them.

The standard library's writes and compiles up to six functions of each class when that is defined, which takes 0.2 to
2 ms, and loads for it what takes programs apart: a third of what a small command took. Here one function, the one that
makes a value, is compiled, and that when the first value is made; the others are common to all classes. Type checkers
see the original, and its `fields`, `replace` and `asdict` take these values as their own.

>>> @dataclass(frozen=True)
... class Place:
...     line: int
...     column: int = 1
>>> Place(3), Place(3) == Place(3, 1), replace(Place(3), column=2).column, {Place(3), Place(3)}
(Place(line=3, column=1), True, 2, {Place(line=3, column=1)})
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from types import MappingProxyType, SimpleNamespace
from typing import TYPE_CHECKING, Any

_NOTHING: Any = object()  # where no default is said
_NO_METADATA: Mapping[str, Any] = MappingProxyType({})
_HOME = "__record_fields__"  # where a class keeps its fields, by name


class _Field:
    """What was said of one field."""

    __slots__ = ("compare", "default", "default_factory", "kw_only", "metadata", "name", "repr", "type")

    def __init__(
        self,
        default: Any = _NOTHING,
        default_factory: Callable[[], Any] = _NOTHING,
        repr: bool = True,
        compare: bool = True,
        metadata: Mapping[str, Any] = _NO_METADATA,
    ) -> None:
        self.default, self.default_factory, self.repr, self.compare = default, default_factory, repr, compare
        self.metadata, self.kw_only = metadata, False
        self.name = self.type = ""

    @property
    def original(self) -> Any:
        """As the standard library says it."""
        import dataclasses  # where somebody asks by its own functions

        said = {"default": self.default, "default_factory": self.default_factory}
        told: Any = {name: value for name, value in said.items() if value is not _NOTHING}
        return dataclasses.field(
            **told, repr=self.repr, compare=self.compare, metadata=self.metadata, kw_only=self.kw_only
        )


class _Originals:
    """The fields of a class as the standard library looks for them, made when it does."""

    def __get__(self, value: object, kind: Any) -> dict[str, Any]:
        import dataclasses

        told = [(field.name, field.type, field.original) for field in _of(kind)]
        made: Any = dataclasses.make_dataclass(kind.__name__, told)
        kind.__dataclass_fields__ = made.__dataclass_fields__
        return kind.__dataclass_fields__  # type: ignore[no-any-return]


def _of(kind: Any) -> tuple[_Field, ...]:
    """The fields of a class or a value, those of its parents first."""
    return tuple(getattr(kind, _HOME).values())


def _with_changes(value: Any, /, **changes: Any) -> Any:
    """Another value, with some fields changed."""
    for field in _of(value):
        if field.name not in changes:
            changes[field.name] = getattr(value, field.name)
    return value.__class__(**changes)


def _as_dict(value: Any) -> Any:
    """The fields of a value by name, and so those of the values in it."""
    if hasattr(value, _HOME):
        return {field.name: _as_dict(getattr(value, field.name)) for field in _of(value)}
    if isinstance(value, list | tuple):
        return type(value)(map(_as_dict, value))
    return {name: _as_dict(one) for name, one in value.items()} if isinstance(value, dict) else value


def _defined(kind: type | None = None, /, *, frozen: bool = False, eq: bool = True, kw_only: bool = False) -> Any:
    """A decorator of classes whose annotations are texts, or the class that it is given."""

    def define(kind: type) -> type:
        fields = _collected(kind, kw_only)
        names = tuple(name for name, field in fields.items() if field.compare)
        own = vars(kind)
        generated: dict[str, Any] = {"__init__": _compiled_at_first(kind, frozen), "__repr__": _shown}
        if eq:
            values = _values_of(names)
            generated["__eq__"] = _equal_by(values)
            if own.get("__hash__") is None:  # as it is where `__eq__` is written out
                kind.__hash__ = _hash_by(values) if frozen else None  # type: ignore[assignment]
        if frozen:
            generated["__setattr__"], generated["__delattr__"] = _refusing(kind, fields)
        for name, function in generated.items():
            if name not in own:
                setattr(kind, name, function)
        described = {
            _HOME: fields,
            "__match_args__": tuple(name for name, field in fields.items() if not field.kw_only),
            "__dataclass_fields__": _Originals(),
            "__dataclass_params__": SimpleNamespace(frozen=frozen),
        }
        for name, told in described.items():
            setattr(kind, name, told)
        return kind

    return define if kind is None else define(kind)


def _collected(kind: type, kw_only: bool) -> dict[str, _Field]:
    fields: dict[str, _Field] = {}
    for parent in kind.__mro__[-1:0:-1]:
        fields |= vars(parent).get(_HOME, {})
    for name, told in vars(kind).get("__annotations__", {}).items():
        if told.startswith("ClassVar"):
            continue
        default = vars(kind).get(name, _NOTHING)
        field = default if isinstance(default, _Field) else _Field(default)
        if field.default is not _NOTHING:
            if field.default.__class__.__hash__ is None:
                raise ValueError(f"the default of {kind.__name__}.{name} can change: use default_factory")
            setattr(kind, name, field.default)
        elif field is default:
            delattr(kind, name)
        field.name, field.type, field.kw_only = name, told, kw_only
        fields[name] = field
    return fields


def _compiled_at_first(kind: type, frozen: bool) -> Callable[..., None]:
    """What makes a value, and until the first is made only knows how it becomes that."""

    def make(self: object, /, *values: Any, **named: Any) -> None:
        made = _compiled(kind, frozen)
        kind.__init__ = made  # type: ignore[misc]
        made(self, *values, **named)

    return make


def _compiled(kind: type, frozen: bool) -> Callable[..., None]:
    fields = _of(kind)
    known = {"_set": object.__setattr__, "_nothing": _NOTHING}
    parameters, lines = ["self"], []
    for field in sorted(fields, key=attrgetter("kw_only")):
        name = field.name
        known |= {f"_default_{name}": field.default, f"_make_{name}": field.default_factory}
        if field.kw_only and "*" not in parameters:
            parameters.append("*")
        if field.default_factory is not _NOTHING:
            parameters.append(f"{name}=_nothing")
            lines.append(f"if {name} is _nothing: {name} = _make_{name}()")
        else:
            parameters.append(name if field.default is _NOTHING else f"{name}=_default_{name}")
        lines.append(f"_set(self, {name!r}, {name})" if frozen else f"self.{name} = {name}")
    if hasattr(kind, "__post_init__"):
        lines.append("self.__post_init__()")
    text = f"def __init__({', '.join(parameters)}):\n    " + "\n    ".join(lines or ["pass"])
    exec(text, known)  # noqa: S102 - as the standard library does, of names that stand in our own classes
    made: Any = known["__init__"]
    made.__qualname__, made.__module__ = f"{kind.__qualname__}.__init__", kind.__module__
    made.__annotations__ = {field.name: field.type for field in fields} | {"return": "None"}
    return made  # type: ignore[no-any-return]


def _shown(self: Any) -> str:
    told = (f"{field.name}={getattr(self, field.name)!r}" for field in _of(self) if field.repr)
    return f"{self.__class__.__qualname__}({', '.join(told)})"


def _values_of(names: tuple[str, ...]) -> Callable[[object], tuple[Any, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _equal_by(values: Callable[[object], tuple[Any, ...]]) -> Callable[[object, object], bool]:
    def equal(self: object, other: object) -> bool:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return equal


def _hash_by(values: Callable[[object], tuple[Any, ...]]) -> Callable[[object], int]:
    def hashed(self: object) -> int:
        return hash(values(self))

    return hashed


def _refusing(kind: Any, fields: Iterable[str]) -> tuple[Callable[..., None], Callable[..., None]]:
    """What no field of a frozen value can be set or deleted by."""

    def refuse_set(self: object, name: str, value: object) -> None:
        if type(self) is kind or name in fields:
            raise _frozen_error("assign to", name)
        super(kind, self).__setattr__(name, value)

    def refuse_delete(self: object, name: str) -> None:
        if type(self) is kind or name in fields:
            raise _frozen_error("delete", name)
        super(kind, self).__delattr__(name)

    return refuse_set, refuse_delete


def _frozen_error(verb: str, name: str) -> AttributeError:
    from dataclasses import FrozenInstanceError

    return FrozenInstanceError(f"cannot {verb} field {name!r}")


if TYPE_CHECKING:
    from dataclasses import Field as Field
    from dataclasses import asdict as asdict
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import fields as fields
    from dataclasses import replace as replace
else:
    Field, field = _Field, _Field
    asdict, dataclass, fields, replace = _as_dict, _defined, _of, _with_changes
