"""Tests of safety copies.

They check which copies are kept, in which order copies are offered, and what happens to damaged copies.
"""

from __future__ import annotations

import dataclasses
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytestqt.qtbot import QtBot

from app.session import safety_copy
from app.session.safety_copy import LEAST_AGE, RULE, Leftover, copies_to_remove, find_leftovers, lock_of
from app.settings import data_folder
from app.window.manual.book import text_of
from app.window.sessions.unsaved import title_of
from app.wiring import Program
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file import EXTENSION
from bpe_core.session_file.values import SavedSession
from bpe_core.session_file.writing import write_session
from bpe_core.support.lock import Lock
from bpe_core.support.private_folder import private_folder
from tests.core.session_file.sessions import RECIPES, run_of, session
from tests.gui.conftest import WAIT
from tests.gui.sessions.saving import answer

NOW = datetime.now(UTC)
DAY = timedelta(days=1)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return private_folder(tmp_path / "unsaved")


def write_copy(folder: Path, name: str, written: datetime | None, text: str = "a text") -> Path:
    """Write a safety copy with the given name and time, and return its path. The time does not affect the name."""
    path = folder / f"{name}{EXTENSION}"
    write_session(dataclasses.replace(SavedSession(Recipe.preset("gpt2"), text=text), written=written), path)
    return path


def test_the_newest_safety_copy_is_kept_even_if_other_copies_are_dated_in_the_future(folder: Path) -> None:
    future = [write_copy(folder, f"2031-01-{day:02}-00-00-00-1-1", NOW + (1500 + day) * DAY) for day in range(1, 29)]
    today = write_copy(folder, "2026-11-21-00-00-00-1-1", NOW - timedelta(seconds=5))
    leftovers = find_leftovers(folder)
    assert leftovers[0].path == today
    assert {leftover.path for leftover in leftovers} == {today, *future}
    assert all(path.exists() for path in (today, *future))


def test_safety_copies_are_sorted_by_their_time_of_writing(folder: Path) -> None:
    paths = [write_copy(folder, name, NOW - age * DAY) for name, age in (("a", 2), ("c", 3), ("b", 1))]
    for path in paths:
        os.utime(path, (0, 0))  # as a backup that was put back may be
    assert [leftover.path.stem for leftover in find_leftovers(folder)] == ["b", "a", "c"]


def test_a_safety_copy_without_a_stored_time_uses_the_time_of_its_file(folder: Path) -> None:
    path = write_copy(folder, "old", None)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    (leftover,) = find_leftovers(folder)
    assert leftover.written == datetime.fromtimestamp(1_000_000_000, UTC)


def test_the_oldest_safety_copies_are_removed_if_their_total_size_is_too_large(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ages = [1, 29, 31, 40, 50]
    paths = {age: write_copy(folder, f"x{age}", NOW - age * DAY) for age in ages}
    assert len(find_leftovers(folder)) == 5
    monkeypatch.setattr(safety_copy, "MOST_BYTES", sum(path.stat().st_size for path in paths.values()) - 1)
    assert [leftover.path for leftover in find_leftovers(folder)] == [paths[age] for age in ages[:-1]]
    assert not paths[50].exists()
    monkeypatch.setattr(safety_copy, "MOST_BYTES", 0)
    assert [leftover.path for leftover in find_leftovers(folder)] == [paths[1], paths[29]]


def test_a_safety_copy_locked_by_a_window_is_not_removed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_copy(folder, "old", NOW - 100 * DAY)
    monkeypatch.setattr(safety_copy, "MOST_BYTES", 0)
    lock = Lock.acquire(lock_of(path))
    assert lock is not None
    assert find_leftovers(folder) == ()
    assert path.exists()
    lock.release()


@given(st.lists(st.tuples(st.integers(-4000, 4000), st.integers(1, 600_000_000)), max_size=30))
def test_safety_copies_are_removed_by_age_and_total_size(copies: list[tuple[int, int]]) -> None:
    leftovers = [Leftover(Path(str(place)), NOW - days * DAY, size) for place, (days, size) in enumerate(copies)]
    gone = copies_to_remove(leftovers, NOW)
    kept = [leftover for leftover in leftovers if leftover not in gone]
    assert all(NOW - leftover.written > LEAST_AGE for leftover in gone)
    for place, leftover in enumerate(gone):  # with it, it was too much, and nothing older was spared
        assert sum(other.size for other in (*kept, *gone[place:])) > safety_copy.MOST_BYTES
        assert all(other.written >= leftover.written for other in kept)


def test_the_rule_for_removing_safety_copies_is_in_the_menu_and_in_the_manual(program: Program) -> None:
    menu = program.filing.unsaved.menu
    menu.aboutToShow.emit()
    assert RULE in [action.text() for action in menu.actions()]
    for figure in (f"{LEAST_AGE.days} days", "1 GB"):
        assert figure in RULE
        assert figure in text_of("start.md")


def test_a_damaged_safety_copy_is_reported_and_can_be_discarded(
    qtbot: QtBot, new_program: Callable[..., Program]
) -> None:
    folder = private_folder(data_folder() / "unsaved")
    path = write_copy(folder, "damaged", NOW, text="x" * 100_000)
    path.write_bytes(path.read_bytes()[:30_000])
    program = new_program()
    with qtbot.waitSignal(program.filing.document.leftovers.changed, timeout=WAIT):
        program.filing.unsaved.offer_newest()
    (leftover,) = program.filing.document.leftovers.all
    assert "damaged" in program.messages.sentence.text()
    assert "damaged" in title_of(leftover)
    assert leftover.damage in program.messages.details.toPlainText()
    program.filing.bring_back(leftover)
    assert f"{path.name} cannot be restored" in program.messages.sentence.text()
    assert "Open an older copy of the file" in program.messages.sentence.text()
    assert path.exists()
    program.filing.unsaved.offer_newest()
    qtbot.waitUntil(lambda: "was not saved" in program.messages.sentence.text(), timeout=WAIT)
    answer(program, "Discard")
    assert not path.exists()


def test_opening_a_damaged_session_file_is_refused_and_leaves_the_file_unchanged(
    qtbot: QtBot, program: Program, tmp_path: Path
) -> None:
    path = tmp_path / "harbour.bpex"
    write_session(session(run_of(RECIPES[0]), run_of(RECIPES[4], 2)), path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE merges SET count = count + 1 WHERE run = 2 AND step = 3")
    damaged = path.read_bytes()
    program.filing.open(path)
    qtbot.waitUntil(lambda: "a stored checksum differs" in program.messages.sentence.text(), timeout=WAIT)
    assert "Open an older copy of the file" in program.messages.sentence.text()
    assert program.session.runs.all == []
    assert program.filing.document.path is None
    assert path.read_bytes() == damaged
