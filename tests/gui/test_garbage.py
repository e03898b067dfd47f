"""Garbage cycles are found, but only in the window's thread, and old ones only at rest."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.system.garbage import FULL_SEARCH_EVERY, WORTH_A_LOOK, GarbageCollection


class Knot:
    """Refers to itself, so that counting references never frees it."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def busy() -> list[bool]:
    return [False]


@pytest.fixture
def collection(qtbot: QtBot, busy: list[bool]) -> Iterator[GarbageCollection]:
    found = GarbageCollection(lambda: busy[0])
    yield found
    found.stop()
    assert gc.isenabled()


def test_nothing_is_searched_by_itself(collection: GarbageCollection) -> None:
    knot = weakref.ref(Knot())
    kept: list[list[int]] = [[] for _ in range(3 * WORTH_A_LOOK)]
    assert knot() is not None
    collection.look()
    assert knot() is None
    assert kept


def test_little_is_not_worth_a_look(collection: GarbageCollection) -> None:
    gc.collect(0)
    knot = weakref.ref(Knot())
    collection.look()
    assert knot() is not None


def test_while_something_is_busy_garbage_waits(collection: GarbageCollection, busy: list[bool]) -> None:
    busy[0] = True
    knot = weakref.ref(Knot())
    kept: list[list[int]] = [[] for _ in range(3 * WORTH_A_LOOK)]
    collection.look()
    assert knot() is not None
    busy[0] = False
    collection.look()
    assert knot() is None
    assert kept


def test_what_is_old_is_searched_now_and_then(collection: GarbageCollection) -> None:
    old = Knot()
    knot = weakref.ref(old)
    gc.collect()  # it has survived, and is old from now on
    del old
    kept: list[list[list[int]]] = []
    for look in range(FULL_SEARCH_EVERY + 1):
        assert knot() is not None, look
        kept.append([[] for _ in range(2 * WORTH_A_LOOK)])
        collection.look()
    assert knot() is None
