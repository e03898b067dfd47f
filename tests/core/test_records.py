"""Classes that become what they were declared to be when somebody needs them to."""

from __future__ import annotations

import dataclasses
import inspect
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from bpe_core.records import dataclass


@dataclass(frozen=True)
class Pickled:
    number: int


def test_they_are_the_standard_librarys_however_one_meets_them_first() -> None:
    @dataclass(frozen=True)
    class Place:
        line: int
        column: int = 1

    @dataclass(frozen=True)
    class Named(Place):
        name: str = dataclasses.field(default="here", compare=False)

        def __post_init__(self) -> None:
            assert self.line

    @dataclass(frozen=True)
    class Unused(Named):
        more: tuple[int, ...] = ()

    named = Named(3, name="there")
    assert named == Named(3) != Place(3)
    assert repr(named).endswith("Named(line=3, column=1, name='there')")
    assert dataclasses.replace(named, line=4) == Named(4)
    with pytest.raises(dataclasses.FrozenInstanceError):
        named.line = 5  # type: ignore[misc]
    assert len({Place(1), Place(1), Place(1, 2)}) == 2
    assert [field.name for field in dataclasses.fields(Unused)] == ["line", "column", "name", "more"]
    assert list(inspect.signature(Unused).parameters) == ["line", "column", "name", "more"]


def test_one_that_comes_from_another_process_is_like_those_made_here() -> None:
    fresh = object.__new__(Pickled)  # nobody has made one here yet
    fresh.__setstate__({"number": 3})  # type: ignore[attr-defined]
    assert fresh == Pickled(3)
    assert pickle.loads(pickle.dumps(fresh)) == fresh  # noqa: S301


def test_threads_may_make_the_first_ones_at_once() -> None:
    for _ in range(50):

        @dataclass
        class Counted:
            number: int
            more: int = 0

        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(Counted, range(8)))
        assert [one.number for one in found] == list(range(8))
        assert found[0] == Counted(0)
