"""The reader of a session file, which checks all contents before they are used.

The database is opened so that it cannot run code: it is read-only, no other program may change it, and it
must have exactly the tables that this program writes. Then the reader checks that each value is valid in a
session.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any, get_args

import numpy as np

from bpe_core.counting.words import Language, WordTable
from bpe_core.errors import FormatError, cause_of
from bpe_core.formats import rebuilding
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, EndReason, History, Int64s
from bpe_core.history.joining import MergePriorities
from bpe_core.methods.kit.method import Method
from bpe_core.recipes.choice import LARGEST_VOCABULARY
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file import HEADER, checksums, schema
from bpe_core.session_file.stored_columns import STEPS, merge_columns, reasons_in, scores_in, word_table
from bpe_core.session_file.values import Bookmark, Fingerprint, RunState, SavedRun, SavedSession, SavedSource, View
from bpe_core.support.atomic import path_to_read
from bpe_core.support.foreign import json_of, report_faults
from bpe_core.support.limits import check_room
from bpe_core.support.paths import real_path
from bpe_core.text.mixture import LONGEST_NAME

LARGEST = 2**63 - 1


class Reader:
    """The reader of a session from a database whose tables have the newest version."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._execute = connection.execute
        self._name = name
        self._texts: dict[str, str] = dict(connection.execute("SELECT key, value FROM session"))
        self._word_tables: dict[int, WordTable] = {}

    def text(self, key: str) -> str:
        return self._texts.get(key, "")

    def json(self, key: str, otherwise: object) -> object:
        return self.parsed(self._texts[key]) if key in self._texts else otherwise

    def of_run(self, key: str, run: int) -> object:
        return self.as_object(self.json(key, {})).get(str(run))

    def as_object(self, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise FormatError(f"{self._name}: a value that must be a JSON object has another type.")
        return value

    def parsed(self, text: str) -> object:
        return json_of(text, f"{self._name}: a value is not valid JSON")

    def sources(self, run: int) -> tuple[SavedSource, ...]:
        rows = self._execute(
            "SELECT position, name, path, text, text_sha256, encoding, size, modified_ns, sources.sha256 FROM sources "
            "LEFT JOIN texts ON texts.sha256 = text_sha256 WHERE run = ? ORDER BY position",
            (run,),
        )
        read_as = self.as_object(self.of_run("read_as", run) or {})
        groups = self.of_run("groups", run)
        named = dict(enumerate(groups if isinstance(groups, list) else []))
        picked = self.json("picked", [])
        return tuple(
            _with_choices(self._source(row), read_as.get(str(position)), named.get(position), picked)
            for position, *row in rows
        )

    def _source(self, row: Sequence[Any]) -> SavedSource:
        name, path, text, text_key, encoding, size, modified_ns, sha256 = row
        if isinstance(path, bytes):
            path = path.decode(errors="surrogateescape")
        is_file = isinstance(path, str)
        is_text = text is not None and text_key is not None
        if is_file == is_text or (path is not None and not is_file) or "\0" in str(path):
            raise FormatError(f"{self._name}: the text {name!r} of the corpus is neither a file nor a pasted text.")
        known = None if size is None or modified_ns is None else Fingerprint(size, modified_ns, sha256 or "")
        return SavedSource(name, str(path) if is_file else None, text, encoding, known)

    def run(self, row: Sequence[Any], *, with_words: bool = True) -> SavedRun:
        number, recipe_json, table, tokens_at_start, end_reason, state, sentence = row
        where = f"{self._name}, run {number}"
        recipe = rebuilding.checked_recipe(self.parsed(recipe_json), where)
        if state not in get_args(RunState) or number < 1:
            raise FormatError(f"{where}: the state of the run is unknown.")
        history = None
        counts = np.zeros(0, np.int64)
        if end_reason is not None:
            start = NOTHING if tokens_at_start is None else tokens_at_start
            history, counts = self._history(
                number, recipe, start, rebuilding.checked_end_reason(end_reason, where), where
            )
        # a value that makes no sense is ignored
        parent, names = (self.of_run(key, number) for key in ("parents", "names"))
        return SavedRun(
            number=number,
            recipe=recipe,
            sources=self.sources(number),
            words=self._words(table, number, where) if with_words else None,
            history=history,
            symbol_counts=counts,
            state=state,
            sentence=sentence,
            parent=parent if type(parent) is int and 0 < parent < number else None,
            names=tuple(map(str, names)) if isinstance(names, list) else (),
        )

    def _history(
        self, run: int, recipe: Recipe, start: int, end_reason: EndReason, where: str
    ) -> tuple[History, Int64s]:
        alphabet, counts = self._alphabet(run, recipe, where)
        columns = merge_columns(self._execute(STEPS, (run, LARGEST_VOCABULARY + 1)), alphabet, where, recipe)
        if not NOTHING <= start <= LARGEST:
            raise FormatError(f"{where}: the number of its tokens is negative.")
        query = "SELECT name, place, kind, numbers FROM reasons WHERE run = ? ORDER BY name, place"
        reasons = self._execute(query, (run,))
        scores = self._execute("SELECT place, since, kind, numbers FROM scores WHERE run = ? ORDER BY place", (run,))
        history = History(
            recipe,
            alphabet,
            columns,
            reasons=reasons_in(reasons, len(columns.left), where),
            scores=scores_in(scores, columns, len(alphabet), where),
            tokens_at_start=start,
            end_reason=end_reason,
        )
        joining, numbers = (self.of_run(key, run) for key in ("joinings", "numbers"))
        if joining is not None:  # an imported table, which does not join texts in the order of its steps
            history.joining = MergePriorities.from_dict(joining, len(alphabet), history.first_special, where)
        if numbers is not None:
            history.numbers = rebuilding.checked_numbers(numbers, history.index_count, where)
        if wrong := Method.of(recipe).what_is_wrong(history):
            raise FormatError(f"{where}: {wrong}.")
        return history, counts

    def _alphabet(self, run: int, recipe: Recipe, where: str) -> tuple[Alphabet, Int64s]:
        query = "SELECT id, kind, text, decoded, count FROM symbols WHERE run = ? ORDER BY id"
        rows = self._execute(query, (run,)).fetchall()
        if [row[0] for row in rows] != list(range(len(rows))):
            raise FormatError(f"{where}: the ids of its base symbols have gaps.")
        symbols = [rebuilding.checked_symbol(kind, text, decoded, where) for _, kind, text, decoded, _ in rows]
        alphabet = rebuilding.checked_alphabet(symbols, recipe, where)
        numbers = [count for *_, count in rows]
        if any(count is None for count in numbers):
            return alphabet, np.zeros(0, np.int64)
        if any(count < 0 for count in numbers):
            raise FormatError(f"{where}: the count of a base symbol is negative.")
        return Alphabet.of_bytes() if alphabet.is_plain_bytes else alphabet, np.array(numbers, np.int64)

    def _words(self, table: int | None, run: int, where: str) -> WordTable | None:
        if table is None:
            return None
        if table not in self._word_tables:
            size = self.of_run("text_bytes", run)
            known = size if type(size) is int and 0 <= size <= LARGEST else None
            languages = self._languages(self.of_run("languages", run), table, where)
            has_first = self.of_run("counted_at_first", run) is True
            at_first = self._table(table + 1 + 2 * len(languages), where) if has_first else None
            self._word_tables[table] = replace(
                self._table(table, where), text_bytes=known, languages=languages, at_first=at_first
            )
        return self._word_tables[table]

    def _table(self, number: int, where: str) -> WordTable:
        query = "SELECT words, text, lengths, counts FROM word_chunks WHERE word_table = ? ORDER BY chunk"
        return word_table(self._execute(query, (number,)), where)

    def _languages(self, said: object, table: int, where: str) -> tuple[Language, ...]:
        """Return the languages of a word table.

        In the database, the word tables of the languages follow this word table. Return an empty tuple if the stored
        value is not valid.
        """
        rows = said if isinstance(said, list) else []
        if not all(isinstance(row, list) and [*map(type, row)] == [str, float] and row[1] > 0 for row in rows):
            return ()
        languages = []
        for place, (name, ratio) in enumerate(rows):
            words, dev = (self._table(table + 2 * place + next_table, where) for next_table in (1, 2))
            languages.append(Language(name[:LONGEST_NAME], words, dev if len(dev) else None, ratio))
        return tuple(languages)

    def session(self) -> SavedSession:
        runs = tuple(map(self.run, self._execute("SELECT * FROM runs ORDER BY number").fetchall()))
        return SavedSession(
            recipe=rebuilding.checked_recipe(self.json("recipe", None), self._name),
            sources=self.sources(0),
            text=self.text("text"),
            runs=runs,
            bookmarks=self._bookmarks(runs),
            filter=self.as_object(self.json("filter", {})),
            view=self._view(runs),
            saved_as=self.text("saved_as"),
            was_closed=self.json("was_closed", False) is True,
            written=self.written(),
        )

    def written(self) -> datetime | None:
        """Return the time at which the session was written. Return None if the stored value is missing or not valid."""
        with contextlib.suppress(ValueError):
            moment = datetime.fromisoformat(self.text("written"))
            return moment if moment.tzinfo is not None else None
        return None

    def _bookmarks(self, runs: tuple[SavedRun, ...]) -> tuple[Bookmark, ...]:
        learned = {run.number: run.learned for run in runs}
        rows = self._execute("SELECT run, merge, note FROM bookmarks ORDER BY run, merge").fetchall()
        for run, merge, _ in rows:
            if run not in learned or not 0 <= merge <= learned[run]:
                raise FormatError(
                    f"{self._name}: a bookmark is at merge {merge:,} of run {run}, but there is no such run or merge."
                )
        return tuple(Bookmark(*row) for row in rows)

    def _view(self, runs: tuple[SavedRun, ...]) -> View:
        values = self.as_object(self.json("view", {}))
        shown = next((run for run in runs if run.number == values.get("shown_run")), None)
        position = values.get("position")
        layout = values.get("layout")
        is_place = isinstance(position, int) and shown is not None and 0 <= position <= shown.learned
        return View(
            shown_run=None if shown is None else shown.number,
            position=position if is_place and isinstance(position, int) else 0,
            is_live=values.get("is_live") is not False or not is_place,
            layout=layout if isinstance(layout, dict) else {},
        )


def _with_choices(source: SavedSource, said: object, group: object, picked: object) -> SavedSource:
    """Return the source with the stored choices of a user: the column to read, the group's name, and the chosen
    files.

    Choices that are not valid are ignored.
    """
    source = replace(source, group=group[:LONGEST_NAME]) if isinstance(group, str) and group else source
    if not isinstance(said, list) or len(said) not in (2, 3):
        return source
    column, word_list, *place = said
    return replace(
        source,
        picked=_names_at(place, picked),
        column=column if isinstance(column, str) else "",
        word_list=word_list if isinstance(word_list, bool) else None,
    )


def _names_at(place: list[object], picked: object) -> tuple[str, ...]:
    if not place or not isinstance(place[0], int) or not isinstance(picked, list) or not 0 <= place[0] < len(picked):
        return ()
    names = picked[place[0]]
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list) else ()


