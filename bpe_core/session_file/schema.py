"""The tables of a session file, and the conversion of tables from older versions of the program.

Any SQLite program can read a session:

    sqlite3 harbour.bpex 'select step, token, count from merges where run = 1 limit 10'

The tables in this module are those of version 1. `MIGRATIONS` has an entry for each later version, which converts a
database of the version before it.
"""

from __future__ import annotations

import sqlite3

from bpe_core.errors import FormatError, damage_error
from bpe_core.session_file import checksums

APPLICATION_ID = 0x42504558  # "BPEX" at a fixed offset of the file's header

VERSION_1 = (
    # recipe, text, filter and view, as JSON
    "CREATE TABLE session (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) STRICT",
    # texts that were given directly, once each
    "CREATE TABLE texts (sha256 TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL) STRICT",
    # the corpus that a run learned from; run 0 means the corpus of the window. A path that is no valid text is a blob
    "CREATE TABLE sources (run INTEGER NOT NULL, position INTEGER NOT NULL, name TEXT NOT NULL, path ANY, "
    "text_sha256 TEXT, encoding TEXT, size INTEGER, modified_ns INTEGER, sha256 TEXT, "
    "PRIMARY KEY (run, position)) STRICT",
    # distinct words end to end; lengths are little-endian int32, counts little-endian int64
    "CREATE TABLE word_chunks (word_table INTEGER NOT NULL, chunk INTEGER NOT NULL, words INTEGER NOT NULL, "
    "text BLOB NOT NULL, lengths BLOB NOT NULL, counts BLOB NOT NULL, PRIMARY KEY (word_table, chunk)) STRICT",
    "CREATE TABLE runs (number INTEGER PRIMARY KEY NOT NULL, recipe TEXT NOT NULL, word_table INTEGER, "
    "tokens_at_start INTEGER, end_reason TEXT, state TEXT NOT NULL, sentence TEXT NOT NULL) STRICT",
    "CREATE TABLE symbols (run INTEGER NOT NULL, id INTEGER NOT NULL, kind TEXT NOT NULL, text BLOB NOT NULL, "
    "decoded BLOB NOT NULL, count INTEGER, PRIMARY KEY (run, id)) STRICT, WITHOUT ROWID",
    # the token is there for human readers; the program uses the ids. A step that drops the left token has -1
    # as the right one
    "CREATE TABLE merges (run INTEGER NOT NULL, step INTEGER NOT NULL, token TEXT NOT NULL, left_id INTEGER NOT NULL, "
    "right_id INTEGER NOT NULL, count INTEGER, runner_up_left INTEGER, runner_up_right INTEGER, "
    "runner_up_count INTEGER, tokens_left INTEGER, PRIMARY KEY (run, step)) STRICT, WITHOUT ROWID",
)

BOOKMARKS = (
    "CREATE TABLE bookmarks (run INTEGER NOT NULL, merge INTEGER NOT NULL, note TEXT NOT NULL, "
    "PRIMARY KEY (run, merge)) STRICT"
)

REASONS = (
    # the reasons for a step besides its count, one column for each kind, 512 little-endian numbers in a row
    "CREATE TABLE reasons (run INTEGER NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL, kind TEXT NOT NULL, "
    "numbers BLOB NOT NULL, PRIMARY KEY (run, name, place)) STRICT, WITHOUT ROWID"
)

# The three tables of copies below stay empty now. They once helped to recover damaged files; without them the older
# programs that made them could not open the files that are written today.
RUN_COPIES = (
    "CREATE TABLE run_copies (number INTEGER NOT NULL, recipe TEXT NOT NULL, word_table INTEGER, "
    "tokens_at_start INTEGER, end_reason TEXT, state TEXT NOT NULL, sentence TEXT NOT NULL, PRIMARY KEY (number)) "
    "STRICT, WITHOUT ROWID"
)

SCORES = (
    # the log-probabilities of the tokens that were left after `since` steps, by id; little-endian numbers
    "CREATE TABLE scores (run INTEGER NOT NULL, place INTEGER NOT NULL, since INTEGER NOT NULL, kind TEXT NOT NULL, "
    "numbers BLOB NOT NULL, PRIMARY KEY (run, place)) STRICT"
)

SYMBOL_COPIES = (
    "CREATE TABLE symbol_copies (run INTEGER NOT NULL, id INTEGER NOT NULL, kind TEXT NOT NULL, text BLOB NOT NULL, "
    "decoded BLOB NOT NULL, count INTEGER) STRICT"
)

FIRST_SCORES = (
    "CREATE TABLE first_scores (run INTEGER PRIMARY KEY NOT NULL, since INTEGER NOT NULL, kind TEXT NOT NULL, "
    "numbers BLOB NOT NULL) STRICT"
)


# The statements that turn a database of the version before into one of each version.
MIGRATIONS: dict[int, tuple[str, ...]] = {
    2: (BOOKMARKS,),
    3: (checksums.TABLE,),  # checksums of what was written before are not known
    4: (REASONS, "DELETE FROM checks"),  # checksums are made of other texts than before
    5: (RUN_COPIES,),
    6: (SCORES,),
    7: (SYMBOL_COPIES,),
    8: (FIRST_SCORES,),
    9: (),  # imported tables may have their own order, by which older programs would not split texts
}
VERSION = max(MIGRATIONS)
COPIES = ("run_copies", "symbol_copies", "first_scores")  # the tables that stay empty
FIRST_CHECKED = 4  # the first version with checksums as they are made today


def tables_of(version: int) -> tuple[str, ...]:
    later = (
        sql for later_version in range(2, version + 1) for sql in MIGRATIONS[later_version] if sql.startswith("CREATE")
    )
    return (*VERSION_1, *later)


def create(connection: sqlite3.Connection) -> None:
    for statement in tables_of(VERSION):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {VERSION}")


def migrate(connection: sqlite3.Connection, version: int, to: int = VERSION) -> None:
    for step in range(version + 1, to + 1):
        with connection:
            connection.execute("BEGIN")
            for statement in MIGRATIONS[step]:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {step}")


def check(connection: sqlite3.Connection, name: str) -> int:
    """Return the version of the tables in a session file. Raise FormatError if its tables do not match any version.

    So this program never uses views, triggers, indexes or generated columns in a file of unknown origin.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        raise FormatError(f"{name} is a database of another program, not a session of BPE Explorer.")
    if version > VERSION:
        raise FormatError(
            f"{name} was written by a newer version of BPE Explorer (file version {version}, but this program reads up "
            f"to {VERSION}); open it with the newer version."
        )
    objects = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    statements = [sql for kind, _, sql in objects if sql is not None]
    others = [
        object_name
        for kind, object_name, sql in objects
        if sql is None and not str(object_name).startswith("sqlite_autoindex_")
    ]
    ours = tables_of(version)
    if others or version < 1 or len(statements) != len(ours) or set(statements) != set(ours):
        raise damage_error(f"{name} does not have the tables of a session file (version {version}); it is damaged.")
    return int(version)
