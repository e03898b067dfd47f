"""The reader of rows of token ids, from NumPy's arrays, Parquet, JSON lines, bare numbers, and numbers as text.

    >>> [row.parts for row in rows_of_words(["5", "6, 7"])]
    [(array([5, 6, 7]),)]

A row is one text. In a file of rollouts a row has parts, such as a prompt and an answer, or the turns of a
conversation. In a `.npy` file a row is a row of the array. An array with one dimension is a single row. A `.bin` file
is a single row of unsigned numbers, lowest byte first. In other files a line is a row.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bpe_core.errors import CorpusError, cause_of
from bpe_core.support.arrays import Int64s
from bpe_core.support.foreign import parsed_json, report_faults
from bpe_core.support.optional_packages import MISSING_PYARROW, pyarrow_or_none
from bpe_core.support.parquet_file import MOST_ROWS, ParquetFile
from bpe_core.support.progress import ALONE, Progress, Work
from bpe_core.support.wording import count_text
from bpe_core.text.reading.plain_text import LONGEST_LINE

WHOLE = ("input_ids", "ids", "token_ids", "tokens")  # fields that hold all ids of a row
PARTS = (  # fields with a part of a row's ids, in this order
    "prompt_ids",
    "prompt_token_ids",
    "prompts",
    "completion_ids",
    "completion_token_ids",
    "response_ids",
    "response_token_ids",
    "responses",
    "output_ids",
    "output_token_ids",
)
MOST_DIGITS = 18  # of an id, which then fits into 64 bits
_ID = rb"(?:0|[1-9][0-9]{0,17})\s*+"
_LIST_OF_IDS = re.compile(rb"\[\s*+" + _ID + rb"(?:,\s*+" + _ID + rb")*+\]")
PARQUET = ".parquet"
WIDTHS = (1, 2, 4, 8)  # bytes of an id in a .bin file
JSON = (".jsonl", ".ndjson", ".json")
ADVICE = "Ids are whole numbers from 0 on"


@dataclass(frozen=True, eq=False)
class IdRow:
    name: str  # of the file; empty for ids that were given
    number: int  # of the row, from 1
    parts: tuple[Int64s, ...]

    @property
    def ids(self) -> Int64s:
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)


def is_file_of_ids(word: str) -> bool:
    """Return whether a command-line argument is the name of a file. Every argument that is not a number is a name."""
    return word.strip(" ,-+.0123456789") != ""


def rows_of_words(words: Iterable[str], name: str = "") -> Iterator[IdRow]:
    """Yield one row with the ids in `words`, such as the arguments of a command. Yield nothing if there are no ids."""
    ids = _of_words(" ".join(words), name or "The ids")
    if len(ids):
        yield IdRow(name, 1, (ids,))


def rows_of_file(path: str, fields: Sequence[str] = (), work: Work = ALONE, *, width: int = 0) -> Iterator[IdRow]:
    """Yield the rows of a file.

    `fields` names the fields of a JSON or Parquet row that hold its ids, in order. `width` is the number of bytes of an
    id in a `.bin` file.
    """
    ending = Path(path).suffix.lower()
    if ending == ".npy":
        yield from _of_array(path, work)
        return
    if ending == ".bin":
        yield IdRow(path, 1, (_bare_numbers(path, width),))
        return
    if ending == PARQUET:
        yield from _of_parquet(path, fields, work)
        return
    read = (lambda line, where: _of_json(line, where, fields)) if ending in JSON else _of_line
    for number, line in _lines(path, work):
        if line := line.strip():
            yield IdRow(path, number, read(line, f"{path}, line {number:,}"))


def _lines(path: str, work: Work) -> Iterator[tuple[int, bytes]]:
    try:
        with open(path, "rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise CorpusError(
                        f"{path}, line {number:,} is longer than {LONGEST_LINE // 2**20:,} MB. Write one text in each "
                        "line, or save all ids as an .npy file."
                    )
                work.check()
                work.progress(Progress("reading ids", file.tell(), size, "bytes", path))
                yield number, line
    except OSError as error:
        raise CorpusError(f"Could not read the ids in {path}: {cause_of(error)}.") from error
    except ValueError as error:
        raise CorpusError(f"{path!r} cannot be the name of a file.") from error


def _of_array(path: str, work: Work) -> Iterator[IdRow]:
    with report_faults(f"{path} is not an array of NumPy, or is damaged", CorpusError):
        try:
            ids = np.load(path, mmap_mode="r", allow_pickle=False)
        except OSError as error:
            raise CorpusError(f"Could not read the ids in {path}: {cause_of(error)}.") from error
    if not isinstance(ids, np.ndarray) or ids.ndim not in (1, 2) or ids.dtype.kind not in "iu":
        kind = "several arrays"
        if isinstance(ids, np.ndarray):
            kind = f"an array of {count_text(ids.ndim, 'dimension')} with values of the type {ids.dtype}"
        raise CorpusError(
            f"{path} holds {kind}, which cannot be ids. {ADVICE}, in one row or in a table with several rows."
        )
    if ids.ndim == 1:
        yield IdRow(path, 1, (ids,))
        return
    for number, row in enumerate(ids, 1):
        work.check()
        work.progress(Progress("reading ids", number, len(ids), "rows", path))
        yield IdRow(path, number, (row,))


def _bare_numbers(path: str, width: int) -> Int64s:
    if width not in WIDTHS:
        given = f"not {width:,}" if width else f"such as --id-bytes {WIDTHS[1]}"
        raise CorpusError(
            f"{path} holds bare numbers, so it does not say how many bytes an id has. Give this number, {given}; it is "
            f"one of {', '.join(map(str, WIDTHS))}."
        )
    try:
        size = Path(path).stat().st_size
        if size % width:
            raise CorpusError(
                f"{path} has {count_text(size, 'byte')}, which is not a multiple of {width}, the given number of bytes "
                "of an id. Give another number, or save the file again."
            )
        kind = np.dtype(f"<u{width}")
        return np.memmap(path, kind, mode="r") if size else np.empty(0, kind)
    except OSError as error:
        raise CorpusError(f"Could not read the ids in {path}: {cause_of(error)}.") from error


def _of_parquet(path: str, fields: Sequence[str], work: Work) -> Iterator[IdRow]:
    if pyarrow_or_none() is None:
        raise CorpusError(f"{path}: Parquet {MISSING_PYARROW}")
    with report_faults(f"{path} is a damaged Parquet file", CorpusError):
        try:
            with open(path, "rb") as raw:
                file = ParquetFile(raw)
                names = fields or _fields_among(file.schema.names)
                _check_fields(names, file.schema.names, path)
                number = 0
                for batch in file.batches(list(names), MOST_ROWS):
                    for row in batch.to_pylist():
                        number += 1
                        work.check()
                        work.progress(Progress("reading ids", number, file.rows, "rows", path))
                        yield IdRow(path, number, _of_row(row, f"{path}, row {number:,}", names))
        except OSError as error:
            raise CorpusError(f"Could not read the ids in {path}: {cause_of(error)}.") from error


def _of_line(line: bytes, where: str) -> tuple[Int64s, ...]:
    return (_of_words(line.decode(errors="replace"), where),)


def _of_words(text: str, where: str) -> Int64s:
    words = text.replace(",", " ").strip(" \t\r\n[]").split()
    wrong = next((word for word in words if not _is_id(word)), None)
    if wrong is not None:
        raise CorpusError(f"{where}: “{wrong[:40]}” is not a token id. {ADVICE}, separated by spaces.")
    return np.array([int(word) for word in words], np.int64)


def _is_id(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS


def _of_json(line: bytes, where: str, fields: Sequence[str]) -> tuple[Int64s, ...]:
    if _LIST_OF_IDS.fullmatch(line):  # JSON of many values would need a hundred bytes for each
        return (np.fromstring(line[1:-1].decode(), np.int64, sep=","),)
    with report_faults(where, CorpusError):
        try:
            row = parsed_json(line.decode("utf-8-sig"))
        except json.JSONDecodeError as error:
            message = f"{where} is not valid JSON from column {error.colno:,} on; write one list of ids in each line."
            raise CorpusError(message) from error
    names: Sequence[str] = ()
    if isinstance(row, dict):
        names = fields or _fields_among([name for name, value in row.items() if isinstance(value, list)])
        _check_fields(names, list(row), where)
    return _of_row(row, where, names)


def _of_row(row: Any, where: str, names: Sequence[str]) -> tuple[Int64s, ...]:
    values = [row[name] for name in names] if isinstance(row, dict) else [row]
    return tuple(part for value in values for part in _parts_of(value, where))


def _check_fields(names: Sequence[str], known: Sequence[str], where: str) -> None:
    missing = next((name for name in names if name not in known), None)
    if missing is not None or not names:
        there = f", only {', '.join(map(repr, known[:8]))}" if known else ""
        wanted = f"no field {missing!r}" if missing else "no field with a known name for ids"
        raise CorpusError(f"{where} has {wanted}{there}. Name the fields with --fields.")


def _fields_among(names: Sequence[str]) -> tuple[str, ...]:
    """Find the fields that hold ids. Fields are recognized by their usual names.

    The result is one field for all ids of a row, or one field for each part of the row.
    """
    whole = next((name for name in WHOLE if name in names), None)
    return (whole,) if whole else tuple(name for name in PARTS if name in names)


def _parts_of(value: Any, where: str) -> Iterator[Int64s]:
    """Yield the ids of a list. If the list consists of lists, yield the ids of each inner list."""
    if isinstance(value, list) and value and all(isinstance(ids, list) for ids in value):
        for ids in value:
            yield _of_list(ids, where)
    else:
        yield _of_list(value, where)


def _of_list(value: Any, where: str) -> Int64s:
    if not isinstance(value, list):
        raise CorpusError(f"{where}: “{str(value)[:40]}” is not a list of ids.")
    wrong = next((id_ for id_ in value if type(id_) is not int or not 0 <= id_ < 10**MOST_DIGITS), None)
    if wrong is not None or None in value:
        raise CorpusError(f"{where}: “{str(wrong)[:40]}” is not a token id. {ADVICE}.")
    return np.array(value, np.int64)