ADVICE = "Open an older copy of the file, such as one from a backup."
TIMES_THE_FILE = 3  # the memory that reading takes
OF_A_RUN = {
    "run": "its recipe and state",
    "sources": "the list of its texts",
    "symbols": "its base symbols",
    "length": "the number of its steps",
    "words": "its words",
}
OF_STEPS = {"merges": "the learned steps", "reasons": "the reasons of the steps"}
OF_THE_SESSION = {
    "runs": "the list of runs",
    "bookmarks": "a bookmark",
    "sources": "the list of texts",
    "value recipe": "the recipe",
    "value text": "your own text",
    "value filter": "the filter",
    "value numbers": "the ids of imported tokens",
    "value parents": "the list of which run continues which run",
    "value text_bytes": "the sizes of the texts",
    "value groups": "the groups of the texts",
    "value names": "the names of the texts",
    "value joinings": "the order in which imported tables apply their merges",
}


def read_session(path: Path | str, *, is_safety_copy: bool = False) -> SavedSession:
    """Return the session in a file. Raise FormatError if the file is damaged or is not a session.

    If the writing of a safety copy was interrupted, the incomplete change is undone first.
    """
    file_now = path_to_read(path)
    with _open_database(file_now, is_safety_copy) as connection:
        check_room(TIMES_THE_FILE * file_now.stat().st_size, f"Opening {path}", "Close other programs first.")
        try:
            session = Reader(connection, str(path)).session()
        except FormatError as error:
            if _damaged_part(connection):
                raise FormatError(f"{error} {ADVICE}") from error
            raise
        if damaged := _damaged_part(connection):
            raise FormatError(f"{path} is damaged ({damaged}): a stored checksum differs. {ADVICE}")
        return session


