"""The engine's small classes, beside those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import inspect
import pickle
import pkgutil
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

import pytest

import bpe_core
from bpe_core.records import dataclass
from tests.shared import ROOT


def declared_by(decorator: Any) -> Any:
    """A class with all that fields can be, and its parent."""

    @decorator(frozen=True)
    class Place:
        known: ClassVar[int] = 7

        line: int
        column: int = 1

    @decorator(frozen=True, kw_only=True)
    class Named(Place):
        name: str = dataclasses.field(default="here", metadata={"tip": "What it is called"})
        notes: list[str] = dataclasses.field(default_factory=list, compare=False)
        secret: str = dataclasses.field(default="", repr=False)

        def __post_init__(self) -> None:
            if self.line < 0:
                raise ValueError("no such line")

    return Named


BY_OURS, BY_THE_LIBRARY = declared_by(dataclass), declared_by(dataclasses.dataclass)

ASKED: dict[str, Callable[[Any], Any]] = {
    "shown": lambda kind: repr(kind(3, name="there", secret="x")).removeprefix(kind.__qualname__),
    "equal": lambda kind: [kind(3) == other for other in (kind(3), kind(3, 2), kind(3, notes=["a"]), 3)],
    "hash": lambda kind: len({kind(3), kind(3), kind(3, notes=["a"]), kind(3, 2)}),
    "replaced": lambda kind: dataclasses.astuple(dataclasses.replace(kind(3, name="there"), line=4)),
    "as a dict": lambda kind: dataclasses.asdict(kind(3, notes=["a"])),
    "fields": lambda kind: [
        (one.name, one.type, one.default, one.compare, one.repr, one.kw_only, dict(one.metadata))
        for one in dataclasses.fields(kind)
    ],
    "signature": lambda kind: str(inspect.signature(kind)),
    "matched": lambda kind: kind.__match_args__,
    "of the class": lambda kind: (kind.line if hasattr(kind, "line") else None, kind.column, kind.name, kind.known),
    "copied": lambda kind: dataclasses.astuple(copy.deepcopy(kind(3, notes=["a"]))),
    "a list of its own": lambda kind: kind(3).notes is kind(3).notes,
    "is one": lambda kind: dataclasses.is_dataclass(kind),
}


@pytest.mark.parametrize("asked", ASKED)
def test_they_answer_as_the_standard_librarys(asked: str) -> None:
    assert ASKED[asked](BY_OURS) == ASKED[asked](BY_THE_LIBRARY)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "a value too many": lambda kind: kind(1, 2, 3),
    "one that is missing": lambda kind: kind(),
    "one twice": lambda kind: kind(1, line=1),
    "one that there is not": lambda kind: kind(1, depth=3),
    "no such line": lambda kind: kind(-1),
    "set": lambda kind: setattr(kind(1), "line", 2),
    "deleted": lambda kind: delattr(kind(1), "line"),
}


@pytest.mark.parametrize("refused", REFUSED)
@pytest.mark.parametrize("kind", [BY_OURS, BY_THE_LIBRARY], ids=["ours", "the library's"])
def test_they_refuse_as_the_standard_librarys(kind: Any, refused: str) -> None:
    with pytest.raises((TypeError, ValueError, dataclasses.FrozenInstanceError)):
        REFUSED[refused](kind)


def test_values_that_may_change_have_no_hash_and_can_be_set() -> None:
    @dataclass
    class Counted:
        number: int

    one = Counted(1)
    one.number = 2
    assert one == Counted(2)
    with pytest.raises(TypeError):
        hash(one)
    with pytest.raises(ValueError, match="default_factory"):
        dataclass(type("Shared", (), {"__annotations__": {"items": "list[int]"}, "items": []}))


def test_what_a_class_says_itself_stays_and_identity_can_decide() -> None:
    @dataclass(frozen=True)
    class Folded:
        name: str

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Folded) and self.name.lower() == other.name.lower()

        def __hash__(self) -> int:
            return hash(self.name.lower())

    @dataclass(frozen=True, eq=False)
    class Held:
        name: str

    assert len({Folded("a"), Folded("A")}) == 1
    assert len({Held("a"), Held("a")}) == 2


@pytest.mark.parametrize("decorator", [dataclass, dataclasses.dataclass], ids=["ours", "the library's"])
def test_what_is_derived_from_them_without_a_decorator(decorator: Any) -> None:
    """It has a beginning, and attributes, of its own."""

    @decorator(frozen=True)
    class Line:
        number: int

    class Read(Line):
        def __init__(self, text: str) -> None:
            super().__init__(int(text))  # type: ignore[call-arg]  # no decorator that it knows
            self.text = text

        def __call__(self, times: int) -> str:
            return self.text * times

    one = Read("3")
    assert (one.number, one.text, list(inspect.signature(Read).parameters)) == (3, "3", ["text"])
    assert list(inspect.signature(one).parameters) == ["times"]
    del one.text
    for change in (lambda: setattr(one, "number", 4), lambda: delattr(one, "number")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            change()


def test_one_that_holds_itself_can_be_shown() -> None:
    @dataclass
    class Linked:
        others: list[Linked]

    one = Linked([])
    one.others.append(one)
    assert repr(one).endswith("Linked(others=[...])")


@dataclass(frozen=True)
class Pickled:
    number: int
    more: tuple[int, ...] = ()


def test_they_go_to_other_processes_and_threads() -> None:
    assert pickle.loads(pickle.dumps(Pickled(3))) == Pickled(3)  # noqa: S301
    with ThreadPoolExecutor(4) as threads:
        assert [one.number for one in threads.map(Pickled, range(100))] == [*range(100)]


# Modules that start something, or need a tool that is not there.
STARTING = ("bpe_core.__main__", "bpe_core.kernels.building")


def engine_classes() -> Iterator[Any]:
    for module in pkgutil.walk_packages(bpe_core.__path__, "bpe_core."):
        if module.name not in (
            "bpe_core.__main__",
            "bpe_core.kernels.building",
        ):  # which start something, or need its tool
            found = vars(importlib.import_module(module.name)).values()
            yield from {one for one in found if isinstance(one, type) and one.__module__ == module.name}


def test_all_of_the_engine_take_what_the_standard_librarys_would() -> None:
    """Names, order, kinds and defaults: what is required cannot follow what is not, as there."""
    kinds = [kind for kind in engine_classes() if "__compared__" in vars(kind)]
    assert len(kinds) > 150
    for kind in kinds:
        fields = [(one.name, one.type, copied(one)) for one in dataclasses.fields(kind)]
        theirs = dataclasses.make_dataclass(kind.__name__, fields)
        ours, expected = (inspect.signature(one).parameters.values() for one in (kind, theirs))
        assert [(one.name, one.kind) for one in ours] == [(one.name, one.kind) for one in expected], kind
        needed = [
            [one.name for one in inspect.signature(made).parameters.values() if one.default is one.empty]
            for made in (kind, theirs)
        ]
        assert needed[0] == needed[1], kind


def copied(field: Any) -> Any:
    """As a field is declared, for another class to own."""
    default = {
        name: value
        for name in ("default", "default_factory")
        if (value := getattr(field, name)) is not dataclasses.MISSING
    }
    return dataclasses.field(**default, kw_only=field.kw_only, compare=field.compare, repr=field.repr)


def test_nobody_declares_the_slow_way() -> None:
    """A class that the standard library makes takes as long at a start as a dozen of ours."""
    found = (ROOT / "bpe_core").rglob("*.py")
    slow = re.compile(r"^from dataclasses import .*\bdataclass\b|^@dataclasses\.dataclass", re.MULTILINE)
    assert [path.name for path in found if slow.search(path.read_text(encoding="utf-8"))] == []
