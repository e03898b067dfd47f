"""What can be saved of a damaged session: every run and text that is whole, and of a run its sound beginning.

The rows that still stand in the file's pages are put into a new database in memory. Each part of it is held against
its checksum; what is wrong is taken out, and said. What remains is then read like any other session.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bpe_core.errors import LONGEST_SENTENCE, FormatError, cause_of, plain
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file import checksums, schema
from bpe_core.session_file.checksums import MERGES_IN_A_PART, Part, is_known_to_be_wrong
from bpe_core.session_file.reading import OF_STEPS, Reader, described
from bpe_core.session_file.sqlite_pages import Row, rows_in
from bpe_core.session_file.values import SavedRun, SavedSession, SavedSource
from bpe_core.support.foreign import gate
from bpe_core.support.limits import check_room

# Two columns are of a value or a text, six of words or of the copy of a base symbol.
TABLES_BY_WIDTH = {9: "sources", 7: "runs", 5: "scores", 4: "first_scores", 3: "bookmarks"}
# Whose rows have no numbers.
TABLES_WITHOUT_ROWS = {10: "merges", 7: "run_copies", 6: "symbols", 5: "reasons", 4: "checks"}
# What is kept twice: the rows of a run, and what they are taken back by.
SYMBOLS, SYMBOLS_TAKEN_BACK = "symbols WHERE run = ?", "symbols SELECT * FROM symbol_copies WHERE run = ?"
SCORES = "scores WHERE run = ? AND place = 0"
SCORES_TAKEN_BACK = "scores SELECT run, 0, since, kind, numbers FROM first_scores WHERE run = ?"
NUMBERED_BY_THEIR_RUN = ("runs", "first_scores")
OF_A_RUN = ("merges", "reasons", "scores", "symbols", "sources", "bookmarks")
MOST_VERSIONS = 1000  # a number beyond is damage
SIGNS_OF_A_SESSION = (
    "SELECT 1 FROM runs UNION ALL SELECT 1 FROM run_copies UNION ALL SELECT 1 FROM checks "
    "UNION ALL SELECT 1 FROM session WHERE key = 'recipe'"
)
TIMES_THE_FILE = 5  # as much memory is taken: its pages, a database of its rows, and what is made of them
KEY_LENGTH = 64  # of a text: a sha256 in hexadecimal
NOT_CHECKED = "Recovered without checksums, which are damaged or were never there: its figures may be wrong."

UNKNOWN = "Some of its figures could not be checked"


@dataclass(frozen=True)
class Recovered:
    """What could be saved, and a sentence for whatever is lost or not certain."""

    session: SavedSession
    lost: tuple[str, ...]


def recover_session(path: Path | str) -> Recovered:
    try:
        check_room(TIMES_THE_FILE * Path(path).stat().st_size, f"Recovering {path}", "Close other programs first.")
        data = Path(path).read_bytes()
    except OSError as error:
        raise FormatError(f"Could not read {path}: {error.strerror or error}.") from error
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        schema.create(connection)
        version = _version(data)
        if schema.VERSION < version < MOST_VERSIONS:  # not damaged, but not to be understood
            raise FormatError(f"{path} was written by a newer version of BPE Explorer; open it with that one.")
        if not _fill(connection, rows_in(data)) or not connection.execute(SIGNS_OF_A_SESSION).fetchall():
            raise FormatError(f"{path}: nothing of a session is left in it.")
        if version == schema.CHECKED_OTHERWISE:
            connection.execute("DELETE FROM checks")
        with gate(f"{path} cannot be recovered"):
            return _Salvage(connection, str(path)).result()


def _version(data: bytes) -> int:
    """Return the version in the file's header; 0 where that is another program's, or damaged."""
    version, application = (int.from_bytes(data[place : place + 4], "big") for place in (60, 68))
    return version if application == schema.APPLICATION_ID else 0


def _fill(connection: sqlite3.Connection, rows: Iterator[Row]) -> int:
    filled = 0
    for number, values in rows:
        table = _table_of(number, values)
        if table is not None:
            values = (number, *values[1:]) if table in NUMBERED_BY_THEIR_RUN else values
            marks = ", ".join("?" * len(values))
            with contextlib.suppress(sqlite3.Error, OverflowError):  # of a type that its column cannot hold
                filled += connection.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", values).rowcount
    return filled


def _table_of(number: int | None, values: tuple[object, ...]) -> str | None:
    if number is None:
        return TABLES_WITHOUT_ROWS.get(len(values))
    if len(values) == 2:
        return "texts" if isinstance(values[0], str) and len(values[0]) == KEY_LENGTH else "session"
    if len(values) == 6:
        return "symbol_copies" if isinstance(values[2], str) else "word_chunks"
    return TABLES_BY_WIDTH.get(len(values))


class _Salvage:
    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._connection, self._execute, self._name = connection, connection.execute, name
        self.lost: list[str] = []
        self._remarks: dict[int, list[str]] = {}  # for each run that is not what it was
        self._cut_runs: set[int] = set()

    def result(self) -> Recovered:
        is_checked = self._all("SELECT count(*) FROM checks") != [0]
        for row in checksums.wrong_texts(self._connection):
            self._execute("DELETE FROM texts WHERE rowid = ?", (row,))
            self.lost.append("A text of the corpus is damaged.")
        self._take_back_runs()
        for number in self._runs():
            self._take_back(Part("symbols", number), SYMBOLS, SYMBOLS_TAKEN_BACK)
            self._take_back(Part("scores", number), SCORES, SCORES_TAKEN_BACK)
        if is_checked:
            for part in checksums.wrong_parts(self._connection):
                self._take_out(part)
        for number in self._runs_without_their_row():
            self._lose_run(number)
        self._make_readable()
        for number in self._runs():
            self._see_whether_it_is_sound(number)
        self._bookmarks_that_lead_nowhere()
        session = Reader(self._connection, self._name).session()
        runs = tuple(self._marked(run, is_checked) for run in session.runs)
        if not is_checked:
            self.lost.append("The file has no checksums (any more): what is here may not be what was written.")
        further = self._texts_of_nobody()
        session = dataclasses.replace(session, runs=runs, sources=(*session.sources, *further), saved_as="")
        return Recovered(session, tuple(dict.fromkeys(plain(one, LONGEST_SENTENCE) for one in self.lost)))

    def _take_back_runs(self) -> None:
        """Replace the row of a run that is gone or damaged by its copy."""
        for number in self._all("SELECT number FROM run_copies"):
            if number not in self._runs() or is_known_to_be_wrong(self._connection, Part("run", number)):
                self._execute("INSERT OR REPLACE INTO runs SELECT * FROM run_copies WHERE number = ?", (number,))

    def _take_back(self, part: Part, rows: str, copies: str) -> None:
        """Take rows that are gone from their copies; all rows where what is left is still not what was written."""
        take = f"INSERT OR IGNORE INTO {copies}"
        if is_known_to_be_wrong(self._connection, part) or not self._has_a_checksum(part):
            self._execute(take, (part.run,))
        if is_known_to_be_wrong(self._connection, part):
            self._execute(f"DELETE FROM {rows}", (part.run,))
            self._execute(take, (part.run,))

    def _take_out(self, part: Part) -> None:
        if not self._has_a_checksum(part) and (not part.run or part.run in self._runs()):
            self._say_it_could_not_be_checked(part)
        elif part.run and part.name in ("run", "symbols"):  # without these, nothing of it can be understood
            self._lose_run(part.run)
        elif part.run and part.run not in self._runs():
            self.lost.append(f"Run {part.run} is lost.")
        elif part.name in OF_STEPS:
            self._cut(part.run, part.place * MERGES_IN_A_PART)
        elif part.name == "scores":
            self._cut_scores(part.run, part.place)
        elif part.name == "length":
            self._remark(part.run, "It may have been longer")
        elif part.name == "words":
            self._execute("UPDATE runs SET word_table = NULL, state = 'ended' WHERE number = ?", (part.run,))
            self._remark(part.run, "Its words are lost: it cannot go on")
        else:
            self.lost.append(f"Lost: {described(part)}.")
            self._take_out_of_session(part)

    def _has_a_checksum(self, part: Part) -> bool:
        rows = self._execute("SELECT 1 FROM checks WHERE part = ? AND run = ? AND place = ?", part)
        return rows.fetchone() is not None

    def _say_it_could_not_be_checked(self, part: Part) -> None:
        if part.run:
            self._remark(part.run, UNKNOWN)
        else:
            self.lost.append(f"{described(part).capitalize()} could not be checked.")

    def _take_out_of_session(self, part: Part) -> None:
        if part.name == "sources":
            self._execute("DELETE FROM sources WHERE run = ?", (part.run,))
        elif part.name == "bookmarks":
            self._execute("DELETE FROM bookmarks")
        elif part.name.startswith(checksums.VALUE):
            self._execute("DELETE FROM session WHERE key = ?", (part.name.removeprefix(checksums.VALUE),))

    def _cut(self, run: int, learned: int) -> None:
        (already,) = self._all("SELECT max(step) FROM merges WHERE run = ?", run)
        if (already or 0) > learned or not self._remarks.get(run):
            self._remark(run, f"What it learned after step {learned:,} is lost")
        self._cut_runs.add(run)
        self._execute("DELETE FROM merges WHERE run = ? AND step > ?", (run, learned))
        self._execute("DELETE FROM reasons WHERE run = ? AND place >= ?", (run, learned // MERGES_IN_A_PART))
        self._execute("DELETE FROM scores WHERE run = ? AND since > 0 AND since >= ?", (run, learned))
        ended = "UPDATE runs SET end_reason = '', state = iif(word_table IS NULL, 'ended', 'paused') WHERE number = ?"
        self._execute(ended, (run,))

    def _cut_scores(self, run: int, place: int) -> None:
        """End a run where its scores do: without the first ones no text could ever be cut."""
        if place == 0:
            self._lose_run(run)
            return
        self._execute("DELETE FROM scores WHERE run = ? AND place >= ?", (run, place))
        (since,) = self._all("SELECT max(since) FROM scores WHERE run = ?", run)
        self._cut(run, (since or 0) // MERGES_IN_A_PART * MERGES_IN_A_PART)

    def _remark(self, run: int, remark: str) -> None:
        self._remarks.setdefault(run, []).append(remark)
        self.lost.append(f"Run {run}: {remark[0].lower()}{remark[1:]}.")

    def _lose_run(self, number: int) -> None:
        for table in OF_A_RUN:
            self._execute(f"DELETE FROM {table} WHERE run = ?", (number,))
        self._execute("DELETE FROM runs WHERE number = ?", (number,))
        self.lost.append(f"Run {number} is lost.")

    def _make_readable(self) -> None:
        """Give what every session has, and drop sources without texts and numbers of runs that were cut."""
        recipes = self._all("SELECT value FROM session WHERE key = 'recipe' UNION ALL SELECT recipe FROM runs")
        otherwise = recipes[0] if recipes else json.dumps(Recipe().to_dict())
        self._execute("INSERT OR IGNORE INTO session VALUES ('recipe', ?)", (otherwise,))
        self._execute("DELETE FROM session WHERE key = ?", (checksums.UNCHECKED,))
        gone = self._execute(
            "DELETE FROM sources WHERE text_sha256 IS NOT NULL AND text_sha256 NOT IN (SELECT sha256 FROM texts)"
        ).rowcount
        if gone:
            self.lost.append("A text of the corpus is damaged.")
        if self._cut_runs:
            self._drop_numbers()

    def _drop_numbers(self) -> None:
        for value in self._all("SELECT value FROM session WHERE key = 'numbers'"):
            with contextlib.suppress(FormatError), gate("the numbers"):
                kept = {run: numbers for run, numbers in json.loads(value).items() if int(run) not in self._cut_runs}
                self._execute("UPDATE session SET value = ? WHERE key = 'numbers'", (json.dumps(kept),))

    def _see_whether_it_is_sound(self, number: int) -> None:
        row = self._execute("SELECT * FROM runs WHERE number = ?", (number,)).fetchone()
        try:
            with gate(f"Run {number}"):
                Reader(self._connection, self._name).run(row)
        except (FormatError, sqlite3.Error) as error:
            self._lose_run(number)
            self.lost.append(str(error) if isinstance(error, FormatError) else f"Run {number}: {cause_of(error)}.")

    def _bookmarks_that_lead_nowhere(self) -> None:
        gone = self._execute(
            "DELETE FROM bookmarks WHERE run NOT IN (SELECT number FROM runs) OR merge < 0 OR "
            "merge > (SELECT ifnull(max(step), 0) FROM merges WHERE merges.run = bookmarks.run)"
        ).rowcount
        if gone:
            self.lost.append("Bookmarks at what is lost are lost with it.")

    def _texts_of_nobody(self) -> tuple[SavedSource, ...]:
        """Return those that are whole while the list that named them is not."""
        texts = self._all(
            "SELECT text FROM texts WHERE sha256 NOT IN (SELECT text_sha256 FROM sources WHERE text_sha256 IS NOT NULL)"
        )
        return tuple(SavedSource(f"recovered text {place}", text=text) for place, text in enumerate(texts, start=1))

    def _marked(self, run: SavedRun, is_checked: bool) -> SavedRun:
        """Let a run that is not what it was say so itself, wherever it is shown."""
        remarks = dict.fromkeys(self._remarks.get(run.number, []))
        said = NOT_CHECKED if not is_checked else f"Recovered. {'. '.join(remarks)}." if remarks else ""
        return run if not said else dataclasses.replace(run, sentence=f"{said} {run.sentence}".strip())

    def _runs_without_their_row(self) -> list[int]:
        known = self._all("SELECT run FROM merges UNION SELECT run FROM reasons UNION SELECT run FROM symbols")
        return sorted({*known}.difference(self._runs()))

    def _runs(self) -> list[int]:
        return self._all("SELECT number FROM runs ORDER BY number")

    def _all(self, query: str, *values: int) -> list[Any]:
        return [value for (value,) in self._execute(query, values).fetchall()]
