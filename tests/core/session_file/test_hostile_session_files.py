"""Tests of hostile or damaged session files: each is refused with a message, without a crash or any other effect."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bpe_core.errors import FormatError
from bpe_core.history import token_texts
from bpe_core.session_file import schema
from bpe_core.session_file.reading import read_session
from bpe_core.session_file.writing import write_session
from tests.core.session_file.sessions import (
    RECIPES,
    assert_same,
    run_by_method,
    run_of,
    session,
    with_reasons_and_names,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "one.bpex"
    write_session(session(run_of(RECIPES[0]), with_reasons_and_names(run_of(RECIPES[4], 2))), written)
    return written


@contextmanager
def open_database(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def change_and_open(path: Path, *statements: str) -> str:
    """Change a file with SQL statements, and check that it is refused. Return the error message."""
    with open_database(path) as connection:
        for statement in statements:
            connection.execute(statement)
    with pytest.raises(FormatError) as refusal:
        read_session(path)
    sentence = str(refusal.value)
    assert sentence.startswith(str(path)), sentence
    assert sentence.endswith("."), sentence
    return sentence


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"", "is empty"), (b"hello", "is not a session"), (b"SQLite format 3\0", "cannot be read|not a session")],
)
def test_a_session_file_that_is_not_a_database_is_refused(tmp_path: Path, content: bytes, sentence: str) -> None:
    (tmp_path / "one.bpex").write_bytes(content)
    with pytest.raises(FormatError, match=sentence):
        read_session(tmp_path / "one.bpex")


def test_a_missing_session_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"Could not read .*: No such file"):
        read_session(tmp_path / "one.bpex")
    with pytest.raises(FormatError, match=r"Could not read .*: Is a directory|Permission"):
        read_session(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such pipes")
def test_opening_a_pipe_as_a_session_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "one.bpex")
    with pytest.raises(FormatError, match="is a pipe or a device, not a file"):
        read_session(tmp_path / "one.bpex")


def test_a_database_of_another_program_is_refused_as_a_session(tmp_path: Path) -> None:
    with open_database(tmp_path / "other.bpex") as connection:
        connection.execute("CREATE TABLE notes (text)")
    with pytest.raises(FormatError, match="not a session of BPE Explorer"):
        read_session(tmp_path / "other.bpex")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON runs BEGIN DELETE FROM merges; END",
        "CREATE VIEW v AS SELECT * FROM merges",
        "CREATE INDEX i ON merges (token)",
        "CREATE TABLE further (x)",
        "ALTER TABLE runs ADD COLUMN x INTEGER",
        "DROP TABLE bookmarks",
        "ALTER TABLE merges RENAME TO hidden",
    ],
)
def test_a_session_file_with_a_different_database_structure_is_refused(path: Path, statement: str) -> None:
    assert "does not have the tables of a session file" in change_and_open(path, statement)


def test_a_session_database_with_a_view_in_place_of_a_table_is_refused(path: Path) -> None:
    view = "CREATE VIEW runs AS SELECT load_extension('x') AS number"
    assert "does not have the tables" in change_and_open(path, "DROP TABLE runs", view)


def test_a_session_file_of_a_newer_version_is_refused(path: Path) -> None:
    assert "newer version" in change_and_open(path, "PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        (
            "UPDATE merges SET left_id = 300 WHERE run = 1 AND step = 1",
            "run 1, step 1: the step merges the token 300, which does not",
        ),
        (
            "UPDATE merges SET right_id = -1 WHERE run = 1 AND step = 2",
            "run 1, step 2: this step does not say which two tokens it merges",
        ),
        ("UPDATE merges SET left_id = 2 << 40 WHERE run = 1 AND step = 2", "which does not exist yet"),
        ("UPDATE merges SET left_id = 0 WHERE run = 2 AND step = 1", "never merged"),
        ("DELETE FROM merges WHERE run = 1 AND step = 3", "run 1, step 3: the number of this step does not follow"),
        (
            "UPDATE merges SET (left_id, right_id) = (101, 115) WHERE run = 1 AND step < 3",
            "the same pair as merge 1",
        ),
        ("UPDATE merges SET count = -7 WHERE run = 1 AND step = 2", "a count is negative"),
        ("UPDATE merges SET runner_up_left = 999 WHERE run = 1 AND step = 2", "the runner-up 999 "),
        ("UPDATE merges SET runner_up_right = NULL WHERE run = 1 AND step = 2", "the runner-up .* names a token"),
        ("UPDATE merges SET runner_up_count = -5 WHERE run = 1 AND step = 2", "the runner-up must have a count"),
        ("UPDATE session SET value = '[]' WHERE key = 'numbers'", "must be a JSON object"),
        ("UPDATE session SET value = '{\"1\": [5]}' WHERE key = 'numbers'", "run 1: the ids of the tokens"),
        ("UPDATE session SET value = '{\"1\": 5}' WHERE key = 'numbers'", "run 1: the ids of the tokens"),
        ("UPDATE runs SET recipe = '{}' || 'x'", "not valid JSON"),
        ("UPDATE runs SET recipe = '[1]'", "recipe is damaged"),
        ('UPDATE runs SET recipe = \'{"ties": "by chance"}\'', "recipe is damaged"),
        ("UPDATE runs SET state = 'flying'", "the state of the run is unknown"),
        ("UPDATE runs SET number = -number", "the state of the run is unknown"),
        ("UPDATE runs SET end_reason = 'tired'", "not a known reason"),
        ("UPDATE runs SET tokens_at_start = -2", "negative"),
        ("UPDATE reasons SET kind = '|O'", "run 2: the values by which its steps were chosen are damaged"),
        ("UPDATE reasons SET place = 1", "run 2: the values by which its steps were chosen are damaged"),
        ("UPDATE reasons SET numbers = x'0102'", "differs from the number of its steps"),
        ("UPDATE symbols SET id = id + 1000 WHERE id = 5", "gaps"),
        ("UPDATE symbols SET kind = 'magic' WHERE id = 5", "no kind of base symbol"),
        ("UPDATE symbols SET text = x'', decoded = x'' WHERE id = 5", "cannot be empty"),
        ("UPDATE symbols SET text = x'4142' WHERE run = 1 AND id = 5", "256 bytes"),
        ("UPDATE symbols SET count = -1 WHERE id = 5", "count of a base symbol is negative"),
        ("DELETE FROM symbols WHERE run = 1 AND id = 255", "256 bytes"),
        ("UPDATE word_chunks SET words = words + 1", "wrong size"),
        ("UPDATE word_chunks SET lengths = zeroblob(length(lengths))", "do not add up to the length of its text"),
        ("UPDATE word_chunks SET counts = zeroblob(length(counts))", "not positive"),
        ("UPDATE word_chunks SET text = zeroblob(length(text) - 1)", "do not add up to the length of its text"),
        (
            "UPDATE word_chunks SET text = CAST(substr(text, 1, 2) || x'c3a9' || substr(text, 5) AS BLOB)",
            "in the middle",
        ),
        ("UPDATE word_chunks SET text = CAST(x'ff' || substr(text, 2) AS BLOB)", "not UTF-8"),
        (
            "UPDATE bookmarks SET merge = 400",
            "a bookmark is at merge 400 of run 1, but there is no such run or merge",
        ),
        ("UPDATE bookmarks SET run = 4", "there is no such run or merge"),
        ("UPDATE sources SET path = NULL, text_sha256 = NULL", "neither a file nor a pasted text"),
        ("UPDATE sources SET path = 'x', text_sha256 = (SELECT sha256 FROM texts)", "neither a file nor a pasted text"),
        ("UPDATE sources SET path = 12 WHERE path IS NOT NULL", "neither a file nor a pasted text"),
        ("UPDATE sources SET path = 'a' || char(0) || 'b' WHERE path IS NOT NULL", "neither a file nor a pasted text"),
        ("UPDATE session SET value = '[]' WHERE key = 'view'", "JSON object"),
        ("UPDATE session SET value = '{' WHERE key = 'filter'", "not valid JSON"),
        ("DELETE FROM session WHERE key = 'recipe'", "recipe is damaged"),
    ],
)
def test_impossible_values_in_a_session_file_are_refused(path: Path, statement: str, sentence: str) -> None:
    assert re.search(sentence, change_and_open(path, statement))


def test_deeply_nested_json_in_a_session_file_is_refused(path: Path) -> None:
    with open_database(path) as connection:
        connection.execute("UPDATE session SET value = ? WHERE key = 'filter'", ("[" * 200_000,))
    with pytest.raises(FormatError, match="not valid JSON"):
        read_session(path)


def test_invalid_utf_8_text_in_a_session_file_is_refused(path: Path) -> None:
    assert "a value is impossible" in change_and_open(
        path, "UPDATE session SET value = CAST(x'ff' AS TEXT) WHERE key = 'text'"
    )


def test_a_session_file_whose_tokens_double_in_length_is_refused_before_it_fills_the_memory(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_texts, "BUDGET", 2**20)
    doubling = [
        f"INSERT INTO merges VALUES (1, {row + 1}, '', {left}, {left}, 2, NULL, NULL, NULL, 9)"
        for row, left in enumerate([97, *range(256, 285)])
    ]
    assert "step 20: the tokens up to this step have more than 1,048,576 bytes" in change_and_open(
        path, "DELETE FROM merges", *doubling
    )


def test_an_invalid_view_in_a_session_file_is_replaced_by_the_default_view(path: Path) -> None:
    with open_database(path) as connection:
        view = '{"shown_run": 77, "position": 1e9, "is_live": 3, "layout": "huge"}'
        connection.execute("UPDATE session SET value = ? WHERE key = 'view'", (view,))
    read = read_session(path)
    assert (read.view.shown_run, read.view.position, read.view.is_live, read.view.layout) == (None, 0, True, {})


def test_reading_a_session_file_changes_and_creates_no_file(path: Path) -> None:
    path.chmod(0o444)
    before = path.read_bytes()
    read_session(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["one.bpex"]


@given(place=st.floats(0, 1), values=st.binary(min_size=1, max_size=40))
def test_a_session_file_with_random_damage_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, place: float, values: bytes
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "one.bpex"
    write_session(session(run_of(RECIPES[0])), path)
    data = bytearray(path.read_bytes())
    start = int(place * (len(data) - len(values)))
    data[start : start + len(values)] = values
    path.write_bytes(data)
    with contextlib.suppress(FormatError):  # any other exception fails the test
        read_session(path)


@given(st.floats(0, 1))
def test_a_truncated_session_file_is_refused(tmp_path_factory: pytest.TempPathFactory, share: float) -> None:
    path = tmp_path_factory.mktemp("short") / "one.bpex"
    write_session(session(run_of(RECIPES[0])), path)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * (len(data) - 4096))])
    with pytest.raises(FormatError):
        read_session(path)


# Older versions

VERSION_1_FILE = Path(__file__).with_name("version_1.sql")


def test_a_session_file_of_the_first_version_still_opens(tmp_path: Path) -> None:
    """The file is made from a dump of a file that version 1 of the program wrote. The dump is never changed."""
    path = tmp_path / "old.bpex"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1_FILE.read_text(encoding="utf-8"))
    before = path.read_bytes()
    read = read_session(path)
    assert path.read_bytes() == before
    assert [merge.count for merge in read.runs[0].history or ()][:3] == [9, 9, 7]
    assert read.text == "the lowest newest"
    assert read.bookmarks == ()
    write_session(read, tmp_path / "new.bpex")
    assert_same(read_session(tmp_path / "new.bpex"), read)
    with open_database(tmp_path / "new.bpex") as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)


def test_a_session_file_of_the_third_version_with_the_older_kind_of_checksums_can_be_opened(tmp_path: Path) -> None:
    """The file is made from a dump that is never changed."""
    path = tmp_path / "old.bpex"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1_FILE.with_name("version_3.sql").read_text(encoding="utf-8"))
    read = read_session(path)
    assert [merge.count for merge in read.runs[0].history or ()][:3] == [9, 9, 9]


def test_a_session_file_of_the_first_version_can_be_migrated_through_every_later_version() -> None:
    assert {1, *schema.MIGRATIONS} == set(range(1, schema.VERSION + 1))
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in schema.VERSION_1:
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute("PRAGMA user_version = 1")
        for version in range(1, schema.VERSION):
            assert schema.check(connection, "it") == version
            schema.migrate(connection, version, version + 1)
        assert schema.check(connection, "it") == schema.VERSION


def test_an_old_session_file_with_a_database_view_in_place_of_a_table_is_refused_before_migration(
    tmp_path: Path,
) -> None:
    path = tmp_path / "old.bpex"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_1_FILE.read_text(encoding="utf-8"))
    assert "does not have the tables" in change_and_open(path, "CREATE VIEW bookmarks AS SELECT 1 AS run")


@pytest.mark.parametrize(
    "change",
    [
        "SET kind = '<f8'",
        "SET since = since + 1",
        "SET numbers = x'00' WHERE place = 0",
        "SET since = 400 WHERE place = 1",
    ],
)
def test_impossible_scores_in_a_session_file_are_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "one.bpex"
    write_session(session(run_by_method("unigram")), path)
    assert "run 1: the scores of the tokens are damaged" in change_and_open(path, f"UPDATE scores {change}")
    write_session(session(run_by_method("unigram")), path)
    assert "run 1: its tokens have no scores" in change_and_open(path, "DELETE FROM scores")
    write_session(session(run_by_method("unigram")), path)
    changed = "UPDATE scores SET numbers = zeroblob(length(numbers)) WHERE place > 0"
    assert "(run 1: the scores of its tokens): a stored checksum differs" in change_and_open(path, changed)
