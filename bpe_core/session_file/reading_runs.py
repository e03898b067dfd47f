"""Reading the runs of a session and the texts they learned from: each value is checked before it is believed."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from bpe_core.counting.words import WordTable
from bpe_core.errors import FormatError, cause_of
from bpe_core.formats.rebuilding import (
    checked_alphabet,
    checked_end_reason,
    checked_numbers,
    checked_recipe,
    checked_symbol,
)
from bpe_core.history.alphabet import Alphabet
from bpe_core.history.history import NOTHING, EndReason, History
from bpe_core.history.joining import Joining
from bpe_core.learning.methods import Method
from bpe_core.recipes.mixture import LONGEST_NAME
from bpe_core.recipes.recipe import Recipe
from bpe_core.session_file.stored_columns import merge_columns, reasons_in, scores_in, word_table
from bpe_core.session_file.values import Fingerprint, RunState, SavedRun, SavedSource


class KeptValues:
    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self._name = name
        self._texts: dict[str, str] = dict(connection.execute("SELECT key, value FROM session"))

    def text(self, key: str) -> str:
        return self._texts.get(key, "")

    def json(self, key: str, otherwise: object) -> object:
        return self.parsed(self._texts[key]) if key in self._texts else otherwise

    def of_run(self, key: str, run: int) -> object:
        return self.as_object(self.json(key, {})).get(str(run))

    def as_object(self, value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise FormatError(f"{self._name}: a value that should be a JSON object is none.")
        return value

    def parsed(self, text: str) -> object:
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{self._name}: a value is not valid JSON: {cause_of(error)}.") from error


LARGEST = 2**63 - 1


class RunReader:
    def __init__(self, connection: sqlite3.Connection, name: str, kept: KeptValues) -> None:
        self._connection = connection
        self._name = name
        self._kept = kept
        self._word_tables: dict[int, WordTable] = {}

    def sources(self, run: int) -> tuple[SavedSource, ...]:
        rows = self._rows(
            "SELECT position, name, path, text, text_sha256, encoding, size, modified_ns, sources.sha256 FROM sources "
            "LEFT JOIN texts ON texts.sha256 = text_sha256 WHERE run = ? ORDER BY position",
            run,
        )
        read_as = self._kept.as_object(self._kept.of_run("read_as", run) or {})
        groups = self._kept.of_run("groups", run)
        named = dict(enumerate(groups if isinstance(groups, list) else []))
        picked = self._kept.json("picked", [])
        return tuple(
            _read_as(self._source(*row), read_as.get(str(position)), named.get(position), picked)
            for position, *row in rows
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
        recipe = checked_recipe(self._kept.parsed(recipe_json), where)
        if state not in get_args(RunState) or number < 1:
            raise FormatError(f"{where}: it is in no state that a run can be in.")
        history, counts = None, np.zeros(0, np.int64)
        if end_reason is not None:
            start = NOTHING if tokens_at_start is None else tokens_at_start
            history, counts = self._history(number, recipe, start, checked_end_reason(end_reason, where), where)
        parent = self._kept.of_run("parents", number)  # one that makes no sense is as good as none
        return SavedRun(
            number=number,
            recipe=recipe,
            sources=self.sources(number),
            words=self._words(table, number, where),
            history=history,
            symbol_counts=counts,
            state=state,  # type: ignore[arg-type]  # checked above
            sentence=sentence,
            parent=parent if type(parent) is int and 0 < parent < number else None,
        )

    def _history(
        self, run: int, recipe: Recipe, start: int, end_reason: EndReason, where: str
    ) -> tuple[History, npt.NDArray[np.int64]]:
        """What was learned, and how often each base symbol occurred."""
        alphabet, counts = self._alphabet(run, recipe, where)
        columns = merge_columns(self._connection, run, alphabet, where, recipe)
        if not NOTHING <= start <= LARGEST:
            raise FormatError(f"{where}: the number of its tokens is negative.")
        reasons = self._rows("SELECT name, place, kind, numbers FROM reasons WHERE run = ? ORDER BY name, place", run)
        scores = self._rows("SELECT place, since, kind, numbers FROM scores WHERE run = ? ORDER BY place", run)
        history = History(
            recipe,
            alphabet,
            columns,
            reasons=reasons_in(reasons, len(columns.left), where),
            scores=scores_in(scores, columns, len(alphabet), where),
            tokens_at_start=start,
            end_reason=end_reason,
        )
        joining, numbers = (self._kept.of_run(key, run) for key in ("joinings", "numbers"))
        if joining is not None:  # an imported table, which does not join texts in the order of its steps
            history.joining = Joining.from_dict(joining, len(alphabet), history.first_special, where)
        if numbers is not None:
            history.numbers = checked_numbers(numbers, history.id_count, where)
        if wrong := Method.of(recipe).what_is_wrong(history):
            raise FormatError(f"{where}: {wrong}.")
        return history, counts

    def _rows(self, query: str, key: int) -> sqlite3.Cursor:
        return self._connection.execute(query, (key,))

    def _alphabet(self, run: int, recipe: Recipe, where: str) -> tuple[Alphabet, npt.NDArray[np.int64]]:
        query = "SELECT id, kind, text, decoded, count FROM symbols WHERE run = ? ORDER BY id"
        rows = self._rows(query, run).fetchall()
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
            query = "SELECT words, text, lengths, counts FROM word_chunks WHERE word_table = ? ORDER BY chunk"
            chunks = self._rows(query, table)
            size = self._kept.of_run("text_bytes", run)
            known = size if type(size) is int and 0 <= size <= LARGEST else None
            self._word_tables[table] = replace(word_table(chunks, where), text_bytes=known)
        return self._word_tables[table]


def _read_as(source: SavedSource, said: object, group: object, picked: object) -> SavedSource:
    """With what a person said of its columns, its group and its files, as far as that makes sense."""
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
