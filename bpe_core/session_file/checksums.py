"""The checksums of the parts of a session, which show whether a part was changed after it was written.

The session has parts for single values, its list of runs, its bookmarks and its texts. Each run has parts for its row,
its texts, its symbols, its words, its number of steps, and groups of its merges, reasons and scores.

A checksum is computed from the rows in the database. Writing and reading use the same query. A part without rows has no
checksum. The value `view`, which says what the window shows, has no checksum either, because no result depends on it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

MERGES_IN_A_PART = 512
DIGEST_BYTES = 16
UNCHECKED = "view"

NAME = "checks"
TABLE = (
    "CREATE TABLE checks (part TEXT NOT NULL, run INTEGER NOT NULL, place INTEGER NOT NULL, digest BLOB NOT NULL, "
    "PRIMARY KEY (part, run, place)) STRICT, WITHOUT ROWID"
)

ROWS = {  # for each part but the words: its columns (texts in hexadecimal), and which rows belong to it
    "runs": ("number", "runs ORDER BY number"),
    "bookmarks": ("run, merge, hex(note)", "bookmarks ORDER BY run, merge"),
    "sources": (
        "position, hex(name), typeof(path), hex(path), typeof(text_sha256), hex(text_sha256), "
        "typeof(encoding), hex(encoding), size, modified_ns, typeof(sha256), hex(sha256)",
        "sources WHERE run = :run ORDER BY position",
    ),
    "run": (
        "hex(recipe), tokens_at_start, typeof(end_reason), hex(end_reason), hex(state), hex(sentence)",
        "runs WHERE number = :run",
    ),
    "symbols": ("id, hex(kind), hex(text), hex(decoded), count", "symbols WHERE run = :run ORDER BY id"),
    "length": ("max(step)", "merges WHERE run = :run HAVING max(step) > 0"),
    "merges": (
        "step, hex(token), left_id, right_id, count, runner_up_left, runner_up_right, runner_up_count, tokens_left",
        f"merges WHERE run = :run AND step > :place * {MERGES_IN_A_PART} "
        f"AND step <= (:place + 1) * {MERGES_IN_A_PART} ORDER BY step",
    ),
    "scores": ("since, hex(kind), hex(numbers)", "scores WHERE run = :run AND place = :place"),
    "reasons": ("hex(name), hex(kind), hex(numbers)", "reasons WHERE run = :run AND place = :place ORDER BY name"),
}
WORDS = (
    "SELECT words, text, lengths, counts FROM word_chunks WHERE word_table = "
    "(SELECT word_table FROM runs WHERE number = ?) ORDER BY chunk"
)
VALUE = "value "  # and the key: a part that is one row of the table `session`
OF_RUNS = ("sources", "run", "symbols", "length", "words")


class Part(NamedTuple):
    name: str
    run: int = 0
    place: int = 0


def store_checksum(connection: sqlite3.Connection, name: str, run: int = 0, place: int = 0) -> None:
    """Compute and store the checksum of one part of a session. If the part has no rows, delete its checksum.

    This function is called after the part is written.
    """
    digest = _digest(connection, Part(name, run, place))
    if digest is None:
        connection.execute("DELETE FROM checks WHERE part = ? AND run = ? AND place = ?", (name, run, place))
    else:
        connection.execute("INSERT OR REPLACE INTO checks VALUES (?, ?, ?, ?)", (name, run, place, digest))


def store_merge_checksums(
    connection: sqlite3.Connection, run: int, first: int, stop: int, *, with_reasons: bool
) -> None:
    for place in range(first // MERGES_IN_A_PART, -(-stop // MERGES_IN_A_PART)):
        store_checksum(connection, "merges", run, place)
        if with_reasons:
            store_checksum(connection, "reasons", run, place)
    store_checksum(connection, "length", run)


def wrong_parts(connection: sqlite3.Connection, *, with_words: bool = True) -> list[Part]:
    """Return the parts whose checksum is wrong, because another program has changed, removed or added their rows.

    If `with_words` is false, the words are not checked. They are the largest part.
    """
    stored = {Part(*key): digest for *key, digest in connection.execute("SELECT * FROM checks").fetchall()}
    parts = (part for part in sorted({*stored, *_parts(connection)}) if with_words or part.name != "words")
    return [part for part in parts if _digest(connection, part) != stored.get(part)]


def has_wrong_text(connection: sqlite3.Connection) -> bool:
    rows = connection.execute("SELECT sha256, CAST(text AS BLOB) FROM texts")
    return any(hashlib.sha256(text).hexdigest() != key for key, text in rows)


def _parts(connection: sqlite3.Connection) -> Iterator[Part]:
    for (key,) in connection.execute("SELECT key FROM session NOT INDEXED").fetchall():
        if key != UNCHECKED:
            yield Part(VALUE + key)
    yield from (Part("runs"), Part("bookmarks"), Part("sources"))
    for (number,) in connection.execute("SELECT number FROM runs").fetchall():
        yield from (Part(name, number) for name in OF_RUNS)
    for run, place in connection.execute(
        f"SELECT DISTINCT run, (step - 1) / {MERGES_IN_A_PART} FROM merges WHERE run IN (SELECT number FROM runs)"
    ).fetchall():  # not up to the largest step, which may be any number in a damaged file
        yield Part("merges", run, place)
    for run, place in connection.execute("SELECT DISTINCT run, place FROM reasons").fetchall():
        yield Part("reasons", run, place)
    for run, place in connection.execute("SELECT run, place FROM scores NOT INDEXED").fetchall():
        yield Part("scores", run, place)


def _digest(connection: sqlite3.Connection, part: Part) -> bytes | None:
    if part.name.startswith(VALUE):
        key = part.name.removeprefix(VALUE)
        pieces = [row[0] for row in connection.execute("SELECT CAST(value AS BLOB) FROM session WHERE key = ?", (key,))]
    elif part.name == "words":
        chunks = connection.execute(WORDS, (part.run,)).fetchall()
        pieces = [piece for words, *blobs in chunks for piece in (b"%d %r" % (words, [*map(len, blobs)]), *blobs)]
    elif part.name in ROWS:
        (row,) = connection.execute(_rows_as_text(part.name), {"run": part.run, "place": part.place}).fetchone()
        pieces = [] if row is None else [row.encode()]
    else:
        return None
    if not pieces:
        return None
    made = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for piece in pieces:
        made.update(piece)
    return made.digest()


@cache
def _rows_as_text(name: str) -> str:
    """Return an SQL query for all rows of a part of the session file. The result of the query is a single text.

    SQLite builds the text without Python, so other threads need not wait.
    """
    columns, rows = ROWS[name]
    marks = ",".join(["%s"] * len(columns.split(", ")))
    return f"SELECT group_concat(line, ';') FROM (SELECT printf('{marks}', {columns}) AS line FROM {rows})"
