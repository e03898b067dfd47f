"""Reading a session file, believing nothing before it is checked.

The database is opened so that nothing in it can act: read-only, as a file that no one else
changes, with a schema that is exactly ours. Then every value is held against what a sound
session could contain.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from bpe_core.alphabet import Alphabet
from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError, cause_of
from bpe_core.formats.rebuilding import (
    checked_alphabet,
    checked_end_reason,
    checked_numbers,
    checked_recipe,
    checked_symbol,
)
from bpe_core.history.history import NOTHING, Columns, History, Reasons
from bpe_core.history.joining import Joining
from bpe_core.history.scores import Scores
from bpe_core.learning.methods import Method
from bpe_core.limits import check_room
from bpe_core.mixture import LONGEST_NAME
from bpe_core.recipe import Recipe
from bpe_core.session_file import checksums, schema
from bpe_core.session_file.merge_rows import merge_columns
from bpe_core.session_file.reason_chunks import reasons_in
from bpe_core.session_file.score_rows import scores_in
from bpe_core.session_file.values import Bookmark, Fingerprint, RunState, SavedRun, SavedSession, SavedSource, View
from bpe_core.session_file.word_chunks import word_table

HEADER = b"SQLite format 3\0"
LARGEST = 2**63 - 1
TIMES_THE_FILE = 3  # as much memory is taken
OF_A_RUN = {
    "run": "its recipe and state",
    "sources": "the list of its texts",
    "symbols": "its base symbols",
    "length": "the number of its steps",
    "words": "its words",
}
OF_STEPS = {"merges": "what was learned", "reasons": "why what was learned was chosen"}
OF_THE_SESSION = {
    "runs": "the list of runs",
    "bookmarks": "a bookmark",
    "sources": "the list of texts",
    "value recipe": "the recipe",
    "value text": "your own text",
    "value filter": "the filter",
    "value numbers": "the numbers of imported tokens",
    "value parents": "which run goes on from which",
    "value text_bytes": "how large the texts are",
    "value groups": "the groups of the texts",
    "value joinings": "the order in which imported tables join texts",
}


def read_session(path: Path | str, *, is_safety_copy: bool = False) -> SavedSession:
    """The session in a file; a FormatError says what is wrong with it.

    A safety copy may have been left in the middle of a change; that change is taken back first.
    """
    with _opened(Path(path), is_safety_copy) as connection:
        check_room(TIMES_THE_FILE * Path(path).stat().st_size, f"Opening {path}", "Close other programs first.")
        session = Reader(connection, str(path)).session()
        if _version(connection) >= schema.FIRST_CHECKED:
            refuse_what_is_wrong(connection, str(path))
        return session


def refuse_what_is_wrong(connection: sqlite3.Connection, name: str) -> None:
    """A value may make sense and still be another than the one that was written."""
    wrong = checksums.wrong_parts(connection)
    if wrong or checksums.wrong_texts(connection):
        what = described(wrong[0]) if wrong else "a text of the corpus"
        raise FormatError(f"{name} is damaged: {what} is not what was written.")


def described(part: checksums.Part) -> str:
    """A part of a session as the person knows it."""
    if part.name in OF_STEPS:
        first = part.place * checksums.MERGES_IN_A_PART
        return f"run {part.run}: {OF_STEPS[part.name]} from step {first + 1:,} on"
    if part.name == "scores":
        return f"run {part.run}: the scores of its tokens"
    if part.name in checksums.OF_RUNS and part.run:
        return f"run {part.run}: {OF_A_RUN[part.name]}"
    return OF_THE_SESSION.get(part.name, part.name)


@dataclass(frozen=True)
class Summary:
    """What a session is about, without reading all of it."""

    saved_as: str
    was_closed: bool
    runs: int
    merges: int
    texts: tuple[str, ...]
    written: datetime | None = None  # as it says itself


def read_summary(path: Path | str) -> Summary:
    """A look at a safety copy."""
    with _opened(Path(path), is_safety_copy=True) as connection:
        reader = Reader(connection, str(path))
        runs = connection.execute("SELECT number FROM runs").fetchall()
        merges = [
            connection.execute("SELECT max(step) FROM merges WHERE run = ?", run).fetchone()[0] or 0 for run in runs
        ]
        return Summary(
            saved_as=reader.choice("saved_as"),
            was_closed=reader.json("was_closed", False) is True,
            runs=len(runs),
            merges=sum(merges),
            texts=tuple(source.name for source in reader.sources(0)),
            written=reader.written(),
        )


@contextlib.contextmanager
def _opened(path: Path, is_safety_copy: bool) -> Iterator[sqlite3.Connection]:
    """The database with today's tables; one of an older version is brought up to date in memory."""
    _look_at_header(path)
    # `immutable` keeps SQLite from making or reading any other file beside it.
    how = "mode=rw" if is_safety_copy else "mode=ro&immutable=1"
    try:
        with contextlib.closing(sqlite3.connect(f"{path.resolve().as_uri()}?{how}", uri=True)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            version = schema.check(connection, str(path))
            connection.execute("PRAGMA query_only = ON")
            (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if verdict != "ok":
                raise FormatError(f"{path} is damaged: its pages do not fit together.")
            if version == schema.VERSION:
                yield connection
                return
            with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as today:
                connection.backup(today)
                schema.migrate(today, version)
                today.execute(f"PRAGMA user_version = {version}")  # so that it is known what to expect of it
                yield today
    except sqlite3.Error as error:
        raise FormatError(f"{path} is damaged: {cause_of(error)}.") from error
    except (OverflowError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is damaged: it holds a value that cannot be.") from error


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _look_at_header(path: Path) -> None:
    """Say what SQLite would say of a file that is none of its own, in words for people."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise FormatError(f"{path} is a pipe or a device, not a file.")  # to open one might take for ever
    try:
        with open(path, "rb") as file:
            header = file.read(len(HEADER))
    except OSError as error:
        raise FormatError(f"Could not read {path}: {error.strerror or error}.") from error
    if not header:
        raise FormatError(f"{path} is empty.")
    if header != HEADER:
        raise FormatError(f"{path} is no session of BPE Explorer.")


class Reader:
    """Takes one session out of an open database."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection = connection
        self._name = name
        self._choices: dict[str, str] = dict(connection.execute("SELECT key, value FROM session"))
        self._word_tables: dict[int, WordTable] = {}

    def session(self) -> SavedSession:
        runs = tuple(
            self.run(*row) for row in self._connection.execute("SELECT * FROM runs ORDER BY number").fetchall()
        )
        return SavedSession(
            recipe=checked_recipe(self.json("recipe", None), self._name),
            sources=self.sources(0),
            text=self.choice("text"),
            runs=runs,
            bookmarks=self._bookmarks(runs),
            filter=self._object(self.json("filter", {})),
            view=self._view(runs),
            saved_as=self.choice("saved_as"),
            was_closed=self.json("was_closed", False) is True,
            written=self.written(),
        )

    def written(self) -> datetime | None:
        """When it was written, if it says so; it may not even be a time."""
        with contextlib.suppress(ValueError):
            found = datetime.fromisoformat(self.choice("written"))
            return found if found.tzinfo is not None else None
        return None

    def choice(self, key: str) -> str:
        return self._choices.get(key, "")

    def json(self, key: str, otherwise: object) -> object:
        return self._parsed(self._choices[key]) if key in self._choices else otherwise

    def sources(self, run: int) -> tuple[SavedSource, ...]:
        rows = self._connection.execute(
            "SELECT position, name, path, text, text_sha256, encoding, size, modified_ns, sources.sha256 FROM sources "
            "LEFT JOIN texts ON texts.sha256 = text_sha256 WHERE run = ? ORDER BY position",
            (run,),
        )
        read_as = self._object(self._object(self.json("read_as", {})).get(str(run), {}))
        groups = self._object(self.json("groups", {})).get(str(run))
        named = dict(enumerate(groups if isinstance(groups, list) else []))
        return tuple(
            _read_as(self._source(*row), read_as.get(str(position)), named.get(position)) for position, *row in rows
        )

    def _source(
        self,
        name: str,
        path: object,
        text: str | None,
        text_key: str | None,
        encoding: str | None,
        size: int | None,
        modified_ns: int | None,
        sha256: str | None,
    ) -> SavedSource:
        if isinstance(path, bytes):
            path = path.decode(errors="surrogateescape")
        is_file, is_text = isinstance(path, str), text is not None and text_key is not None
        if is_file == is_text or (path is not None and not is_file) or "\0" in str(path):
            raise FormatError(f"{self._name}: the text {name!r} of the corpus is neither a file nor a text.")
        known = None
        if size is not None and modified_ns is not None:
            known = Fingerprint(size, modified_ns, sha256 or "")
        return SavedSource(name, str(path) if is_file else None, text, encoding, known)

    def run(
        self,
        number: int,
        recipe_json: str,
        table: int | None,
        tokens_at_start: int | None,
        end_reason: str | None,
        state: str,
        sentence: str,
    ) -> SavedRun:
        where = f"{self._name}, run {number}"
        recipe = checked_recipe(self._parsed(recipe_json), where)
        if state not in get_args(RunState) or number < 1:
            raise FormatError(f"{where}: it is in no state that a run can be in.")
        history, counts = None, np.zeros(0, np.int64)
        if end_reason is not None:
            alphabet, counts = self._alphabet(number, recipe, where)
            method = Method.of(recipe)
            columns = merge_columns(self._connection, number, alphabet, where, method)
            start = NOTHING if tokens_at_start is None else tokens_at_start
            reason = checked_end_reason(end_reason, where)
            if not NOTHING <= start <= LARGEST:
                raise FormatError(f"{where}: the number of its tokens is negative.")
            reasons = self._reasons(number, len(columns.left), where)
            scores = self._scores(number, columns, len(alphabet), where)
            history = History(
                recipe, alphabet, columns, reasons=reasons, scores=scores, tokens_at_start=start, end_reason=reason
            )
            history.joining = self._joining(number, history, where)
            if wrong := method.what_is_wrong(history):
                raise FormatError(f"{where}: {wrong}.")
        return SavedRun(
            number=number,
            recipe=recipe,
            sources=self.sources(number),
            words=self._words(table, number, where),
            history=history,
            symbol_counts=counts,
            state=state,  # type: ignore[arg-type]  # checked above
            sentence=sentence,
            numbers=None if history is None else self._numbers(number, history, where),
            parent=self._parent(number),
        )

    def _parent(self, run: int) -> int | None:
        """The run that this one goes on from; one that makes no sense is as good as none."""
        found = self._object(self.json("parents", {})).get(str(run))
        return found if type(found) is int and 0 < found < run else None

    def _reasons(self, run: int, learned: int, where: str) -> Reasons:
        chunks = self._connection.execute(
            "SELECT name, place, kind, numbers FROM reasons WHERE run = ? ORDER BY name, place", (run,)
        )
        return reasons_in(chunks, learned, where)

    def _scores(self, run: int, columns: Columns, tokens_at_first: int, where: str) -> Scores | None:
        rows = self._connection.execute(
            "SELECT place, since, kind, numbers FROM scores WHERE run = ? ORDER BY place", (run,)
        )
        return scores_in(rows, columns, tokens_at_first, where)

    def _joining(self, run: int, history: History, where: str) -> Joining | None:
        """The order in which an imported table joins texts, where that is not the order of its steps."""
        found = self._object(self.json("joinings", {})).get(str(run))
        return None if found is None else Joining.from_dict(found, len(history.alphabet), history.first_special, where)

    def _numbers(self, run: int, history: History, where: str) -> npt.NDArray[np.int64] | None:
        """The numbers that an imported file gave to its tokens."""
        found = self._object(self.json("numbers", {})).get(str(run))
        return None if found is None else checked_numbers(found, history.id_count, where)

    def _alphabet(self, run: int, recipe: Recipe, where: str) -> tuple[Alphabet, npt.NDArray[np.int64]]:
        rows = self._connection.execute(
            "SELECT id, kind, text, decoded, count FROM symbols WHERE run = ? ORDER BY id", (run,)
        ).fetchall()
        if [row[0] for row in rows] != list(range(len(rows))):
            raise FormatError(f"{where}: the ids of its base symbols have gaps.")
        symbols = [checked_symbol(kind, text, decoded, where) for _, kind, text, decoded, _ in rows]
        alphabet = checked_alphabet(symbols, recipe, where)
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
            chunks = self._connection.execute(
                "SELECT words, text, lengths, counts FROM word_chunks WHERE word_table = ? ORDER BY chunk", (table,)
            )
            size = self._object(self.json("text_bytes", {})).get(str(run))
            known = size if type(size) is int and 0 <= size <= LARGEST else None
            self._word_tables[table] = replace(word_table(chunks, where), text_bytes=known)
        return self._word_tables[table]

    def _bookmarks(self, runs: tuple[SavedRun, ...]) -> tuple[Bookmark, ...]:
        learned = {run.number: run.learned for run in runs}
        rows = self._connection.execute("SELECT run, merge, note FROM bookmarks ORDER BY run, merge").fetchall()
        for run, merge, _ in rows:
            if run not in learned or not 0 <= merge <= learned[run]:
                raise FormatError(f"{self._name}: a bookmark at merge {merge:,} of run {run} leads nowhere.")
        return tuple(Bookmark(*row) for row in rows)

    def _view(self, runs: tuple[SavedRun, ...]) -> View:
        """Where the window stood; what makes no sense is as good as nothing."""
        values = self._object(self.json("view", {}))
        shown = next((run for run in runs if run.number == values.get("shown_run")), None)
        position, layout = values.get("position"), values.get("layout")
        is_place = isinstance(position, int) and shown is not None and 0 <= position <= shown.learned
        return View(
            shown_run=None if shown is None else shown.number,
            position=position if is_place and isinstance(position, int) else 0,
            is_live=values.get("is_live") is not False or not is_place,
            layout=layout if isinstance(layout, dict) else {},
        )

    def _object(self, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise FormatError(f"{self._name}: a value that should be a JSON object is none.")
        return value

    def _parsed(self, text: str) -> object:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{self._name}: a value is not valid JSON: {cause_of(error)}.") from error


def _read_as(source: SavedSource, said: object, group: object) -> SavedSource:
    """With what a person said of its columns and of its group, as far as that makes sense."""
    source = replace(source, group=group[:LONGEST_NAME]) if isinstance(group, str) and group else source
    if not isinstance(said, list) or len(said) != 2:
        return source
    column, word_list = said
    return replace(
        source,
        column=column if isinstance(column, str) else "",
        word_list=word_list if isinstance(word_list, bool) else None,
    )


def is_session_file(path: Path | str) -> bool:
    """Whether a file is meant as a session, judged by its name or its first bytes."""
    try:
        with open(path, "rb") as file:
            return file.read(len(HEADER)) == HEADER
    except OSError:
        return Path(path).suffix.lower() == schema.EXTENSION
