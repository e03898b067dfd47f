"""Functions that write sessions to files.

A whole file is written at once, or a database is updated again and again. Both use `SessionWriter.update`, which
compares the session with the last written session, and writes the differences. Written merges are never changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC
from functools import lru_cache
from itertools import islice, repeat
from pathlib import Path

from bpe_core.counting.words import WordTable
from bpe_core.errors import Cancelled, OutputError, cause_of
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import History
from bpe_core.history.token_texts import TokenTexts
from bpe_core.session_file import checksums, schema
from bpe_core.session_file.stored_columns import reason_chunks, score_rows, word_chunks
from bpe_core.session_file.values import SavedRun, SavedSession, SavedSource
from bpe_core.support.atomic import replace_atomically
from bpe_core.support.escaped_bytes import escape
from bpe_core.support.progress import CancelCheck, never_cancelled

ROWS_AT_ONCE = 512  # rows between two checks for cancellation
LONGEST_TOKEN_SHOWN = 240  # bytes; the ids give the rest

INSERT_MERGE = (
    "INSERT INTO merges VALUES (?, ?, ?, ?, ?, nullif(?, -1), nullif(?, -1), nullif(?, -1), nullif(?, -1), "
    "nullif(?, -1))"
)


def write_session(session: SavedSession, path: Path | str, *, cancelled: CancelCheck = never_cancelled) -> None:
    """Write a whole session file. If anything fails, the old file is unchanged."""
    with replace_atomically(path) as beside:
        writer = SessionWriter(beside, is_kept_up_to_date=False, name=str(path))
        try:
            writer.update(session, cancelled=cancelled)
        finally:
            writer.close()


class SessionWriter:
    """A writer that updates a database to the current state of a session.

    Each update is one transaction. All updates must come from the same thread.
    """

    def __init__(self, path: Path, *, is_kept_up_to_date: bool = True, name: str = "") -> None:
        """Open an empty database at `path`.

        A file that is kept up to date is created if it is missing, and survives a power cut. Any other file must exist.
        """
        self._name = name or str(path)
        self._written: SavedSession | None = None
        self._runs: dict[int, _WrittenRun] = {}
        self._word_tables: dict[int, WordTable] = {}
        self._cancelled: CancelCheck = never_cancelled
        with self._sentences():
            # A file that only counts once it is complete is used by no other program, and needs no rollback.
            # The other kind of file must survive a power cut.
            how = "mode=rwc" if is_kept_up_to_date else "mode=rw&nolock=1"
            self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)
            self._execute = self._connection.execute
            self._execute("PRAGMA secure_delete = ON")  # removed data is erased, and cannot be recovered
            self._execute(f"PRAGMA journal_mode = {'TRUNCATE' if is_kept_up_to_date else 'OFF'}")
            self._execute(f"PRAGMA synchronous = {'FULL' if is_kept_up_to_date else 'OFF'}")

    def close(self) -> None:
        with self._sentences():
            self._connection.close()

    def update(self, session: SavedSession, *, cancelled: CancelCheck = never_cancelled) -> None:
        """Write what has changed since the last update. If anything fails, nothing is written."""
        runs = dict(self._runs)
        tables = dict(self._word_tables)
        self._cancelled = cancelled
        with self._sentences(), self._transaction():
            if self._written is None:
                schema.create(self._connection)
            self._write_choices(session)
            self._write_sources(0, session.sources, () if self._written is None else self._written.sources)
            self._write_bookmarks(session)
            for gone in runs.keys() - {run.number for run in session.runs}:
                self._remove_run(gone)
                del runs[gone]
            for run in session.runs:
                runs[run.number] = self._write_run(run, runs.get(run.number), tables)
            self._remove_unused(tables, runs)
            checksums.store_checksum(self._connection, "runs")
        self._written = session
        self._runs = runs
        self._word_tables = tables

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._execute("BEGIN IMMEDIATE")
        try:
            yield
            self._execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:  # a full disk has ended it already
                self._execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise OutputError(f"Could not write {self._name}: {cause_of(error)}.") from error

    # -- what is small is written anew when it differs -------------------------------------

    def _write_choices(self, session: SavedSession) -> None:
        fresh = _choices(session)
        old = {} if self._written is None else _choices(self._written)
        changed = [(key, value) for key, value in fresh.items() if old.get(key) != value]
        self._connection.executemany("INSERT OR REPLACE INTO session VALUES (?, ?)", changed)
        for key, _ in changed:
            if key != checksums.UNCHECKED:
                checksums.store_checksum(self._connection, checksums.VALUE + key)

    def _write_bookmarks(self, session: SavedSession) -> None:
        if self._written is not None and self._written.bookmarks == session.bookmarks:
            return
        self._execute("DELETE FROM bookmarks")
        rows = [(bookmark.run, bookmark.merge, bookmark.note) for bookmark in session.bookmarks]
        self._connection.executemany("INSERT OR REPLACE INTO bookmarks VALUES (?, ?, ?)", rows)
        checksums.store_checksum(self._connection, "bookmarks")

    def _write_sources(self, run: int, sources: tuple[SavedSource, ...], before: tuple[SavedSource, ...]) -> None:
        if sources == before:
            return
        self._execute("DELETE FROM sources WHERE run = ?", (run,))
        for position, source in enumerate(sources):
            self._execute(
                "INSERT INTO sources VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (run, position, *_source_row(source, self._text_key(source.text))),
            )
        checksums.store_checksum(self._connection, "sources", run)
        self._execute(
            "DELETE FROM texts WHERE sha256 NOT IN (SELECT text_sha256 FROM sources WHERE text_sha256 IS NOT NULL)"
        )

    def _text_key(self, text: str | None) -> str | None:
        if text is None:
            return None
        text = _encodable(text)
        key = hashlib.sha256(text.encode()).hexdigest()
        self._execute("INSERT OR IGNORE INTO texts VALUES (?, ?)", (key, text))
        return key

    # -- what is large is appended ---------------------------------------------------------

    def _write_run(self, run: SavedRun, before: _WrittenRun | None, tables: dict[int, WordTable]) -> _WrittenRun:
        if before is not None and not before.can_become(run):
            self._remove_run(run.number)
            before = None
        table = self._write_words(run.words, tables)
        if before is None or before.run.substance != run.substance or before.word_table != table:
            self._write_run_row(run, table)
        if before is None or before.word_table != table:
            checksums.store_checksum(self._connection, "words", run.number)
        self._write_sources(run.number, run.sources, () if before is None else before.run.sources)
        if run.history is None:
            return _WrittenRun(run, table, None)
        names = before.names if before is not None else None
        if names is None:
            names = TokenTexts(run.history.alphabet, escape, LONGEST_TOKEN_SHOWN)
            self._write_symbols(run, run.history.alphabet)
        self._append_merges(run.number, run.history, 0 if before is None else before.run.learned, names)
        self._append_scores(run, None if before is None else before.run)
        return _WrittenRun(run, table, names)

    def _write_run_row(self, run: SavedRun, table: int | None) -> None:
        known = run.history
        how = (None, None) if known is None else (known.tokens_at_start, known.end_reason)
        row = (run.number, _as_json(run.recipe.to_dict()), table, *how, run.state, run.sentence)
        self._execute("INSERT OR REPLACE INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        checksums.store_checksum(self._connection, "run", run.number)

    def _write_symbols(self, run: SavedRun, alphabet: Alphabet) -> None:
        counts: list[int] | repeat[None] = run.symbol_counts.tolist() if len(run.symbol_counts) else repeat(None)
        rows = (
            (run.number, id, symbol.kind, symbol.text, symbol.decoded, count)
            for (id, symbol), count in zip(enumerate(alphabet.symbols), counts, strict=False)
        )
        while some := list(islice(rows, ROWS_AT_ONCE)):
            self._stop_if_cancelled()
            self._connection.executemany("INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?)", some)
        checksums.store_checksum(self._connection, "symbols", run.number)

    def _append_merges(self, run: int, history: History, written: int, names: TokenTexts) -> None:
        for start in range(written, len(history), ROWS_AT_ONCE):
            self._stop_if_cancelled()
            stop = min(start + ROWS_AT_ONCE, len(history))
            names.grow(history.first(stop))
            columns = (column[start:stop].tolist() for column in history.columns)
            tokens = history.first(stop).of_steps(names.text, start)
            steps = range(start + 1, stop + 1)
            self._connection.executemany(INSERT_MERGE, zip(repeat(run), steps, tokens, *columns, strict=False))
        if written < len(history):
            # A piece of the reasons that has become longer replaces the older piece.
            for chunk in reason_chunks(history.reasons, written):
                self._stop_if_cancelled()
                self._execute("INSERT OR REPLACE INTO reasons VALUES (?, ?, ?, ?, ?)", (run, *chunk))
            checksums.store_merge_checksums(
                self._connection, run, written, len(history), with_reasons=bool(history.reasons)
            )

    def _append_scores(self, run: SavedRun, before: SavedRun | None) -> None:
        """Write the scores of a run. Rows that are the same as in `before` are not written again.

        `before` is the run at the last update.
        """
        known = score_rows(before)
        for place, (since, row) in enumerate(score_rows(run)):
            if place >= len(known) or known[place][1] is not row:
                self._stop_if_cancelled()
                kind = row.dtype.newbyteorder("<")
                values = (run.number, place, since, kind.str, row.astype(kind).tobytes())
                self._execute("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)", values)
                checksums.store_checksum(self._connection, "scores", run.number, place)

    def _write_words(self, words: WordTable | None, tables: dict[int, WordTable]) -> int | None:
        if words is None:
            return None
        for number, known in tables.items():
            if known is words:
                return number
        number = 1 + max((_last_number(known, words) for known, words in tables.items()), default=0)
        for place, table in enumerate(_with_further_tables(words)):
            self._write_table(number + place, table)
        tables[number] = words
        return number

    def _write_table(self, number: int, words: WordTable) -> None:
        for chunk, (count, *blobs) in enumerate(word_chunks(words)):
            self._stop_if_cancelled()
            self._execute("INSERT INTO word_chunks VALUES (?, ?, ?, ?, ?, ?)", (number, chunk, count, *blobs))

    def _stop_if_cancelled(self) -> None:
        if self._cancelled():
            raise Cancelled("Saving was stopped. Existing files are unchanged.")

    def _remove_run(self, number: int) -> None:
        for table in ("merges", "reasons", "scores", "symbols", "sources", "checks"):
            self._execute(f"DELETE FROM {table} WHERE run = ?", (number,))
        self._execute("DELETE FROM runs WHERE number = ?", (number,))

    def _remove_unused(self, tables: dict[int, WordTable], runs: dict[int, _WrittenRun]) -> None:
        for number in tables.keys() - {run.word_table for run in runs.values()}:
            last = _last_number(number, tables[number])
            self._execute("DELETE FROM word_chunks WHERE word_table BETWEEN ? AND ?", (number, last))
            del tables[number]


def _last_number(number: int, words: WordTable) -> int:
    """Return the last number that belongs to a word table in the session file.

    The word table `words` has the number `number`. It may have further tables, for its languages and for its
    first stage. They have the next numbers.
    """
    return number + 2 * len(words.languages) + (words.at_first is not None)


def _with_further_tables(words: WordTable) -> Iterator[WordTable]:
    """Yield `words`, and then the tables that belong to it, in the order in which a session file stores them.

    There are two tables for each language: its words, and the words of its dev text, which measures how well the
    language is compressed. A missing dev text gives an empty table. The last table has the words of the first training
    stage, if they are counted separately.
    """
    yield words
    for language in words.languages:
        yield language.words
        yield language.dev or WordTable.from_counts({})
    if words.at_first is not None:
        yield words.at_first


@dataclass(frozen=True)
class _WrittenRun:
    run: SavedRun
    word_table: int | None
    names: TokenTexts | None  # None while it had no history

    def can_become(self, run: SavedRun) -> bool:
        before = self.run.history
        now = run.history
        if before is None:
            return True
        return (
            now is not None
            and len(now) >= len(before)
            # an imported table may have been counted since, which changes all its rows
            and (not len(before) or now.has_counts == before.has_counts)
            and now.alphabet == before.alphabet
            and now.reasons.keys() == before.reasons.keys()
            and (now.scores is None) == (before.scores is None)
        )


def _choices(session: SavedSession) -> dict[str, str]:
    runs = session.runs
    view = session.view
    written = session.written
    shelves = {0: session.sources, **{run.number: run.sources for run in runs}}
    sources = [source for shelf in shelves.values() for source in shelf]
    # files picked from folders, once each, however many runs learned from them; their indices are in read_as
    picked = dict.fromkeys(source.picked for source in sources if source.picked)
    groups = {number: [_encodable(value.group) for value in shelf] for number, shelf in shelves.items()}
    histories = {run.number: run.history for run in runs if run.history is not None}
    numbers = {run: value.numbers.tolist() for run, value in histories.items() if value.numbers is not None}
    # joined from texts that are made once: they are long, and never change
    joinings = (f'"{run}": {value.joining.as_json}' for run, value in histories.items() if value.joining is not None)
    return {
        "recipe": _as_json(session.recipe.to_dict()),
        "text": _encodable(session.text),
        "filter": _as_json(dict(session.filter)),
        "view": _as_json({**vars(view), "layout": dict(view.layout)}),
        "numbers": _as_json(numbers),
        "read_as": _as_json(_ways_to_read(shelves, list(picked))),
        "picked": f"[{', '.join(map(_names_as_json, picked))}]",
        "joinings": f"{{{', '.join(joinings)}}}",
        "groups": _as_json({number: names for number, names in groups.items() if any(names)}),
        "parents": _as_json({run.number: run.parent for run in runs if run.parent is not None}),
        "names": _as_json({run.number: list(map(_encodable, run.names)) for run in runs if run.names}),
        "text_bytes": _as_json({run.number: run.words.text_bytes for run in runs if run.words is not None}),
        "languages": _as_json(
            {
                run.number: [[_encodable(value.name), value.ratio] for value in run.words.languages]
                for run in runs
                if run.words is not None and run.words.languages
            }
        ),
        "counted_at_first": _as_json(
            {run.number: True for run in runs if run.words is not None and run.words.at_first is not None}
        ),
        "saved_as": _encodable(session.saved_as),
        "was_closed": _as_json(session.was_closed),
        "written": "" if written is None else written.astimezone(UTC).isoformat(timespec="seconds"),
    }


def _ways_to_read(
    shelves: dict[int, tuple[SavedSource, ...]], picked: list[tuple[str, ...]]
) -> dict[str, dict[str, list[object]]]:
    """Return how a user chose to read the texts of each run.

    The result has a dictionary for each run, from the number of a text to a list. The list holds the column to
    read, and whether the file is a list of words. If the user chose files, the list also holds the index of this
    choice in `picked`.
    """
    said = {
        str(run): {
            str(place): [source.column, source.word_list, *([picked.index(source.picked)] if source.picked else ())]
            for place, source in enumerate(shelf)
            if source.column or source.word_list is not None or source.picked
        }
        for run, shelf in shelves.items()
    }
    return {run: ways for run, ways in said.items() if ways}


@lru_cache(maxsize=1_000)
def _names_as_json(names: tuple[str, ...]) -> str:
    """Return names as JSON. The result is cached, because tens of thousands of names may be written every second."""
    return _as_json(names)


def _source_row(source: SavedSource, text_key: str | None) -> tuple[object, ...]:
    path = None if source.path is None else _path_value(source.path)
    known = source.fingerprint
    marks = (None, None, None) if known is None else (known.size, known.modified_ns, known.sha256)
    return _encodable(source.name), path, text_key, source.encoding, *marks


def _path_value(path: str) -> str | bytes:
    """Return a path as text. If the path is not valid text, which some systems allow, return it as bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return path.encode(errors="surrogateescape")
    return path


def _encodable(text: str) -> str:
    """Return a text in which a question mark replaces each lone surrogate, because UTF-8 cannot encode a surrogate."""
    return text if text.isascii() else text.encode(errors="replace").decode()


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
