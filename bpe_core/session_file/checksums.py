"""A checksum for each part of a session: what was written is what is read, or it is known which part is not.

A part is what is lost or kept together: a value, the run's own row, its symbols, its words, so many merges. Its
checksum is made of the rows as they stand in the database, by the same query when it is written and when it is read.
A part without rows has none. How the window was arranged is no figure, and has none either.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator
from typing import NamedTuple

MERGES_IN_A_PART = 512
DIGEST_BYTES = 16
UNCHECKED = "view"

TABLE = (
    "CREATE TABLE checks (part TEXT NOT NULL, run INTEGER NOT NULL, place INTEGER NOT NULL, digest BLOB NOT NULL, "
    "PRIMARY KEY (part, run, place)) STRICT, WITHOUT ROWID"
)

QUERIES = {
    "runs": "SELECT number FROM runs WHERE ? = 0 AND ? = 0 ORDER BY number",
    "bookmarks": "SELECT run, merge, note FROM bookmarks WHERE ? = 0 AND ? = 0 ORDER BY run, merge",
    "sources": "SELECT position, name, path, text_sha256, encoding, size, modified_ns, sha256 FROM sources "
    "WHERE run = ? AND ? = 0 ORDER BY position",
    "run": "SELECT recipe, tokens_at_start, end_reason, state, sentence FROM runs WHERE number = ? AND ? = 0",
    "symbols": "SELECT id, kind, hex(text), hex(decoded), count FROM symbols WHERE run = ? AND ? = 0 ORDER BY id",
    "length": "SELECT max(step) FROM merges WHERE run = ? AND ? = 0 HAVING max(step) > 0",
    "words": "SELECT words, text, lengths, counts FROM word_chunks WHERE word_table = "
    "(SELECT word_table FROM runs WHERE number = ?) AND ? = 0 ORDER BY chunk",
    "merges": "SELECT step, token, left_id, right_id, count, runner_up_left, runner_up_right, runner_up_count, "
    f"tokens_left FROM merges WHERE run = ?1 AND step > ?2 * {MERGES_IN_A_PART} "
    f"AND step <= (?2 + 1) * {MERGES_IN_A_PART} ORDER BY step",
}
VALUE = "value "  # and the key: the part that is one row of the table `session`
OF_RUNS = ("sources", "run", "symbols", "length", "words")


class Part(NamedTuple):
    """What has a checksum."""

    name: str
    run: int = 0
    place: int = 0


def put(connection: sqlite3.Connection, name: str, run: int = 0, place: int = 0) -> None:
    """Make the checksum of a part that was just written; one that has no rows any more loses it."""
    digest = _digest(connection, Part(name, run, place))
    if digest is None:
        connection.execute("DELETE FROM checks WHERE part = ? AND run = ? AND place = ?", (name, run, place))
    else:
        connection.execute("INSERT OR REPLACE INTO checks VALUES (?, ?, ?, ?)", (name, run, place, digest))


def put_merges(connection: sqlite3.Connection, run: int, first: int, stop: int) -> None:
    """The checksums of a run's steps behind the first so many."""
    for place in range(first // MERGES_IN_A_PART, -(-stop // MERGES_IN_A_PART)):
        put(connection, "merges", run, place)
    put(connection, "length", run)


def wrong_parts(connection: sqlite3.Connection) -> list[Part]:
    """Those that are not what was written: changed, gone, or never written."""
    told = {Part(*key): digest for *key, digest in connection.execute("SELECT * FROM checks").fetchall()}
    parts = sorted({*told, *_parts(connection)})
    return [part for part in parts if _digest(connection, part) != told.get(part)]


def wrong_texts(connection: sqlite3.Connection) -> list[int]:
    """The rows of texts that are not what they are named by."""
    rows = connection.execute("SELECT rowid, sha256, CAST(text AS BLOB) FROM texts")
    return [row for row, key, text in rows if hashlib.sha256(text).hexdigest() != key]


def _parts(connection: sqlite3.Connection) -> Iterator[Part]:
    """All that there is."""
    for (key,) in connection.execute("SELECT key FROM session NOT INDEXED").fetchall():
        if key != UNCHECKED:
            yield Part(VALUE + key)
    yield from (Part("runs"), Part("bookmarks"), Part("sources"))
    for number, learned in connection.execute(
        "SELECT number, (SELECT max(step) FROM merges WHERE run = number) FROM runs"
    ).fetchall():
        yield from (Part(name, number) for name in OF_RUNS)
        yield from (Part("merges", number, place) for place in range(-(-(learned or 0) // MERGES_IN_A_PART)))


def _digest(connection: sqlite3.Connection, part: Part) -> bytes | None:
    if part.name.startswith(VALUE):
        key = part.name.removeprefix(VALUE)
        rows = connection.execute("SELECT CAST(value AS BLOB) FROM session WHERE key = ?", (key,)).fetchall()
    elif part.name in QUERIES:
        rows = connection.execute(QUERIES[part.name], (part.run, part.place)).fetchall()
    else:
        return None
    if not rows:
        return None
    made = hashlib.blake2b(digest_size=DIGEST_BYTES)
    if part.name == "words":  # large, and made of bytes
        for words, *blobs in rows:
            made.update(f"{words} {[len(blob) for blob in blobs]}".encode())
            for blob in blobs:
                made.update(blob)
    else:
        made.update(json.dumps(rows, default=bytes.hex).encode())
    return made.digest()
