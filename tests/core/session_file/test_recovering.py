"""Every sound run and text of a damaged session comes back, and no wrong figure."""

from __future__ import annotations

import dataclasses
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import FormatError, TooLarge
from bpe_core.learning.trainer import learn
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.recovering import NOT_CHECKED, UNKNOWN, recover_session
from bpe_core.session_file.sqlite_pages import rows_in
from bpe_core.session_file.values import SavedRun, SavedSession, SavedSource
from bpe_core.session_file.writing import write_session
from tests.conftest import EXPLORES
from tests.core.session_file.sessions import (
    RECIPES,
    assert_same,
    assert_same_history,
    large_history,
    learned_by,
    run_of,
    session,
    with_reasons,
)

PAGE = 4096
LONG = with_reasons(large_history(700))
TEXTS = tuple(SavedSource(f"text {n}", text=f"{n} " * (900 * n)) for n in range(1, 8))
WRITTEN = dataclasses.replace(
    session(
        run_of(RECIPES[0]),
        run_of(RECIPES[4], 2),
        SavedRun(3, LONG.recipe, TEXTS, None, LONG, state="ended"),
        learned_by("unigram", 4),
    ),
    sources=TEXTS,
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "one.bpex"
    write_session(WRITTEN, path)
    return path.read_bytes()


def recovered(path: Path, data: bytes) -> SavedSession | None:
    """Everything comes back right, or is reported as lost."""
    path.write_bytes(data)
    try:
        found = recover_session(path)
    except FormatError:
        return None
    check_every_figure(found.session, found.lost)
    return found.session


def check_every_figure(found: SavedSession, lost: tuple[str, ...]) -> None:
    said = " ".join(lost)
    written = {run.number: run for run in WRITTEN.runs}
    for run in found.runs:
        if UNKNOWN in run.sentence or NOT_CHECKED in run.sentence:
            continue  # it is marked
        twin = written[run.number]
        assert (run.history is None) == (twin.history is None)
        assert run.symbol_counts.tolist() == twin.symbol_counts.tolist()
        if run.history is not None and twin.history is not None:
            beginning = twin.history.first(len(run.history))
            for name in run.history.columns._fields:
                assert getattr(run.history.columns, name).tolist() == getattr(beginning.columns, name).tolist()
            for name, column in beginning.reasons.items() if len(beginning) else ():
                assert run.history.reasons[name].tobytes() == column.tobytes()
            if len(run.history) < len(twin.history):
                assert f"Run {run.number}: " in said
                assert run.sentence.startswith("Recovered.")
            else:
                assert_same_history(run.history, twin.history)
        assert run.words is None or list(run.words) == list(twin.words or ())
        if run.words is None and twin.words is not None:
            assert f"Run {run.number}: its words are lost" in said
    for number in written.keys() - {run.number for run in found.runs}:
        assert f"Run {number} is lost" in said or "no checksums" in said
    texts = {source.text for source in (*WRITTEN.sources, *(s for run in WRITTEN.runs for s in run.sources))}
    assert {source.text for source in found.sources} <= texts
    assert found.text == WRITTEN.text or "our own text" in said or "no checksums" in said
    assert set(found.bookmarks) <= set(WRITTEN.bookmarks) or "A bookmark could not" in said or "no checksums" in said


def test_of_a_whole_file_nothing_is_lost(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "one.bpex").write_bytes(data)
    found = recover_session(tmp_path / "one.bpex")
    assert found.lost == ()
    assert_same(dataclasses.replace(found.session, view=WRITTEN.view), WRITTEN)


def test_each_page_is_damaged_in_its_turn(tmp_path: Path, data: bytes) -> None:
    """Zeroed, garbled, or its beginning alone: each run comes back, and most texts are whole."""
    chosen = random.Random(3)
    for number, start in enumerate(range(0, len(data), PAGE if EXPLORES else 2 * PAGE)):
        ways = (bytes(PAGE), chosen.randbytes(PAGE), chosen.randbytes(8) + data[start + 8 : start + PAGE])
        for garbage in ways if EXPLORES else (ways[number % 3],):
            found = recovered(tmp_path / "one.bpex", data[:start] + garbage + data[start + PAGE :])
            assert found is not None
            assert [run.number for run in found.runs] == [run.number for run in WRITTEN.runs]
            assert len({source.text for source in found.sources}) >= len(TEXTS) - 3


def test_the_page_of_all_runs_is_lost_and_no_run_with_it(tmp_path: Path, data: bytes) -> None:
    """Their rows are in a second table as well."""
    path = tmp_path / "one.bpex"
    path.write_bytes(data)
    with closing(sqlite3.connect(path)) as connection:
        pages = [
            connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
            for table in ("runs", "run_copies")
        ]
    for page in pages:
        start = (page - 1) * PAGE
        for garbage in (bytes(PAGE), random.Random(page).randbytes(PAGE)):
            path.write_bytes(data[:start] + garbage + data[start + PAGE :])
            found = recover_session(path)
            assert found.lost == ()
            assert_same(dataclasses.replace(found.session, view=WRITTEN.view), WRITTEN)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE runs SET sentence = 'never said', tokens_at_start = 7",
        "UPDATE symbols SET text = x'00'",
        "UPDATE symbols SET id = id + 1000 WHERE id = 255",
        "DELETE FROM symbols WHERE id % 3 = 0",
        "DELETE FROM symbols",
        "DELETE FROM symbol_copies",
        "DELETE FROM scores WHERE place = 0",
        "UPDATE scores SET numbers = zeroblob(length(numbers)) WHERE place = 0",
        "DELETE FROM first_scores",
    ],
)
def test_what_is_written_twice_is_taken_from_the_other(tmp_path: Path, data: bytes, damage: str) -> None:
    path = tmp_path / "one.bpex"
    path.write_bytes(data)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    found = recover_session(path)
    assert found.lost == ()
    assert_same(dataclasses.replace(found.session, view=WRITTEN.view), WRITTEN)


