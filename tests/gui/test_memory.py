"""Tests of memory.

Garbage is collected when the program asks for it, usually while the window is idle. Freed memory is returned
to the system.
"""

from __future__ import annotations

import gc
import platform
import subprocess
import sys
import weakref
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from app.system import memory
from app.system.memory import (
    FULL_SEARCH_AT_LATEST,
    FULL_SEARCH_EVERY,
    GIVEN_BACK_EVERY,
    WORTH_A_LOOK,
    GarbageCollection,
)
from tests.shared import ROOT


class Knot:
    """An object that refers to itself, so that only the garbage collector can free it."""

    def __init__(self) -> None:
        self.me = self


@pytest.fixture
def busy() -> list[bool]:
    return [False]


@pytest.fixture
def collection(qtbot: QtBot, busy: list[bool]) -> Iterator[GarbageCollection]:
    garbage_collection = GarbageCollection(lambda: busy[0])
    yield garbage_collection
    garbage_collection.stop()
    assert gc.isenabled()


def test_garbage_is_collected_only_when_the_program_asks_for_a_collection(collection: GarbageCollection) -> None:
    knot = weakref.ref(Knot())
    kept: list[list[int]] = [[] for _ in range(3 * WORTH_A_LOOK)]
    assert knot() is not None
    collection.collect_if_due()
    assert knot() is None
    assert kept


def test_garbage_collection_does_not_start_after_only_a_few_new_objects(collection: GarbageCollection) -> None:
    gc.collect(0)
    knot = weakref.ref(Knot())
    collection.collect_if_due()
    assert knot() is not None


def test_no_garbage_collection_starts_while_the_program_is_busy(
    collection: GarbageCollection, busy: list[bool]
) -> None:
    busy[0] = True
    knot = weakref.ref(Knot())
    kept: list[list[int]] = [[] for _ in range(3 * WORTH_A_LOOK)]
    collection.collect_if_due()
    assert knot() is not None
    busy[0] = False
    collection.collect_if_due()
    assert knot() is None
    assert kept


def test_old_objects_are_collected_after_many_new_objects(collection: GarbageCollection) -> None:
    old = Knot()
    knot = weakref.ref(old)
    gc.collect()  # it has survived, and is old from now on
    del old
    kept: list[list[list[int]]] = []
    for look in range(FULL_SEARCH_EVERY + 1):
        assert knot() is not None, look
        kept.append([[] for _ in range(2 * WORTH_A_LOOK)])
        collection.collect_if_due()
    assert knot() is None


def test_old_objects_are_eventually_collected_even_if_the_program_stays_busy(
    collection: GarbageCollection, busy: list[bool]
) -> None:
    """The program may be busy for hours if one training follows another."""
    busy[0] = True
    old = Knot()
    knot = weakref.ref(old)
    gc.collect()
    del old
    kept: list[list[int]] = [[] for _ in range(3 * WORTH_A_LOOK)]
    for look in range(FULL_SEARCH_AT_LATEST):
        assert knot() is not None, look
        collection.collect_if_due()
    assert knot() is None
    assert kept


def test_objects_of_a_closed_session_are_collected_immediately(collection: GarbageCollection, busy: list[bool]) -> None:
    busy[0] = True
    old = Knot()
    knot = weakref.ref(old)
    gc.collect()
    del old
    collection.collect_if_due()
    assert knot() is not None
    collection.plan_full_collection()
    collection.collect_if_due()
    assert knot() is None


def test_freed_memory_is_returned_to_the_system_even_if_the_program_is_busy(
    collection: GarbageCollection, busy: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    busy[0], given = True, list[int]()
    monkeypatch.setattr(memory, "release_memory_now", lambda: given.append(1))
    for _ in range(GIVEN_BACK_EVERY):
        collection.collect_if_due()
    assert given == [1]


GIVEN_BACK = """
import threading
from app.system.memory import release_memory_early, release_memory_now

release_memory_early()

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

def fill_and_free():
    pieces = [bytearray(100_000) for _ in range(2_000)]
    kept = [bytes(100_000) for _ in range(3)]  # behind them: what is free before cannot simply be cut off
    pieces.clear()
    return kept

kept = []
threads = [threading.Thread(target=lambda: kept.append(fill_and_free())) for _ in range(4)]
before = resident()
for thread in threads:
    thread.start()
    thread.join()
release_memory_now()
assert resident() - before < 20e6, (resident() - before) / 1e6
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library, which is left alone")
def test_memory_freed_by_threads_is_returned_to_the_system() -> None:
    subprocess.run([sys.executable, "-c", GIVEN_BACK], cwd=ROOT, check=True)
