"""Tests of the checksums of session files: they reveal any changed number when the file is opened."""

from __future__ import annotations

import contextlib
import dataclasses
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import FormatError, TooLarge
from bpe_core.session_file import checksums
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.values import SavedSession
from bpe_core.session_file.writing import SessionWriter, write_session
from tests.core.session_file.sessions import RECIPES, assert_same, run_of, session, with_reasons_and_names

WRITTEN = session(run_of(RECIPES[0]), run_of(RECIPES[4], 2), with_reasons_and_names(run_of(RECIPES[4], 3)))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    write_session(WRITTEN, tmp_path / "one.bpex")
    return tmp_path / "one.bpex"


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE merges SET count = count + 1 WHERE run = 1 AND step = 2", "run 1: the learned steps from step 1 on"),
        ("UPDATE merges SET tokens_left = 7 WHERE run = 2 AND step = 3", "run 2: the learned steps"),
        ("UPDATE merges SET token = 'x' WHERE run = 2 AND step = 3", "run 2: the learned steps"),
        ("DELETE FROM merges WHERE run = 1 AND step > 2; DELETE FROM bookmarks", "a bookmark"),
        ("DELETE FROM merges WHERE run = 2 AND step > 2", "run 2: the number of its steps"),
        (
            "UPDATE reasons SET numbers = zeroblob(length(numbers)) WHERE name = 'loss'",
            "run 3: the reasons of the steps",
        ),
        ("DELETE FROM reasons", "run 3: the reasons of the steps from step 1 on"),
        ("UPDATE symbols SET count = 5 WHERE run = 1 AND id = 9", "run 1: its base symbols"),
        ("UPDATE runs SET tokens_at_start = 5 WHERE number = 1", "run 1: its recipe and state"),
        ("UPDATE runs SET word_table = NULL WHERE number = 1", "run 1: its words"),
        ("UPDATE word_chunks SET counts = CAST(x'0900000000000000' || substr(counts, 9) AS BLOB)", "run 1: its words"),
        ("UPDATE sources SET size = 99 WHERE run = 1", "run 1: the list of its texts"),
        ("UPDATE texts SET text = 'another'", "a text of the corpus"),
        ("UPDATE bookmarks SET note = 'another'", "a bookmark"),
        ("UPDATE session SET value = 'another' WHERE key = 'text'", "your own text"),
        ("DELETE FROM session WHERE key = 'filter'", "the filter"),
        ("DELETE FROM checks WHERE part = 'symbols' AND run = 2", "run 2: its base symbols"),
    ],
)
def test_a_changed_but_plausible_value_in_a_session_file_is_detected(path: Path, statement: str, what: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)
    with pytest.raises(FormatError, match=what) as refusal:
        read_session(path)
    assert "damaged" in str(refusal.value)
    assert str(refusal.value).endswith("Open an older copy of the file, such as one from a backup.")


def test_an_older_session_file_without_checksums_opens(tmp_path: Path) -> None:
    old = Path(__file__).parents[1] / "before" / "session.bpex"
    assert read_session(old).runs
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_checksums_of_a_session_file_are_updated_with_appended_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checksums depend neither on the number of writes nor on the number of rows in each write."""
    run = run_of(RECIPES[0])
    assert run.history is not None
    writer = SessionWriter(tmp_path / "kept.bpex")
    for learned in (0, 1, 4, 4, len(run.history)):
        step = session(dataclasses.replace(run, history=run.history.first(learned)))
        writer.update(dataclasses.replace(step, bookmarks=()))
        read_session(tmp_path / "kept.bpex", is_safety_copy=True)
    writer.update(SavedSession(run.recipe))
    read_session(tmp_path / "kept.bpex", is_safety_copy=True)
    writer.close()
    with closing(sqlite3.connect(tmp_path / "kept.bpex")) as connection:
        assert connection.execute("SELECT count(*) FROM checks WHERE run > 0").fetchone() == (0,)
        assert checksums.wrong_parts(connection) == []


@given(place=st.floats(0, 1), change=st.integers(1, 255), is_cut=st.booleans())
def test_a_session_file_with_a_changed_byte_gives_the_saved_content_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, place: float, change: int, is_cut: bool
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "one.bpex"
    write_session(WRITTEN, path)
    data = bytearray(path.read_bytes())
    start = int(place * (len(data) - 1))
    data[start] ^= change
    path.write_bytes(data[:start] if is_cut else data)
    with contextlib.suppress(FormatError):
        read = read_session(path)
        assert_same(dataclasses.replace(read, view=WRITTEN.view), WRITTEN)


@pytest.mark.parametrize("change", [0x10, 0x14, 0x1C])
def test_a_session_file_with_a_damaged_database_index_gives_the_saved_content_or_is_refused(
    path: Path, change: int
) -> None:
    """An SQL index repeats the values of its table. Damage can change the type of a value in the index."""
    with closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_session_1'"
        ).fetchone()
    data = path.read_bytes()
    for place in range(4096 * (page - 1), 4096 * page):
        if data[place]:
            path.write_bytes(data[:place] + bytes([data[place] ^ change]) + data[place + 1 :])
            with contextlib.suppress(FormatError):
                read = read_session(path)
                assert_same(dataclasses.replace(read, view=WRITTEN.view), WRITTEN)


def test_missing_rows_of_a_session_file_are_reported_with_a_suggested_solution(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM symbols WHERE run = 1 AND id = 9")
    with pytest.raises(FormatError, match=r"its base symbols have gaps\. Open an older copy of the file"):
        read_session(path)


def test_a_session_that_needs_too_much_memory_is_refused_before_it_is_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_session(path)
    monkeypatch.setattr("bpe_core.support.limits.available_memory", lambda: 300 * 2**20)
    monkeypatch.setattr("bpe_core.support.limits.WORTH_ASKING", 0)
    monkeypatch.setattr("bpe_core.support.limits.RESERVE", 300 * 2**20)
    with pytest.raises(TooLarge, match=r"Opening .*one\.bpex needs about \d MB more memory"):
        read_session(path)


def test_a_session_file_in_which_an_older_version_repeated_rows_still_opens(path: Path) -> None:
    """Older programs wrote the row of each run, its symbols and its first scores twice."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO run_copies SELECT * FROM runs")
        connection.execute("INSERT INTO symbol_copies SELECT * FROM symbols")
        connection.execute("INSERT INTO first_scores VALUES (1, 0, '<f4', x'00000000')")
    assert_same(dataclasses.replace(read_session(path), view=WRITTEN.view), WRITTEN)