def test_base_symbols_of_both_places_make_one_alphabet(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "one.bpex"
    path.write_bytes(data)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM symbols WHERE id % 3 = 0")
        connection.execute("DELETE FROM symbol_copies WHERE id % 3 = 1")
    assert recover_session(path).lost == ()


def test_cut_off_at_each_page(tmp_path: Path, data: bytes) -> None:
    for start in range(0, len(data), PAGE if EXPLORES else 3 * PAGE):
        recovered(tmp_path / "one.bpex", data[:start])
        recovered(tmp_path / "one.bpex", data[: start + 17])


@given(places=st.lists(st.tuples(st.floats(0, 1), st.integers(1, 255)), min_size=1, max_size=30))
def test_bytes_anywhere(tmp_path_factory: pytest.TempPathFactory, data: bytes, places: list[tuple[float, int]]) -> None:
    damaged = bytearray(data)
    for place, change in places:
        damaged[int(place * (len(data) - 1))] ^= change
    recovered(tmp_path_factory.mktemp("bytes") / "one.bpex", bytes(damaged))


def test_a_run_that_has_lost_its_end_goes_on_to_the_same(tmp_path: Path) -> None:
    path, run = tmp_path / "one.bpex", run_of(dataclasses.replace(RECIPES[0], min_frequency=1))
    write_session(session(run), path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM merges WHERE step > 4")
    with pytest.raises(FormatError, match=r"leads nowhere|number of its steps"):
        read_session(path)
    (back,) = recover_session(path).session.runs
    assert back.words is not None
    assert back.state == "paused"
    assert_same_history(learn(back.words, back.recipe, history=back.history), run.history)


def test_what_was_recovered_is_a_session_like_any_other(tmp_path: Path, data: bytes) -> None:
    found = recovered(tmp_path / "one.bpex", data[: len(data) * 3 // 4])
    assert found is not None
    write_session(found, tmp_path / "again.bpex")
    assert_same(read_session(tmp_path / "again.bpex"), found)


def test_an_older_file_says_that_nobody_knows(tmp_path: Path) -> None:
    old = Path(__file__).parents[1] / "before" / "session.bpex"
    found = recover_session(old)
    whole = read_session(old)
    assert [run.learned for run in found.session.runs] == [run.learned for run in whole.runs]
    assert all(run.sentence.startswith(NOT_CHECKED) for run in found.session.runs)
    assert any("no checksums" in sentence for sentence in found.lost)


def test_the_pages_hold_what_sqlite_says(tmp_path: Path) -> None:
    """Rows that are long, negative, large, empty; in tables with and without numbers of their own."""
    path = tmp_path / "any.db"
    values = [(n, -(2**n % 2**62), "x" * (37 * n * n % 90_000), bytes([n]) * (n**3 % 70_000), None) for n in range(99)]
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE a (n, b, c, d, e)")
        connection.execute("CREATE TABLE b (n INTEGER PRIMARY KEY, b, c, d, e) WITHOUT ROWID")
        for table in "ab":
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", values)
    found = list(rows_in(path.read_bytes()))
    numbered = [row for number, row in found if number is not None and not isinstance(row[0], str)]
    assert sorted(numbered, key=repr) == sorted(values, key=repr)
    assert sorted((row for number, row in found if number is None), key=repr) == sorted(values, key=repr)


@pytest.mark.parametrize("content", [b"", b"hello", bytes(9000), b"SQLite format 3\0" + bytes(5000)])
def test_what_never_was_a_session(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "one.bpex").write_bytes(content)
    with pytest.raises(FormatError, match="nothing of a session"):
        recover_session(tmp_path / "one.bpex")


def test_rows_that_all_name_the_same_bytes_do_not_take_for_ever(tmp_path: Path) -> None:
    path = tmp_path / "one.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE texts (a, b)")
        connection.execute("INSERT INTO texts VALUES ('a', ?)", ("x" * 400_000,))
    data = bytearray(path.read_bytes())
    leaf = next(start for start in range(PAGE, len(data), PAGE) if data[start] == 0x0D)
    cell = data[leaf + 8 : leaf + 10]
    data[leaf + 3 : leaf + 5] = (1000).to_bytes(2, "big")
    data[leaf + 8 : leaf + 2008] = bytes(cell) * 1000
    assert 1 <= len(list(rows_in(bytes(data)))) <= 2


@pytest.mark.parametrize("use", [read_session, recover_session])
def test_memory_is_asked_for_before_it_is_needed(
    tmp_path: Path, data: bytes, monkeypatch: pytest.MonkeyPatch, use: Callable[[Path], object]
) -> None:
    (tmp_path / "one.bpex").write_bytes(data)
    use(tmp_path / "one.bpex")
    monkeypatch.setattr("bpe_core.support.limits.available_memory", lambda: 300 * 2**20)
    monkeypatch.setattr("bpe_core.support.limits.WORTH_ASKING", 0)
    monkeypatch.setattr("bpe_core.support.limits.RESERVE", 300 * 2**20)
    with pytest.raises(TooLarge, match=r"ing .*one\.bpex needs about \d MB of memory more"):
        use(tmp_path / "one.bpex")