def read_growing_run(path: Path | str) -> SavedRun:
    """Return the last run of a session that another process may replace at any time. Its words are not read.

    Nothing is written, and no lock is taken. Raise FormatError if the file is missing, incomplete or damaged.
    """
    with _open_database(Path(path), is_safety_copy=False, checks_pages=False) as connection:
        row = connection.execute("SELECT * FROM runs ORDER BY number DESC LIMIT 1").fetchone()
        if row is None:
            raise FormatError(f"{path} holds no run.")
        run = Reader(connection, str(path)).run(row, with_words=False)
        if damaged := _damaged_part(connection, with_words=False):
            raise FormatError(f"{path} is damaged ({damaged}): a stored checksum differs. {ADVICE}")
        return run


def _damaged_part(connection: sqlite3.Connection, *, with_words: bool = True) -> str:
    """Return a phrase that names the first part with a wrong checksum.

    The phrase is empty if all checksums are right.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version < schema.FIRST_CHECKED:
        return ""
    wrong = checksums.wrong_parts(connection, with_words=with_words)
    if wrong:
        return _described(wrong[0])
    return "a text of the corpus" if checksums.has_wrong_text(connection) else ""


def _described(part: checksums.Part) -> str:
    if part.name in OF_STEPS:
        first = part.place * checksums.MERGES_IN_A_PART
        return f"run {part.run}: {OF_STEPS[part.name]} from step {first + 1:,} on"
    if part.name == "scores":
        return f"run {part.run}: the scores of its tokens"
    if part.name in checksums.OF_RUNS and part.run:
        return f"run {part.run}: {OF_A_RUN[part.name]}"
    return OF_THE_SESSION.get(part.name, part.name)


def are_equal_except_places(path: Path, other: Path) -> bool:
    """Return whether two sessions are equal, except for the paths and dates of their texts."""
    with _open_database(path, is_safety_copy=False) as first, _open_database(other, is_safety_copy=False) as second:
        tables = [name for (name,) in first.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return all(
            row == again
            for table in tables
            if table not in (checksums.NAME, *schema.COPIES)  # checksums, which are made of everything else
            for row, again in zip_longest(_wherever(first, table), _wherever(second, table))
        )


def _wherever(connection: sqlite3.Connection, table: str) -> Iterator[tuple[object, ...]]:
    rows = connection.execute(f"SELECT * FROM {table}")
    kept = [place for place, column in enumerate(rows.description) if column[0] not in ("path", "modified_ns")]
    return (tuple(row[place] for place in kept) for row in rows)


@dataclass(frozen=True)
class Summary:
    saved_as: str
    was_closed: bool
    runs: int
    merges: int
    texts: tuple[str, ...]
    written: datetime | None = None  # by its own record


def read_summary(path: Path | str) -> Summary:
    """Return the summary of a safety copy, without reading most of the file."""
    with _open_database(Path(path), is_safety_copy=True) as connection:
        reader = Reader(connection, str(path))
        lengths = "SELECT ifnull((SELECT max(step) FROM merges WHERE run = number), 0) FROM runs"
        merges = [learned for (learned,) in connection.execute(lengths)]
        return Summary(
            saved_as=reader.text("saved_as"),
            was_closed=reader.json("was_closed", False) is True,
            runs=len(merges),
            merges=sum(merges),
            texts=tuple(source.name for source in reader.sources(0)),
            written=reader.written(),
        )


@contextlib.contextmanager
def _open_database(path: Path, is_safety_copy: bool, *, checks_pages: bool = True) -> Iterator[sqlite3.Connection]:
    """Open the database of a session. Tables of an older version are converted to the newest version in memory.

    If `checks_pages` is false, damage is noticed only in the parts of the file that are read.
    """
    _look_at_header(path)
    # `immutable` keeps SQLite from making or reading other files next to it.
    how = "mode=rw" if is_safety_copy else "mode=ro&immutable=1"
    try:
        address = f"{real_path(path).as_uri()}?{how}"
        with (
            contextlib.closing(sqlite3.connect(address, uri=True)) as connection,
            report_faults(f"{path} is damaged", advice=ADVICE),
        ):
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            version = schema.check(connection, str(path))
            connection.execute("PRAGMA query_only = ON")
            verdict = connection.execute("PRAGMA integrity_check(1)").fetchone() if checks_pages else ("ok",)
            if verdict != ("ok",):
                raise FormatError(f"{path} is damaged: its pages do not fit together. {ADVICE}")
            if version == schema.VERSION:
                yield connection
                return
            with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as today:
                connection.backup(today)
                schema.migrate(today, version)
                today.execute(f"PRAGMA user_version = {version}")  # so that its behaviour is known
                yield today
    except sqlite3.Error as error:
        raise FormatError(f"{path} is damaged: {cause_of(error)}. {ADVICE}") from error


def _look_at_header(path: Path) -> None:
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FormatError(
            f"{path} is a pipe or a device, not a file. Choose a file on a disk."
        )  # opening one might take for ever
    try:
        with open(path, "rb") as file:
            header = file.read(len(HEADER))
    except OSError as error:
        raise FormatError(f"Could not read {path}: {error.strerror or error}.") from error
    if not header:
        raise FormatError(f"{path} is empty. {ADVICE}")
    if header != HEADER:
        raise FormatError(f"{path} is not a session of BPE Explorer, or its beginning is damaged. {ADVICE}")
